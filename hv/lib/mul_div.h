/* SPDX-License-Identifier: BSD-2-Clause */
/* a * b / c with a 128-bit product: for conversions between clocks. */
#ifndef HV_LIB_MUL_DIV_H
#define HV_LIB_MUL_DIV_H

#include "hv/lib/types.h"

/* Rounds down; ~0 if the quotient does not fit or c is 0. */
static inline u64 mul_div(u64 a, u64 b, u64 c)
{
	u64 low, high, rest;

	__asm__("mulq %3" : "=a"(low), "=d"(high) : "a"(a), "rm"(b) : "cc");
	if (high >= c)
		return ~0ul;
	__asm__("divq %4" : "=a"(low), "=d"(rest) : "a"(low), "d"(high), "rm"(c) : "cc");
	return low;
}

#endif
