// SPDX-License-Identifier: BSD-2-Clause
/*
 * Guest memory against a flat oracle: every address and size over a few small extents (adjacent
 * ones, a gap, one that ends at 2^64), so that each boundary and each wrap-around is met.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vm/guest_memory.h"

#define SPAN	   24 /* addresses looked at from each base */
#define TOP	   (0ull - 8)
#define PATTERN(i) ((u8)(0x40 + (i)))

/* Host bytes of the extents, with a guard byte between them that must never change. */
static u8 host[32];
static struct guest_memory memory;

static const struct {
	u64 start, size, at;
} layout[] = {
	{ 0, 5, 1 },
	{ 5, 4, 20 },
	{ 12, 4, 10 },
	{ TOP + 4, 4, 26 },
};

static int setup(void **state)
{
	(void)state;
	memset(&memory, 0, sizeof(memory));
	for (u32 i = 0; i < sizeof(host); i++)
		host[i] = PATTERN(i);
	for (u32 i = 0; i < ARRAY_SIZE(layout); i++) {
		memory.extents[i] = (struct guest_extent){ gpa(layout[i].start), layout[i].size,
			host + layout[i].at, hpa(0) };
		memory.size += layout[i].size;
	}
	memory.count = ARRAY_SIZE(layout);
	return 0;
}

/* The host byte of an address; -1 if it is not RAM. */
static int oracle(u64 address, u32 *extent)
{
	for (u32 i = 0; i < ARRAY_SIZE(layout); i++)
		for (u64 k = 0; k < layout[i].size; k++)
			if (layout[i].start + k == address) {
				*extent = i;
				return (int)(layout[i].at + k);
			}
	return -1;
}

/* Number of bytes from the address that are RAM, without passing 2^64, up to the limit. */
static u64 oracle_run(u64 address, u64 limit, bool one_extent)
{
	u64 run = 0;
	u32 first = 0, extent;

	if (oracle(address, &first) < 0)
		return 0;
	while (run < limit && oracle(address + run, &extent) >= 0 &&
		(!one_extent || extent == first) && address + run >= address)
		run++;
	return run;
}

static const u64 bases[] = { 0, TOP };

static void test_read_write_fill(void **state)
{
	(void)state;
	for (u32 b = 0; b < ARRAY_SIZE(bases); b++)
		for (u64 a = 0; a < SPAN; a++)
			for (u64 size = 0; size <= SPAN; size++) {
				u64 address = bases[b] + a;
				bool ram = oracle_run(address, size, false) == size;
				u8 before[sizeof(host)], expected[sizeof(host)], bytes[SPAN];
				u32 extent;

				setup(NULL);
				memcpy(before, host, sizeof(host));
				memset(bytes, 0xee, sizeof(bytes));
				assert_int_equal(
					guest_read(&memory, gpa(address), bytes, size), ram);
				for (u64 i = 0; i < SPAN; i++)
					assert_int_equal(bytes[i],
						ram && i < size ? host[oracle(address + i, &extent)]
								: 0xee);
				assert_memory_equal(host, before, sizeof(host));

				memcpy(expected, before, sizeof(host));
				for (u64 i = 0; i < SPAN; i++)
					bytes[i] = (u8)(0x80 + i);
				for (u64 i = 0; ram && i < size; i++)
					expected[oracle(address + i, &extent)] = bytes[i];
				assert_int_equal(
					guest_write(&memory, gpa(address), bytes, size), ram);
				assert_memory_equal(host, expected, sizeof(host));

				for (u64 i = 0; ram && i < size; i++)
					expected[oracle(address + i, &extent)] = 0x11;
				assert_int_equal(
					guest_fill(&memory, gpa(address), 0x11, size), ram);
				assert_memory_equal(host, expected, sizeof(host));
			}
}

static void test_pointer(void **state)
{
	(void)state;
	for (u32 b = 0; b < ARRAY_SIZE(bases); b++)
		for (u64 a = 0; a < SPAN; a++)
			for (u64 size = 0; size <= SPAN; size++) {
				u64 address = bases[b] + a;
				u32 extent;
				int at = oracle(address, &extent);
				u8 *pointer = guest_pointer(&memory, gpa(address), size);

				if (at >= 0 && oracle_run(address, size, true) == size)
					assert_ptr_equal(pointer, host + at);
				else
					assert_null(pointer);
			}
}

/* Sizes that make address + size wrap, up to the largest. */
static void test_huge_sizes(void **state)
{
	static const u64 sizes[] = { 1ull << 63, ~0ull, ~0ull - 3, 0ull - SPAN };
	u8 byte;

	(void)state;
	for (u32 s = 0; s < ARRAY_SIZE(sizes); s++)
		for (u64 a = 0; a < SPAN; a++)
			for (u32 b = 0; b < ARRAY_SIZE(bases); b++) {
				gpa_t address = gpa(bases[b] + a);

				assert_null(guest_pointer(&memory, address, sizes[s]));
				assert_false(guest_read(&memory, address, &byte, sizes[s]));
				assert_false(guest_write(&memory, address, &byte, sizes[s]));
				assert_false(guest_fill(&memory, address, 0, sizes[s]));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_read_write_fill, setup),
		cmocka_unit_test_setup(test_pointer, setup),
		cmocka_unit_test_setup(test_huge_sizes, setup),
	};

	return cmocka_run_group_tests_name("guest_memory", tests, NULL, NULL);
}
