// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 16550A. Called by ports.c and, for the console's side, by platform.c. The interrupt line is a
 * function of the state (update), so no path can forget it (BUG-46).
 */
#include "hv/dev/board.h"
#include "hv/lib/string.h"

enum { REG_DATA, REG_IER, REG_IIR, REG_LCR, REG_MCR, REG_LSR, REG_MSR, REG_SCRATCH };

#define IER_RECEIVED	   0x01
#define IER_THRE	   0x02
#define IER_LINE	   0x04
#define IER_MODEM	   0x08
#define IIR_NONE	   0x01
#define IIR_MODEM	   0x00
#define IIR_THRE	   0x02
#define IIR_RECEIVED	   0x04
#define IIR_LINE	   0x06
#define IIR_TIMEOUT	   0x0c
#define IIR_FIFOS	   0xc0
#define FCR_ENABLE	   0x01
#define FCR_CLEAR_RECEIVE  0x02
#define FCR_CLEAR_TRANSMIT 0x04
#define FCR_TRIGGER	   0xc0
#define LCR_BREAK	   0x40
#define LCR_DLAB	   0x80
#define MCR_LOOP	   0x10
#define LSR_READY	   0x01
#define LSR_OVERRUN	   0x02
#define LSR_BREAK	   0x10
#define LSR_THRE	   0x20
#define LSR_IDLE	   0x40
#define MSR_TERI	   0x04
#define MSR_RI		   0x40
#define MSR_CONNECTED	   0xb0 /* DCD, DSR, CTS: the other side is there */
#define DIVISOR_9600	   12

static bool fifos(const struct uart *uart)
{
	return uart->fcr & FCR_ENABLE;
}

static u32 depth(const struct uart *uart)
{
	return fifos(uart) ? UART_FIFO : 1;
}

static void push(struct uart_fifo *fifo, u8 byte)
{
	fifo->bytes[(fifo->first + fifo->count++) % UART_FIFO] = byte;
}

static u8 pop(struct uart_fifo *fifo)
{
	u8 byte = fifo->bytes[fifo->first];

	fifo->first = (fifo->first + 1) % UART_FIFO;
	fifo->count--;
	return byte;
}

static u8 msr_lines(const struct uart *uart)
{
	u8 mcr = uart->mcr;

	if (!(mcr & MCR_LOOP))
		return MSR_CONNECTED;
	/* DTR -> DSR, RTS -> CTS, OUT1 -> RI, OUT2 -> DCD */
	return (u8)((mcr & 1) << 5 | (mcr & 2) << 3 | (mcr & 4) << 4 | (mcr & 8) << 4);
}

/* The highest interrupt that stands and is enabled (PC16550D table IV). */
static u8 interrupt_id(const struct uart *uart)
{
	static const u8 trigger_levels[4] = { 1, 4, 8, 14 };
	u32 trigger = fifos(uart) ? trigger_levels[uart->fcr >> 6] : 1;

	if ((uart->ier & IER_LINE) && uart->lsr_errors)
		return IIR_LINE;
	if ((uart->ier & IER_RECEIVED) && uart->receive.count >= trigger)
		return IIR_RECEIVED;
	/* Below the trigger level the time-out interrupt comes, here without the wait. */
	if ((uart->ier & IER_RECEIVED) && uart->receive.count)
		return IIR_TIMEOUT;
	if ((uart->ier & IER_THRE) && uart->thr_empty_pending)
		return IIR_THRE;
	if ((uart->ier & IER_MODEM) && uart->msr_delta)
		return IIR_MODEM;
	return IIR_NONE;
}

/*
 * The line does not wait for MCR.OUT2, as a PC's gate would: kernels that never set it (xv6) run on
 * emulators that all do without, and no guest relies on the gate being shut.
 */
static void update(struct platform *platform)
{
	board_irq(platform, IRQ_COM1, interrupt_id(&platform->uart) != IIR_NONE);
}

static void receive(struct uart *uart, u8 byte)
{
	if (uart->receive.count < depth(uart)) {
		push(&uart->receive, byte);
		return;
	}
	uart->lsr_errors |= LSR_OVERRUN;
	/* With FIFOs the new byte is lost, without them it takes the old one's place. */
	if (!fifos(uart)) {
		pop(&uart->receive);
		push(&uart->receive, byte);
	}
}

/* Hands on what the other side takes. THRE rises when the last byte has gone. */
static void drain(struct platform *platform)
{
	const struct platform_host *host = &platform->config.host;
	struct uart *uart = &platform->uart;
	struct uart_fifo *fifo = &uart->transmit;

	while (fifo->count) {
		if (uart->mcr & MCR_LOOP)
			receive(uart, fifo->bytes[fifo->first]);
		else if (!host->console_write(host->context, fifo->bytes[fifo->first]))
			return;
		pop(fifo);
	}
	uart->thr_empty_pending = true;
}

static void write_data(struct platform *platform, u8 byte)
{
	struct uart *uart = &platform->uart;

	uart->thr_empty_pending = false;
	/* A guest that does not wait for THRE overwrites: the last byte is lost, as in the chip. */
	if (uart->transmit.count == depth(uart))
		return;
	push(&uart->transmit, byte);
	drain(platform);
}

static void write_ier(struct uart *uart, u8 value)
{
	/* Enabling THRE with the register empty raises it at once (PC16550D 8.4). */
	if (!(uart->ier & IER_THRE) && (value & IER_THRE) && uart->transmit.count == 0)
		uart->thr_empty_pending = true;
	uart->ier = value & 0x0f;
}

static void write_fcr(struct uart *uart, u8 value)
{
	/* A change of the enable bit clears both FIFOs; without it the other bits are not taken. */
	if ((uart->fcr ^ value) & FCR_ENABLE)
		value |= FCR_CLEAR_RECEIVE | FCR_CLEAR_TRANSMIT;
	uart->fcr = value & FCR_ENABLE ? value & (FCR_ENABLE | FCR_TRIGGER) : 0;
	if (value & FCR_CLEAR_RECEIVE)
		uart->receive.count = 0;
	if (value & FCR_CLEAR_TRANSMIT) {
		if (uart->transmit.count)
			uart->thr_empty_pending = true;
		uart->transmit.count = 0;
	}
}

static void write_lcr(struct uart *uart, u8 value)
{
	/* A break sent in loopback comes back as a null character with BI. */
	if ((uart->mcr & MCR_LOOP) && (value & ~uart->lcr & LCR_BREAK)) {
		receive(uart, 0);
		uart->lsr_errors |= LSR_BREAK;
	}
	uart->lcr = value;
}

static void write_mcr(struct platform *platform, u8 value)
{
	struct uart *uart = &platform->uart;
	u8 before = msr_lines(uart), after, changed;

	uart->mcr = value & 0x1f;
	after = msr_lines(uart);
	changed = before ^ after;
	/* DCTS, DDSR, DDCD on any change; TERI on the trailing edge of RI only. */
	uart->msr_delta |= (changed & (u8)~MSR_RI) >> 4;
	if (before & ~after & MSR_RI)
		uart->msr_delta |= MSR_TERI;
	/* Bytes held back go on to whichever side is connected now. */
	if (uart->transmit.count)
		drain(platform);
}

static u8 read_data(struct uart *uart)
{
	return uart->receive.count ? pop(&uart->receive) : 0;
}

static u8 read_iir(struct uart *uart)
{
	u8 id = interrupt_id(uart);

	if (id == IIR_THRE)
		uart->thr_empty_pending = false;
	return id | (fifos(uart) ? IIR_FIFOS : 0);
}

static u8 read_lsr(struct uart *uart)
{
	u8 value = uart->lsr_errors;

	uart->lsr_errors = 0;
	if (uart->receive.count)
		value |= LSR_READY;
	if (uart->transmit.count == 0)
		value |= LSR_THRE | LSR_IDLE;
	return value;
}

static u8 read_msr(struct uart *uart)
{
	u8 value = msr_lines(uart) | uart->msr_delta;

	uart->msr_delta = 0;
	return value;
}

static u8 read_register(struct uart *uart, u32 reg)
{
	bool dlab = uart->lcr & LCR_DLAB;

	switch (reg) {
	case REG_DATA:
		return dlab ? (u8)uart->divisor : read_data(uart);
	case REG_IER:
		return dlab ? (u8)(uart->divisor >> 8) : uart->ier;
	case REG_IIR:
		return read_iir(uart);
	case REG_LCR:
		return uart->lcr;
	case REG_MCR:
		return uart->mcr;
	case REG_LSR:
		return read_lsr(uart);
	case REG_MSR:
		return read_msr(uart);
	default:
		return uart->scratch;
	}
}

u32 uart_read(struct platform *platform, u16 port, u32 size)
{
	u8 value = read_register(&platform->uart, port & 7);

	(void)size;
	update(platform);
	return value;
}

void uart_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	struct uart *uart = &platform->uart;
	bool dlab = uart->lcr & LCR_DLAB;
	u8 byte = (u8)value;

	(void)size;
	switch (port & 7) {
	case REG_DATA:
		if (dlab)
			uart->divisor = (uart->divisor & 0xff00) | byte;
		else
			write_data(platform, byte);
		break;
	case REG_IER:
		if (dlab)
			uart->divisor = (u16)((uart->divisor & 0xff) | byte << 8);
		else
			write_ier(uart, byte);
		break;
	case REG_IIR:
		write_fcr(uart, byte);
		break;
	case REG_LCR:
		write_lcr(uart, byte);
		break;
	case REG_MCR:
		write_mcr(platform, byte);
		break;
	case REG_SCRATCH:
		uart->scratch = byte;
		break;
	} /* LSR and MSR are read only */
	update(platform);
}

bool uart_receive(struct platform *platform, u8 byte)
{
	struct uart *uart = &platform->uart;

	if ((uart->mcr & MCR_LOOP) || uart->receive.count == depth(uart))
		return false;
	push(&uart->receive, byte);
	update(platform);
	return true;
}

void uart_transmit(struct platform *platform)
{
	if (platform->uart.transmit.count == 0)
		return;
	drain(platform);
	update(platform);
}

void uart_reset(struct platform *platform)
{
	memset(&platform->uart, 0, sizeof(platform->uart));
	platform->uart.divisor = DIVISOR_9600;
	platform->uart.lcr = 3;
	update(platform);
}
