// SPDX-License-Identifier: BSD-2-Clause
/*
 * The frame allocator: a sorted array of free ranges, none touching another. Ranges are few (a
 * firmware map has some tens, a guest's RAM takes whole runs), so first fit from the top over an
 * array is quick enough and has no state beyond what can be read in a debugger. Interrupts off.
 */
#include "hv/mem/frames.h"

#include "hv/lib/log.h"
#include "hv/lib/string.h"
#include "hv/mem/efi_memory.h"

#define RANGES_MAX 512

struct range {
	u64 start, end; /* page numbers, end exclusive */
};

static struct range ranges[RANGES_MAX];
static u32 range_count;
static u64 total, in_use;

static void insert(u32 at, u64 start, u64 end)
{
	if (range_count == RANGES_MAX) {
		/* Never seen; losing memory is harmless, losing track of it is not. */
		log_warning("frame allocator: more than %u free ranges, %lu KiB lost", RANGES_MAX,
			(end - start) * PAGE_SIZE >> 10);
		return;
	}
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(ranges[0]));
	ranges[at] = (struct range){ start, end };
	range_count++;
}

static void erase(u32 at)
{
	range_count--;
	memmove(&ranges[at], &ranges[at + 1], (range_count - at) * sizeof(ranges[0]));
}

/* Adds a range that overlaps no other; merges with its neighbours. */
static void add(u64 start, u64 end)
{
	u32 at = 0;

	if (start == end)
		return;
	while (at < range_count && ranges[at].end < start)
		at++;
	if (at < range_count && ranges[at].end == start) {
		ranges[at].end = end;
		if (at + 1 < range_count && ranges[at + 1].start == end) {
			ranges[at].end = ranges[at + 1].end;
			erase(at + 1);
		}
	} else if (at < range_count && ranges[at].start == end) {
		ranges[at].start = start;
	} else {
		insert(at, start, end);
	}
}

/* Takes [start, end) out of whatever is free. */
static void reserve(u64 start, u64 end)
{
	for (u32 i = 0; i < range_count;) {
		struct range r = ranges[i];

		if (r.end <= start || r.start >= end) {
			i++;
			continue;
		}
		erase(i);
		if (end < r.end)
			insert(i, end, r.end);
		if (r.start < start)
			insert(i++, r.start, start);
	}
}

void frames_init(const struct boot_memory_map *map)
{
	struct efi_memory_range r;

	range_count = 0;
	total = in_use = 0;
	/*
	 * What is free by one descriptor and not by another is not free: firmware maps have
	 * overlapped.
	 */
	for (u64 i = 0; efi_memory_range(map, i, &r); i++) {
		if (!r.usable)
			continue;
		reserve(r.start, r.end);
		add(r.start, r.end);
	}
	for (u64 i = 0; efi_memory_range(map, i, &r); i++)
		if (!r.usable)
			reserve(r.start, r.end);
	/*
	 * The first MiB: page 0, the AP trampoline, firmware data that the map of some machines
	 * forgets.
	 */
	reserve(0, (1 << 20) / PAGE_SIZE);
	for (u32 i = 0; i < range_count; i++)
		total += ranges[i].end - ranges[i].start;
}

enum error frames_alloc_below(u64 pages, u64 align, u64 limit, hpa_t *address)
{
	u64 align_pages = MAX(align / PAGE_SIZE, 1ull), limit_page = limit / PAGE_SIZE;

	if (pages == 0)
		return ERR_INVALID;
	for (u32 i = range_count; i-- > 0;) {
		u64 end = MIN(ranges[i].end, limit_page), start;

		if (end < pages)
			continue;
		start = ALIGN_DOWN(end - pages, align_pages);
		if (start < ranges[i].start)
			continue;
		reserve(start, start + pages);
		in_use += pages;
		*address = hpa(start * PAGE_SIZE);
		memset(phys_to_virt(*address), 0, pages * PAGE_SIZE);
		return ERR_OK;
	}
	return ERR_NO_MEMORY;
}

enum error frames_alloc(u64 pages, u64 align, hpa_t *address)
{
	return frames_alloc_below(pages, align, ~0ull, address);
}

static void give_back(hpa_t address, u64 pages)
{
	u64 start = address.value / PAGE_SIZE;

	for (u32 i = 0; i < range_count; i++)
		if (ranges[i].start < start + pages && start < ranges[i].end)
			panic("frame %#lx freed twice", address.value);
	add(start, start + pages);
}

void frames_free(hpa_t address, u64 pages)
{
	give_back(address, pages);
	in_use -= pages;
}

void frames_donate(hpa_t address, u64 pages)
{
	give_back(address, pages);
	total += pages;
}

u64 frames_largest(u64 align)
{
	u64 align_pages = MAX(align / PAGE_SIZE, 1ull), largest = 0;

	for (u32 i = 0; i < range_count; i++) {
		u64 start = ALIGN_UP(ranges[i].start, align_pages);

		if (start < ranges[i].end)
			largest = MAX(largest, ranges[i].end - start);
	}
	return largest;
}

u64 frames_total(void)
{
	return total;
}

u64 frames_in_use(void)
{
	return in_use;
}
