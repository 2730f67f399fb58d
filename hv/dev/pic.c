// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 8259A pair. Called by interrupts.c (lines, INTA) and ports.c (registers). The priority logic
 * of both chips is one function, request(): INTR, INTA and the poll command all ask it.
 */
#include "hv/dev/pic.h"

#define ICW1	       0x10 /* D4 of a write to the even port */
#define ICW1_IC4       0x01
#define ICW1_SINGLE    0x02
#define ICW4_AUTO_EOI  0x02
#define ICW4_NESTED    0x10 /* special fully nested mode */
#define OCW3	       0x08
#define OCW3_READ      0x02
#define OCW3_READ_ISR  0x01
#define OCW3_POLL      0x04
#define OCW3_MASK      0x20 /* special mask mode; valid with OCW3_SET_MASK */
#define OCW3_SET_MASK  0x40
#define CASCADE	       2
#define SPURIOUS       7
#define NONE	       8u
#define POLL_INTERRUPT 0x80

/*
 * What the ISA bridge lets software make level triggered: not the timer, keyboard, cascade, RTC,
 * FPU.
 */
static const u8 elcr_writable[2] = { 0xf8, 0xde };

/* Inputs by falling priority: the n-th is (lowest + 1 + n) mod 8. */
static u32 by_priority(const struct pic_chip *chip, u32 n)
{
	return (chip->lowest + 1 + n) & 7;
}

/* The input to be served now, or NONE: requested, not masked, above everything in service. */
static u32 request(const struct pic_chip *chip, bool master)
{
	u8 wanted = chip->irr & (u8)~chip->imr;

	for (u32 n = 0; wanted && n < 8; n++) {
		u32 input = by_priority(chip, n);
		u8 bit = (u8)(1 << input);
		bool in_service = chip->isr & bit;
		/* The slave may interrupt again with a higher input of its own. */
		bool nested = master && chip->special_fully_nested && input == CASCADE;

		if ((wanted & bit) && (!in_service || nested))
			return input;
		/* In special mask mode only its own bit in service holds an input back. */
		if (in_service && !chip->special_mask)
			return NONE;
	}
	return NONE;
}

static void chip_line(struct pic_chip *chip, u32 input, bool level)
{
	u8 bit = (u8)(1 << input);

	if (!level)
		chip->irr &= (u8)~bit;
	else if ((chip->elcr & bit) || !(chip->lines & bit))
		chip->irr |= bit;
	chip->lines = level ? chip->lines | bit : chip->lines & (u8)~bit;
}

static void update(struct pic *pic)
{
	chip_line(&pic->chips[0], CASCADE, request(&pic->chips[1], false) != NONE);
	pic->intr = request(&pic->chips[0], true) != NONE;
}

void pic_set_line(struct pic *pic, u32 line, bool level)
{
	if (line == CASCADE)
		return;
	chip_line(&pic->chips[line >> 3], line & 7, level);
	update(pic);
}

static void end_of_interrupt(struct pic_chip *chip, u32 input, bool rotate)
{
	chip->isr &= (u8) ~(1 << input);
	if (rotate)
		chip->lowest = (u8)input;
}

/* A chip's part of the INTA cycle (or of a poll): the input goes into service. */
static void take(struct pic_chip *chip, u32 input)
{
	u8 bit = (u8)(1 << input);

	chip->isr |= bit;
	if (!(chip->elcr & bit))
		chip->irr &= (u8)~bit;
	if (chip->auto_eoi)
		end_of_interrupt(chip, input, chip->rotate_on_auto_eoi);
}

/*
 * The slave's INT follows its request at once and takes the master's with it, so a request that
 * goes away before INTA always ends as the master's spurious vector: input 7, and ISR left alone.
 */
u8 pic_acknowledge(struct pic *pic)
{
	struct pic_chip *chip = &pic->chips[0];
	u32 input = request(chip, true);

	if (input == NONE)
		return (u8)(chip->vector + SPURIOUS);
	take(chip, input);
	if (input == CASCADE) {
		chip = &pic->chips[1];
		input = request(chip, false);
		take(chip, input);
		/* INT of the slave falls in the cycle: what is left makes a new edge. */
		chip_line(&pic->chips[0], CASCADE, false);
	}
	update(pic);
	return (u8)(chip->vector + input);
}

static u8 poll(struct pic *pic, struct pic_chip *chip)
{
	u32 input = request(chip, chip == &pic->chips[0]);

	chip->poll = false;
	if (input == NONE)
		return 0;
	take(chip, input);
	if (chip == &pic->chips[1])
		chip_line(&pic->chips[0], CASCADE, false);
	update(pic);
	return (u8)(POLL_INTERRUPT | input);
}

u8 pic_read(struct pic *pic, u16 port)
{
	struct pic_chip *chip;

	if (port >= 0x4d0)
		return pic->chips[port & 1].elcr;
	chip = &pic->chips[port >> 7];
	if (chip->poll)
		return poll(pic, chip);
	if (port & 1)
		return chip->imr;
	return chip->read_isr ? chip->isr : chip->irr;
}

static void write_icw1(struct pic_chip *chip, u8 value)
{
	u8 level_requests = chip->lines & chip->elcr;

	/* The edge detectors start anew: a line that is high now must fall first (8259A "ICW1"). */
	*chip = (struct pic_chip){
		.lines = chip->lines,
		.irr = level_requests,
		.elcr = chip->elcr,
		.vector = chip->vector,
		.lowest = 7,
		.icw_next = 2,
		.icw4_expected = value & ICW1_IC4,
		.single = value & ICW1_SINGLE,
	};
}

static void write_ocw2(struct pic_chip *chip, u8 value)
{
	u32 input = value & 7;
	bool rotate = value & 0x80;

	switch (value >> 5) {
	case 0: /* rotate in automatic EOI mode: clear, set */
	case 4:
		chip->rotate_on_auto_eoi = rotate;
		break;
	case 1: /* non-specific EOI, without and with rotation */
	case 5:
		for (u32 n = 0; n < 8; n++) {
			input = by_priority(chip, n);
			/* Special mask mode: a masked bit in service is not cleared by it. */
			if ((chip->isr & 1 << input) &&
				!(chip->special_mask && (chip->imr & 1 << input))) {
				end_of_interrupt(chip, input, rotate);
				break;
			}
		}
		break;
	case 3: /* specific EOI */
	case 7:
		end_of_interrupt(chip, input, rotate);
		break;
	case 6: /* set priority */
		chip->lowest = (u8)input;
		break;
	}
}

static void write_ocw3(struct pic_chip *chip, u8 value)
{
	if (value & OCW3_SET_MASK)
		chip->special_mask = value & OCW3_MASK;
	if (value & OCW3_POLL)
		chip->poll = true;
	else if (value & OCW3_READ)
		chip->read_isr = value & OCW3_READ_ISR;
}

static void write_odd(struct pic_chip *chip, u8 value)
{
	switch (chip->icw_next) {
	case 2:
		chip->vector = value & 0xf8;
		chip->icw_next = chip->single ? (chip->icw4_expected ? 4 : 0) : 3;
		break;
	case 3: /* the cascade is soldered */
		chip->icw_next = chip->icw4_expected ? 4 : 0;
		break;
	case 4:
		chip->auto_eoi = value & ICW4_AUTO_EOI;
		chip->special_fully_nested = value & ICW4_NESTED;
		chip->icw_next = 0;
		break;
	default:
		chip->imr = value;
	}
}

static void write_elcr(struct pic *pic, u32 which, u8 value)
{
	struct pic_chip *chip = &pic->chips[which];
	u8 old = chip->elcr;

	chip->elcr = value & elcr_writable[which];
	/* Level inputs request as long as the line is high; what was one is no edge now. */
	chip->irr = (u8)((chip->irr & ~(old & ~chip->elcr)) | (chip->lines & chip->elcr));
}

void pic_write(struct pic *pic, u16 port, u8 value)
{
	if (port >= 0x4d0) {
		write_elcr(pic, port & 1, value);
	} else {
		struct pic_chip *chip = &pic->chips[port >> 7];

		if (port & 1)
			write_odd(chip, value);
		else if (value & ICW1)
			write_icw1(chip, value);
		else if (value & OCW3)
			write_ocw3(chip, value);
		else
			write_ocw2(chip, value);
	}
	update(pic);
}

void pic_reset(struct pic *pic)
{
	*pic = (struct pic){ 0 };
	/* As a PC's firmware leaves them: vectors 8 and 0x70, everything masked but the cascade. */
	pic->chips[0] = (struct pic_chip){ .vector = 0x08, .imr = 0xfb, .lowest = 7 };
	pic->chips[1] = (struct pic_chip){ .vector = 0x70, .imr = 0xff, .lowest = 7 };
}
