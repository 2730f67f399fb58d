// SPDX-License-Identifier: BSD-2-Clause
/*
 * Output of the loader. Called by all of its UEFI parts. The serial port is written directly:
 * firmware need not have a driver for it; a port that does not answer costs a bounded wait, once.
 */
#include "boot/report.h"
#include "boot/firmware.h"
#include "boot/lib/device_path.h"
#include "boot/lib/json.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"

#define LINE_MAX   512
#define DEBUG_PORT 0xe9

/* 16550 registers (PC16550D, table 2). */
#define UART_DATA	  0
#define UART_DIVISOR_LOW  0
#define UART_DIVISOR_HIGH 1
#define UART_INTERRUPTS	  1
#define UART_FIFO	  2
#define UART_LINE	  3
#define UART_MODEM	  4
#define UART_STATUS	  5
#define LINE_8N1	  0x03
#define LINE_DIVISOR	  0x80
#define FIFO_ON_CLEAR	  0x07
#define MODEM_DTR_RTS	  0x03
#define STATUS_EMPTY	  0x20
#define UART_CLOCK_BAUD	  115200

/* Reads of the status per byte: a byte takes at most 2 ms at 4800 baud, a read about 1 us. */
#define SERIAL_PATIENCE 100000

static const struct {
	const char *name;
	EFI_STATUS status;
} refusals[] = {
	[REFUSED_CONFIG] = { "config", EFI_LOAD_ERROR },
	[REFUSED_MACHINE] = { "machine", EFI_UNSUPPORTED },
};

static bool console_is_serial;
static u16 serial_port;

static void out8(u16 port, u8 value)
{
	asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static u8 in8(u16 port)
{
	u8 value;

	asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

void report_init(void)
{
	static EFI_GUID global_variable = EFI_GLOBAL_VARIABLE;
	static u8 path[1024];
	UINTN size = sizeof(path);

	console_is_serial = !EFI_ERROR(firmware->RuntimeServices->GetVariable(
				    L"ConOut", &global_variable, NULL, &size, path)) &&
			    device_path_has_uart(path, size);
}

void report_serial(u16 port, u32 baud)
{
	serial_port = console_is_serial ? 0 : port;
	if (!serial_port || in8(serial_port + UART_STATUS) == 0xff) {
		serial_port = 0; /* none wanted, or nobody answers there */
		return;
	}
	out8(port + UART_INTERRUPTS, 0);
	out8(port + UART_LINE, LINE_DIVISOR | LINE_8N1);
	out8(port + UART_DIVISOR_LOW, (u8)(UART_CLOCK_BAUD / baud));
	out8(port + UART_DIVISOR_HIGH, (u8)(UART_CLOCK_BAUD / baud >> 8));
	out8(port + UART_LINE, LINE_8N1);
	out8(port + UART_FIFO, FIFO_ON_CLEAR);
	out8(port + UART_MODEM, MODEM_DTR_RTS);
}

static void serial_byte(u8 byte)
{
	for (u32 i = 0; serial_port; i++) {
		if (in8(serial_port + UART_STATUS) & STATUS_EMPTY)
			break;
		if (i == SERIAL_PATIENCE)
			serial_port = 0;
	}
	if (serial_port)
		out8(serial_port + UART_DATA, byte);
}

static void serial_line(const char *line)
{
	for (; *line; line++)
		serial_byte((u8)*line);
	serial_byte('\r');
	serial_byte('\n');
}

static void console_line(const char *line)
{
	CHAR16 text[LINE_MAX + 2];
	u32 i = 0;

	for (; line[i]; i++)
		text[i] = (u8)line[i];
	text[i++] = '\r';
	text[i++] = '\n';
	text[i] = 0;
	if (firmware->ConOut)
		firmware->ConOut->OutputString(firmware->ConOut, text);
}

static void debug_port(const char *text)
{
	for (; *text; text++)
		out8(DEBUG_PORT, (u8)*text);
}

/* A file's text may be quoted in a line; consoles get ASCII only. */
static void print_line(char line[LINE_MAX], const char *format, va_list args)
{
	fmt_vprint(line, LINE_MAX, format, args);
	for (; *line; line++)
		if (*line < ' ' || *line > '~')
			*line = '?';
}

void say(const char *format, ...)
{
	char line[LINE_MAX];
	va_list args;

	va_start(args, format);
	print_line(line, format, args);
	va_end(args);
	console_line(line);
	serial_line(line);
}

static EFI_STATUS tell_programs(enum refusal kind, const char *line)
{
	char escaped[2 * LINE_MAX];

	json_escape(line, escaped, sizeof(escaped));
	debug_port("@torpor {\"event\":\"refused\",\"kind\":\"");
	debug_port(refusals[kind].name);
	debug_port("\",\"reason\":\"");
	debug_port(escaped);
	debug_port("\"}\n");
	return refusals[kind].status;
}

EFI_STATUS refuse(enum refusal kind, const char *format, ...)
{
	char line[LINE_MAX];
	va_list args;

	va_start(args, format);
	print_line(line, format, args);
	va_end(args);
	console_line(line);
	serial_line(line);
	return tell_programs(kind, line);
}

EFI_STATUS refuse_late(enum refusal kind, const char *format, ...)
{
	char line[LINE_MAX];
	va_list args;

	va_start(args, format);
	print_line(line, format, args);
	va_end(args);
	serial_line(line);
	return tell_programs(kind, line);
}
