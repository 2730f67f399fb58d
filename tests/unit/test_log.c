// SPDX-License-Identifier: BSD-2-Clause
// The log: lines, levels, sinks and the ring.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/lib/log_sink.h"

#define ALL (1u << 20)

static char first[ALL], second[ALL];
static size_t first_length, second_length;

static void to_first(const char *text, size_t length)
{
	memcpy(first + first_length, text, length);
	first_length += length;
}

static void to_second(const char *text, size_t length)
{
	memcpy(second + second_length, text, length);
	second_length += length;
}

static int begin(void **state)
{
	(void)state;
	log_add_sink(to_first);
	log_add_sink(to_first); /* a second time changes nothing */
	log_add_sink(to_second);
	log_set_level(LOG_INFO);
	first_length = second_length = 0;
	return 0;
}

static void assert_said(const char *text)
{
	assert_int_equal(first_length, strlen(text));
	assert_memory_equal(first, text, first_length);
	assert_int_equal(second_length, first_length);
	assert_memory_equal(second, first, first_length);
}

static void levels(void **state)
{
	(void)state;
	log_error("a %d", 1);
	log_warning("b");
	log_info("c");
	log_debug("d");
	assert_said("torpor: error: a 1\r\ntorpor: warning: b\r\ntorpor: c\r\n");
	log_set_level(LOG_ERROR);
	log_warning("quiet");
	log_error("loud");
	assert_said("torpor: error: a 1\r\ntorpor: warning: b\r\ntorpor: c\r\n"
		    "torpor: error: loud\r\n");
}

/* Text of a file or a guest cannot forge a line or move the cursor. */
static void one_line_stays_one(void **state)
{
	(void)state;
	log_info("name '%s'", "x\r\ntorpor: forged\x1b[2J");
	assert_said("torpor: name 'x??torpor: forged?[2J'\r\n");
}

static void long_lines_are_cut(void **state)
{
	char text[2000];

	(void)state;
	memset(text, 'l', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_info("%s", text);
	assert_in_range(first_length, 100, 600);
	assert_memory_equal(first + first_length - 2, "\r\n", 2);
	assert_int_equal(first[first_length - 3], 'l');
}

/* The ring has every level; a reader that fell behind goes on with the oldest byte there is. */
static void ring(void **state)
{
	static char all[ALL], read[ALL];
	u64 position = 0, end, got, length = 0;

	(void)state;
	while (log_read(&position, read, sizeof(read)))
		;
	end = position;
	log_debug("not on the console");
	assert_int_equal(first_length, 0);
	assert_int_equal(log_read(&position, read, 7), 7); /* in pieces */
	got = 7 + log_read(&position, read + 7, sizeof(read) - 7);
	assert_int_equal(position, end + got);
	assert_memory_equal(read, "torpor: debug: not on the console\r\n", got);

	for (u32 i = 0; i < 5000; i++) {
		log_info("line %u", i);
		length += sprintf(all + length, "torpor: line %u\r\n", i);
	}
	got = log_read(&position, read, sizeof(read));
	assert_int_equal(position, end + 35 + length);
	assert_in_range(got, 4096, length);
	assert_memory_equal(read, all + length - got, got);
	assert_int_equal(log_read(&position, read, sizeof(read)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(levels, begin),
		cmocka_unit_test_setup(one_line_stays_one, begin),
		cmocka_unit_test_setup(long_lines_are_cut, begin),
		cmocka_unit_test_setup(ring, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
