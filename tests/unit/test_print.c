// SPDX-License-Identifier: BSD-2-Clause
// fmt_print() against the C library's snprintf() over random conversions, and what the library does
// not promise: unknown conversions and cut-off output.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/lib/print.h"

#define ROUNDS 20000

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-overflow"

static u64 random_value(void)
{
	u64 value = (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();

	switch (random() % 4) {
	case 0:
		return 0;
	case 1:
		return value >> (random() % 64);
	case 2:
		return -(value >> (random() % 64));
	default:
		return value;
	}
}

/* A conversion that C defines: flags that mean something to the letter. */
static void random_conversion(char *to, char *kind, int *length)
{
	static const char kinds[] = "diuxXsc";
	static const char *const lengths[] = { "hh", "h", "", "l", "ll", "z" };
	bool number;

	*kind = kinds[random() % (sizeof(kinds) - 1)];
	*length = *kind == 's' || *kind == 'c' ? 2 : random() % 6;
	number = *kind != 's' && *kind != 'c';
	to += sprintf(to, "%%");
	if (random() % 3 == 0)
		to += sprintf(to, "-");
	if (number && random() % 3 == 0)
		to += sprintf(to, "0");
	if ((*kind == 'd' || *kind == 'i') && random() % 3 == 0)
		to += sprintf(to, "+");
	if ((*kind == 'x' || *kind == 'X') && random() % 2)
		to += sprintf(to, "#");
	if (random() % 2)
		to += sprintf(to, "%ld", 1 + random() % 30);
	if (*kind != 'c' && random() % 3 == 0)
		to += sprintf(to, ".%ld", random() % 25);
	sprintf(to, "%s%c", lengths[*length], *kind);
}

static void same_as_the_c_library(void **state)
{
	static const char *const texts[] = { "", "x", "serial", "a longer text than most widths" };

	(void)state;
	srandom(1);
	for (u32 i = 0; i < ROUNDS; i++) {
		char conversion[64], format[80], ours[200], theirs[200], kind;
		size_t size = random() % 3 ? sizeof(ours) : (size_t)random() % 20;
		int length, a, b;

		random_conversion(conversion, &kind, &length);
		snprintf(format, sizeof(format), "<%s>", conversion);
		memset(ours, 'Z', sizeof(ours));
		memset(theirs, 'Z', sizeof(theirs));
		if (kind == 's') {
			const char *text = texts[random() % 4];

			a = fmt_print(ours, size, format, text);
			b = snprintf(theirs, size, format, text);
		} else if (kind == 'c') {
			int c = 'a' + random() % 26;

			a = fmt_print(ours, size, format, c);
			b = snprintf(theirs, size, format, c);
		} else if (length >= 3) {
			u64 value = random_value();

			a = fmt_print(ours, size, format, value);
			b = snprintf(theirs, size, format, value);
		} else {
			u32 value = (u32)random_value();

			a = fmt_print(ours, size, format, value);
			b = snprintf(theirs, size, format, value);
		}
		if (a != b || memcmp(ours, theirs, sizeof(ours)))
			fail_msg("%s, size %zu: '%s' (%d), the C library '%s' (%d)", format, size,
				ours, a, theirs, b);
	}
}

static void star_takes_width_and_precision(void **state)
{
	char text[64];

	(void)state;
	fmt_print(text, sizeof(text), "[%*d|%-*d|%*d|%.*s|%.*s]", 5, 42, 5, 42, -5, 42, 2, "abc",
		-1, "abc");
	assert_string_equal(text, "[   42|42   |42   |ab|abc]");
}

static void what_it_does_not_know_stays_as_it_is(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(fmt_print(text, sizeof(text), "%q %5k %% %", 1), 10);
	assert_string_equal(text, "%q %5k % %");
	fmt_print(text, sizeof(text), "%s", (const char *)NULL);
	assert_string_equal(text, "(null)");
	fmt_print(text, sizeof(text), "%p", (void *)0xabc);
	assert_string_equal(text, "0xabc");
}

static void size_zero_writes_nothing(void **state)
{
	char text = 'Z';

	(void)state;
	assert_int_equal(fmt_print(&text, 0, "%s", "four"), 4);
	assert_int_equal(text, 'Z');
	assert_int_equal(fmt_print(&text, 1, "%s", "four"), 4);
	assert_int_equal(text, '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_the_c_library),
		cmocka_unit_test(star_takes_width_and_precision),
		cmocka_unit_test(what_it_does_not_know_stays_as_it_is),
		cmocka_unit_test(size_zero_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
