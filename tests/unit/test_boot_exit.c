// SPDX-License-Identifier: BSD-2-Clause
/* BUG-21: leaving boot services of firmware that keeps changing its memory map. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/exit_boot.h"

#define DESCRIPTOR_SIZE 48
#define CAPACITY	(64 * DESCRIPTOR_SIZE)

/* Firmware with its services' rules. */
struct mock {
	u32 failures;	/* how many exits it will refuse */
	u32 entries;	/* of the map */
	u32 growth;	/* entries added at each refused exit */
	u64 key;	/* of the map as it is */
	bool key_given; /* the map was fetched since it last changed */
	u32 maps, exits;
	bool gone;
};

static bool mock_get_memory_map(void *context, struct boot_memory_map *map, u64 *key)
{
	struct mock *mock = context;
	u64 size = mock->entries * DESCRIPTOR_SIZE;

	assert_false(mock->gone);
	assert_int_equal(map->size, CAPACITY);
	mock->maps++;
	if (size > map->size)
		return false;
	memset((void *)(uintptr_t)map->address, (int)mock->entries, size);
	map->size = size;
	map->descriptor_size = DESCRIPTOR_SIZE;
	map->descriptor_version = 1;
	*key = mock->key;
	mock->key_given = true;
	return true;
}

static bool mock_exit(void *context, u64 key)
{
	struct mock *mock = context;

	assert_false(mock->gone);
	assert_true(mock->key_given);
	assert_int_equal(key, mock->key);
	mock->exits++;
	if (mock->exits > mock->failures) {
		mock->gone = true;
		return true;
	}
	mock->key += 17;
	mock->entries += mock->growth;
	mock->key_given = false;
	return false;
}

static u8 buffer[CAPACITY + 1];

static enum error run(struct mock *mock, struct boot_memory_map *map, bool *attempted)
{
	const struct exit_boot_services services = {
		.context = mock,
		.get_memory_map = mock_get_memory_map,
		.exit = mock_exit,
	};

	buffer[CAPACITY] = 0x5a;
	return exit_boot(&services, (u64)(uintptr_t)buffer, CAPACITY, map, attempted);
}

static void test_retries(void **state)
{
	(void)state;
	for (u32 failures = 0; failures < EXIT_BOOT_ATTEMPTS; failures++) {
		for (u32 growth = 0; growth <= 3; growth++) {
			struct mock mock = {
				.failures = failures, .entries = 10, .growth = growth, .key = 5
			};
			struct boot_memory_map map;
			bool attempted;

			assert_int_equal(run(&mock, &map, &attempted), ERR_OK);
			assert_true(mock.gone);
			assert_int_equal(mock.maps, failures + 1);
			assert_int_equal(mock.exits, failures + 1);
			/* The map is the last one, whole. */
			assert_int_equal(map.size, (10 + failures * growth) * DESCRIPTOR_SIZE);
			assert_int_equal(map.descriptor_size, DESCRIPTOR_SIZE);
			assert_int_equal(buffer[map.size - 1], 10 + failures * growth);
		}
	}
}

static void test_gives_up(void **state)
{
	struct mock mock = { .failures = ~0u, .entries = 10 };
	struct boot_memory_map map;
	bool attempted;

	(void)state;
	assert_int_equal(run(&mock, &map, &attempted), ERR_HARDWARE);
	assert_true(attempted);
	assert_int_equal(mock.exits, EXIT_BOOT_ATTEMPTS);
}

static void test_map_outgrows_the_buffer(void **state)
{
	struct mock large = { .entries = 65 };
	struct mock growing = { .failures = ~0u, .entries = 60, .growth = 4 };
	struct boot_memory_map map;
	bool attempted;

	(void)state;
	assert_int_equal(run(&large, &map, &attempted), ERR_NO_MEMORY);
	assert_false(attempted);
	assert_int_equal(large.exits, 0);

	assert_int_equal(run(&growing, &map, &attempted), ERR_NO_MEMORY);
	assert_true(attempted);
	assert_int_equal(growing.exits, 2);
	assert_int_equal(buffer[CAPACITY], 0x5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_map_outgrows_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
