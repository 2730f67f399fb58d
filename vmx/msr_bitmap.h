/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The MSR bitmap (SDM 3C 25.6.9): a page of four 1 KiB maps, reads then writes, of MSRs 0..0x1fff
 * and 0xc0000000..0xc0001fff. A set bit exits; every other MSR always does.
 */
#ifndef VMX_MSR_BITMAP_H
#define VMX_MSR_BITMAP_H

#include "hv/lib/types.h"

#define MSR_BITMAP_BYTES 4096

enum msr_access { MSR_READ, MSR_WRITE };

void msr_bitmap_intercept_all(void *bitmap);
/* Sets or clears one MSR's bit. False, and nothing changed: the bitmap does not cover it. */
bool msr_bitmap_set(void *bitmap, u32 index, enum msr_access access, bool intercept);
bool msr_bitmap_intercepts(const void *bitmap, u32 index, enum msr_access access);

#endif
