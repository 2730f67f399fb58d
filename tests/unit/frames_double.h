/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame allocator for tests of what uses frames: the C library's memory behind the functions of
 * hv/mem/frames.h. Included by one file of a test; its definitions are found before the archive's.
 * Freed frames are poisoned by AddressSanitizer, and frames_double_budget makes allocation fail.
 */
#ifndef FRAMES_DOUBLE_H
#define FRAMES_DOUBLE_H

#include <stdlib.h>
#include <string.h>

#include "hv/mem/frames.h"

static u64 frames_double_used;
static u64 frames_double_budget = ~0ull; /* frames that may still be handed out */

enum error frames_alloc(u64 pages, u64 align, hpa_t *address)
{
	void *memory;

	if (pages > frames_double_budget)
		return ERR_NO_MEMORY;
	memory = aligned_alloc(align, pages * PAGE_SIZE);
	memset(memory, 0, pages * PAGE_SIZE);
	frames_double_budget -= pages;
	frames_double_used += pages;
	*address = virt_to_phys(memory);
	return ERR_OK;
}

enum error frames_alloc_below(u64 pages, u64 align, u64 limit, hpa_t *address)
{
	(void)limit;
	return frames_alloc(pages, align, address);
}

void frames_free(hpa_t address, u64 pages)
{
	free(phys_to_virt(address));
	frames_double_used -= pages;
	frames_double_budget += frames_double_budget == ~0ull ? 0 : pages;
}

u64 frames_in_use(void)
{
	return frames_double_used;
}

#endif
