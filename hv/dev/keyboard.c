// SPDX-License-Identifier: BSD-2-Clause
/*
 * The keyboard controller without keyboard or mouse, and system control port A (0x92). Called by
 * ports.c.
 */
#include "hv/dev/board.h"

#define STATUS_OUTPUT	0x01 /* a byte waits at port 0x60 */
#define STATUS_SYSTEM	0x04 /* self test passed */
#define STATUS_COMMAND	0x08 /* the last write was to port 0x64 */
#define STATUS_UNLOCKED 0x10
#define STATUS_TIMEOUT	0x40

#define COMMAND_INTERRUPT 0x01 /* the command byte: interrupt on output */
#define COMMAND_SYSTEM	  0x04
#define COMMAND_DISABLED  0x10

#define OUTPUT_PORT	0xdf /* reset not driven, A20 open */
#define OUTPUT_NO_RESET 0x01
#define KEYBOARD_RESEND 0xfe
#define PORT92_RESET	0x01
#define PORT92_A20	0x02

/* A byte for port 0x60. error: what the controller says of it. */
static void answer(struct platform *platform, u8 data, u8 error)
{
	struct keyboard *keyboard = &platform->keyboard;

	keyboard->data = data;
	keyboard->status = (u8)((keyboard->status & ~STATUS_TIMEOUT) | STATUS_OUTPUT | error);
	/* Each byte is an edge of its own. */
	board_irq(platform, IRQ_KBD, false);
	board_irq(platform, IRQ_KBD, keyboard->command & COMMAND_INTERRUPT);
}

static void command(struct platform *platform, u8 value)
{
	struct keyboard *keyboard = &platform->keyboard;

	keyboard->expects = 0;
	switch (value) {
	case 0x20: /* read the command byte; the others: internal RAM */
		answer(platform, keyboard->command, 0);
		break;
	case 0x21 ... 0x3f:
		answer(platform, keyboard->ram[value & 31], 0);
		break;
	case 0x60 ... 0x7f: /* write them */
	case 0xd1:	    /* write the output port */
	case 0xd2:	    /* write to the keyboard's, the mouse's output buffer */
	case 0xd3:
	case 0xd4: /* to the mouse */
		keyboard->expects = value;
		break;
	case 0xa9: /* test the mouse port: its clock line is stuck, as where there is none */
		answer(platform, 1, 0);
		break;
	case 0xaa: /* self test */
		keyboard->status |= STATUS_SYSTEM;
		keyboard->command |= COMMAND_SYSTEM;
		answer(platform, 0x55, 0);
		break;
	case 0xab: /* test the keyboard port: lines are fine */
		answer(platform, 0, 0);
		break;
	case 0xad:
		keyboard->command |= COMMAND_DISABLED;
		break;
	case 0xae:
		keyboard->command &= (u8)~COMMAND_DISABLED;
		break;
	case 0xc0: /* input port: keyboard not locked */
		answer(platform, 0x80, 0);
		break;
	case 0xd0:
		answer(platform, OUTPUT_PORT, 0);
		break;
	case 0xf0 ... 0xff: /* pulse the output lines whose bit is 0; bit 0 is RESET */
		if (!(value & OUTPUT_NO_RESET))
			board_stop(platform, STOP_RESET, 0);
		break;
	}
}

static void parameter(struct platform *platform, u8 value)
{
	struct keyboard *keyboard = &platform->keyboard;
	u8 expects = keyboard->expects;

	keyboard->expects = 0;
	switch (expects) {
	case 0x60:
		keyboard->command = value;
		break;
	case 0x61 ... 0x7f:
		keyboard->ram[expects & 31] = value;
		break;
	case 0xd1:
		if (!(value & OUTPUT_NO_RESET))
			board_stop(platform, STOP_RESET, 0);
		break;
	case 0xd2:
	case 0xd3: /* comes back as from a keyboard: a controller without mouse port */
		answer(platform, value, 0);
		break;
	default: /* to a keyboard or mouse that is not there: nobody answers in time */
		answer(platform, KEYBOARD_RESEND, STATUS_TIMEOUT);
	}
}

u32 keyboard_read(struct platform *platform, u16 port, u32 size)
{
	struct keyboard *keyboard = &platform->keyboard;

	(void)size;
	if (port == 0x92)
		return keyboard->port92;
	if (port == 0x64)
		return keyboard->status | STATUS_UNLOCKED;
	keyboard->status &= (u8) ~(STATUS_OUTPUT | STATUS_TIMEOUT);
	board_irq(platform, IRQ_KBD, false);
	return keyboard->data;
}

void keyboard_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	struct keyboard *keyboard = &platform->keyboard;
	u8 byte = (u8)value;

	(void)size;
	if (port == 0x92) {
		if ((byte & PORT92_RESET) && !(keyboard->port92 & PORT92_RESET))
			board_stop(platform, STOP_RESET, 0);
		keyboard->port92 = byte;
	} else if (port == 0x64) {
		keyboard->status |= STATUS_COMMAND;
		command(platform, byte);
	} else {
		keyboard->status &= (u8)~STATUS_COMMAND;
		parameter(platform, byte);
	}
}

void keyboard_reset(struct platform *platform)
{
	platform->keyboard = (struct keyboard){
		.status = STATUS_SYSTEM,
		.command = COMMAND_SYSTEM | COMMAND_DISABLED,
		.port92 = PORT92_A20,
	};
	board_irq(platform, IRQ_KBD, false);
}
