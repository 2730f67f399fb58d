/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 16550A UART of COM1 (National PC16550D data sheet): ports 0x3f8..0x3ff, interrupt line 4.
 * Characters take no time: a byte written is on the console at once, unless the console does not
 * take it.
 */
#ifndef HV_DEV_UART_H
#define HV_DEV_UART_H

#include "hv/lib/types.h"

struct platform;

#define UART_FIFO 16

struct uart_fifo {
	u8 bytes[UART_FIFO];
	u32 first, count;
};

struct uart {
	u8 ier, fcr, lcr, mcr, lsr_errors, msr_delta, scratch;
	u16 divisor;
	bool thr_empty_pending; /* the THRE interrupt stands */
	struct uart_fifo receive, transmit;
};

void uart_reset(struct platform *platform);
u32 uart_read(struct platform *platform, u16 port, u32 size);
void uart_write(struct platform *platform, u16 port, u32 size, u32 value);
/* A byte for the guest. False: no room, or the line is cut (loopback). */
bool uart_receive(struct platform *platform, u8 byte);
/* The console takes bytes again. */
void uart_transmit(struct platform *platform);

#endif
