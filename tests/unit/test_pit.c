// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 8254 against a model that really counts, clock by clock, as the data sheet's timing diagrams
 * do (BUG-23: a guest that calibrates on it must find it running).
 */
#include "platform_fixture.h"

#define HZ 1193182000ull /* 1000 TSC ticks a PIT clock */

/* Channel 2, one clock at a time. */
struct model {
	u32 mode, reload, next, counter, modulus;
	bool gate, out, loaded, running, load_now, trigger, strobe, high_half, null;
};

static struct model m;

static void model_control(u32 mode, bool bcd)
{
	m = (struct model){ .mode = mode,
		.modulus = bcd ? 10000 : 65536,
		.gate = m.gate,
		.out = mode != 0,
		.null = true };
}

static void model_count(u32 count)
{
	m.next = count ? count : m.modulus;
	m.null = true;
	m.loaded = true;
	if (m.mode == 0 || m.mode == 4)
		m.load_now = true;
	if (m.mode == 0)
		m.out = false;
	if ((m.mode == 2 || m.mode == 3) && !m.running)
		m.load_now = true;
}

static void model_gate(bool gate)
{
	if (gate && !m.gate && m.loaded && m.mode != 0 && m.mode != 4)
		m.trigger = true;
	m.gate = gate;
	if (!gate && (m.mode == 2 || m.mode == 3))
		m.out = true;
}

static void model_load(void)
{
	m.counter = m.reload = m.next;
	m.null = false;
	m.running = true;
	m.load_now = m.trigger = false;
}

static void model_down(void)
{
	m.counter = m.counter ? m.counter - 1 : m.modulus - 1;
}

static void model_clock(void)
{
	switch (m.mode) {
	case 0:
		if (m.load_now) {
			model_load();
			break;
		}
		if (m.running && m.gate) {
			model_down();
			m.out |= m.counter == 0;
		}
		break;
	case 1:
		if (m.trigger) {
			model_load();
			m.out = false;
			break;
		}
		if (m.running) {
			model_down();
			m.out |= m.counter == 0;
		}
		break;
	case 2:
		if (m.load_now || m.trigger) {
			model_load();
			m.out = true;
			break;
		}
		if (m.running && m.gate) {
			model_down();
			if (m.counter == 1)
				m.out = false;
			if (m.counter == 0) {
				model_load();
				m.out = true;
			}
		}
		break;
	case 3:
		if (m.load_now || m.trigger) {
			model_load();
			m.counter &= ~1u;
			m.out = true;
			break;
		}
		if (m.running && m.gate) {
			/* odd counts: the high half has one clock more, with the counter at 0 */
			bool end = m.out && (m.reload & 1) ? m.counter == 0 : m.counter == 2;

			if (end) {
				m.out = !m.out;
				model_load();
				m.counter &= ~1u;
			} else {
				m.counter -= 2;
			}
		}
		break;
	case 4:
	case 5:
		if (m.mode == 4 ? m.load_now : m.trigger) {
			model_load();
			m.out = true;
			break;
		}
		if (m.running && (m.gate || m.mode == 5)) {
			model_down();
			m.out = m.counter != 0 || m.strobe;
			m.strobe = m.strobe || m.counter == 0;
			if (m.counter != 0)
				m.strobe = false;
		}
		break;
	}
}

static u32 to_bcd(u32 v)
{
	return v / 1000 << 12 | v / 100 % 10 << 8 | v / 10 % 10 << 4 | v % 10;
}

static void compare(struct fixture *f)
{
	u8 status;
	u32 count;

	out8(f, 0x43, 0xc8); /* read-back: status and count of channel 2 */
	status = in8(f, 0x42);
	count = in8(f, 0x42);
	count |= (u32)in8(f, 0x42) << 8;
	assert_int_equal(status >> 7, m.out);
	assert_int_equal(in8(f, 0x61) >> 5 & 1, m.out);
	assert_int_equal(status & 0x3f, 0x30 | m.mode << 1 | (m.modulus == 10000));
	if (m.running && !m.null) {
		assert_int_equal(status >> 6 & 1, 0);
		assert_int_equal(
			count, m.modulus == 10000 ? to_bcd(m.counter % 10000) : m.counter % 65536);
	}
}

static void write_count(struct fixture *f, u32 count)
{
	if (m.modulus == 10000)
		count = to_bcd(count % 10000);
	out8(f, 0x42, (u8)count);
	out8(f, 0x42, (u8)(count >> 8));
}

/* Control word, count and gate, then clocks; gate edges in between. */
static void run_case(struct fixture *f, u32 mode, bool bcd, u32 count, u32 clocks, u32 gate_at)
{
	out8(f, 0x61, 1);
	model_gate(true);
	out8(f, 0x43, (u8)(0xb0 | mode << 1 | bcd));
	model_control(mode, bcd);
	write_count(f, count);
	model_count(count);
	if (mode == 1 || mode == 5) {
		out8(f, 0x61, 0);
		out8(f, 0x61, 1);
		model_gate(false);
		model_gate(true);
	}
	for (u32 i = 0; i < clocks; i++) {
		if (gate_at && i == gate_at) {
			out8(f, 0x61, 0);
			model_gate(false);
		}
		if (gate_at && i == gate_at + 3) {
			out8(f, 0x61, 1);
			model_gate(true);
		}
		compare(f);
		f->now += 1000;
		model_clock();
	}
}

static void test_against_counting_model(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	static const u32 counts[] = { 2, 3, 4, 5, 7, 16, 33 };

	(void)state;
	f->now = 5000000000ull * 1000;
	for (u32 mode = 0; mode < 6; mode++)
		for (u32 bcd = 0; bcd < 2; bcd++)
			for (u32 i = 0; i < ARRAY_SIZE(counts); i++)
				for (u32 gate_at = 0; gate_at < 3 * counts[i]; gate_at++)
					run_case(f, mode, bcd, counts[i], 4 * counts[i] + 8,
						gate_at);
	/* Whole ranges: count 0 is the largest. */
	for (u32 mode = 0; mode < 6; mode++) {
		run_case(f, mode, true, 0, 10100, 0);
		run_case(f, mode, false, 0, 3000, 0);
	}
	fixture_free(f);
}

/* A new count in modes 2 and 3 waits for the end of the (half) period. */
static void test_new_count(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	f->now = 7000000000ull * 1000;
	for (u32 mode = 2; mode < 4; mode++) {
		for (u32 at = 2; at < 40; at++) {
			out8(f, 0x61, 1);
			model_gate(true);
			out8(f, 0x43, (u8)(0xb0 | mode << 1));
			model_control(mode, false);
			write_count(f, 12);
			model_count(12);
			for (u32 i = 0; i < 100; i++) {
				if (i == at) {
					write_count(f, 7);
					model_count(7);
				}
				assert_int_equal(in8(f, 0x61) >> 5 & 1, m.out);
				if (!m.null)
					compare(f);
				f->now += 1000;
				model_clock();
			}
		}
	}
	fixture_free(f);
}

/* As Linux calibrates: mode 0 on channel 2, OUT2 rises after the time, in TSC ticks (BUG-23). */
static void test_calibration(void **state)
{
	static const u64 clocks[] = { 1000000, 100000000, 2400000000ull, 3999999999ull };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct fixture *f = fixture_new(1, clocks[i]);
		u32 latch = PIT_HZ / 20; /* 50 ms */
		u64 start, step = clocks[i] / 100000, expected = clocks[i] * latch / PIT_HZ;

		out8(f, 0x61, (in8(f, 0x61) & ~2) | 1);
		out8(f, 0x43, 0xb0);
		out8(f, 0x42, latch & 0xff);
		out8(f, 0x42, (u8)(latch >> 8));
		start = f->now;
		while (!(in8(f, 0x61) & 0x20)) {
			f->now += step;
			assert_true(f->now - start < 2 * expected);
		}
		assert_in_range(f->now - start, expected - step, expected + 2 * step + 4);
		fixture_free(f);
	}
}

static void test_refresh_toggles(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u32 changes = 0, last = in8(f, 0x61) & 0x10;

	(void)state;
	for (u32 i = 0; i < 10000; i++) {
		f->now += 1000;
		changes += (in8(f, 0x61) & 0x10) != last;
		last = in8(f, 0x61) & 0x10;
	}
	assert_in_range(changes, 10000 / 18 - 1, 10000 / 18 + 1);
	fixture_free(f);
}

/* No drift over an hour; a pause gives one tick and keeps the phase; count 1 makes no storm. */
static void test_periodic_interrupts(void **state)
{
	struct fixture *f = fixture_new(1, 2399998765ull);
	u64 start, ticks = 0, edges;

	(void)state;
	out8(f, 0x21, 0xfa);
	out8(f, 0x43, 0x34);
	out8(f, 0x40, 11932 & 0xff);
	out8(f, 0x40, 11932 >> 8);
	start = f->now;
	while (f->now - start < 3600 * 2399998765ull) {
		f->now = platform_next_deadline(f->platform);
		platform_run_timers(f->platform);
		assert_int_equal(platform_interrupt_accept(f->platform, 0), 8);
		out8(f, 0x20, 0x20);
		ticks++;
	}
	edges = 3600ull * PIT_HZ / 11932;
	assert_in_range(ticks, edges, edges + 1);
	jump(f, 86400 * 2399998765ull);
	assert_int_equal(platform_interrupt_accept(f->platform, 0), 8);
	out8(f, 0x20, 0x20);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), -1);
	assert_true(platform_next_deadline(f->platform) > f->now);
	out8(f, 0x43, 0x34);
	out8(f, 0x40, 1);
	out8(f, 0x40, 0);
	ticks = 0;
	start = f->now;
	while (platform_next_deadline(f->platform) < start + 2399998765ull / 100) {
		f->now = platform_next_deadline(f->platform);
		platform_run_timers(f->platform);
		ticks++;
	}
	assert_in_range(ticks, 1, CLOCK_MAX_RATE_HZ / 100 + 50);
	fixture_free(f);
}

static void test_one_shot_interrupts(void **state)
{
	static const u32 controls[2] = { 0x30, 0x38 };

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		struct fixture *f = fixture_new(1, HZ);
		u64 start;

		out8(f, 0x21, 0xfa);
		out8(f, 0x43, (u8)controls[i]);
		while (platform_interrupt_accept(f->platform, 0) >= 0)
			out8(f, 0x20, 0x20); /* mode 4 raises OUT at once if it was low */
		out8(f, 0x40, 100);
		out8(f, 0x40, 0);
		start = f->now / 1000;
		f->now = platform_next_deadline(f->platform);
		platform_run_timers(f->platform);
		assert_int_equal(f->now / 1000 - start, 101 + i); /* the strobe's end is the edge */
		assert_int_equal(platform_interrupt_accept(f->platform, 0), 8);
		out8(f, 0x20, 0x20);
		advance(f, 200000 * 1000ull);
		assert_int_equal(platform_interrupt_pending(f->platform, 0), -1);
		fixture_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_counting_model),
		cmocka_unit_test(test_new_count),
		cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_refresh_toggles),
		cmocka_unit_test(test_periodic_interrupts),
		cmocka_unit_test(test_one_shot_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
