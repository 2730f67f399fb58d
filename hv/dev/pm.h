/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ACPI fixed hardware (ACPI 6.4, 4.8.3): PM1 event and control blocks, 24-bit PM timer. Always in
 * ACPI mode: the FADT names no SMI command port. The SCI is line 9.
 */
#ifndef HV_DEV_PM_H
#define HV_DEV_PM_H

#include "hv/dev/timer.h"
#include "hv/lib/types.h"

struct platform;

struct pm {
	u16 status, enable, control;
	u64 seen_half; /* half periods of the timer up to which TMR_STS is in `status` */
	struct timer timer;
};

void pm_init(struct platform *platform);
void pm_reset(struct platform *platform);
/* PORT_PM1_EVENT .. PORT_PM_TIMER + 3, any width within. */
u32 pm_read(struct platform *platform, u16 port, u32 size);
void pm_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
