/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The MC146818A real-time clock and CMOS RAM of a PC: ports 0x70 and 0x71, interrupt line 8. It
 * shows the wall clock of the configuration going on with the TSC.
 */
#ifndef HV_DEV_RTC_H
#define HV_DEV_RTC_H

#include "hv/dev/timer.h"
#include "hv/lib/types.h"

struct platform;

struct rtc {
	u8 index; /* port 0x70: bits 6..0; bit 7 masks NMI on a PC, no source of which is here */
	u8 cmos[128];	   /* alarm, B and plain RAM are valid; time fields only while B.SET is 1 */
	u8 flags;	   /* register C */
	u64 seconds;	   /* the time shown at base_tsc, since 1970 */
	u64 base_tsc;	   /* a moment at which a second began */
	bool stopped;	   /* the divider is held in reset: `seconds` stands */
	u32 weekday_shift; /* what the guest added to the weekday that belongs to the date */
	u64 seen_seconds;  /* up to which update and alarm are in `flags` */
	u64 seen_tick;	   /* the same of the periodic interrupt */
	struct timer timer;
};

void rtc_init(struct platform *platform);
void rtc_reset(
	struct platform *platform); /* CMOS content and time stay, as the battery keeps them */
u32 rtc_read(struct platform *platform, u16 port, u32 size);
void rtc_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
