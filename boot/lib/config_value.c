// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conversions of the values in torpor.conf. Called by config.c for each key; a value holds no
 * control characters but tabs and is not terminated.
 */
#include "boot/lib/config_value.h"
#include "hv/lib/string.h"

#define UART_CLOCK_BAUD 115200 /* 1.8432 MHz / 16: the divisor is 16 bits wide */

static const struct {
	const char *name;
	u16 port;
} serial_ports[] = {
	{ "none", 0 },
	{ "com1", 0x3f8 },
	{ "com2", 0x2f8 },
	{ "com3", 0x3e8 },
	{ "com4", 0x2e8 },
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool parse_digits(struct slice text, u32 base, u64 *number)
{
	u64 value = 0;

	if (!text.length)
		return false;
	for (size_t i = 0; i < text.length; i++) {
		int digit = digit_value(text.start[i]);

		if (digit < 0 || (u32)digit >= base)
			return false;
		if (__builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, (u64)digit, &value))
			return false;
	}
	*number = value;
	return true;
}

bool value_number(struct slice text, u64 *number)
{
	return parse_digits(text, 10, number);
}

bool value_size(struct slice text, u64 *bytes)
{
	static const char suffixes[] = "kKmMgG";
	const char *suffix;
	u32 shift = 0;
	u64 number;

	if (!text.length)
		return false;
	suffix = strchr(suffixes, text.start[text.length - 1]);
	if (suffix && *suffix) {
		shift = 10 * ((u32)(suffix - suffixes) / 2 + 1);
		text.length--;
	}
	if (!parse_digits(text, 10, &number))
		return false;
	*bytes = number << shift;
	return *bytes >> shift == number;
}

bool value_bool(struct slice text, bool *value)
{
	if (slice_equal(text, "yes") || slice_equal(text, "on"))
		*value = true;
	else if (slice_equal(text, "no") || slice_equal(text, "off"))
		*value = false;
	else
		return false;
	return true;
}

struct slice value_word(struct slice *text)
{
	struct slice word = *text;
	size_t i = 0;

	while (i < text->length && text->start[i] != ' ' && text->start[i] != '\t')
		i++;
	word.length = i;
	while (i < text->length && (text->start[i] == ' ' || text->start[i] == '\t'))
		i++;
	text->start += i;
	text->length -= i;
	return word;
}

static bool parse_port(struct slice text, u16 *port)
{
	u64 number;

	for (size_t i = 0; i < ARRAY_SIZE(serial_ports); i++) {
		if (slice_equal(text, serial_ports[i].name)) {
			*port = serial_ports[i].port;
			return true;
		}
	}
	if (text.length < 3 || text.start[0] != '0' || text.start[1] != 'x')
		return false;
	text.start += 2;
	text.length -= 2;
	/* Eight registers; below 0x100 lies what the machine itself is made of. */
	if (!parse_digits(text, 16, &number) || number < 0x100 || number > 0xfff8)
		return false;
	*port = (u16)number;
	return true;
}

bool value_serial(struct slice text, u16 *port, u32 *baud)
{
	struct slice word = value_word(&text);
	u64 number;

	if (!parse_port(word, port))
		return false;
	if (!text.length)
		return true;
	if (!*port || !value_number(text, &number) || !number || number > UART_CLOCK_BAUD ||
		UART_CLOCK_BAUD % number || UART_CLOCK_BAUD / number > 0xffff)
		return false;
	*baud = (u32)number;
	return true;
}

static struct slice split_at(struct slice *text, char c)
{
	struct slice first = *text;
	size_t i = 0;

	while (i < text->length && text->start[i] != c)
		i++;
	first.length = i;
	if (i < text->length)
		i++;
	text->start += i;
	text->length -= i;
	return first;
}

bool value_cpu_list(struct slice text, u64 *cpus)
{
	*cpus = 0;
	if (!text.length || text.start[text.length - 1] == ',')
		return false;
	while (text.length) {
		struct slice range = split_at(&text, ',');
		bool is_range = slice_find(range, '-');
		struct slice first = split_at(&range, '-');
		u64 low, high;

		if (!value_number(first, &low))
			return false;
		high = low;
		if (is_range && !value_number(range, &high))
			return false;
		if (high > 63 || low > high)
			return false;
		for (u64 cpu = low; cpu <= high; cpu++)
			*cpus |= BIT(cpu);
	}
	return true;
}

bool value_copy(struct slice text, char *to, size_t size)
{
	if (text.length >= size)
		return false;
	memcpy(to, text.start, text.length);
	to[text.length] = 0;
	return true;
}

const char *value_path(struct slice path, char *to, size_t size)
{
	if (!path.length)
		return "the file's name is missing";
	if (!value_copy(path, to, size))
		return "the file's name is too long";
	for (size_t i = 0; i < path.length; i++) {
		u8 c = (u8)path.start[i];

		if (c < ' ' || c > '~' || strchr("\"*:<>?|", c))
			return "the file's name has a character that a FAT volume forbids";
	}
	return NULL;
}
