/* SPDX-License-Identifier: BSD-2-Clause */
/* Calling UEFI code: Microsoft's x64 convention (UEFI 2.10 2.3.4.2). */
#ifndef HV_CPU_FIRMWARE_CALL_H
#define HV_CPU_FIRMWARE_CALL_H

#include "hv/lib/types.h"

/* On firmware_root(), interrupts off. The firmware may use vector registers. */
static inline u64 firmware_call4(u64 function, u64 a, u64 b, u64 c, u64 d)
{
	u64 __attribute__((ms_abi)) (*call)(u64, u64, u64, u64) = (void *)function;

	return call(a, b, c, d);
}

#endif
