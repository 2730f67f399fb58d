// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's MP tables, found as the MultiProcessor Specification 1.4 says (EBDA first, then the
 * BIOS area) and read back entry by entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/dev/mp_table.h"
#include "hv/dev/platform_map.h"

#define MEMORY (2u << 20)

static u8 *ram;
static struct guest_memory memory;

static int setup(void **state)
{
	(void)state;
	ram = malloc(MEMORY);
	memset(ram, 0xa5, MEMORY);
	memory = (struct guest_memory){
		.extents = { { gpa(0), MEMORY, ram, hpa(0) } }, .count = 1, .size = MEMORY
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(ram);
	return 0;
}

static u32 value(u32 at, u32 size)
{
	u32 result = 0;

	while (size--)
		result = result << 8 | ram[at + size];
	return result;
}

static u8 sum(u32 at, u32 size)
{
	u8 total = 0;

	while (size--)
		total = (u8)(total + ram[at++]);
	return total;
}

static u32 search(u32 from, u32 to)
{
	for (u32 at = from; at < to; at += 16)
		if (!memcmp(ram + at, "_MP_", 4) && !sum(at, 16))
			return at;
	return 0;
}

static u32 find_table(void)
{
	u32 ebda = value(0x40e, 2) << 4;
	u32 at = search(ebda, ebda + 1024);

	if (!at)
		at = search(0xf0000, 0x100000);
	assert_int_not_equal(at, 0);
	assert_int_equal(ram[at + 8], 1);
	assert_int_equal(ram[at + 9], 4);
	assert_int_equal(ram[at + 11], 0);
	return value(at + 4, 4);
}

static const u32 counts[] = { 1, 2, 8, 38, 39, 40, 41, 64, 254, 255, 1000 };

static void test_entries(void **state)
{
	(void)state;
	for (u32 c = 0; c < ARRAY_SIZE(counts); c++) {
		u32 table, at, entries, cpus = 0, lines = 0, last = 0, nmis = 0;

		assert_int_equal(mp_table_build(&memory, counts[c]), ERR_OK);
		table = find_table();
		assert_memory_equal(ram + table, "PCMP", 4);
		assert_int_equal(sum(table, value(table + 4, 2)), 0);
		assert_int_equal(value(table + 36, 4), 0xfee00000);
		at = table + 44;
		for (entries = 0; entries < value(table + 34, 2); entries++) {
			const u8 *entry = ram + at;

			assert_true(entry[0] >= last && entry[0] <= 4); /* ascending types, 4.3 */
			last = entry[0];
			at += entry[0] == 0 ? 20 : 8;
			if (entry[0] == 0) {
				assert_int_equal(entry[1], cpus);
				assert_int_equal(entry[3], cpus++ ? 1 : 3);
			} else if (entry[0] == 1) {
				assert_memory_equal(entry + 2, "ISA   ", 6);
			} else if (entry[0] == 2) {
				assert_int_equal(value((u32)(entry - ram) + 4, 4), 0xfec00000);
				assert_int_equal(entry[3], 1);
			} else if (entry[0] == 3 && entry[1] == 0) {
				lines |= 1u << entry[5];
				assert_int_equal(entry[7], entry[5] ? entry[5] : 2);
				assert_int_equal(entry[2], entry[5] == 9 ? 0xd : 0);
			} else if (entry[0] == 4 && entry[1] == 1) {
				nmis++;
				assert_int_equal(entry[6], 0xff);
				assert_int_equal(entry[7], 1);
			}
		}
		assert_int_equal(at, table + value(table + 4, 2));
		assert_int_equal(cpus, MIN(counts[c], 255));
		assert_int_equal(lines, 0xfffb);
		assert_int_equal(nmis, 1);
	}
}

/*
 * Only the EBDA, the BIOS area behind the ACPI tables and two words of the BIOS data area change.
 */
static void test_nothing_else_written(void **state)
{
	(void)state;
	for (u32 c = 0; c < ARRAY_SIZE(counts); c++)
		assert_int_equal(mp_table_build(&memory, counts[c]), ERR_OK);
	for (u32 i = 0; i < MEMORY; i++)
		if (!(i >= 0x40e && i < 0x410) && !(i >= 0x413 && i < 0x415) &&
			!(i >= GUEST_EBDA && i < 0xa0000) && !(i >= 0xf0000 && i < 0x100000))
			assert_int_equal(ram[i], 0xa5);
	assert_int_equal(value(0x413, 2), 639);
	assert_int_equal(ram[GUEST_EBDA], 1);
}

static void test_refusals(void **state)
{
	(void)state;
	assert_int_equal(mp_table_build(&memory, 0), ERR_RANGE);
	memory.extents[0].size = GUEST_EBDA;
	assert_int_equal(mp_table_build(&memory, 1), ERR_RANGE);
	memory.extents[0].size = 0xf0000;
	assert_int_equal(mp_table_build(&memory, 1), ERR_OK);
	assert_int_equal(mp_table_build(&memory, 64), ERR_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_entries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_else_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
	};

	return cmocka_run_group_tests_name("mp_table", tests, NULL, NULL);
}
