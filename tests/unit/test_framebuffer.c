// SPDX-License-Identifier: BSD-2-Clause
// The frame buffer console: nothing outside the frame buffer is written, whatever the firmware says
// of its geometry (BUG-69), and the text can be read off the pixels.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/cpu/font.h"
#include "hv/cpu/framebuffer.h"

#define CANARY	    4096
#define CANARY_BYTE 0xc5
#define BASE	    0x4000000000ul /* above 4 GiB; where the test's buffer is said to be */
#define INK	    0xffffffu

/* The frame buffer between two canary areas. */
static u8 *area;
static u64 area_size;

static enum error start(u32 width, u32 height, u32 stride, u64 size, u64 base)
{
	struct boot_framebuffer screen = {
		.base = base,
		.size = size,
		.width = width,
		.height = height,
		.stride = stride,
		.red_mask = 0xff0000,
		.green_mask = 0xff00,
		.blue_mask = 0xff,
	};

	free(area);
	area_size = MIN(size, 1ul << 23);
	area = malloc(area_size + 2 * CANARY);
	memset(area, CANARY_BYTE, area_size + 2 * CANARY);
	return framebuffer_init(&screen, area + CANARY);
}

static void assert_canaries(void)
{
	for (u64 i = 0; i < CANARY; i++) {
		assert_int_equal(area[i], CANARY_BYTE);
		assert_int_equal(area[CANARY + area_size + i], CANARY_BYTE);
	}
}

static u32 pixel(u32 x, u32 y, u32 stride)
{
	u32 value;

	memcpy(&value, area + CANARY + ((u64)y * stride + x) * 4, 4);
	return value;
}

/* The character in a cell, 0 if the pixels are none of the font. */
static char read_cell(u32 column, u32 row, u32 stride)
{
	u8 lines[FONT_LINES] = { 0 };

	for (u32 y = 0; y < FRAMEBUFFER_CELL_HEIGHT; y++) {
		u8 line = 0;

		for (u32 x = 0; x < FRAMEBUFFER_CELL_WIDTH; x++) {
			u32 p = pixel(column * FRAMEBUFFER_CELL_WIDTH + x,
				row * FRAMEBUFFER_CELL_HEIGHT + y, stride);

			assert_true(p == 0 || p == INK);
			line = line << 1 | (p == INK);
		}
		assert_true(y % 2 == 0 || line == lines[y / 2]);
		lines[y / 2] = line;
	}
	for (u32 i = 0; i < FONT_GLYPHS; i++)
		if (!memcmp(lines, font[i], FONT_LINES))
			return FONT_FIRST + i;
	return 0;
}

static void assert_row(u32 row, u32 columns, u32 stride, const char *text)
{
	for (u32 column = 0; column < columns; column++)
		assert_int_equal(
			read_cell(column, row, stride), column < strlen(text) ? text[column] : ' ');
}

static void write_text(const char *text)
{
	framebuffer_write(text, strlen(text));
}

static void every_glyph_is_its_own(void **state)
{
	(void)state;
	for (u32 i = 0; i < FONT_GLYPHS; i++)
		for (u32 j = 0; j < i; j++)
			assert_memory_not_equal(font[i], font[j], FONT_LINES);
}

static void text_is_readable(void **state)
{
	(void)state;
	assert_int_equal(start(80, 48, 100, 48 * 400, BASE), ERR_OK);
	write_text("torpor: Hi\r\nsecond\r\n");
	assert_row(0, 10, 100, "torpor: Hi");
	assert_row(1, 10, 100, "second");
	assert_row(2, 10, 100, "");
	/* Past the last row it begins again at the top, with the row cleared; a long line wraps. */
	write_text("third\n0123456789ab\r\xff");
	assert_row(2, 10, 100, "third");
	assert_row(0, 10, 100, "0123456789");
	assert_row(1, 10, 100, "?b");
	assert_canaries();
}

/* What lies between a line's end and the stride belongs to nobody. */
static void padding_stays(void **state)
{
	(void)state;
	assert_int_equal(start(80, 48, 100, 48 * 400, BASE), ERR_OK);
	for (u32 i = 0; i < 50; i++)
		write_text("a line that is longer than the screen is wide\r\n");
	for (u32 y = 0; y < 48; y++)
		for (u32 x = 80; x < 100; x++)
			assert_int_equal(pixel(x, y, 100), CANARY_BYTE * 0x01010101u);
	assert_canaries();
}

static void geometries(void **state)
{
	static const struct {
		u32 width, height, stride;
		u64 size, base;
		enum error error;
	} rows[] = {
		{ 1024, 768, 1024, 1024 * 768 * 4, BASE, ERR_OK },
		{ 1024, 768, 1024, 1024 * 768 * 4 - 1, BASE, ERR_INVALID }, /* one byte short */
		{ 1024, 768, 1024, 1024 * 768 * 4, 0, ERR_NOT_FOUND },	    /* no monitor */
		{ 1024, 768, 1024, 0, BASE, ERR_NOT_FOUND },
		{ 1366, 768, 1376, 1376 * 768 * 4, BASE, ERR_OK }, /* odd width and stride */
		{ 801, 601, 801, 801 * 601 * 4, BASE, ERR_OK },
		{ 1024, 768, 1000, 1024 * 768 * 4, BASE, ERR_INVALID }, /* lines overlap */
		{ 8, 16, 8, 8 * 16 * 4, BASE, ERR_OK },			/* one character */
		{ 7, 16, 8, 8 * 16 * 4, BASE, ERR_INVALID },
		{ 8, 15, 8, 8 * 16 * 4, BASE, ERR_INVALID },
		{ 0, 768, 1024, 1024 * 768 * 4, BASE, ERR_INVALID },
		{ 0, 0, 0, 4096, BASE, ERR_INVALID }, { ~0u, ~0u, ~0u, 4096, BASE, ERR_INVALID },
		{ 8, ~0u, 8, 4096, BASE, ERR_INVALID },
		{ ~0u, 16, ~0u, 1u << 20, BASE, ERR_INVALID },
		{ 1u << 30, 16, 1u << 30, 4096, BASE,
			ERR_INVALID }, /* 4 * stride is 0 in 32 bits */
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		enum error error = start(
			rows[i].width, rows[i].height, rows[i].stride, rows[i].size, rows[i].base);

		assert_int_equal(error, rows[i].error);
		for (u32 line = 0; line < 60; line++)
			write_text("torpor: some line of the log, with an end\r\n");
		assert_canaries();
		if (error)
			for (u64 at = 0; at < area_size; at++)
				assert_int_equal(area[CANARY + at], CANARY_BYTE);
	}
}

static void no_colour_is_no_console(void **state)
{
	struct boot_framebuffer screen = { BASE, 4096, 8, 16, 8, 0, 0, 0 };
	u8 pixels[512];

	(void)state;
	assert_int_equal(framebuffer_init(&screen, pixels), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_glyph_is_its_own),
		cmocka_unit_test(text_is_readable),
		cmocka_unit_test(padding_stays),
		cmocka_unit_test(geometries),
		cmocka_unit_test(no_colour_is_no_console),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(area);
	return failed;
}
