// SPDX-License-Identifier: BSD-2-Clause
/*
 * ACPI fixed hardware: the timer against 128-bit arithmetic, its SCI, S5, and the registers'
 * widths.
 */
#include "platform_fixture.h"

static u32 pm_in(struct fixture *f, u16 port, u32 size)
{
	return platform_io_read(f->platform, port, size);
}

static void test_timer(void **state)
{
	static const u64 clocks[] = { 1000000, 100000000, 2399998765ull };

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct fixture *f = fixture_new(1, clocks[i]);

		for (u32 step = 0; step < 20000; step++) {
			u32 expected =
				(u32)((unsigned __int128)f->now * 3579545 / clocks[i]) & 0xffffff;

			assert_int_equal(pm_in(f, PORT_PM_TIMER, 4), expected);
			assert_int_equal(pm_in(f, PORT_PM_TIMER, 2), expected & 0xffff);
			assert_int_equal(pm_in(f, PORT_PM_TIMER + 2, 1), expected >> 16);
			assert_int_equal(pm_in(f, PORT_PM_TIMER + 3, 1), 0);
			f->now += random64() >> (20 + below(40));
		}
		fixture_free(f);
	}
}

static void test_overflow(void **state)
{
	struct fixture *f = fixture_new(1, 3579545 * 10);
	u64 toggle;

	(void)state;
	f->now = 0;
	platform_reset(f->platform);
	toggle = 0x800000ull * 10;
	assert_int_equal(pm_in(f, PORT_PM1_EVENT, 4), 0);
	assert_true(platform_next_deadline(f->platform) == TIMER_NEVER);
	platform_io_write(f->platform, PORT_PM1_EVENT + 2, 2, 1); /* TMR_EN */
	assert_int_equal(platform_next_deadline(f->platform), toggle);
	advance(f, toggle - 1);
	assert_false(f->platform->device_lines >> IRQ_SCI & 1);
	advance(f, 1);
	assert_true(f->platform->device_lines >> IRQ_SCI & 1);
	assert_int_equal(pm_in(f, PORT_PM1_EVENT, 2), 1);
	platform_io_write(f->platform, PORT_PM1_EVENT, 2, 1);
	assert_false(f->platform->device_lines >> IRQ_SCI & 1);
	assert_int_equal(platform_next_deadline(f->platform), 2 * toggle);
	jump(f, 1000 * toggle);
	platform_io_write(f->platform, PORT_PM1_EVENT + 2, 2, 0);
	assert_false(f->platform->device_lines >> IRQ_SCI & 1);
	assert_int_equal(pm_in(f, PORT_PM1_EVENT, 2), 1);
	fixture_free(f);
}

static void test_power_off(void **state)
{
	(void)state;
	for (u32 value = 0; value < 0x10000; value++) {
		static struct fixture *f;
		u32 before;

		if (!f)
			f = fixture_new(1, 100000000);
		before = f->stops;
		platform_io_write(f->platform, PORT_PM1_CONTROL, 2, value);
		assert_int_equal(f->stops - before, (value & 0x2000) && (value >> 10 & 7) == 5);
		assert_int_equal(pm_in(f, PORT_PM1_CONTROL, 2), (value & 0x1c06) | 1);
		if (value == 0xffff) {
			assert_int_equal(f->reason, STOP_POWER_OFF);
			/* The high byte alone, as some kernels write it. */
			before = f->stops;
			out8(f, PORT_PM1_CONTROL + 1, 0x34);
			assert_int_equal(f->stops, before + 1);
			fixture_free(f);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_power_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
