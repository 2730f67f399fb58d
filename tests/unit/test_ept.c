// SPDX-License-Identifier: BSD-2-Clause
/*
 * The EPT builder against a flat oracle: an array with one row per 4 KiB page of a few windows of
 * the guest-physical space. After every random operation the whole array is compared with
 * ept_lookup(), and the tables are walked once more by hand for entries that the processor would
 * refuse. BUG-50.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frames_double.h"
#include "mmu/ept.h"

#define WINDOW_PAGES (3 * SIZE_2M / PAGE_SIZE)
#define MAXPHYADDR   46

struct page {
	bool present;
	u64 to;
	enum ept_rights rights;
	enum memory_type type;
};

static const struct ept_capabilities all = { true, true, true, true, true };
static const struct ept_capabilities small = { .write_back_tables = true };

/* Windows around the edges of tables of each level; the last ends at 2^48. */
static const u64 windows[] = { 0, SIZE_4G - SIZE_2M, 512 * SIZE_1G - SIZE_2M, 1024 * SIZE_1G,
	(1ull << MAXPHYADDR) - 3 * SIZE_2M, EPT_ADDRESS_LIMIT - 3 * SIZE_2M };
static struct page oracle[ARRAY_SIZE(windows)][WINDOW_PAGES];

static u64 random_state;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void compare(const struct ept *ept, u64 window)
{
	for (u64 i = 0; i < WINDOW_PAGES; i++) {
		const struct page *page = &oracle[window][i];
		u64 offset = random_u64() & PAGE_MASK, size;
		hpa_t to;
		enum ept_rights rights;
		enum memory_type type;
		bool present = ept_lookup(ept, gpa(windows[window] + i * PAGE_SIZE + offset), &to,
			&size, &rights, &type);

		assert_int_equal(present, page->present);
		if (!present)
			continue;
		assert_int_equal(to.value, page->to + offset);
		assert_int_equal(rights, page->rights);
		assert_int_equal(type, page->type);
	}
}

/* Reserved bits and counts, read straight from SDM 3C tables 29-1 to 29-7. Returns tables. */
static u64 audit(const struct ept *ept, u64 table, u32 level)
{
	u64 tables = 1;

	for (u32 i = 0; i < 512; i++) {
		u64 entry = ((const u64 *)table)[i];
		bool leaf = level == 1 || (entry & BIT(7));

		if (!(entry & 7)) {
			assert_int_equal(entry, 0);
			continue;
		}
		assert_true((entry & 3) != 2);
		assert_int_equal(entry >> 52, 0);
		if (!leaf) {
			assert_int_equal(entry & 0xff8, 0);
			tables += audit(ept, entry & ~PAGE_MASK, level - 1);
			continue;
		}
		assert_true(level < 4);
		assert_true(level > 1 || !(entry & BIT(7)));
		assert_true(level < 3 || ept->capabilities.page_1g);
		assert_true(level < 2 || ept->capabilities.page_2m);
		assert_int_equal(entry & ((PAGE_SIZE << 9 * (level - 1)) - 1) & ~0xfffull, 0);
	}
	return tables;
}

static void random_operation(struct ept *ept)
{
	static const enum memory_type types[] = { MEMORY_UC, MEMORY_WC, MEMORY_WT, MEMORY_WP,
		MEMORY_WB };
	static const enum ept_rights rights[] = { 1, 3, 5, 7 };
	u64 window = random_u64() % ARRAY_SIZE(windows);
	bool large = random_u64() % 2;
	u64 unit = large ? 512 : 1;
	u64 first = random_u64() % (WINDOW_PAGES / unit) * unit;
	u64 count = (1 + random_u64() % ((WINDOW_PAGES - first) / unit)) * unit;
	struct page page = { random_u64() % 3 != 0,
		random_u64() % 4096 * (large ? SIZE_2M : PAGE_SIZE), rights[random_u64() % 4],
		types[random_u64() % 5] };
	gpa_t from = gpa(windows[window] + first * PAGE_SIZE);
	bool must_invalidate = false;

	for (u64 i = first; i < first + count; i++) {
		struct page *old = &oracle[window][i];

		if (old->present && (!page.present || old->to != page.to ||
					    old->rights != page.rights || old->type != page.type))
			must_invalidate = true;
		*old = page;
		page.to += PAGE_SIZE;
	}
	page.to -= count * PAGE_SIZE;
	if (page.present)
		assert_int_equal(
			ept_map(ept, from, hpa(page.to), count * PAGE_SIZE, page.rights, page.type),
			ERR_OK);
	else
		assert_int_equal(ept_unmap(ept, from, count * PAGE_SIZE), ERR_OK);
	if (must_invalidate)
		assert_true(ept_needs_invalidation(ept));
	compare(ept, window);
}

static void run_random(const struct ept_capabilities *capabilities, u64 seed)
{
	struct ept ept;

	random_state = seed;
	memset(oracle, 0, sizeof(oracle));
	assert_int_equal(ept_init(&ept, capabilities), ERR_OK);
	for (u32 i = 0; i < 200; i++) {
		random_operation(&ept);
		if (i % 8)
			continue;
		ept_invalidated(&ept);
		assert_false(ept_needs_invalidation(&ept));
		assert_int_equal(audit(&ept, ept.root.value, 4), ept.table_pages);
		assert_int_equal(ept.table_pages, frames_in_use());
		for (u32 w = 0; w < ARRAY_SIZE(windows); w++)
			compare(&ept, w);
	}
	ept_destroy(&ept);
	assert_int_equal(frames_in_use(), 0);
	ept_destroy(&ept);
}

static void test_random(void **state)
{
	(void)state;
	run_random(&all, 0x9e3779b97f4a7c15);
	run_random(&small, 0xc2b2ae3d27d4eb4f);
}

static u64 mapped_size(const struct ept *ept, u64 address)
{
	hpa_t to;
	u64 size;
	enum ept_rights rights;
	enum memory_type type;

	return ept_lookup(ept, gpa(address), &to, &size, &rights, &type) ? size : 0;
}

static void test_bug50_edges(void **state)
{
	static const u64 edges[] = { 0, SIZE_4G - PAGE_SIZE, 512 * SIZE_1G, 1024 * SIZE_1G,
		(1ull << MAXPHYADDR) - PAGE_SIZE, EPT_ADDRESS_LIMIT - PAGE_SIZE };
	struct ept ept;

	(void)state;
	assert_int_equal(ept_init(&ept, &all), ERR_OK);
	for (u32 i = 0; i < ARRAY_SIZE(edges); i++) {
		hpa_t to;
		u64 size;
		enum ept_rights rights;
		enum memory_type type;

		assert_int_equal(mapped_size(&ept, edges[i]), 0);
		assert_int_equal(ept_map(&ept, gpa(edges[i]), hpa(0x1000 * (i + 1)), PAGE_SIZE,
					 EPT_RWX, MEMORY_WB),
			ERR_OK);
		assert_true(ept_lookup(&ept, gpa(edges[i] + 0xfff), &to, &size, &rights, &type));
		assert_int_equal(to.value, 0x1000 * (i + 1) + 0xfff);
		assert_int_equal(mapped_size(&ept, edges[i] ^ PAGE_SIZE), 0);
	}
	assert_false(ept_needs_invalidation(&ept));
	assert_int_equal(mapped_size(&ept, EPT_ADDRESS_LIMIT), 0);
	assert_int_equal(mapped_size(&ept, ~0ull), 0);
	ept_destroy(&ept);
}

static void test_page_sizes(void **state)
{
	struct ept ept;

	(void)state;
	assert_int_equal(ept_init(&ept, &all), ERR_OK);
	assert_int_equal(ept.eptp, ept.root.value | 3 << 3 | 6);
	assert_int_equal(ept_map(&ept, gpa(0), hpa(SIZE_4G), 2 * SIZE_1G + SIZE_2M + PAGE_SIZE,
				 EPT_RWX, MEMORY_WB),
		ERR_OK);
	assert_int_equal(mapped_size(&ept, SIZE_1G), SIZE_1G);
	assert_int_equal(mapped_size(&ept, 2 * SIZE_1G), SIZE_2M);
	assert_int_equal(mapped_size(&ept, 2 * SIZE_1G + SIZE_2M), PAGE_SIZE);
	assert_int_equal(ept.table_pages, 4);

	/* Aligned here, not there: small pages. */
	assert_int_equal(
		ept_map(&ept, gpa(SIZE_4G), hpa(SIZE_4G + SIZE_2M), SIZE_1G, EPT_RWX, MEMORY_WB),
		ERR_OK);
	assert_int_equal(mapped_size(&ept, SIZE_4G), SIZE_2M);

	/* A hole of one page in a 1 GiB page, then the whole again. */
	assert_int_equal(ept_unmap(&ept, gpa(SIZE_1G + PAGE_SIZE), PAGE_SIZE), ERR_OK);
	assert_true(ept_needs_invalidation(&ept));
	assert_int_equal(mapped_size(&ept, SIZE_1G), PAGE_SIZE);
	assert_int_equal(mapped_size(&ept, SIZE_1G + PAGE_SIZE), 0);
	assert_int_equal(mapped_size(&ept, SIZE_1G + SIZE_2M), SIZE_2M);
	assert_int_equal(
		ept_map(&ept, gpa(SIZE_1G), hpa(SIZE_1G), SIZE_1G, EPT_RWX, MEMORY_WB), ERR_OK);
	assert_int_equal(mapped_size(&ept, SIZE_1G), SIZE_1G);
	ept_destroy(&ept);
	assert_int_equal(frames_in_use(), 0);
}

static void test_refusals(void **state)
{
	struct ept_capabilities no_execute_only = all;
	struct ept ept;

	(void)state;
	no_execute_only.execute_only = false;
	assert_int_equal(ept_init(&ept, &no_execute_only), ERR_OK);
	for (u32 rights = 0; rights < 10; rights++) {
		bool ok = rights == 1 || rights == 3 || rights == 5 || rights == 7;

		assert_int_equal(ept_map(&ept, gpa(0), hpa(0), PAGE_SIZE, rights, MEMORY_WB),
			ok ? ERR_OK : ERR_INVALID);
	}
	ept.capabilities.execute_only = true;
	assert_int_equal(ept_map(&ept, gpa(0), hpa(0), PAGE_SIZE, EPT_EXECUTE, MEMORY_WB), ERR_OK);
	for (u32 type = 0; type < 9; type++) {
		bool ok = type == 0 || type == 1 || (type >= 4 && type <= 6);

		assert_int_equal(ept_map(&ept, gpa(0), hpa(0), PAGE_SIZE, EPT_RWX, type),
			ok ? ERR_OK : ERR_INVALID);
	}
	assert_int_equal(ept_map(&ept, gpa(1), hpa(0), PAGE_SIZE, EPT_RWX, 6), ERR_INVALID);
	assert_int_equal(ept_map(&ept, gpa(0), hpa(1), PAGE_SIZE, EPT_RWX, 6), ERR_INVALID);
	assert_int_equal(ept_map(&ept, gpa(0), hpa(0), 1, EPT_RWX, 6), ERR_INVALID);
	assert_int_equal(ept_map(&ept, gpa(EPT_ADDRESS_LIMIT - PAGE_SIZE), hpa(0), 2 * PAGE_SIZE,
				 EPT_RWX, 6),
		ERR_RANGE);
	assert_int_equal(ept_map(&ept, gpa(0), hpa(1ull << 52), PAGE_SIZE, EPT_RWX, 6), ERR_RANGE);
	assert_int_equal(
		ept_map(&ept, gpa(0), hpa((1ull << 52) - PAGE_SIZE), 2 * PAGE_SIZE, EPT_RWX, 6),
		ERR_RANGE);
	assert_int_equal(ept_unmap(&ept, gpa(-PAGE_SIZE), PAGE_SIZE), ERR_RANGE);
	assert_int_equal(ept_unmap(&ept, gpa(PAGE_SIZE), -PAGE_SIZE), ERR_RANGE);
	ept_destroy(&ept);
}

/* Out of frames at every possible moment: what stands is consistent, and nothing leaks. */
static void test_out_of_memory(void **state)
{
	(void)state;
	for (u64 budget = 0; budget < 12; budget++) {
		struct ept ept;

		frames_double_budget = budget;
		if (ept_init(&ept, &all) == ERR_OK) {
			u64 from = SIZE_4G - 2 * PAGE_SIZE;
			enum error error = ept_map(
				&ept, gpa(from), hpa(from), 4 * PAGE_SIZE, EPT_RWX, MEMORY_WB);
			bool whole = mapped_size(&ept, from + 3 * PAGE_SIZE);

			assert_int_equal(error == ERR_OK, whole);
			assert_int_equal(error == ERR_OK, budget >= 6);
			/* A split that cannot be made leaves the large page as it was. */
			if (ept_map(&ept, gpa(0), hpa(0), SIZE_1G, EPT_RWX, 6) == ERR_OK) {
				error = ept_unmap(&ept, gpa(0), PAGE_SIZE);
				assert_int_equal(mapped_size(&ept, 0) == 0, error == ERR_OK);
				assert_true(mapped_size(&ept, PAGE_SIZE));
			}
			audit(&ept, ept.root.value, 4);
			ept_destroy(&ept);
		}
		assert_int_equal(frames_in_use(), 0);
	}
	frames_double_budget = ~0ull;
}

static void test_table_limit(void **state)
{
	struct ept ept;

	(void)state;
	assert_int_equal(ept_init(&ept, &small), ERR_OK);
	ept.table_limit = 5;
	assert_int_equal(ept_map(&ept, gpa(0), hpa(0), 2 * SIZE_2M, EPT_RWX, 6), ERR_OK);
	assert_int_equal(
		ept_map(&ept, gpa(2 * SIZE_2M), hpa(0), PAGE_SIZE, EPT_RWX, 6), ERR_NO_MEMORY);
	assert_int_equal(frames_in_use(), 5);
	ept_destroy(&ept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_bug50_edges),
		cmocka_unit_test(test_page_sizes),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_table_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
