// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host's UART (National Semiconductor PC16550D data sheet). A byte takes 87 us at 115200 baud:
 * polling for each would cost more than everything else the hypervisor does, so bytes wait in a
 * ring and leave 16 at a time when the transmitter's interrupt says its FIFO is empty.
 */
#include "hv/cpu/serial.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/irq.h"
#include "hv/lib/string.h"

enum {
	DATA,
	IER,
	FCR,
	LCR,
	MCR,
	LSR,
	MSR_,
	SCRATCH,
	IIR = FCR,
	DIVISOR_LOW = DATA,
	DIVISOR_HIGH = IER
};

#define IER_RECEIVE   BIT(0)
#define IER_TRANSMIT  BIT(1)
#define FCR_ENABLE    0xc7 /* enable and clear both FIFOs, receive trigger at 14 bytes */
#define LCR_8N1	      0x03
#define LCR_DLAB      0x80
#define MCR_RUN	      0x0b /* DTR, RTS, OUT2: the interrupt reaches the bus */
#define LSR_DATA      BIT(0)
#define LSR_THR_EMPTY BIT(5)
#define LSR_IDLE      BIT(6)
#define IIR_NONE      BIT(0)
#define UART_CLOCK    115200
#define FIFO_SIZE     16

#define TX_SIZE	  32768u
#define RX_SIZE	  1024u
/* More polls than a byte can take at 9600 baud on any machine; then the UART counts as dead. */
#define POLLS_MAX 4000000u

static struct {
	u16 port;
	bool interrupts;
	bool dead;
	u8 tx[TX_SIZE], rx[RX_SIZE];
	u32 tx_head, tx_tail, rx_head, rx_tail; /* free running; head - tail bytes wait */
} uart;

static void out(u16 reg, u8 value)
{
	insn_outb(uart.port + reg, value);
}

static u8 in(u16 reg)
{
	return insn_inb(uart.port + reg);
}

void console_init(u16 port, u32 baud)
{
	u32 divisor = UART_CLOCK / MAX(baud, 1u);

	memset(&uart, 0, sizeof(uart));
	uart.port = port;
	if (!port)
		return;
	/* Nothing there: the bus reads all ones. */
	out(SCRATCH, 0x5a);
	if (in(SCRATCH) != 0x5a || in(LSR) == 0xff) {
		uart.port = 0;
		return;
	}
	out(IER, 0);
	out(LCR, LCR_DLAB);
	out(DIVISOR_LOW, divisor);
	out(DIVISOR_HIGH, divisor >> 8);
	out(LCR, LCR_8N1);
	out(FCR, FCR_ENABLE);
	out(MCR, MCR_RUN);
}

static void set_interrupts(void)
{
	if (uart.interrupts)
		out(IER, IER_RECEIVE | (uart.tx_head != uart.tx_tail ? IER_TRANSMIT : 0));
}

/* Fills the FIFO if it is empty. */
static void transmit(void)
{
	if (!(in(LSR)&LSR_THR_EMPTY))
		return;
	for (u32 i = 0; i < FIFO_SIZE && uart.tx_head != uart.tx_tail; i++)
		out(DATA, uart.tx[uart.tx_tail++ % TX_SIZE]);
}

static void receive(void)
{
	/* Bounded: a UART that always claims data must not hold the CPU. */
	for (u32 i = 0; i < RX_SIZE && (in(LSR)&LSR_DATA); i++) {
		u8 byte = in(DATA);

		if (uart.rx_head - uart.rx_tail < RX_SIZE)
			uart.rx[uart.rx_head++ % RX_SIZE] = byte;
	}
}

static void interrupt(void)
{
	for (u32 i = 0; i < FIFO_SIZE && !(in(IIR)&IIR_NONE); i++) {
		receive();
		transmit();
		set_interrupts();
	}
}

void console_use_interrupts(void)
{
	if (!uart.port)
		return;
	irq_set_handler(IRQ_VECTOR_SERIAL, interrupt);
	uart.interrupts = true;
	receive();
	set_interrupts();
}

void console_poll(void)
{
	if (!uart.port || uart.dead)
		return;
	receive();
	transmit();
	set_interrupts();
}

bool console_busy(void)
{
	return uart.tx_head != uart.tx_tail;
}

bool console_has_room(void)
{
	return uart.tx_head - uart.tx_tail < TX_SIZE;
}

bool console_putc(u8 byte)
{
	bool was_empty = uart.tx_head == uart.tx_tail;

	if (!uart.port || uart.dead)
		return true;
	if (!console_has_room())
		return false;
	uart.tx[uart.tx_head++ % TX_SIZE] = byte;
	if (was_empty) {
		transmit();
		set_interrupts();
	}
	return true;
}

int console_peek(void)
{
	return uart.rx_head == uart.rx_tail ? -1 : uart.rx[uart.rx_tail % RX_SIZE];
}

int console_getc(void)
{
	int byte = console_peek();

	if (byte >= 0)
		uart.rx_tail++;
	return byte;
}

/* Polls until the ring has emptied down to count bytes. */
static void drain(u32 count)
{
	for (u32 polls = 0; uart.tx_head - uart.tx_tail > count; polls++) {
		u32 tail = uart.tx_tail;

		if (!uart.port || uart.dead)
			return;
		transmit();
		if (uart.tx_tail != tail)
			polls = 0;
		if (polls == POLLS_MAX)
			uart.dead = true;
		insn_pause();
	}
}

void console_write(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!console_has_room())
			drain(TX_SIZE / 2);
		if (!console_putc(text[i]))
			return;
	}
	if (uart.interrupts)
		transmit();
	else
		drain(0);
}

void console_flush(void)
{
	drain(0);
	for (u32 polls = 0; uart.port && !uart.dead && polls < POLLS_MAX && !(in(LSR)&LSR_IDLE);
		polls++)
		insn_pause();
}
