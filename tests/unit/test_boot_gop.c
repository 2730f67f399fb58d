// SPDX-License-Identifier: BSD-2-Clause
/* BUG-69: graphics modes as firmware describes them, sound and not. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/gop.h"

#define MIB (1ull << 20)

struct row {
	const char *what;
	struct gop_mode mode;
	bool accepted;
	u32 red, green, blue;
};

/* A mode's numbers in UEFI's order, with and without masks, and the masks that are to come out. */
#define MODE(b, s, w, h, l, f) \
	.mode = { .base = b, .size = s, .width = w, .height = h, .stride = l, .format = f }
#define MASKED(r, g, b, x)              \
	.mode = { .base = 0x80000000,   \
		.size = 4 * MIB,        \
		.width = 1024,          \
		.height = 768,          \
		.stride = 1024,         \
		.format = GOP_BIT_MASK, \
		.red_mask = r,          \
		.green_mask = g,        \
		.blue_mask = b,         \
		.reserved_mask = x }
#define GIVES(r, g, b) .accepted = true, .red = r, .green = g, .blue = b
#define GIVES_RGB      GIVES(0x0000ff, 0x00ff00, 0xff0000)
#define GIVES_BGR      GIVES(0xff0000, 0x00ff00, 0x0000ff)

static const struct row rows[] = {
	{ "RGB", MODE(0x80000000, 4 * MIB, 1024, 768, 1024, GOP_RGB), GIVES_RGB },
	{ "BGR", MODE(0x80000000, 4 * MIB, 1024, 768, 1024, GOP_BGR), GIVES_BGR },
	{ "above 4 GiB", MODE(0x38000000000, 4 * MIB, 1024, 768, 1024, GOP_BGR), GIVES_BGR },
	{ "odd stride", MODE(0x80000000, 8 * MIB, 1366, 768, 1367, GOP_BGR), GIVES_BGR },
	{ "exact size", MODE(0x80000000, 640 * 480 * 4, 640, 480, 640, GOP_BGR), GIVES_BGR },
	{ "a byte short", MODE(0x80000000, 640 * 480 * 4 - 1, 640, 480, 640, GOP_BGR) },
	{ "size of width", MODE(0x80000000, 640 * 480 * 4, 640, 480, 704, GOP_BGR) },
	{ "base 0", MODE(0, 4 * MIB, 1024, 768, 1024, GOP_BGR) },
	{ "size 0", MODE(0x80000000, 0, 1024, 768, 1024, GOP_BGR) },
	{ "no monitor", MODE(0x80000000, 4 * MIB, 0, 0, 0, GOP_BGR) },
	{ "no height", MODE(0x80000000, 4 * MIB, 1024, 0, 1024, GOP_BGR) },
	{ "stride < width", MODE(0x80000000, 4 * MIB, 1024, 768, 1023, GOP_BGR) },
	{ "stride 0", MODE(0x80000000, 4 * MIB, 1024, 768, 0, GOP_BGR) },
	{ "blt only", MODE(0x80000000, 4 * MIB, 1024, 768, 1024, GOP_BLT_ONLY) },
	{ "unknown format", MODE(0x80000000, 4 * MIB, 1024, 768, 1024, 4) },
	{ "format -1", MODE(0x80000000, 4 * MIB, 1024, 768, 1024, 0xffffffff) },
	{ "wraps", MODE(0xfffffffffff00000, 4 * MIB, 1024, 768, 1024, GOP_BGR) },
	{ "beyond 52 bits", MODE(BIT(52) - MIB, 4 * MIB, 1024, 768, 1024, GOP_BGR) },
	{ "size wraps", MODE(0x80000000, ~0ull, 1024, 768, 1024, GOP_BGR) },
	{ "product wraps", MODE(0x80000000, 4 * MIB, 0x10000, 0x10000, 0x10000, GOP_BGR) },
	{ "huge stride", MODE(0x80000000, 4 * MIB, 1, 1, 0xffffffff, GOP_BGR) },
	{ "masks", MASKED(0xff0000, 0xff00, 0xff, 0xff000000), GIVES_BGR },
	{ "reserved mask 0", MASKED(0xff0000, 0xff00, 0xff, 0), GIVES_BGR },
	{ "30 bits", MASKED(0x3ff00000, 0xffc00, 0x3ff, 0xc0000000),
		GIVES(0x3ff00000, 0xffc00, 0x3ff) },
	{ "16-bit pixels", MASKED(0xf800, 0x07e0, 0x1f, 0) },
	{ "a mask of 0", MASKED(0xff0000, 0, 0xff, 0xff00) },
	{ "red and green", MASKED(0xff0000, 0x1ff00, 0xff, 0) },
	{ "blue and red", MASKED(0xff0000, 0xff00, 0x8000ff, 0) },
};

static void test_modes(void **state)
{
	static const struct boot_framebuffer none;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct boot_framebuffer framebuffer;

		memset(&framebuffer, 0xa5, sizeof(framebuffer));
		if (gop_framebuffer(&row->mode, &framebuffer) != row->accepted)
			fail_msg("%s", row->what);
		if (!row->accepted) {
			assert_memory_equal(&framebuffer, &none, sizeof(none));
			continue;
		}
		assert_true(framebuffer.base == row->mode.base);
		assert_true(framebuffer.size == row->mode.size);
		assert_int_equal(framebuffer.width, row->mode.width);
		assert_int_equal(framebuffer.height, row->mode.height);
		assert_int_equal(framebuffer.stride, row->mode.stride);
		if (framebuffer.red_mask != row->red || framebuffer.green_mask != row->green ||
			framebuffer.blue_mask != row->blue)
			fail_msg("%s: masks", row->what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_modes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
