// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 16550A as drivers probe and use it (BUG-46): scripts of register accesses with the values the
 * PC16550D data sheet gives, Linux's probes among them, and a driver that moves data both ways by
 * interrupt alone.
 */
#include "platform_fixture.h"

#define HZ 100000000ull
enum { DATA, IER, IIR, LCR, MCR, LSR, MSR, SCR };
#define FCR IIR

static u8 get(struct fixture *f, u16 reg)
{
	return in8(f, 0x3f8 + reg);
}

static void put(struct fixture *f, u16 reg, u8 value)
{
	out8(f, 0x3f8 + reg, value);
}

static bool line(struct fixture *f)
{
	return f->platform->device_lines >> IRQ_COM1 & 1;
}

static void test_thre_rules(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	assert_int_equal(get(f, LSR), 0x60);
	assert_int_equal(get(f, IIR), 0x01);
	put(f, IER, 2); /* 0 -> 1 with THR empty */
	assert_true(line(f));
	assert_int_equal(get(f, IIR), 0x02);
	assert_false(line(f)); /* cleared by reading it as the source */
	assert_int_equal(get(f, IIR), 0x01);
	put(f, DATA, 'a'); /* sent at once: raised again */
	assert_true(line(f));
	assert_int_equal(get(f, IIR), 0x02);
	put(f, IER, 2); /* no 0 -> 1 */
	assert_int_equal(get(f, IIR), 0x01);
	put(f, IER, 0);
	put(f, IER, 2);
	assert_int_equal(get(f, IIR), 0x02);
	put(f, IER, 0);
	put(f, IER, 2);
	assert_true(line(f));
	/*
	 * A console that is busy: THRE falls, the write clears the interrupt, the drain raises it.
	 */
	f->console_full = true;
	put(f, DATA, 'b');
	assert_int_equal(get(f, LSR), 0x00);
	assert_false(line(f));
	put(f, IER, 0);
	put(f, IER, 2);
	assert_false(line(f));
	platform_console_ready(f->platform);
	assert_int_equal(get(f, LSR), 0x00);
	f->console_full = false;
	platform_console_ready(f->platform);
	assert_int_equal(get(f, LSR), 0x60);
	assert_true(line(f));
	platform_console_ready(f->platform); /* nothing to drain: nothing new */
	assert_int_equal(get(f, IIR), 0x02);
	platform_console_ready(f->platform);
	assert_int_equal(get(f, IIR), 0x01);
	assert_int_equal(f->console_count, 2);
	assert_memory_equal(f->console, "ab", 2);
	fixture_free(f);
}

static void test_priorities(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	put(f, MCR, 0x10);
	put(f, IER, 0x0f);
	put(f, MCR, 0x10 | 0x03); /* CTS, DSR change */
	put(f, DATA, 'x');	  /* comes back: received, and THRE */
	put(f, DATA, 'y');	  /* overrun */
	assert_int_equal(get(f, IIR), 0x06);
	assert_int_equal(get(f, LSR), 0x63);
	assert_int_equal(get(f, IIR), 0x04);
	assert_int_equal(get(f, DATA), 'y'); /* without FIFO the last one stays */
	assert_int_equal(get(f, IIR), 0x02);
	assert_int_equal(get(f, IIR), 0x00);
	assert_true(line(f));
	assert_int_equal(get(f, MSR), 0x3b); /* DCD fell as the line was cut */
	assert_int_equal(get(f, IIR), 0x01);
	assert_false(line(f));
	fixture_free(f);
}

static void test_fifo_levels(void **state)
{
	static const u8 levels[4] = { 1, 4, 8, 14 };

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		struct fixture *f = fixture_new(1, HZ);
		u32 accepted = 0;

		put(f, FCR, (u8)(1 | i << 6));
		put(f, IER, 1);
		while (platform_console_input(f->platform, (u8)('A' + accepted))) {
			accepted++;
			/* Time-out below the level, "data available" from it on. */
			assert_int_equal(get(f, IIR), accepted < levels[i] ? 0xcc : 0xc4);
			assert_true(line(f));
		}
		assert_int_equal(accepted, 16);
		for (u32 n = 0; n < 16; n++)
			assert_int_equal(get(f, DATA), 'A' + n);
		assert_int_equal(get(f, IIR), 0xc1);
		assert_int_equal(get(f, LSR), 0x60);
		platform_console_input(f->platform, 'q');
		put(f, FCR, 3); /* clear receive */
		assert_int_equal(get(f, LSR), 0x60);
		fixture_free(f);
	}
}

/*
 * Linux 6.1 drivers/tty/serial/8250: what autoconfig() and startup ask, and what a 16550A answers.
 */
static void test_linux_probes(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u8 first, second;

	(void)state;
	put(f, IER, 0);
	assert_int_equal(get(f, IER), 0);
	put(f, IER, 0xff);
	assert_int_equal(get(f, IER), 0x0f);
	put(f, IER, 0);
	put(f, MCR, 0x1a); /* loopback, RTS and OUT2 */
	assert_int_equal(get(f, MSR) & 0xf0, 0x90);
	put(f, MCR, 0);
	assert_int_equal(get(f, MSR) & 0xf0, 0xb0);
	put(f, LCR, 0xbf);
	put(f, 2, 0); /* EFR of better chips */
	put(f, LCR, 0);
	put(f, FCR, 1);
	assert_int_equal(get(f, IIR) >> 6, 3);
	put(f, LCR, 0xbf);
	assert_true(get(f, 2) != 0); /* no EFR */
	put(f, LCR, 0);
	put(f, FCR, 0x21);
	assert_int_equal(get(f, IIR) >> 5, 6); /* no 64-byte FIFO */
	put(f, LCR, 0x80);
	put(f, FCR, 0x21);
	assert_int_equal(get(f, IIR) >> 5, 6);
	put(f, DATA, 1);
	put(f, IER, 2);
	assert_int_equal(get(f, DATA), 1);
	assert_int_equal(get(f, IER), 2);
	put(f, LCR, 0x03);
	assert_int_equal(get(f, IER), 0); /* the divisor latch is apart */
	put(f, SCR, 0x5a);
	assert_int_equal(get(f, SCR), 0x5a);
	/* "THRE bug" and "TXEN bug" tests. */
	put(f, FCR, 7);
	put(f, IER, 2);
	first = get(f, IIR);
	put(f, IER, 0);
	put(f, IER, 2);
	second = get(f, IIR);
	put(f, IER, 0);
	assert_false(first & 1);
	assert_false(second & 1);
	assert_int_equal(get(f, LSR), 0x60);
	put(f, LSR, 0);
	put(f, MSR, 0);
	assert_int_equal(get(f, LSR), 0x60);
	fixture_free(f);
}

static void test_loopback(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	put(f, MCR, 0x10);
	get(f, MSR);
	for (u32 mcr = 0; mcr < 16; mcr++) {
		u8 expected = (u8)((mcr & 1 ? 0x20 : 0) | (mcr & 2 ? 0x10 : 0) |
				   (mcr & 4 ? 0x40 : 0) | (mcr & 8 ? 0x80 : 0));
		u8 msr;

		put(f, MCR, 0x10);
		get(f, MSR);
		put(f, MCR, (u8)(0x10 | mcr));
		msr = get(f, MSR);
		assert_int_equal(msr & 0xf0, expected);
		/* Deltas of CTS, DSR, DCD; RI only as it falls. */
		assert_int_equal(
			msr & 0x0f, (mcr & 1 ? 2 : 0) | (mcr & 2 ? 1 : 0) | (mcr & 8 ? 8 : 0));
		put(f, MCR, 0x10);
		assert_int_equal(get(f, MSR) & 0x04, mcr & 4);
	}
	put(f, FCR, 1);
	assert_false(platform_console_input(f->platform, 'z')); /* the line is cut */
	for (u32 i = 0; i < 17; i++)
		put(f, DATA, (u8)i);
	assert_int_equal(get(f, LSR) & 3, 3); /* the 17th is lost */
	for (u32 i = 0; i < 16; i++)
		assert_int_equal(get(f, DATA), i);
	assert_int_equal(f->console_count, 0);
	put(f, LCR, 0x43); /* break */
	assert_int_equal(get(f, LSR) & 0x11, 0x11);
	fixture_free(f);
}

/*
 * A driver that acts on the interrupt line only, a console that balks at random: byte-exact both
 * ways.
 */
static void test_interrupt_driver(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u32 to_send = 50000, sent = 0, offered = 0, received = 0;

	(void)state;
	put(f, FCR, 0x81);
	put(f, IER, 3);
	for (u32 step = 0; sent < to_send || received < 20000; step++) {
		assert_true(step < 2000000);
		f->console_full = below(4) == 0;
		if (!f->console_full)
			platform_console_ready(f->platform);
		if (offered < 20000 && below(3) == 0 &&
			platform_console_input(f->platform, (u8)(offered * 7)))
			offered++;
		while (line(f)) {
			switch (get(f, IIR) & 0x0f) {
			case 0x04:
			case 0x0c:
				while (get(f, LSR) & 1)
					assert_int_equal(get(f, DATA), (u8)(received++ * 7));
				break;
			case 0x02:
				for (u32 i = 0; i < 16 && sent < to_send; i++)
					put(f, DATA, (u8)(sent++ * 13));
				break;
			default:
				fail();
			}
		}
		assert_true(sent < to_send || !(get(f, LSR) & 0x20) || f->console_count == to_send);
	}
	f->console_full = false;
	platform_console_ready(f->platform);
	assert_int_equal(f->console_count, to_send);
	for (u32 i = 0; i < to_send; i++)
		assert_int_equal(f->console[i], (u8)(i * 13));
	fixture_free(f);
}

/* A guest that never looks at THRE loses bytes, nothing else. */
static void test_overwriting(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	f->console_full = true;
	put(f, FCR, 1);
	for (u32 i = 0; i < 1000; i++)
		put(f, DATA, (u8)i);
	f->console_full = false;
	platform_console_ready(f->platform);
	assert_int_equal(f->console_count, 16);
	assert_int_equal(get(f, LSR), 0x60);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thre_rules),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_fifo_levels),
		cmocka_unit_test(test_linux_probes),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_interrupt_driver),
		cmocka_unit_test(test_overwriting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
