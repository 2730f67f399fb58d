// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 8259 pair against a second model, written from the data sheet the other way round: it keeps a
 * priority rank for each input and looks for the best of all, where the shipping code walks by
 * rotation.
 */
#include "platform_fixture.h"

struct model_chip {
	bool line[8], latch[8], in_service[8], masked[8], level[8];
	int rank[8]; /* 0 is the highest priority */
	int base, icw;
	bool icw4, single, aeoi, rotate_aeoi, special_mask, nested, show_isr, poll;
};

static struct model_chip model[2];

static void model_ranks(struct model_chip *c, int lowest)
{
	for (int i = 0; i < 8; i++)
		c->rank[i] = (i - lowest - 1 + 8) % 8;
}

static bool model_requests(const struct model_chip *c, int input)
{
	return c->level[input] ? c->line[input] : c->latch[input] && c->line[input];
}

/* The best-ranked request that no better or equal input in service holds back. */
static int model_best(int chip)
{
	const struct model_chip *c = &model[chip];
	int best = -1;

	for (int i = 0; i < 8; i++) {
		bool held = false;

		if (!model_requests(c, i) || c->masked[i])
			continue;
		for (int s = 0; s < 8; s++) {
			if (!c->in_service[s])
				continue;
			if (s == i)
				held |= !(chip == 0 && c->nested && i == 2);
			else if (c->rank[s] < c->rank[i])
				held |= !c->special_mask;
		}
		if (!held && (best < 0 || c->rank[i] < c->rank[best]))
			best = i;
	}
	return best;
}

static void model_line(int chip, int input, bool level)
{
	struct model_chip *c = &model[chip];

	if (level && !c->line[input])
		c->latch[input] = true;
	if (!level)
		c->latch[input] = false;
	c->line[input] = level;
}

static void model_cascade(void)
{
	model_line(0, 2, model_best(1) >= 0);
}

static void model_serve(int chip, int input)
{
	struct model_chip *c = &model[chip];

	c->latch[input] = false;
	c->in_service[input] = !c->aeoi;
	if (c->aeoi && c->rotate_aeoi)
		model_ranks(c, input);
}

static int model_acknowledge(void)
{
	int input = model_best(0), vector;

	if (input < 0)
		return model[0].base + 7;
	model_serve(0, input);
	vector = model[0].base + input;
	if (input == 2) {
		int slave = model_best(1);

		vector = model[1].base + (slave < 0 ? 7 : slave);
		if (slave >= 0)
			model_serve(1, slave);
		model_line(0, 2, false);
	}
	model_cascade();
	return vector;
}

static void model_ocw2(struct model_chip *c, u8 value)
{
	int input = value & 7, best = -1;

	switch (value >> 5) {
	case 0:
	case 4:
		c->rotate_aeoi = value & 0x80;
		return;
	case 6:
		model_ranks(c, input);
		return;
	case 2:
		return;
	case 1:
	case 5:
		for (int i = 0; i < 8; i++)
			if (c->in_service[i] && !(c->special_mask && c->masked[i]) &&
				(best < 0 || c->rank[i] < c->rank[best]))
				best = i;
		if (best < 0)
			return;
		input = best;
	}
	c->in_service[input] = false;
	if (value & 0x80)
		model_ranks(c, input);
}

static void model_write(int chip, bool odd, u8 value)
{
	struct model_chip *c = &model[chip];

	if (odd && c->icw == 2) {
		c->base = value & 0xf8;
		c->icw = c->single ? (c->icw4 ? 4 : 0) : 3;
	} else if (odd && c->icw == 3) {
		c->icw = c->icw4 ? 4 : 0;
	} else if (odd && c->icw == 4) {
		c->aeoi = value & 2;
		c->nested = value & 0x10;
		c->icw = 0;
	} else if (odd) {
		for (int i = 0; i < 8; i++)
			c->masked[i] = value >> i & 1;
	} else if (value & 0x10) {
		for (int i = 0; i < 8; i++)
			c->latch[i] = c->in_service[i] = c->masked[i] = false;
		c->aeoi = c->rotate_aeoi = c->special_mask = c->nested = false;
		c->show_isr = c->poll = false;
		c->icw4 = value & 1;
		c->single = value & 2;
		c->icw = 2;
		model_ranks(c, 7);
	} else if (value & 8) {
		if (value & 0x40)
			c->special_mask = value & 0x20;
		if (value & 4)
			c->poll = true;
		else if (value & 2)
			c->show_isr = value & 1;
	} else {
		model_ocw2(c, value);
	}
	model_cascade();
}

static u8 model_read(int chip, bool odd)
{
	struct model_chip *c = &model[chip];
	u8 value = 0;

	if (c->poll) {
		int input = model_best(chip);

		c->poll = false;
		if (input < 0)
			return 0;
		model_serve(chip, input);
		if (chip == 1)
			model_line(0, 2, false);
		model_cascade();
		return (u8)(0x80 | input);
	}
	for (int i = 0; i < 8; i++) {
		bool bit = odd		 ? c->masked[i]
			   : c->show_isr ? c->in_service[i]
					 : model_requests(c, i);

		value |= (u8)(bit << i);
	}
	return value;
}

static void model_elcr(int chip, u8 value)
{
	value &= chip ? 0xde : 0xf8;
	for (int i = 0; i < 8; i++) {
		bool level = value >> i & 1;

		if (model[chip].level[i] && !level)
			model[chip].latch[i] = false;
		/* What requests by level now was not an edge when the mode changes back. */
		model[chip].level[i] = level;
	}
	model_cascade();
}

static u8 random_command(void)
{
	/* Mostly EOIs and mask writes: initialisation wipes what could go wrong. */
	if (below(40) == 0)
		return 0x10 | (below(2) ? 1 : 0);
	return below(2) ? (u8)(below(8) << 5 | below(8))
			: (u8)(8 | (below(16) << 3 & 0x60) | below(8));
}

static void test_against_model(void **state)
{
	static struct pic pic;
	static const u16 even[2] = { 0x20, 0xa0 };

	(void)state;
	pic_reset(&pic);
	for (int c = 0; c < 2; c++) {
		model_ranks(&model[c], 7);
		model[c].base = c ? 0x70 : 8;
		for (int i = 0; i < 8; i++)
			model[c].masked[i] = c || i != 2;
	}
	for (u32 step = 0; step < 400000; step++) {
		int chip = (int)below(2);
		u32 line = below(16);
		u8 value = random_command();
		bool odd = below(2);

		switch (below(6)) {
		case 0:
		case 1:
			if (line != 2)
				model_line((int)line >> 3, (int)line & 7, value & 1);
			model_cascade();
			pic_set_line(&pic, line, value & 1);
			break;
		case 2:
			if (odd)
				value = (u8)(below(256) & below(256));
			model_write(chip, odd, value);
			pic_write(&pic, even[chip] + odd, value);
			break;
		case 3:
			assert_int_equal(pic_read(&pic, even[chip] + odd), model_read(chip, odd));
			break;
		case 4:
			assert_int_equal(pic_acknowledge(&pic), model_acknowledge());
			break;
		case 5:
			if (below(20) == 0) {
				value = (u8)below(256);
				model_elcr(chip, value);
				pic_write(&pic, 0x4d0 + (u16)chip, value);
				assert_int_equal(pic_read(&pic, 0x4d0 + (u16)chip),
					value & (chip ? 0xde : 0xf8));
			}
		}
		assert_int_equal(pic.intr, model_best(0) >= 0);
	}
}

static void program(struct fixture *f, u8 icw4)
{
	static const u8 icws[2][4] = { { 0x11, 0x20, 4, 1 }, { 0x11, 0x28, 2, 1 } };

	for (u32 c = 0; c < 2; c++) {
		u16 port = c ? 0xa0 : 0x20;

		out8(f, port, icws[c][0]);
		out8(f, port + 1, icws[c][1]);
		out8(f, port + 1, icws[c][2]);
		out8(f, port + 1, icw4);
	}
}

/* The line falls between INTR and INTA: vector 7, and no in-service bit that would need an EOI. */
static void test_spurious(void **state)
{
	struct fixture *f = fixture_new(1, 100000000);

	(void)state;
	program(f, 1);
	board_test_irq(f->platform, 5, true);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), 0x25);
	board_test_irq(f->platform, 5, false);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), -1);
	assert_int_equal(pic_acknowledge(&f->platform->pic), 0x27);
	out8(f, 0x20, 0x0b);
	assert_int_equal(in8(f, 0x20), 0);
	fixture_free(f);
}

/* STI;HLT with only IRQ 11 through the pair: the boot processor's LINT0 is in virtual wire mode. */
static void test_virtual_wire(void **state)
{
	struct fixture *f = fixture_new(2, 100000000);
	u64 base = lapic_base(platform_lapic(f->platform, 0));
	u32 changed;

	(void)state;
	program(f, 1);
	changed = f->interrupt_changed;
	board_test_irq(f->platform, 11, true);
	assert_true(f->interrupt_changed > changed);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), 0x2b);
	assert_int_equal(platform_interrupt_pending(f->platform, 1), -1);
	/* Masked LINT0 shuts it off, a disabled APIC opens it again. */
	platform_mmio_write(f->platform, 0, gpa(LAPIC_BASE + LAPIC_LVT_LINT0), 4, 0x10700);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), -1);
	changed = f->interrupt_changed;
	assert_true(lapic_msr_write(platform_lapic(f->platform, 0), 0x1b, base & ~BIT(11)));
	assert_true(f->interrupt_changed > changed);
	assert_int_equal(platform_interrupt_accept(f->platform, 0), 0x2b);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), -1);
	out8(f, 0xa0, 0x20);
	out8(f, 0x20, 0x20);
	board_test_irq(f->platform, 11, false);
	board_test_irq(f->platform, 11, true);
	assert_int_equal(platform_interrupt_accept(f->platform, 0), 0x2b);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_model),
		cmocka_unit_test(test_spurious),
		cmocka_unit_test(test_virtual_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
