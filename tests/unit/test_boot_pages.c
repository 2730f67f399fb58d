// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loader's page tables: random maps, and the direct map of made-up machines, compared with a
 * flat oracle through a walk of its own, written from SDM 3A figure 4-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/memory_map.h"
#include "boot/lib/page_tables.h"

#define POOL_PAGES 1024

static u64 pool;

static int setup(void **state)
{
	(void)state;
	pool = (u64)(uintptr_t)aligned_alloc(PAGE_SIZE, POOL_PAGES * PAGE_SIZE);
	return pool ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free((void *)(uintptr_t)pool);
	return 0;
}

struct walk {
	bool present, writable, executable;
	u64 physical;
	u64 page; /* size of the page that maps it */
};

static struct walk walk(u64 root, u64 linear)
{
	struct walk result = { .present = true, .writable = true, .executable = true };
	u64 table = root;

	for (int shift = 39; shift >= 12; shift -= 9) {
		u64 entry = ((u64 *)(uintptr_t)table)[linear >> shift & 511];

		if (!(entry & 1))
			return (struct walk){ 0 };
		result.writable = result.writable && (entry & 2);
		result.executable = result.executable && !(entry >> 63);
		table = entry & 0x000ffffffffff000;
		/* Only page-directory and page-directory-pointer entries may be large. */
		assert_false(shift == 39 && (entry & 0x80));
		if (shift == 12 || (entry & 0x80)) {
			u64 page = 1ull << shift;

			assert_int_equal(table & (page - 1), 0);
			result.page = page;
			result.physical = table + (linear & (page - 1));
			return result;
		}
	}
	fail();
	return result;
}

static struct page_tables start(bool large_1g)
{
	struct page_tables tables;

	memset((void *)(uintptr_t)pool, 0xa5, POOL_PAGES * PAGE_SIZE);
	assert_int_equal(page_tables_init(&tables, pool, POOL_PAGES, large_1g), ERR_OK);
	return tables;
}

static void expect_page(
	const struct page_tables *tables, u64 linear, u64 physical, enum page_rights rights)
{
	struct walk found = walk(tables->root, linear);

	assert_true(found.present);
	assert_true(found.physical == physical);
	assert_int_equal(found.writable, !!(rights & PAGE_WRITE));
	assert_int_equal(found.executable, !!(rights & PAGE_EXECUTE));
}

/*
 * Windows of linear addresses that straddle every kind of boundary, a page number in each an oracle
 * slot.
 */
#define WINDOW_PAGES 2048
static const u64 windows[] = {
	HV_DIRECT_MAP + SIZE_1G - 4 * SIZE_2M / 2,
	HV_IMAGE_BASE,
	0x7fc00000,
	HV_DIRECT_MAP + (512ull << 30) - 2 * SIZE_2M,
};

struct oracle_page {
	bool present;
	u64 physical;
	enum page_rights rights;
};

static struct oracle_page oracle[ARRAY_SIZE(windows)][WINDOW_PAGES];

static u32 random_seed;

static u32 random_below(u32 limit)
{
	random_seed = random_seed * 1664525 + 1013904223;
	return (random_seed >> 8) % limit;
}

/* Whether the whole range is free, or has this very mapping. */
static bool oracle_allows(u32 window, u32 first, u32 count, u64 physical, enum page_rights rights)
{
	for (u32 i = 0; i < count; i++) {
		const struct oracle_page *page = &oracle[window][first + i];

		if (page->present &&
			(page->physical != physical + i * PAGE_SIZE || page->rights != rights))
			return false;
	}
	return true;
}

static void compare(const struct page_tables *tables)
{
	for (u32 window = 0; window < ARRAY_SIZE(windows); window++) {
		for (u32 i = 0; i < WINDOW_PAGES; i++) {
			const struct oracle_page *page = &oracle[window][i];
			u64 linear = windows[window] + i * PAGE_SIZE;

			if (page->present)
				expect_page(tables, linear + 0x123, page->physical + 0x123,
					page->rights);
			else
				assert_false(walk(tables->root, linear).present);
		}
		/* Nothing beside the window. */
		assert_false(walk(tables->root, windows[window] - 1).present);
		assert_false(
			walk(tables->root, windows[window] + WINDOW_PAGES * PAGE_SIZE).present);
	}
}

static void random_map(struct page_tables *tables)
{
	static const u32 sizes[] = { 1, 3, 512, 513, 1024, 1200 };
	u32 window = random_below(ARRAY_SIZE(windows));
	u32 count = sizes[random_below(ARRAY_SIZE(sizes))];
	u32 first = random_below(WINDOW_PAGES - count + 1);
	enum page_rights rights = random_below(8) ? PAGE_WRITE : PAGE_EXECUTE;
	u64 physical;

	if (random_below(2))
		first &= ~511u;
	/* One of two distances: linear and physical at the same offset in a 2-MiB page, and not. */
	physical = 0x40000000 + window * 0x10000000ull +
		   (first + (random_below(16) ? 0 : 1)) * PAGE_SIZE;
	if (!oracle_allows(window, first, count, physical, rights))
		return;
	assert_int_equal(page_tables_map(tables, windows[window] + first * PAGE_SIZE, physical,
				 count * PAGE_SIZE, rights),
		ERR_OK);
	for (u32 i = 0; i < count; i++)
		oracle[window][first + i] = (struct oracle_page){
			.present = true,
			.physical = physical + i * PAGE_SIZE,
			.rights = rights,
		};
}

static void random_unmap(struct page_tables *tables)
{
	u32 window = random_below(ARRAY_SIZE(windows)), page = random_below(WINDOW_PAGES);

	assert_int_equal(
		page_tables_unmap_page(tables, windows[window] + page * PAGE_SIZE), ERR_OK);
	oracle[window][page].present = false;
}

static void test_random(void **state)
{
	(void)state;
	for (u32 round = 0; round < 40; round++) {
		struct page_tables tables = start(round % 2);

		random_seed = round;
		memset(oracle, 0, sizeof(oracle));
		for (u32 i = 0; i < 60; i++) {
			if (random_below(3))
				random_map(&tables);
			else
				random_unmap(&tables);
		}
		compare(&tables);
	}
}

static void test_conflict(void **state)
{
	struct page_tables tables = start(true);
	const u64 at = HV_DIRECT_MAP;

	(void)state;
	assert_int_equal(page_tables_map(&tables, at, 0, SIZE_2M, PAGE_WRITE), ERR_OK);
	/* The same again, and a part of it. */
	assert_int_equal(page_tables_map(&tables, at, 0, SIZE_2M, PAGE_WRITE), ERR_OK);
	assert_int_equal(
		page_tables_map(&tables, at + PAGE_SIZE, PAGE_SIZE, PAGE_SIZE, PAGE_WRITE), ERR_OK);
	assert_int_equal(page_tables_map(&tables, at, 0, PAGE_SIZE, PAGE_READ), ERR_CONFLICT);
	assert_int_equal(
		page_tables_map(&tables, at, PAGE_SIZE, PAGE_SIZE, PAGE_WRITE), ERR_CONFLICT);
	assert_int_equal(walk(tables.root, at).page, SIZE_2M);
}

static void test_page_sizes(void **state)
{
	struct page_tables tables = start(true);

	(void)state;
	assert_int_equal(page_tables_map(&tables, HV_DIRECT_MAP, 0, SIZE_4G, PAGE_WRITE), ERR_OK);
	assert_int_equal(walk(tables.root, HV_DIRECT_MAP + SIZE_4G - 1).page, SIZE_1G);
	assert_int_equal(tables.pool_used, 2);
	/* A guard page in a 1-GiB page: every other page of it stays where it was. */
	assert_int_equal(page_tables_unmap_page(&tables, HV_DIRECT_MAP + SIZE_1G + 0x5000), ERR_OK);
	assert_int_equal(tables.pool_used, 4);
	for (u64 at = SIZE_1G; at < 2 * SIZE_1G;
		at += at < SIZE_1G + SIZE_2M ? PAGE_SIZE : SIZE_2M) {
		if (at == SIZE_1G + 0x5000)
			assert_false(walk(tables.root, HV_DIRECT_MAP + at).present);
		else
			expect_page(&tables, HV_DIRECT_MAP + at, at, PAGE_WRITE);
	}
	tables = start(false);
	assert_int_equal(page_tables_map(&tables, HV_DIRECT_MAP, 0, SIZE_4G, PAGE_WRITE), ERR_OK);
	assert_int_equal(walk(tables.root, HV_DIRECT_MAP + SIZE_4G - 1).page, SIZE_2M);
	assert_int_equal(tables.pool_used, 6);
	/* A guard page splits one large page only. */
	assert_int_equal(page_tables_unmap_page(&tables, HV_DIRECT_MAP + 0x5000), ERR_OK);
	assert_false(walk(tables.root, HV_DIRECT_MAP + 0x5fff).present);
	expect_page(&tables, HV_DIRECT_MAP + 0x4fff, 0x4fff, PAGE_WRITE);
	expect_page(&tables, HV_DIRECT_MAP + 0x6000, 0x6000, PAGE_WRITE);
	assert_int_equal(walk(tables.root, HV_DIRECT_MAP + SIZE_2M).page, SIZE_2M);
	assert_int_equal(tables.pool_used, 7);
}

/* A pool of any size too small is an error, and no page beyond it is written. */
static void test_small_pool(void **state)
{
	struct page_tables tables;

	(void)state;
	assert_int_equal(page_tables_init(&tables, pool, 0, true), ERR_NO_MEMORY);
	for (u32 pages = 1; pages < 7; pages++) {
		u8 *beyond = (u8 *)(uintptr_t)(pool + pages * PAGE_SIZE);
		enum error error;

		memset((void *)(uintptr_t)pool, 0xa5, POOL_PAGES * PAGE_SIZE);
		assert_int_equal(page_tables_init(&tables, pool, pages, false), ERR_OK);
		error = page_tables_map(&tables, HV_DIRECT_MAP, 0, SIZE_4G, PAGE_WRITE);
		assert_int_equal(error, pages < 6 ? ERR_NO_MEMORY : ERR_OK);
		if (!error)
			assert_int_equal(
				page_tables_unmap_page(&tables, HV_DIRECT_MAP), ERR_NO_MEMORY);
		assert_int_equal(*beyond, 0xa5);
	}
}

/* A memory map with descriptors of 48 bytes, as most firmware has them. */
struct descriptor {
	u32 type, padding;
	u64 physical_start, virtual_start, pages, attributes, more;
};

static struct boot_memory_map map_of(const struct descriptor *descriptors, size_t count)
{
	return (struct boot_memory_map){
		.address = (u64)(uintptr_t)descriptors,
		.size = count * sizeof(*descriptors),
		.descriptor_size = sizeof(*descriptors),
		.descriptor_version = 1,
	};
}

static struct descriptor memory(u64 start, u64 pages)
{
	return (struct descriptor){ .type = 7, .physical_start = start, .pages = pages };
}

static void test_direct_map(void **state)
{
	const struct descriptor descriptors[] = {
		memory(0x100000, 0x7ff00),
		memory(SIZE_4G - SIZE_2M, 1024),   /* over the 4-GiB line */
		memory(SIZE_4G, 256),		   /* overlaps the one before */
		memory(SIZE_4G + 16 * SIZE_2M, 3), /* odd size */
		memory(8 * SIZE_1G, SIZE_1G / PAGE_SIZE),
		memory(1ull << 39, 0x10000), /* over the limit at its end */
		memory(1ull << 45, 1),	     /* beyond the limit */
		memory(~0xfffull, ~0ull),    /* nonsense */
		memory(16 * SIZE_1G, 0),     /* empty */
	};
	const u64 limit = (1ull << 39) + 0x8000000;

	(void)state;
	for (u32 large = 0; large < 2; large++) {
		struct boot_memory_map map = map_of(descriptors, ARRAY_SIZE(descriptors));
		struct page_tables tables = start(large);
		const u64 at = HV_DIRECT_MAP;

		assert_int_equal(page_tables_map_direct(&tables, &map, limit), ERR_OK);
		expect_page(&tables, at, 0, PAGE_WRITE);
		expect_page(&tables, at + 0xfee00000, 0xfee00000, PAGE_WRITE);
		expect_page(&tables, at + SIZE_4G - 1, SIZE_4G - 1, PAGE_WRITE);
		expect_page(&tables, at + SIZE_4G, SIZE_4G, PAGE_WRITE);
		expect_page(&tables, at + SIZE_4G + SIZE_2M - 1, SIZE_4G + SIZE_2M - 1, PAGE_WRITE);
		assert_false(walk(tables.root, at + SIZE_4G + SIZE_2M).present);
		expect_page(&tables, at + SIZE_4G + 16 * SIZE_2M + 0x2fff,
			SIZE_4G + 16 * SIZE_2M + 0x2fff, PAGE_WRITE);
		assert_false(walk(tables.root, at + SIZE_4G + 16 * SIZE_2M + 0x3000).present);
		assert_int_equal(
			walk(tables.root, at + 8 * SIZE_1G).page, large ? SIZE_1G : SIZE_2M);
		expect_page(&tables, at + limit - 1, limit - 1, PAGE_WRITE);
		assert_false(walk(tables.root, at + limit).present);
		assert_false(walk(tables.root, at + (1ull << 45)).present);
		assert_false(walk(tables.root, at + 16 * SIZE_1G).present);
		/* Nothing in the low half, nothing where the image goes. */
		for (u32 i = 0; i < 256; i++)
			assert_int_equal(((u64 *)(uintptr_t)tables.root)[i], 0);
		assert_int_equal(((u64 *)(uintptr_t)tables.root)[511], 0);
	}
}

static void test_memory_map_strides(void **state)
{
	u8 bytes[3 * 56] = { 0 };
	struct boot_memory_map map = { .address = (u64)(uintptr_t)bytes, .size = sizeof(bytes) };
	struct memory_range range;

	(void)state;
	for (u32 stride = 40; stride <= 56; stride += 8) {
		memset(bytes, 0xff, sizeof(bytes));
		for (u32 i = 0; i < 3; i++) {
			const u64 descriptor[5] = { 7, i * 0x10000, 0, 4 + i, 0 };

			memcpy(bytes + i * stride, descriptor, sizeof(descriptor));
		}
		map.size = 3 * stride;
		map.descriptor_size = stride;
		assert_true(memory_map_range(&map, 2, BIT(52), &range));
		assert_int_equal(range.type, 7);
		assert_int_equal(range.start, 0x20000);
		assert_int_equal(range.size, 6 * PAGE_SIZE);
		assert_false(memory_map_range(&map, 3, BIT(52), &range));
		assert_int_equal(memory_map_free(&map), 15 * PAGE_SIZE);
	}
	/* Strides that cannot be. */
	map.descriptor_size = 39;
	assert_false(memory_map_range(&map, 0, BIT(52), &range));
	map.descriptor_size = 0;
	assert_false(memory_map_range(&map, 0, BIT(52), &range));
}

static void test_free_memory(void **state)
{
	struct descriptor descriptors[16];
	struct boot_memory_map map = map_of(descriptors, ARRAY_SIZE(descriptors));

	(void)state;
	/* Type n has 1 << n pages: the sum tells which types count. */
	for (u32 type = 0; type < ARRAY_SIZE(descriptors); type++)
		descriptors[type] = (struct descriptor){ .type = type, .pages = 1u << type };
	assert_int_equal(memory_map_free(&map), ((1u << 3) + (1u << 4) + (1u << 7)) * PAGE_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_conflict),
		cmocka_unit_test(test_page_sizes),
		cmocka_unit_test(test_small_pool),
		cmocka_unit_test(test_direct_map),
		cmocka_unit_test(test_memory_map_strides),
		cmocka_unit_test(test_free_memory),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
