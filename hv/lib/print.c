// SPDX-License-Identifier: BSD-2-Clause
/*
 * Formatted printing into a buffer; see print.h for what it knows. Used by the hypervisor and the
 * loader.
 */
#include "hv/lib/print.h"

#include "hv/lib/string.h"

struct output {
	char *to;
	size_t size;
	size_t length; /* what would have been written */
};

struct conversion {
	bool left, zero, plus, alternate;
	int width;
	int precision; /* -1: none */
	int longs;     /* 2: ll, 1: l or z, 0, -1: h, -2: hh */
};

static void put(struct output *out, char c)
{
	if (out->length + 1 < out->size)
		out->to[out->length] = c;
	out->length++;
}

static void pad(struct output *out, char c, int count)
{
	while (count-- > 0)
		put(out, c);
}

static void put_text(struct output *out, const struct conversion *c, const char *text)
{
	int length = c->precision >= 0 ? (int)strnlen(text, c->precision) : (int)strlen(text);

	if (!c->left)
		pad(out, ' ', c->width - length);
	for (int i = 0; i < length; i++)
		put(out, text[i]);
	if (c->left)
		pad(out, ' ', c->width - length);
}

static void put_number(struct output *out, const struct conversion *c, u64 value, bool negative,
	u32 base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char digits[24], prefix[4];
	int count = 0, prefix_length = 0, zeros;

	if (negative || c->plus)
		prefix[prefix_length++] = negative ? '-' : '+';
	if (c->alternate && base == 16 && value) {
		prefix[prefix_length++] = '0';
		prefix[prefix_length++] = upper ? 'X' : 'x';
	}
	while (value) {
		digits[count++] = set[value % base];
		value /= base;
	}
	if (count == 0 && c->precision != 0)
		digits[count++] = '0';
	zeros = c->precision - count;
	if (c->zero && !c->left && c->precision < 0)
		zeros = c->width - count - prefix_length;
	zeros = MAX(zeros, 0);

	if (!c->left)
		pad(out, ' ', c->width - count - zeros - prefix_length);
	for (int i = 0; i < prefix_length; i++)
		put(out, prefix[i]);
	pad(out, '0', zeros);
	for (int i = count; i > 0; i--)
		put(out, digits[i - 1]);
	if (c->left)
		pad(out, ' ', c->width - count - zeros - prefix_length);
}

static const char *parse_flags(const char *f, struct conversion *c)
{
	for (;; f++) {
		if (*f == '-')
			c->left = true;
		else if (*f == '0')
			c->zero = true;
		else if (*f == '+')
			c->plus = true;
		else if (*f == '#')
			c->alternate = true;
		else
			return f;
	}
}

static int parse_number(const char **f, va_list *args)
{
	int value = 0;

	if (**f == '*') {
		(*f)++;
		return va_arg(*args, int);
	}
	while (**f >= '0' && **f <= '9')
		value = value * 10 + *(*f)++ - '0';
	return value;
}

static const char *parse_length(const char *f, struct conversion *c)
{
	for (;; f++) {
		if (*f == 'l')
			c->longs++;
		else if (*f == 'h')
			c->longs--;
		else if (*f == 'z')
			c->longs = 1;
		else
			return f;
	}
}

static u64 unsigned_argument(const struct conversion *c, va_list *args)
{
	if (c->longs > 0)
		return va_arg(*args, u64);
	u32 value = va_arg(*args, u32);
	return c->longs == -1 ? (u16)value : c->longs == -2 ? (u8)value : value;
}

static s64 signed_argument(const struct conversion *c, va_list *args)
{
	if (c->longs > 0)
		return va_arg(*args, s64);
	s32 value = va_arg(*args, s32);
	return c->longs == -1 ? (s16)value : c->longs == -2 ? (s8)value : value;
}

/* False: not a conversion that is known. */
static bool convert(struct output *out, struct conversion *c, char kind, va_list *args)
{
	switch (kind) {
	case 'd':
	case 'i': {
		s64 value = signed_argument(c, args);

		put_number(out, c, value < 0 ? -(u64)value : (u64)value, value < 0, 10, false);
		return true;
	}
	case 'u':
		put_number(out, c, unsigned_argument(c, args), false, 10, false);
		return true;
	case 'x':
	case 'X':
		put_number(out, c, unsigned_argument(c, args), false, 16, kind == 'X');
		return true;
	case 'p':
		c->alternate = true;
		put_number(out, c, (u64)va_arg(*args, void *), false, 16, false);
		return true;
	case 's': {
		const char *text = va_arg(*args, const char *);

		put_text(out, c, text ? text : "(null)");
		return true;
	}
	case 'c': {
		char text[2] = { (char)va_arg(*args, int), '\0' };

		c->precision = 1;
		put_text(out, c, text);
		return true;
	}
	default:
		return false;
	}
}

int fmt_vprint(char *to, size_t size, const char *format, va_list arguments)
{
	struct output out = { to, size, 0 };
	va_list args;

	va_copy(args, arguments);
	while (*format) {
		const char *start = format, *f = format + 1;
		struct conversion c = { .precision = -1 };

		if (*start != '%') {
			put(&out, *format++);
			continue;
		}
		f = parse_flags(f, &c);
		c.width = parse_number(&f, &args);
		if (c.width < 0) {
			c.left = true;
			c.width = -c.width;
		}
		if (*f == '.') {
			f++;
			c.precision = parse_number(&f, &args);
		}
		f = parse_length(f, &c);
		if (*f && *f != '%' && convert(&out, &c, *f, &args)) {
			format = f + 1;
		} else if (start[1] == '%') {
			put(&out, '%');
			format = start + 2;
		} else {
			put(&out, *format++);
		}
	}
	va_end(args);
	if (size)
		to[MIN(out.length, size - 1)] = '\0';
	return (int)out.length;
}

int fmt_print(char *to, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = fmt_vprint(to, size, format, args);
	va_end(args);
	return length;
}
