// SPDX-License-Identifier: BSD-2-Clause
/*
 * The I/O APIC against a line-level model of one pin at a time: what a level, an edge, a mask and
 * an EOI do is worked out from the 82093AA data sheet with plain booleans.
 */
#include "platform_fixture.h"

#define HZ 100000000ull

static u32 read_reg(struct fixture *f, u32 index)
{
	u64 value;

	assert_true(platform_mmio_write(f->platform, 0, gpa(IOAPIC_BASE), 4, index));
	assert_true(platform_mmio_read(f->platform, 0, gpa(IOAPIC_BASE + 0x10), 4, &value));
	return (u32)value;
}

static void write_reg(struct fixture *f, u32 index, u32 value)
{
	assert_true(platform_mmio_write(f->platform, 0, gpa(IOAPIC_BASE), 1, index));
	assert_true(platform_mmio_write(f->platform, 0, gpa(IOAPIC_BASE + 0x10), 4, value));
}

static void enable(struct fixture *f, u32 vcpu)
{
	platform_mmio_write(f->platform, vcpu, gpa(LAPIC_BASE + LAPIC_SVR), 4, 0x1ff);
}

static void eoi(struct fixture *f, u32 vcpu)
{
	platform_mmio_write(f->platform, vcpu, gpa(LAPIC_BASE + LAPIC_EOI), 4, 0);
}

struct model {
	bool line, masked, level, low, remote_irr, waiting, serving, sent_by_level;
};

static void model_send(struct model *m, bool rising)
{
	bool asserted = m->line != m->low;

	if (m->masked || !asserted)
		return;
	if (m->level && !m->remote_irr) {
		m->remote_irr = true;
		m->waiting = true;
		m->sent_by_level = true;
	} else if (!m->level && rising) {
		m->waiting = true;
		m->sent_by_level = false;
	}
}

static void test_pin_model(void **state)
{
	(void)state;
	for (u32 pin = 3; pin < IOAPIC_PINS; pin++) {
		struct fixture *f = fixture_new(1, HZ);
		struct model m = { .masked = true };
		bool serving_level = false;

		platform_mmio_write(f->platform, 0, gpa(LAPIC_BASE + LAPIC_LVT_LINT0), 4, 0x10000);
		for (u32 step = 0; step < 6000; step++) {
			bool bit = below(2), rising;

			switch (below(5)) {
			case 0:
			case 1:
				rising = !(m.line != m.low) && bit != m.low;
				m.line = bit;
				model_send(&m, rising);
				board_test_irq(f->platform, pin, bit);
				break;
			case 2:
				m.masked = below(3) == 0;
				m.level = bit;
				m.low = below(4) == 0;
				if (!m.level)
					m.remote_irr = false;
				model_send(&m, false);
				write_reg(f, 0x10 + 2 * pin,
					0x70u | (u32)m.low << 13 | (u32)m.level << 15 |
						(u32)m.masked << 16 |
						(bit ? BIT(14) | BIT(12) : 0));
				break;
			case 3:
				assert_int_equal(platform_interrupt_accept(f->platform, 0),
					m.waiting && !m.serving ? 0x70 : -1);
				if (m.waiting && !m.serving) {
					m.waiting = false;
					m.serving = true;
				}
				break;
			case 4:
				/* TMR is one bit a vector: the last acceptance decides. */
				serving_level = m.serving && m.sent_by_level;
				m.serving = false;
				if (serving_level && m.remote_irr) {
					m.remote_irr = false;
					model_send(&m, false);
				}
				eoi(f, 0);
			}
			assert_int_equal(read_reg(f, 0x10 + 2 * pin) >> 14 & 1, m.remote_irr);
		}
		fixture_free(f);
	}
}

static void test_registers(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	assert_int_equal(read_reg(f, 1), 0x00170020);
	write_reg(f, 0, 0xffffffff);
	assert_int_equal(read_reg(f, 0), 0x0f000000);
	for (u32 pin = 0; pin < IOAPIC_PINS; pin++) {
		assert_int_equal(read_reg(f, 0x10 + 2 * pin), 0x10000);
		write_reg(f, 0x10 + 2 * pin, 0xffffffff);
		write_reg(f, 0x11 + 2 * pin, 0xffffffff);
		assert_int_equal(read_reg(f, 0x10 + 2 * pin), 0x1afff);
		assert_int_equal(read_reg(f, 0x11 + 2 * pin), 0xff000000);
	}
	for (u32 index = 0; index < 256; index++) {
		write_reg(f, index, 0x10000);
		read_reg(f, index);
	}
	fixture_free(f);
}

/* The timer as Linux's check_timer() wants it: line 0 on pin 2, edge, and nothing on pin 0. */
static void test_timer_pin(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u32 ticks = 0;

	(void)state;
	platform_mmio_write(f->platform, 0, gpa(LAPIC_BASE + LAPIC_LVT_LINT0), 4, 0x10700);
	write_reg(f, 0x10 + 2 * 2, 0x30);
	out8(f, 0x43, 0x34);
	out8(f, 0x40, 4773 & 0xff);
	out8(f, 0x40, 4773 >> 8);
	for (u32 i = 0; i < 1000; i++) {
		advance(f, HZ / 1000);
		while (platform_interrupt_accept(f->platform, 0) == 0x30) {
			eoi(f, 0);
			ticks++;
		}
	}
	assert_in_range(ticks, PIT_HZ / 4773 - 1, PIT_HZ / 4773 + 1);
	fixture_free(f);
}

static void test_destination_modes(void **state)
{
	struct fixture *f = fixture_new(4, HZ);
	u32 got = 0;

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		enable(f, i);
		platform_mmio_write(
			f->platform, i, gpa(LAPIC_BASE + LAPIC_LDR), 4, 0x1000000u << i);
	}
	write_reg(f, 0x10 + 2 * 10, 0x850); /* fixed, logical */
	write_reg(f, 0x11 + 2 * 10, 0x0a000000);
	board_test_irq(f->platform, 10, true);
	for (u32 i = 0; i < 4; i++)
		got |= (u32)(platform_interrupt_accept(f->platform, i) == 0x50) << i;
	assert_int_equal(got, 0x0a);
	/* Lowest priority goes to the one with nothing in service. */
	write_reg(f, 0x10 + 2 * 11, 0x951);
	write_reg(f, 0x11 + 2 * 11, 0x0b000000);
	board_test_irq(f->platform, 11, true);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), 0x51);
	/* NMI, INIT; ExtINT: pin 0 hands the 8259 to vCPU 2. */
	write_reg(f, 0x11 + 2 * 12, 0x03000000);
	write_reg(f, 0x10 + 2 * 12, 0x400);
	board_test_irq(f->platform, 12, true);
	assert_int_equal(f->nmi[3], 1);
	platform_mmio_write(f->platform, 0, gpa(LAPIC_BASE + LAPIC_LVT_LINT0), 4, 0x10700);
	write_reg(f, 0x11, 0x02000000);
	write_reg(f, 0x10, 0x700);
	out8(f, 0x21, 0xfa);
	board_test_irq(f->platform, 0, true);
	assert_int_equal(platform_interrupt_pending(f->platform, 1), -1);
	assert_int_equal(platform_interrupt_accept(f->platform, 2), 8);
	fixture_free(f);
}

/*
 * The EOI register and the mask-and-edge way clear remote IRR for a vector nobody has in service.
 */
static void test_remote_irr_release(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	write_reg(f, 0x10 + 2 * 20, 0x8061);
	board_test_irq(f->platform, 20, true);
	assert_int_equal(read_reg(f, 0x10 + 2 * 20), 0xc061);
	board_test_irq(f->platform, 20, false);
	platform_mmio_write(f->platform, 0, gpa(IOAPIC_BASE + 0x40), 4, 0x61);
	assert_int_equal(read_reg(f, 0x10 + 2 * 20), 0x8061);
	board_test_irq(f->platform, 20, true);
	write_reg(f, 0x10 + 2 * 20, 0x10061);
	write_reg(f, 0x10 + 2 * 20, 0x18061);
	assert_int_equal(read_reg(f, 0x10 + 2 * 20), 0x18061);
	fixture_free(f);
}

/* Two pins on one vector: the last acceptance says whether the EOI is broadcast (SDM 3A 11.8.4). */
static void test_trigger_mode_register(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u64 tmr;

	(void)state;
	write_reg(f, 0x10 + 2 * 20, 0x8061);
	write_reg(f, 0x10 + 2 * 21, 0x0061);
	board_test_irq(f->platform, 20, true);
	platform_mmio_read(f->platform, 0, gpa(LAPIC_BASE + LAPIC_TMR + 0x30), 4, &tmr);
	assert_int_equal(tmr, 2);
	board_test_irq(f->platform, 21, true);
	platform_mmio_read(f->platform, 0, gpa(LAPIC_BASE + LAPIC_TMR + 0x30), 4, &tmr);
	assert_int_equal(tmr, 0);
	assert_int_equal(platform_interrupt_accept(f->platform, 0), 0x61);
	eoi(f, 0);
	assert_int_equal(read_reg(f, 0x10 + 2 * 20), 0xc061);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pin_model),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_timer_pin),
		cmocka_unit_test(test_destination_modes),
		cmocka_unit_test(test_remote_irr_release),
		cmocka_unit_test(test_trigger_mode_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
