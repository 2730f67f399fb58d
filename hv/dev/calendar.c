// SPDX-License-Identifier: BSD-2-Clause
/*
 * Dates for the real-time clock (rtc.c). Years are counted from March, so that the leap day is the
 * last of a year and the months' lengths follow one linear rule (153 days in five months).
 */
#include "hv/dev/calendar.h"

#define DAY_SECONDS	86400u
#define DAYS_400_YEARS	146097u
#define DAYS_100_YEARS	36524u
#define DAYS_4_YEARS	1461u
#define MARCH_0_TO_1970 719468u /* days from 0000-03-01 to 1970-01-01 */
#define YEAR_MAX	9999u

static u64 days_before_year(u64 year)
{
	return year * 365 + year / 4 - year / 100 + year / 400;
}

struct calendar calendar_from_seconds(u64 seconds)
{
	u64 days = seconds / DAY_SECONDS;
	u32 rest = (u32)(seconds % DAY_SECONDS);
	u64 shifted = days + MARCH_0_TO_1970;
	u64 era = shifted / DAYS_400_YEARS;
	u32 day_of_era = (u32)(shifted % DAYS_400_YEARS);
	/* Leave out the leap days that went before, then a year has 365. */
	u32 year_of_era = (day_of_era - day_of_era / (DAYS_4_YEARS - 1) +
				  day_of_era / DAYS_100_YEARS - day_of_era / (DAYS_400_YEARS - 1)) /
			  365;
	u32 day_of_year = day_of_era - (u32)days_before_year(year_of_era);
	u32 month = (5 * day_of_year + 2) / 153; /* 0 is March */

	return (struct calendar){
		.year = (u32)(era * 400 + year_of_era) + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day_of_year - (153 * month + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
		.weekday = (u32)((days + 4) % 7), /* 1970-01-01 was a Thursday */
	};
}

u64 calendar_to_seconds(const struct calendar *calendar)
{
	u32 month = MIN(MAX(calendar->month, 1u), 12u);
	u64 year = MIN(MAX(calendar->year, 1970u), YEAR_MAX) - (month < 3);
	u32 from_march = month < 3 ? month + 9 : month - 3;
	u64 days = days_before_year(year) + (153 * from_march + 2) / 5 + MAX(calendar->day, 1u) -
		   1 - MARCH_0_TO_1970;

	return days * DAY_SECONDS + calendar->hour * 3600ull + calendar->minute * 60ull +
	       calendar->second;
}
