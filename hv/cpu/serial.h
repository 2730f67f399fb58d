/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's console: a 16550 UART with a ring in front, emptied by the transmitter's interrupt.
 * Interrupts off in every call. Without a UART all output is swallowed.
 */
#ifndef HV_CPU_SERIAL_H
#define HV_CPU_SERIAL_H

#include "hv/lib/types.h"

/* port 0 or no UART there: no console. Works by polling until console_use_interrupts(). */
void console_init(u16 port, u32 baud);
/* The UART's interrupt arrives at IRQ_VECTOR_SERIAL from now on. */
void console_use_interrupts(void);

/* False: the ring is full. */
bool __must_check console_putc(u8 byte);
bool console_has_room(void);
/* The next byte that was typed, or -1; peek leaves it there. */
int console_getc(void);
int console_peek(void);

/*
 * Looks at the UART without an interrupt: for ports whose interrupt is not known, and for emulators
 * that hold interrupts back while a guest runs with RFLAGS.IF clear. console_busy(): bytes wait to
 * be sent.
 */
void console_poll(void);
bool console_busy(void);

/* Text that must not be lost: waits for room, boundedly. A log sink. */
void console_write(const char *text, size_t length);
/* Waits until everything is on the wire, boundedly. */
void console_flush(void);

#endif
