/* SPDX-License-Identifier: BSD-2-Clause */
/* The proleptic Gregorian calendar, in seconds since 1970-01-01 00:00:00 UTC. */
#ifndef HV_DEV_CALENDAR_H
#define HV_DEV_CALENDAR_H

#include "hv/lib/types.h"

struct calendar {
	u32 year;  /* 1970.. */
	u32 month; /* 1..12 */
	u32 day;   /* 1..31 */
	u32 hour, minute, second;
	u32 weekday; /* 0 is Sunday */
};

struct calendar calendar_from_seconds(u64 seconds);
/*
 * The inverse; the weekday is ignored. Fields beyond their range carry on into the next (day 31 of
 * a month of 30 is the 1st); month 0 counts as 1 and above 12 as 12, day 0 as 1, years before 1970
 * as 1970.
 */
u64 calendar_to_seconds(const struct calendar *calendar);

#endif
