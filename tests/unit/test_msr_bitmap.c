// SPDX-License-Identifier: BSD-2-Clause
// MSR bitmap (BUG-15): each change is exactly one bit of the page, at the place of SDM 3C 25.6.9.

#include "vcpu_fixture.h"

#include "vmx/msr_bitmap.h"

/* The manual's words: four maps of 1 KiB: read low, read high, write low, write high. */
static int oracle_bit(u32 index, bool write)
{
	if (index <= 0x1fff)
		return (write ? 2048 : 0) * 8 + index;
	if (index >= 0xc0000000 && index <= 0xc0001fff)
		return (write ? 3072 : 1024) * 8 + (index - 0xc0000000);
	return -1;
}

static void check_one(u32 index, bool write)
{
	static u8 bitmap[MSR_BITMAP_BYTES], expected[MSR_BITMAP_BYTES];
	int bit = oracle_bit(index, write);

	for (u32 fill = 0; fill <= 0xff; fill += 0xff) {
		bool intercept = fill == 0;

		memset(bitmap, fill, sizeof(bitmap));
		memset(expected, fill, sizeof(expected));
		if (bit >= 0)
			expected[bit / 8] ^= 1 << (bit % 8);
		assert_int_equal(
			msr_bitmap_set(bitmap, index, write ? MSR_WRITE : MSR_READ, intercept),
			bit >= 0);
		assert_memory_equal(bitmap, expected, sizeof(bitmap));
		assert_int_equal(msr_bitmap_intercepts(bitmap, index, write ? MSR_WRITE : MSR_READ),
			bit < 0 || intercept);
	}
}

static void single_bits(void **state)
{
	static const u32 indices[] = { 0, 7, 8, 0x10, 0x1ffe, 0x1fff, 0x2000, 0x40000000,
		0x80000000, 0xbfffffff, 0xc0000000, 0xc0000007, 0xc0000080, 0xc0001fff, 0xc0002000,
		0xffffffff };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(indices); i++) {
		check_one(indices[i], false);
		check_one(indices[i], true);
	}
}

/* What a guest touches without an exit: this list and nothing else. */
static void pass_through(void **state)
{
	static const u32 both[] = { 0x174, 0x175, 0x176, 0xc0000081, 0xc0000082, 0xc0000083,
		0xc0000084, 0xc0000100, 0xc0000101, 0xc0000102, 0xc0000103, 0x48 };
	static const u32 read_only[] = { 0x10, 0x277, 0xc0000080 };
	static u8 expected[MSR_BITMAP_BYTES];

	fixture_setup(state);
	memset(expected, 0xff, sizeof(expected));
	for (u32 i = 0; i < ARRAY_SIZE(both); i++)
		for (u32 write = 0; write < 2; write++)
			expected[oracle_bit(both[i], write) / 8] &=
				~(1 << (oracle_bit(both[i], write) % 8));
	for (u32 i = 0; i < ARRAY_SIZE(read_only); i++)
		expected[oracle_bit(read_only[i], false) / 8] &=
			~(1 << (oracle_bit(read_only[i], false) % 8));
	/* PRED_CMD */
	expected[oracle_bit(0x49, true) / 8] &= ~(1 << (0x49 % 8));
	assert_memory_equal(msr_bitmap, expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(single_bits),
		cmocka_unit_test(pass_through) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
