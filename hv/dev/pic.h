/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pair of 8259A interrupt controllers of a PC with the edge/level registers of an ISA bridge
 * (Intel 8259A data sheet; 82371 data sheet for ELCR). It knows nothing of the board: who calls
 * pic_* looks at pic->intr afterwards.
 */
#ifndef HV_DEV_PIC_H
#define HV_DEV_PIC_H

#include "hv/lib/types.h"

struct pic_chip {
	u8 lines; /* input levels */
	/* Requests: in edge mode latched, and gone when the line falls before it was taken. */
	u8 irr;
	u8 isr, imr;
	u8 elcr; /* 1: level triggered */
	u8 vector;
	u8 lowest;   /* the input of lowest priority: 7 unless rotated */
	u8 icw_next; /* which ICW a write to the odd port is: 2..4; 0: it is OCW1 */
	bool icw4_expected, single;
	bool auto_eoi, rotate_on_auto_eoi, special_mask, special_fully_nested;
	bool read_isr, poll;
};

struct pic {
	struct pic_chip chips[2]; /* master; slave on the master's input 2 */
	bool intr;		  /* the master's INTR output */
};

void pic_reset(struct pic *pic);
/* Lines 0..15; line 2 is the cascade and ignored. */
void pic_set_line(struct pic *pic, u32 line, bool level);
/* Ports 0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1. */
u8 pic_read(struct pic *pic, u16 port);
void pic_write(struct pic *pic, u16 port, u8 value);
/* The INTA cycle: the vector, of input 7 (spurious) if the request has gone. */
u8 pic_acknowledge(struct pic *pic);

#endif
