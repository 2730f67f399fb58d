// SPDX-License-Identifier: BSD-2-Clause
/*
 * The real-time clock: calendar against the C library's gmtime, alarms against a search second by
 * second, flags, interrupts, UIP and setting the time.
 */
#include "platform_fixture.h"

#include <time.h>

#include "hv/dev/calendar.h"

#define HZ   100000000ull
#define BASE 1709164799ull /* what the fixture starts with: 2024-02-28 23:59:59 */

static u8 cmos(struct fixture *f, u8 reg)
{
	out8(f, 0x70, reg);
	return in8(f, 0x71);
}

static void set(struct fixture *f, u8 reg, u8 value)
{
	out8(f, 0x70, reg | 0x80);
	out8(f, 0x71, value);
}

static void test_calendar(void **state)
{
	(void)state;
	for (u32 i = 0; i < 300000; i++) {
		u64 seconds = i < 100000 ? i * 86399ull : random64() % 253402300800ull;
		struct calendar c = calendar_from_seconds(seconds);
		time_t t = (time_t)seconds;
		struct tm tm;

		gmtime_r(&t, &tm);
		assert_int_equal(c.year, tm.tm_year + 1900);
		assert_int_equal(c.month, tm.tm_mon + 1);
		assert_int_equal(c.day, tm.tm_mday);
		assert_int_equal(c.hour, tm.tm_hour);
		assert_int_equal(c.minute, tm.tm_min);
		assert_int_equal(c.second, tm.tm_sec);
		assert_int_equal(c.weekday, tm.tm_wday);
		assert_int_equal(calendar_to_seconds(&c), seconds);
	}
}

static u32 number(u8 value, bool binary)
{
	return binary ? value : (value >> 4) * 10u + (value & 15);
}

static void check_time(struct fixture *f, u64 seconds)
{
	u8 b = cmos(f, 11), hour = cmos(f, 4);
	bool binary = b & 4;
	time_t t = (time_t)seconds;
	struct tm tm;
	u32 h;

	gmtime_r(&t, &tm);
	h = b & 2 ? number(hour, binary)
		  : number(hour & 0x7f, binary) % 12 + (hour & 0x80 ? 12 : 0);
	assert_int_equal(h, tm.tm_hour);
	assert_int_equal(number(cmos(f, 0), binary), tm.tm_sec);
	assert_int_equal(number(cmos(f, 2), binary), tm.tm_min);
	assert_int_equal(number(cmos(f, 6), binary), tm.tm_wday + 1);
	assert_int_equal(number(cmos(f, 7), binary), tm.tm_mday);
	assert_int_equal(number(cmos(f, 8), binary), tm.tm_mon + 1);
	assert_int_equal(number(cmos(f, 9), binary), tm.tm_year % 100);
	assert_int_equal(number(cmos(f, 0x32), binary), tm.tm_year / 100 + 19);
}

static void test_reading(void **state)
{
	(void)state;
	for (u32 format = 0; format < 4; format++) {
		struct fixture *f = fixture_new(1, HZ);
		u64 start = f->now;

		set(f, 11, (u8)(format << 1));
		for (u32 i = 0; i < 3000; i++) {
			check_time(f, BASE + (f->now - start) / HZ);
			f->now += below(4000) * HZ + below(HZ);
		}
		fixture_free(f);
	}
}

/* As a kernel sets it: SET, fields, SET off. The second that was running goes on. */
static void test_setting(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2000; i++) {
		struct fixture *f = fixture_new(1, HZ);
		u64 start = f->now, seconds = random64() % 4102444800ull + 86400;
		struct calendar c = calendar_from_seconds(seconds);
		u8 format = (u8)below(4) << 1;
		u32 hour = c.hour;
		u8 pm = 0;
		u64 phase;

		f->now += below(100000000);
		phase = (f->now - start) % HZ;
		set(f, 11, 0x80 | format);
		f->now += 3 * HZ; /* registers stand still meanwhile */
		if (!(format & 2)) {
			pm = hour >= 12 ? 0x80 : 0;
			hour = hour % 12 ? hour % 12 : 12;
		}
#define FIELD(v) ((u8)(format & 4 ? (v) : (v) / 10 << 4 | (v) % 10))
		set(f, 0, FIELD(c.second));
		set(f, 2, FIELD(c.minute));
		set(f, 4, FIELD(hour) | pm);
		set(f, 6, FIELD(c.weekday + 1));
		set(f, 7, FIELD(c.day));
		set(f, 8, FIELD(c.month));
		set(f, 9, FIELD(c.year % 100));
		set(f, 0x32, FIELD(c.year / 100));
		assert_int_equal(cmos(f, 0), FIELD(c.second));
		set(f, 11, format);
		check_time(f, seconds);
		f->now += HZ - phase - 1;
		check_time(f, seconds);
		f->now += 1;
		check_time(f, seconds + 1);
		fixture_free(f);
	}
}

/* The divider held in reset stops the clock; released, the first update is half a second away. */
static void test_divider(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	set(f, 10, 0x76);
	f->now += 100 * HZ;
	check_time(f, BASE);
	set(f, 10, 0x26);
	f->now += HZ / 2 - 1;
	check_time(f, BASE);
	f->now += 1;
	check_time(f, BASE + 1);
	fixture_free(f);
}

/* UIP covers every moment from 244 us before an update, and only the end of the second. */
static void test_uip(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u32 up = 0;

	(void)state;
	for (u32 us = 0; us < 1000000; us += 10) {
		u8 uip = cmos(f, 10) & 0x80;

		if (us >= 1000000 - 244)
			assert_true(uip);
		if (us < 1000000 - 3000)
			assert_false(uip);
		up += uip ? 10 : 0;
		f->now += HZ / 100000;
	}
	assert_in_range(up, 2200, 2260);
	set(f, 11, 0x82);
	for (u32 us = 0; us < 1000000; us += 100, f->now += HZ / 10000)
		assert_false(cmos(f, 10) & 0x80);
	fixture_free(f);
}

static bool alarm_matches(const u8 *alarm, const struct tm *tm)
{
	return (alarm[0] >= 0xc0 || number(alarm[0], false) == (u32)tm->tm_sec) &&
	       (alarm[1] >= 0xc0 || number(alarm[1], false) == (u32)tm->tm_min) &&
	       (alarm[2] >= 0xc0 || number(alarm[2], false) == (u32)tm->tm_hour);
}

static u8 random_alarm(u32 limit)
{
	u32 value = below(limit);

	return below(3) == 0 ? (u8)(0xc0 + below(64)) : (u8)(value / 10 << 4 | value % 10);
}

static void test_alarm(void **state)
{
	(void)state;
	for (u32 round = 0; round < 150; round++) {
		struct fixture *f = fixture_new(1, HZ);
		u8 alarm[3] = { random_alarm(60), random_alarm(60), random_alarm(24) };
		u64 start = f->now, expected = BASE + 1;
		u64 before = below(200000);
		struct tm tm;
		time_t t;

		out8(f, 0x21, 0xfb);
		out8(f, 0xa1, 0xfe);
		f->now += before * HZ;
		expected += before;
		set(f, 1, alarm[0]);
		set(f, 3, alarm[1]);
		set(f, 5, alarm[2]);
		cmos(f, 12);
		set(f, 11, 0x22);
		for (;; expected++) {
			t = (time_t)expected;
			gmtime_r(&t, &tm);
			if (alarm_matches(alarm, &tm))
				break;
		}
		assert_int_equal(
			platform_next_deadline(f->platform), start + (expected - BASE) * HZ);
		f->now = platform_next_deadline(f->platform);
		platform_run_timers(f->platform);
		assert_int_equal(platform_interrupt_accept(f->platform, 0), 0x70);
		assert_int_equal(cmos(f, 12) & 0xb0, 0xb0);
		assert_int_equal(cmos(f, 12), 0);
		fixture_free(f);
	}
}

/* The host searches for no alarm that cannot be: 172800 seconds a port access otherwise. */
static void test_alarm_never_is_cheap(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	clock_t start = clock();

	(void)state;
	set(f, 5, 0xff);
	set(f, 3, 0xff);
	set(f, 1, 0x7a); /* no such second, any hour and minute */
	set(f, 11, 0x22);
	for (u32 i = 0; i < 2000; i++)
		set(f, 14, 0);
	assert_true(platform_next_deadline(f->platform) == TIMER_NEVER);
	assert_true(clock() - start < CLOCKS_PER_SEC / 2);
	fixture_free(f);
}

static void test_alarm_never(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	set(f, 5, 0x24); /* no such hour */
	set(f, 11, 0x22);
	assert_true(platform_next_deadline(f->platform) == TIMER_NEVER);
	f->now += 10 * 86400 * HZ;
	assert_int_equal(cmos(f, 12) & 0xa0, 0);
	fixture_free(f);
}

/* Flags come without enables; one look clears them. */
static void test_flags(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	cmos(f, 12);
	f->now += HZ / 2;
	assert_int_equal(cmos(f, 12), 0x40); /* rate 6: 1024 Hz */
	assert_int_equal(cmos(f, 12), 0);
	f->now += HZ;
	assert_int_equal(cmos(f, 12), 0x70); /* midnight is the alarm, too */
	set(f, 10, 0x20);
	cmos(f, 12);
	f->now += 100 * HZ;
	assert_int_equal(cmos(f, 12) & 0xd0, 0x10);
	set(f, 11, 0x92); /* SET clears UIE */
	assert_int_equal(cmos(f, 11), 0x82);
	fixture_free(f);
}

static void test_periodic(void **state)
{
	(void)state;
	for (u32 rate = 1; rate < 16; rate++) {
		struct fixture *f = fixture_new(1, 2399998765ull);
		u32 hz = rate == 1 ? 256 : rate == 2 ? 128 : 65536 >> rate;
		u64 end = f->now + 2 * 2399998765ull;
		u32 ticks = 0;

		out8(f, 0x21, 0xfb);
		out8(f, 0xa1, 0xfe);
		set(f, 10, (u8)(0x20 | rate));
		cmos(f, 12);
		set(f, 11, 0x42);
		while (platform_next_deadline(f->platform) <= end) {
			f->now = platform_next_deadline(f->platform);
			platform_run_timers(f->platform);
			assert_int_equal(platform_interrupt_accept(f->platform, 0), 0x70);
			/* Nothing more until register C is read. */
			assert_true(platform_next_deadline(f->platform) == TIMER_NEVER);
			assert_int_equal(cmos(f, 12) & 0xc0, 0xc0);
			out8(f, 0xa0, 0x20);
			out8(f, 0x20, 0x20);
			ticks++;
		}
		assert_in_range(ticks, 2 * hz - 1, 2 * hz + 1);
		fixture_free(f);
	}
}

static void test_memory_bytes(void **state)
{
	struct fixture *f = fixture_new(3, HZ); /* 5 GiB: 3 below the hole, 2 above 4 GiB */

	(void)state;
	assert_int_equal(cmos(f, 0x15) | cmos(f, 0x16) << 8, 640);
	assert_int_equal(cmos(f, 0x17) | cmos(f, 0x18) << 8, 0xffff);
	assert_int_equal(
		(u64)(cmos(f, 0x34) | cmos(f, 0x35) << 8) << 16, (3ull << 30) - (16 << 20));
	assert_int_equal(
		(u64)(cmos(f, 0x5b) | cmos(f, 0x5c) << 8 | cmos(f, 0x5d) << 16) << 16, 2ull << 30);
	assert_int_equal(cmos(f, 0x5f), 2);
	set(f, 0x0f, 0x0a); /* shutdown status: plain RAM that survives a reset */
	platform_reset(f->platform);
	assert_int_equal(cmos(f, 0x0f), 0x0a);
	assert_int_equal(cmos(f, 13), 0x80);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calendar),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_setting),
		cmocka_unit_test(test_divider),
		cmocka_unit_test(test_uip),
		cmocka_unit_test(test_alarm),
		cmocka_unit_test(test_alarm_never),
		cmocka_unit_test(test_alarm_never_is_cheap),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_periodic),
		cmocka_unit_test(test_memory_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
