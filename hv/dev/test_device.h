/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports for test suites (docs/guest-platform.md): exit port, latch, unmap, interrupt lines, scratch
 * MMIO, and "Shutdown" on PORT_SHUTDOWN. They answer only where the configuration asks for them.
 */
#ifndef HV_DEV_TEST_DEVICE_H
#define HV_DEV_TEST_DEVICE_H

#include "hv/dev/platform_map.h"
#include "hv/lib/types.h"

struct platform;

struct test_device {
	u8 latch[4];
	u32 shutdown_matched; /* letters of "Shutdown" seen so far */
	u8 scratch[MMIO_SCRATCH_SIZE];
};

void test_device_reset(struct platform *platform);
void test_exit_write(struct platform *platform, u16 port, u32 size, u32 value);
u32 test_latch_read(struct platform *platform, u16 port, u32 size);
void test_latch_write(struct platform *platform, u16 port, u32 size, u32 value);
void test_unmap_write(struct platform *platform, u16 port, u32 size, u32 value);
void test_irq_write(struct platform *platform, u16 port, u32 size, u32 value);
void test_shutdown_write(struct platform *platform, u16 port, u32 size, u32 value);
u32 test_no_read(struct platform *platform, u16 port, u32 size);

#endif
