// SPDX-License-Identifier: BSD-2-Clause
/* Single bits of an MSR bitmap. Pure memory: callable anywhere. */
#include "vmx/msr_bitmap.h"

#include "hv/lib/string.h"

#define MSRS_EACH   0x2000u
#define HIGH_FIRST  0xc0000000u
#define MAP_BYTES   1024
#define NOT_COVERED (~0u)

/* The number of the MSR's bit in the page. */
static u32 bit_number(u32 index, enum msr_access access)
{
	u32 map = access == MSR_WRITE ? 2 : 0;

	if (index >= HIGH_FIRST && index - HIGH_FIRST < MSRS_EACH)
		map++;
	else if (index >= MSRS_EACH)
		return NOT_COVERED;
	return map * MAP_BYTES * 8 + (index & (MSRS_EACH - 1));
}

void msr_bitmap_intercept_all(void *bitmap)
{
	memset(bitmap, 0xff, MSR_BITMAP_BYTES);
}

bool msr_bitmap_set(void *bitmap, u32 index, enum msr_access access, bool intercept)
{
	u32 bit = bit_number(index, access);
	u8 *byte = (u8 *)bitmap + bit / 8;

	if (bit == NOT_COVERED)
		return false;
	*byte = (*byte & ~(1u << bit % 8)) | (unsigned)intercept << bit % 8;
	return true;
}

bool msr_bitmap_intercepts(const void *bitmap, u32 index, enum msr_access access)
{
	u32 bit = bit_number(index, access);

	return bit == NOT_COVERED || ((const u8 *)bitmap)[bit / 8] >> bit % 8 & 1;
}
