/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The board that the devices of one VM sit on: struct platform as hv/dev/ sees it. Only files of
 * hv/dev/ include this; everyone else knows platform.h and lapic.h.
 */
#ifndef HV_DEV_BOARD_H
#define HV_DEV_BOARD_H

#include "hv/dev/clock.h"
#include "hv/dev/fw_cfg.h"
#include "hv/dev/ioapic.h"
#include "hv/dev/keyboard.h"
#include "hv/dev/lapic_state.h"
#include "hv/dev/pci.h"
#include "hv/dev/pic.h"
#include "hv/dev/pit.h"
#include "hv/dev/platform.h"
#include "hv/dev/platform_map.h"
#include "hv/dev/pm.h"
#include "hv/dev/rtc.h"
#include "hv/dev/test_device.h"
#include "hv/dev/timer.h"
#include "hv/dev/uart.h"
#include "hv/dev/vga.h"

struct platform {
	struct platform_config config;
	struct timer_queue timers;
	u32 device_lines; /* interrupt lines that devices drive: bit n is line n, 1 is high */
	u32 test_lines;	  /* those that the test device drives: a line is high if either says so */
	u32 lowest_priority_next; /* where the next lowest-priority arbitration begins */
	struct pic pic;
	struct ioapic ioapic;
	struct pit pit;
	struct rtc rtc;
	struct pm pm;
	struct uart uart;
	struct keyboard keyboard;
	struct pci pci;
	struct fw_cfg fw_cfg;
	struct vga vga;
	struct test_device test;
	struct lapic lapics[]; /* config.cpus of them */
};

/* What an access of `size` bytes reads where nothing drives the bus. */
static inline u32 all_ones(u32 size)
{
	return 0xffffffffu >> (32 - 8 * size);
}

static inline u64 board_now(const struct platform *platform)
{
	return platform->config.host.now_tsc(platform->config.host.context);
}

/* The tick of a clock of `hz` that is current now. */
static inline u64 board_ticks(const struct platform *platform, u64 hz)
{
	return clock_scale(board_now(platform), platform->config.tsc_hz, hz);
}

/* The host TSC at which a tick of a clock of `hz` begins. */
static inline u64 board_tick_to_tsc(const struct platform *platform, u64 tick, u64 hz)
{
	return clock_scale_up(tick, hz, platform->config.tsc_hz);
}

/* Least distance of two firings of a periodic timer, in TSC ticks. */
static inline u64 board_min_period(const struct platform *platform)
{
	return platform->config.tsc_hz / CLOCK_MAX_RATE_HZ;
}

/* interrupts.c: a device drives its interrupt line (8259 pair and IOAPIC together). */
void board_irq(struct platform *platform, u32 line, bool level);
/* As board_irq() for the test device, which shares the lines. */
void board_test_irq(struct platform *platform, u32 line, bool level);
/* After anything that may have changed the 8259 pair's INTR: tells LINT0 and the vCPUs. */
void board_pic_changed(struct platform *platform);
/* The vCPU shall look at its interrupts again. */
void board_interrupt_changed(struct platform *platform, u32 vcpu);

void board_stop(struct platform *platform, enum stop_reason reason, u8 value);

#endif
