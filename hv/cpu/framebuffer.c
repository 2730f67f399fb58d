// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text console on the frame buffer. boot.c initialises it once the memory is mapped; the log
 * calls framebuffer_write(). The geometry comes from firmware and is checked once, in
 * framebuffer_init(): after that a cell's position alone decides where pixels go (BUG-69).
 */
#include "hv/cpu/framebuffer.h"

#include "hv/cpu/font.h"
#include "hv/lib/string.h"

#define PIXEL_BYTES 4 /* every pixel format of UEFI that has a frame buffer (UEFI 2.10 12.9.1) */

_Static_assert(FRAMEBUFFER_CELL_WIDTH == FONT_WIDTH, "one bit of the font is one pixel");
_Static_assert(FRAMEBUFFER_CELL_HEIGHT == 2 * FONT_LINES, "each line of the font is shown twice");

static struct {
	u32 *pixels; /* NULL: no console */
	u32 stride;  /* pixels from one line to the next */
	u32 columns, rows;
	u32 column, row; /* of the next character; column == columns: the line is full */
	u32 ink;
} screen;

static void clear_row(u32 row)
{
	u32 *line = screen.pixels + (u64)row * FRAMEBUFFER_CELL_HEIGHT * screen.stride;

	for (u32 y = 0; y < FRAMEBUFFER_CELL_HEIGHT; y++, line += screen.stride)
		memset(line, 0, (u64)screen.columns * FRAMEBUFFER_CELL_WIDTH * PIXEL_BYTES);
}

enum error framebuffer_init(const struct boot_framebuffer *described, void *pixels)
{
	u64 line_bytes = (u64)described->stride * PIXEL_BYTES;

	memset(&screen, 0, sizeof(screen));
	if (!described->base || !described->size)
		return ERR_NOT_FOUND;
	if (described->stride < described->width || !IS_ALIGNED((u64)pixels, PIXEL_BYTES) ||
		described->width < FRAMEBUFFER_CELL_WIDTH ||
		described->height < FRAMEBUFFER_CELL_HEIGHT ||
		described->height > described->size / line_bytes)
		return ERR_INVALID;
	screen.stride = described->stride;
	screen.columns = described->width / FRAMEBUFFER_CELL_WIDTH;
	screen.rows = described->height / FRAMEBUFFER_CELL_HEIGHT;
	screen.ink = described->red_mask | described->green_mask | described->blue_mask;
	if (!screen.ink)
		return ERR_INVALID;
	screen.pixels = pixels;
	for (u32 row = 0; row < screen.rows; row++)
		clear_row(row);
	return ERR_OK;
}

static void draw(u32 column, u32 row, char c)
{
	const u8 *glyph = font[c - FONT_FIRST];
	u32 *line = screen.pixels + (u64)row * FRAMEBUFFER_CELL_HEIGHT * screen.stride +
		    column * FRAMEBUFFER_CELL_WIDTH;

	for (u32 y = 0; y < FRAMEBUFFER_CELL_HEIGHT; y++, line += screen.stride)
		for (u32 x = 0; x < FRAMEBUFFER_CELL_WIDTH; x++)
			line[x] = glyph[y / 2] & (0x80 >> x) ? screen.ink : 0;
}

static void new_line(void)
{
	screen.column = 0;
	screen.row = (screen.row + 1) % screen.rows;
	clear_row(screen.row);
}

static void put(char c)
{
	if (c == '\r') {
		screen.column = 0;
		return;
	}
	if (c == '\n' || screen.column == screen.columns)
		new_line();
	if (c != '\n')
		draw(screen.column++, screen.row, c < ' ' || c > '~' ? '?' : c);
}

void framebuffer_write(const char *text, size_t length)
{
	for (size_t i = 0; screen.pixels && i < length; i++)
		put(text[i]);
}
