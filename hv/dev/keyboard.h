/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 8042 keyboard controller of a PC with nothing plugged in: ports 0x60 and 0x64, and port 0x92
 * beside it. Guests use it to reset the machine and to open A20; each question gets its answer at
 * once, so that probing takes no time.
 */
#ifndef HV_DEV_KEYBOARD_H
#define HV_DEV_KEYBOARD_H

#include "hv/lib/types.h"

struct platform;

struct keyboard {
	u8 status;  /* port 0x64, without the bits that are computed */
	u8 command; /* the command byte */
	u8 expects; /* the command whose parameter comes next on port 0x60; 0: none */
	u8 data;    /* the output buffer */
	u8 ram[32]; /* commands 0x20..0x3f, 0x60..0x7f */
	u8 port92;
};

void keyboard_reset(struct platform *platform);
u32 keyboard_read(struct platform *platform, u16 port, u32 size);
void keyboard_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
