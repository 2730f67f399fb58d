/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's platform: all devices of one VM behind four doors (port, MMIO, MSR/CR8, interrupt).
 * The exit handlers know only this header and lapic.h. Time is the host's TSC in ticks, passed in
 * by the clock of the configuration, so that hosted tests turn it by hand. Called with interrupts
 * off, under the VM's device lock where there is more than one vCPU.
 */
#ifndef HV_DEV_PLATFORM_H
#define HV_DEV_PLATFORM_H

#include "hv/dev/timer.h"
#include "hv/lib/error.h"
#include "hv/lib/types.h"

struct lapic;
struct platform;

enum stop_reason {
	STOP_NONE,
	STOP_POWER_OFF, /* S5, "Shutdown" on port 0x8900: status 0 */
	STOP_EXIT_PORT, /* status ((v & 0x7f) << 1) | 1 */
	STOP_RESET,	/* 0xcf9, keyboard controller, port 0x92, FADT reset register */
	STOP_CRASH,	/* triple fault, failed entry, shutdown state */
};

/* What the devices need of the VM. Every callback may be called from any device function. */
struct platform_host {
	void *context;
	/* Host TSC now. */
	u64 (*now_tsc)(void *context);
	/* The interrupt state of a vCPU changed: look again before its next entry. */
	void (*interrupt_changed)(void *context, u32 vcpu);
	/* NMI, INIT, SIPI towards a vCPU (vector: of the SIPI). */
	void (*nmi)(void *context, u32 vcpu);
	void (*init)(void *context, u32 vcpu);
	void (*sipi)(void *context, u32 vcpu, u8 vector);
	/* A timer that is now the earliest was armed, or the earliest was cancelled. */
	void (*timer_changed)(void *context);
	/* Ends the VM after this instruction. status: only STOP_EXIT_PORT's value v. */
	void (*stop)(void *context, enum stop_reason reason, u8 value);
	/* Test port 0xe4: unmap the page so that its next access exits (once). */
	void (*unmap_once)(void *context, gpa_t page);
	/* Console: a byte from the guest's COM1. False: not now, console_ready will be told. */
	bool (*console_write)(void *context, u8 byte);
};

struct platform_config {
	struct platform_host host;
	u64 tsc_hz; /* at least 1 MHz; also the APIC timer's clock: CPUID must not say otherwise */
	u64 memory_size; /* bytes of RAM; PLATFORM_RAM_HOLE..4 GiB is left out */
	u64 unix_time;	 /* wall clock at this moment, seconds since 1970 UTC: what the RTC shows */
	u32 cpus;
	u32 maxphyaddr;	  /* CPUID 0x80000008 of the guest: IA32_APIC_BASE's width; 0: 52 */
	bool test_device; /* every test port and the scratch MMIO (PLATFORM.md) */
	bool exit_port;	  /* exit port 0xf4 and "Shutdown" on 0x8900 alone */
};

/* Bytes a struct platform and its LAPICs need; the caller gives zeroed, page-aligned memory. */
size_t platform_size(u32 cpus);
void platform_init(struct platform *platform, const struct platform_config *config);
/* Power-on values again; the console's and the test devices' wiring stays. */
void platform_reset(struct platform *platform);

/* Ports. size 1, 2 or 4. Unclaimed ports read all ones and swallow writes. */
u32 platform_io_read(struct platform *platform, u16 port, u32 size);
void platform_io_write(struct platform *platform, u16 port, u32 size, u32 value);

/*
 * MMIO: false if no device is there (the caller decides). size 1..8; a device that does not take
 * the width returns all ones / ignores the write and true. vcpu: whose LAPIC answers at its base.
 */
bool platform_mmio_read(struct platform *platform, u32 vcpu, gpa_t address, u32 size, u64 *value);
bool platform_mmio_write(struct platform *platform, u32 vcpu, gpa_t address, u32 size, u64 value);

struct lapic *platform_lapic(struct platform *platform, u32 vcpu);

/*
 * The interrupt that vCPU would take now if it could: -1 none, else the vector (LAPIC first, then
 * the 8259 through LINT0/ExtINT or a disabled LAPIC). platform_interrupt_accept() takes it: IRR ->
 * ISR.
 */
int platform_interrupt_pending(struct platform *platform, u32 vcpu);
int platform_interrupt_accept(struct platform *platform, u32 vcpu);

/* True if a device could still raise an NMI at this vCPU: an IOAPIC pin or LINT0 is programmed to.
 */
bool platform_nmi_possible(const struct platform *platform, u32 vcpu);

/* A byte typed at the console. False: the UART's FIFO is full, offer it again later. */
bool platform_console_input(struct platform *platform, u8 byte);
/* The console takes bytes again: sets THRE. */
void platform_console_ready(struct platform *platform);

/* Earliest deadline of all devices' timers (host TSC; ~0: none), and running those that are due. */
u64 platform_next_deadline(const struct platform *platform);
void platform_run_timers(struct platform *platform);

#endif
