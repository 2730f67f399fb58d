// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's memory map for many sizes of RAM, checked address by address (at every boundary that
 * matters) against what a PC has there.
 */
#include "loader_fixture.h"

#include "hv/dev/platform_map.h"

enum kind { NOTHING, RAM, RESERVED };

/* What the platform has at an address, for that much RAM. */
static enum kind oracle(u64 address, u64 size)
{
	u64 below = size < 0xc0000000 ? size : 0xc0000000;

	if (address >= 0x9fc00 && address < 0x100000)
		return RESERVED; /* EBDA, video, BIOS with the ACPI tables */
	if (address < below)
		return RAM;
	if (address >= 0xe0000000 && address < 0xe0100000)
		return RESERVED; /* PCI configuration space */
	if (address >= 0xfec00000 && address < 0x100000000)
		return RESERVED; /* IOAPIC, LAPIC, test device */
	if (address >= 0x100000000 && address - 0x100000000 < size - below)
		return RAM;
	return NOTHING;
}

static enum kind kind_at(const struct guest_map_entry *map, u32 count, u64 address)
{
	for (u32 i = 0; i < count; i++)
		if (address >= map[i].start.value && address - map[i].start.value < map[i].size)
			return map[i].type == GUEST_MAP_RAM ? RAM : RESERVED;
	return NOTHING;
}

static void test_map(void **state)
{
	static const u64 sizes[] = { 2 << 20, (2 << 20) + 4096, 64ull << 20, 128ull << 20,
		0xbffff000, 0xc0000000, 0xc0001000, 4ull << 30, 16ull << 30, 1ull << 40 };

	(void)state;
	for (u32 s = 0; s < ARRAY_SIZE(sizes); s++) {
		const u64 marks[] = { 0, 0x9fc00, 0xa0000, 0xe0000, 0x100000, sizes[s], 0xc0000000,
			0xe0000000, 0xe0100000, 0xfec00000, 0x100000000,
			0x100000000 + sizes[s] - 0xc0000000 };
		struct guest_memory ram = { .size = sizes[s] };
		struct guest_map_entry map[GUEST_MAP_MAX];
		u32 count = guest_map_build(&ram, map);
		u64 total = 0, end = 0;

		assert_in_range(count, 4, GUEST_MAP_MAX);
		for (u32 i = 0; i < count; i++) {
			assert_true(map[i].start.value >= end && map[i].size);
			end = map[i].start.value + map[i].size;
			if (map[i].type == GUEST_MAP_RAM)
				total += map[i].size;
		}
		assert_int_equal(total, sizes[s] - (0x100000 - 0x9fc00));
		for (u32 m = 0; m < ARRAY_SIZE(marks); m++)
			for (u64 address = marks[m] - 2; address != marks[m] + 2; address++)
				assert_int_equal(
					kind_at(map, count, address), oracle(address, sizes[s]));
		assert_int_equal(guest_low_memory(&ram) + guest_high_memory(&ram), sizes[s]);
	}
}

/* Every table that firmware leaves in memory lies in a reserved range. */
static void test_tables_are_reserved(void **state)
{
	struct guest_memory ram = { .size = 64 << 20 };
	struct guest_map_entry map[GUEST_MAP_MAX];
	u32 count = guest_map_build(&ram, map);

	(void)state;
	assert_int_equal(kind_at(map, count, GUEST_EBDA), RESERVED);
	assert_int_equal(kind_at(map, count, GUEST_MP_TABLE), RESERVED);
	assert_int_equal(kind_at(map, count, GUEST_ACPI), RESERVED);
	assert_int_equal(kind_at(map, count, GUEST_ACPI + GUEST_ACPI_SIZE - 1), RESERVED);
	assert_int_equal(kind_at(map, count, LAPIC_BASE), RESERVED);
	assert_int_equal(kind_at(map, count, MMIO_SCRATCH), RESERVED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_tables_are_reserved),
	};

	return cmocka_run_group_tests_name("e820", tests, NULL, NULL);
}
