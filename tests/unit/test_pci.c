// SPDX-License-Identifier: BSD-2-Clause
/* PCI configuration space by mechanism 1 and by memory, and the reset register among the ports. */
#include "platform_fixture.h"

static u32 config_read(struct fixture *f, u32 address, u16 port, u32 size)
{
	platform_io_write(f->platform, 0xcf8, 4, address);
	return platform_io_read(f->platform, port, size);
}

/* As pci_check_type1() and pci_sanity_check() of Linux look. */
static void test_mechanism_1(void **state)
{
	struct fixture *f = fixture_new(1, 100000000);

	(void)state;
	out8(f, 0xcfb, 1);
	platform_io_write(f->platform, 0xcf8, 4, 0x80000000);
	assert_int_equal(platform_io_read(f->platform, 0xcf8, 4), 0x80000000);
	assert_int_equal(config_read(f, 0x80000000, 0xcfc, 4), 0x12378086);
	assert_int_equal(config_read(f, 0x80000008, 0xcfe, 2), 0x0600);
	assert_int_equal(config_read(f, 0x80000000, 0xcfd, 1), 0x80);
	assert_int_equal(config_read(f, 0x00000000, 0xcfc, 4), 0xffffffff);
	/* Nobody else is there; no BAR takes an address. */
	for (u32 function = 1; function < 0x10000; function++)
		assert_int_equal(config_read(f, 0x80000000 | function << 8, 0xcfc, 4), 0xffffffff);
	for (u32 bar = 0x10; bar < 0x28; bar += 4) {
		platform_io_write(f->platform, 0xcf8, 4, 0x80000000 | bar);
		platform_io_write(f->platform, 0xcfc, 4, 0xffffffff);
		assert_int_equal(platform_io_read(f->platform, 0xcfc, 4), 0);
	}
	platform_io_write(f->platform, 0xcf8, 4, 0x8000003c);
	out8(f, 0xcfc, 11);
	assert_int_equal(platform_io_read(f->platform, 0xcfc, 4), 11);
	/* Every place and width, and what runs out of the ports at either end. */
	for (u32 reg = 0; reg < 256; reg++)
		for (u16 port = 0xcf5; port < 0xd03; port++)
			for (u32 size = 1; size <= 4; size *= 2)
				config_read(f, 0x80000000 | reg, port, size);
	fixture_free(f);
}

static u32 memory_read(struct fixture *f, u32 offset, u32 size)
{
	u64 value;

	assert_true(platform_mmio_read(f->platform, 0, gpa(0xe0000000 + offset), size, &value));
	return (u32)value;
}

/* The memory-mapped space is the same registers; behind byte 255 of a function there is nothing. */
static void test_memory_mapped(void **state)
{
	struct fixture *f = fixture_new(1, 100000000);
	u64 value;

	(void)state;
	for (u32 reg = 0; reg < 256; reg += 4)
		assert_int_equal(
			memory_read(f, reg, 4), config_read(f, 0x80000000 | reg, 0xcfc, 4));
	assert_true(platform_mmio_write(f->platform, 0, gpa(0xe000003c), 1, 0x5a));
	assert_int_equal(config_read(f, 0x8000003c, 0xcfc, 1), 0x5a);
	assert_int_equal(memory_read(f, 2, 2), 0x1237);
	assert_int_equal(memory_read(f, 0x100, 4), 0);
	assert_int_equal(memory_read(f, 0xffc, 4), 0);
	/* Across a dword, eight bytes, other functions, the end of the bus. */
	assert_int_equal(memory_read(f, 2, 4), 0xffffffff);
	assert_true(platform_mmio_read(f->platform, 0, gpa(0xe0000000), 8, &value));
	assert_int_equal(value, ~0ull);
	for (u32 function = 1; function < 256; function++)
		assert_int_equal(memory_read(f, function << 12, 4), 0xffffffff);
	assert_false(platform_mmio_read(f->platform, 0, gpa(0xe0100000), 4, &value));
	assert_true(platform_mmio_write(f->platform, 0, gpa(0xe00fffff), 1, 1));
	fixture_free(f);
}

static void test_reset_register(void **state)
{
	struct fixture *f = fixture_new(1, 100000000);

	(void)state;
	out8(f, 0xcf9, 0x02);
	assert_int_equal(f->stops, 0);
	assert_int_equal(in8(f, 0xcf9), 0x02);
	platform_io_write(f->platform, 0xcf8, 4, 0x80000604); /* not a reset */
	assert_int_equal(f->stops, 0);
	out8(f, 0xcf9, 0x06);
	assert_int_equal(f->stops, 1);
	assert_int_equal(f->reason, STOP_RESET);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mechanism_1),
		cmocka_unit_test(test_memory_mapped),
		cmocka_unit_test(test_reset_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
