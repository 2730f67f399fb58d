/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion between clocks. A device's counter is the number of whole ticks of its own clock since
 * TSC 0, so that nothing accumulates and no period drifts. Whole seconds and the rest are scaled
 * apart: the result is exact, and nothing overflows while the product of the two frequencies fits
 * 64 bits.
 */
#ifndef HV_DEV_CLOCK_H
#define HV_DEV_CLOCK_H

#include "hv/lib/types.h"

/* floor(value * to_hz / from_hz): the tick of `to` that is current at tick `value` of `from`. */
static inline u64 clock_scale(u64 value, u64 from_hz, u64 to_hz)
{
	return value / from_hz * to_hz + value % from_hz * to_hz / from_hz;
}

/* ceil(value * to_hz / from_hz): the first tick of `to` when tick `value` of `from` has begun. */
static inline u64 clock_scale_up(u64 value, u64 from_hz, u64 to_hz)
{
	return value / from_hz * to_hz + (value % from_hz * to_hz + from_hz - 1) / from_hz;
}

/*
 * The first start + k * period that is not before `earliest`. A periodic timer asks for it with
 * earliest = (last firing + CLOCK_MIN_PERIOD): ticks that were missed or come too thick are
 * left out, and the phase is kept.
 */
static inline u64 clock_next_period(u64 start, u64 period, u64 earliest)
{
	if (earliest <= start)
		return start;
	return start + (earliest - start + period - 1) / period * period;
}

/* No periodic timer interrupts more often than this, whatever the guest programs. */
#define CLOCK_MAX_RATE_HZ 20000

#endif
