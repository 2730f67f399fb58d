// SPDX-License-Identifier: BSD-2-Clause
// The frame allocator over firmware maps and random use, against a flat array with a byte a page.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "hv/mem/frames.h"
#include "memory_windows.h"

#define LOW_PAGES  (LOW_SIZE / PAGE_SIZE)
#define HIGH_PAGES (HIGH_SIZE / PAGE_SIZE)
#define PAGES	   (LOW_PAGES + HIGH_PAGES)
#define RUNS_MAX   400

/* The oracle: pages of both windows, low one first; they do not touch. */
static bool is_free[PAGES];

static u64 page_address(u64 page)
{
	return page < LOW_PAGES ? LOW_WINDOW + page * PAGE_SIZE
				: HIGH_WINDOW + (page - LOW_PAGES) * PAGE_SIZE;
}

static u64 page_of(u64 address)
{
	if (address >= LOW_WINDOW && address < LOW_WINDOW + LOW_SIZE)
		return (address - LOW_WINDOW) / PAGE_SIZE;
	assert_in_range(address, HIGH_WINDOW, HIGH_WINDOW + HIGH_SIZE - 1);
	return LOW_PAGES + (address - HIGH_WINDOW) / PAGE_SIZE;
}

static u64 count_free(void)
{
	u64 count = 0;

	for (u64 i = 0; i < PAGES; i++)
		count += is_free[i];
	return count;
}

static bool run_is_free(u64 page, u64 pages)
{
	u64 window_end = page < LOW_PAGES ? LOW_PAGES : PAGES;

	if (pages > window_end - page)
		return false;
	for (u64 i = 0; i < pages; i++)
		if (!is_free[page + i])
			return false;
	return true;
}

/* The highest start that fits; PAGES: none. */
static u64 best_start(u64 pages, u64 align, u64 limit)
{
	for (u64 page = PAGES; page-- > 0;) {
		u64 address = page_address(page);

		if (IS_ALIGNED(address, align) && address + pages * PAGE_SIZE <= limit &&
			run_is_free(page, pages))
			return page;
	}
	return PAGES;
}

static u64 largest(u64 align)
{
	u64 best = 0, length = 0;

	for (u64 page = PAGES; page-- > 0;) {
		if (page == LOW_PAGES - 1)
			length = 0;
		length = is_free[page] ? length + 1 : 0;
		if (IS_ALIGNED(page_address(page), align))
			best = MAX(best, length);
	}
	return best;
}

static void all_free(void)
{
	static struct map_builder builder;

	fake_cpu_reset();
	map_begin(&builder, 48);
	map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW, LOW_PAGES);
	map_add(&builder, EFI_CONVENTIONAL, HIGH_WINDOW, HIGH_PAGES);
	frames_init(&builder.map);
	memset(is_free, true, sizeof(is_free));
	assert_int_equal(frames_total(), PAGES);
	assert_int_equal(frames_in_use(), 0);
}

static void assert_zeroed(u64 address, u64 pages)
{
	const u64 *words = (const u64 *)address;

	for (u64 i = 0; i < pages * PAGE_SIZE / 8; i++)
		assert_int_equal(words[i], 0);
}

static void check_alloc(u64 pages, u64 align, u64 limit, hpa_t *address)
{
	u64 expected = best_start(pages, align, limit);
	enum error error = frames_alloc_below(pages, align, limit, address);

	if (expected == PAGES) {
		assert_int_equal(error, ERR_NO_MEMORY);
		return;
	}
	assert_int_equal(error, ERR_OK);
	assert_int_equal(address->value, page_address(expected));
	assert_zeroed(address->value, pages);
	memset((void *)address->value, 0xee, pages * PAGE_SIZE);
	memset(&is_free[expected], false, pages);
}

static void random_use(void **state)
{
	static struct {
		hpa_t address;
		u64 pages;
	} runs[RUNS_MAX];
	u32 count = 0;

	(void)state;
	srandom(2);
	all_free();
	for (u32 round = 0; round < 1500; round++) {
		if (count < RUNS_MAX && random() % 5 < 3) {
			u64 pages = 1 + random() % (random() % 8 ? 24 : 900), before = count_free();
			u64 align = PAGE_SIZE << (random() % 3 ? 0 : random() % 10);
			u64 limit = random() % 4 ? ~0ul : page_address(random() % PAGES);

			check_alloc(pages, align, limit, &runs[count].address);
			runs[count].pages = pages;
			count += count_free() != before;
		} else if (count) {
			u32 i = random() % count;

			frames_free(runs[i].address, runs[i].pages);
			memset(&is_free[page_of(runs[i].address.value)], true, runs[i].pages);
			runs[i] = runs[--count];
		}
		assert_int_equal(frames_in_use(), PAGES - count_free());
		if (round % 16 == 0)
			for (u64 align = PAGE_SIZE; align <= 2 * SIZE_2M; align *= 8)
				assert_int_equal(frames_largest(align), largest(align));
	}
	while (count--)
		frames_free(runs[count].address, runs[count].pages);
	assert_int_equal(frames_in_use(), 0);
	assert_int_equal(frames_largest(PAGE_SIZE), LOW_PAGES);
}

static void requests_that_cannot_be(void **state)
{
	hpa_t address;

	(void)state;
	all_free();
	assert_int_equal(frames_alloc(0, PAGE_SIZE, &address), ERR_INVALID);
	assert_int_equal(frames_alloc(~0ul, PAGE_SIZE, &address), ERR_NO_MEMORY);
	assert_int_equal(frames_alloc(1ul << 52, PAGE_SIZE, &address), ERR_NO_MEMORY);
	assert_int_equal(frames_alloc(LOW_PAGES + 1, PAGE_SIZE, &address), ERR_NO_MEMORY);
	assert_int_equal(frames_alloc_below(1, PAGE_SIZE, 0, &address), ERR_NO_MEMORY);
	assert_int_equal(frames_alloc_below(1, PAGE_SIZE, LOW_WINDOW, &address), ERR_NO_MEMORY);
	assert_int_equal(frames_in_use(), 0);
}

/* Above 4 GiB is taken first; what must lie below does. */
static void limits(void **state)
{
	hpa_t address;

	(void)state;
	all_free();
	assert_int_equal(frames_alloc(1, PAGE_SIZE, &address), ERR_OK);
	assert_int_equal(address.value, HIGH_WINDOW + HIGH_SIZE - PAGE_SIZE);
	assert_int_equal(frames_alloc_below(1, PAGE_SIZE, SIZE_4G, &address), ERR_OK);
	assert_int_equal(address.value, LOW_WINDOW + LOW_SIZE - PAGE_SIZE);
	/* A limit within the run's page leaves that page out. */
	assert_int_equal(
		frames_alloc_below(1, PAGE_SIZE, LOW_WINDOW + 2 * PAGE_SIZE - 1, &address), ERR_OK);
	assert_int_equal(address.value, LOW_WINDOW);
}

static void freeing_twice_is_found(void **state)
{
	hpa_t address;
	jmp_buf jump;

	(void)state;
	all_free();
	assert_int_equal(frames_alloc(4, PAGE_SIZE, &address), ERR_OK);
	frames_free(address, 4);
	fake_panic_jump = &jump;
	if (setjmp(jump) == 0) {
		frames_free(hpa(address.value + PAGE_SIZE), 1);
		fail_msg("a free frame was freed");
	}
	fake_panic_jump = NULL;
	assert_non_null(strstr(fake_log_last, "freed twice"));
}

static void donated_memory_joins(void **state)
{
	static struct map_builder builder;
	hpa_t address;

	(void)state;
	fake_cpu_reset();
	map_begin(&builder, 48);
	map_add(&builder, EFI_LOADER_DATA, LOW_WINDOW, 3);
	map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW + 3 * PAGE_SIZE, 5);
	frames_init(&builder.map);
	assert_int_equal(frames_total(), 5);
	frames_donate(hpa(LOW_WINDOW), 3);
	frames_donate(hpa(LOW_WINDOW), 0);
	assert_int_equal(frames_total(), 8);
	assert_int_equal(frames_in_use(), 0);
	assert_int_equal(frames_alloc(8, PAGE_SIZE, &address), ERR_OK);
	assert_int_equal(address.value, LOW_WINDOW);
}

/* UEFI 2.10 table 7.10: what is ours once boot services are gone. */
static bool type_is_usable(u32 type)
{
	return type == EFI_CONVENTIONAL || type == 3 || type == EFI_BOOT_SERVICES_DATA;
}

static void check_map(const struct map_builder *builder)
{
	u64 expected = count_free(), taken = 0;
	hpa_t address;

	frames_init(&builder->map);
	assert_int_equal(frames_total(), expected);
	while (frames_alloc(1, PAGE_SIZE, &address) == ERR_OK) {
		u64 page = page_of(address.value);

		assert_true(is_free[page]);
		is_free[page] = false;
		taken++;
	}
	assert_int_equal(taken, expected);
}

/* Random descriptors, overlapping, in any order and stride, with all types. */
static void firmware_maps(void **state)
{
	static struct map_builder builder;
	static bool usable[PAGES], reserved[PAGES];

	(void)state;
	srandom(3);
	for (u32 round = 0; round < 40; round++) {
		fake_cpu_reset();
		map_begin(&builder, 40 + 8 * (random() % 10));
		memset(usable, 0, sizeof(usable));
		memset(reserved, 0, sizeof(reserved));
		for (u32 i = 0; i < 4 + (u32)random() % 40; i++) {
			u64 page = random() % PAGES, pages = random() % 300;
			u32 type = random() % 3 ? EFI_CONVENTIONAL : random() % 16;

			pages = MIN(pages, (page < LOW_PAGES ? LOW_PAGES : PAGES) - page);
			map_add(&builder, type, page_address(page), pages);
			memset(&(type_is_usable(type) ? usable : reserved)[page], true, pages);
			if (builder.map.size / builder.map.descriptor_size == DESCRIPTORS_MAX)
				break;
		}
		for (u64 page = 0; page < PAGES; page++)
			is_free[page] = usable[page] && !reserved[page];
		check_map(&builder);
	}
}

/* Nothing that the processor cannot address becomes memory; what covers real memory reserves it. */
static void hostile_descriptors(void **state)
{
	static const struct {
		u32 type;
		u64 start, pages;
	} hostile[] = {
		{ EFI_CONVENTIONAL, 0, 256 }, /* the first MiB is nobody's */
		{ EFI_CONVENTIONAL, LOW_WINDOW, ~0ul }, { EFI_CONVENTIONAL, ~0ul << 12, 1 },
		{ EFI_CONVENTIONAL, ~0ul << 12, ~0ul }, { EFI_CONVENTIONAL, 1ul << 52, 16 },
		{ EFI_CONVENTIONAL, (1ul << 46) - PAGE_SIZE, 2 },
		{ EFI_CONVENTIONAL, LOW_WINDOW, 0 },
		{ EFI_CONVENTIONAL, HIGH_WINDOW + 8, 4 }, /* within a page */
	};
	static struct map_builder builder;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(hostile); i++) {
		fake_cpu_reset();
		map_begin(&builder, 48);
		memset(is_free, 0, sizeof(is_free));
		memset(&is_free[16], true, 4);
		map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW + 16 * PAGE_SIZE, 4);
		map_add(&builder, hostile[i].type, hostile[i].start, hostile[i].pages);
		if (hostile[i].start == LOW_WINDOW && hostile[i].pages)
			memset(is_free, 0, sizeof(is_free));
		check_map(&builder);
	}
	/* A reserved descriptor that runs past the end of everything still reserves. */
	map_begin(&builder, 48);
	memset(is_free, 0, sizeof(is_free));
	memset(is_free, true, 8);
	map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW, 16);
	map_add(&builder, EFI_RESERVED, LOW_WINDOW + 8 * PAGE_SIZE, ~0ul);
	check_map(&builder);
	/* One that begins within a page reserves both pages that it touches. */
	map_begin(&builder, 48);
	memset(is_free, true, 16);
	memset(&is_free[8], false, 2);
	map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW, 16);
	map_add(&builder, EFI_MMIO, LOW_WINDOW + 8 * PAGE_SIZE + 16, 1);
	check_map(&builder);
}

static void maps_that_are_none(void **state)
{
	static struct map_builder builder;

	(void)state;
	fake_cpu_reset();
	memset(is_free, 0, sizeof(is_free));
	map_begin(&builder, 0); /* a stride of 0 must not divide or loop */
	builder.map.size = 4096;
	check_map(&builder);
	map_begin(&builder, 16); /* smaller than a descriptor */
	builder.map.size = 4096;
	check_map(&builder);
	map_begin(&builder, 48); /* a part of a descriptor at the end is none */
	map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW, 16);
	builder.map.size = 47;
	check_map(&builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_use),
		cmocka_unit_test(requests_that_cannot_be),
		cmocka_unit_test(limits),
		cmocka_unit_test(freeing_twice_is_found),
		cmocka_unit_test(donated_memory_joins),
		cmocka_unit_test(firmware_maps),
		cmocka_unit_test(hostile_descriptors),
		cmocka_unit_test(maps_that_are_none),
	};

	return cmocka_run_group_tests(tests, map_windows, NULL);
}
