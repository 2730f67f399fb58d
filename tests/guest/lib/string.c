// SPDX-License-Identifier: BSD-2-Clause
/*
 * Strings, formatting and the serial line of payload kernels: everything a case prints goes through
 * print(). Output polls the transmitter a bounded number of times and then writes anyway, so that a
 * broken UART costs output but never hangs.
 */
#include "tests/guest/lib/string.h"
#include "tests/guest/lib/insn.h"

#define COM1	      0x3f8
#define COM1_LCR      (COM1 + 3)
#define COM1_MCR      (COM1 + 4)
#define COM1_LSR      (COM1 + 5)
#define LCR_8N1	      3
#define LCR_DLAB      0x80
#define MCR_DTR_RTS   3
#define LSR_THR_EMPTY 0x20
#define POLLS_MAX     100000u

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *start = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
	return start;
}

void *memmove(void *to, const void *from, size_t size)
{
	u8 *d = to;
	const u8 *s = from;

	if (d <= s)
		return memcpy(to, from, size);
	while (size--)
		d[size] = s[size];
	return to;
}

void *memset(void *to, int value, size_t size)
{
	void *start = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
	return start;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const u8 *x = a, *y = b;

	for (size_t i = 0; i < size; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

size_t strlen(const char *s)
{
	size_t length = 0;

	while (s[length])
		length++;
	return length;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}

u64 parse_number(const char *s)
{
	u64 value = 0;
	u32 base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	for (;; s++) {
		u32 digit = *s >= '0' && *s <= '9'		   ? (u32)(*s - '0')
			    : (*s | 32) >= 'a' && (*s | 32) <= 'f' ? (u32)((*s | 32) - 'a' + 10)
								   : 99;

		if (digit >= base)
			return value;
		value = value * base + digit;
	}
}

struct sink {
	char *to;
	size_t size, length;
};

static void put(struct sink *sink, char c)
{
	if (sink->length + 1 < sink->size)
		sink->to[sink->length++] = c;
}

static void put_number(struct sink *sink, u64 value, u32 base, u32 width, char pad)
{
	char digits[24];
	u32 count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (u32 i = count; i < width; i++)
		put(sink, pad);
	while (count)
		put(sink, digits[--count]);
}

static u64 next_argument(va_list *args, u32 longs, bool sign)
{
	if (longs)
		return va_arg(*args, u64);
	return sign ? (u64)va_arg(*args, int) : va_arg(*args, unsigned int);
}

size_t format(char *to, size_t size, const char *fmt, va_list list)
{
	struct sink sink = { to, size, 0 };
	va_list args;

	va_copy(args, list);
	for (; *fmt; fmt++) {
		u32 width = 0, longs = 0;
		char pad = ' ';

		if (*fmt != '%') {
			put(&sink, *fmt);
			continue;
		}
		if (*++fmt == '0')
			pad = '0';
		for (; *fmt >= '0' && *fmt <= '9'; fmt++)
			width = width * 10 + (u32)(*fmt - '0');
		for (; *fmt == 'l'; fmt++)
			longs++;
		if (*fmt == 's') {
			for (const char *s = va_arg(args, const char *); *s; s++)
				put(&sink, *s);
		} else if (*fmt == 'c') {
			put(&sink, (char)va_arg(args, int));
		} else if (*fmt == 'd') {
			s64 value = (s64)next_argument(&args, longs, true);

			if (value < 0)
				put(&sink, '-');
			put_number(&sink, value < 0 ? -(u64)value : (u64)value, 10, width, pad);
		} else if (*fmt == 'u' || *fmt == 'x') {
			u64 value = next_argument(&args, longs, false);

			put_number(&sink, value, *fmt == 'u' ? 10 : 16, width, pad);
		} else if (*fmt) {
			put(&sink, *fmt);
		} else {
			break;
		}
	}
	va_end(args);
	if (size)
		to[sink.length] = 0;
	return sink.length;
}

static void serial_put(char c)
{
	for (u32 polls = 0; polls < POLLS_MAX; polls++)
		if (inb(COM1_LSR) & LSR_THR_EMPTY)
			break;
	outb(COM1, (u8)c);
}

void print_init(void)
{
	outb(COM1 + 1, 0);
	outb(COM1_LCR, LCR_DLAB | LCR_8N1);
	outb(COM1, 1); /* 115200 baud */
	outb(COM1 + 1, 0);
	outb(COM1_LCR, LCR_8N1);
	outb(COM1 + 2, 0);
	outb(COM1_MCR, MCR_DTR_RTS);
}

void print(const char *fmt, ...)
{
	char line[512];
	va_list args;

	va_start(args, fmt);
	format(line, sizeof(line), fmt, args);
	va_end(args);
	for (const char *s = line; *s; s++) {
		if (*s == '\n')
			serial_put('\r');
		serial_put(*s);
	}
}
