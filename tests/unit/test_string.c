// SPDX-License-Identifier: BSD-2-Clause
// The freestanding memory and string functions against the C library's. tests/unit/libs.mk compiles
// hv/lib/mem.c and hv/lib/string.c once more with hv_ before their names.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/lib/types.h"

void *hv_memcpy(void *restrict to, const void *restrict from, size_t size);
void *hv_memmove(void *to, const void *from, size_t size);
void *hv_memset(void *to, int value, size_t size);
int hv_memcmp(const void *a, const void *b, size_t size);
size_t hv_strlen(const char *s);
size_t hv_strnlen(const char *s, size_t limit);
char *hv_strchr(const char *s, int c);

#define AREA 48

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

static void fill(u8 *area, u8 seed)
{
	for (u32 i = 0; i < AREA; i++)
		area[i] = seed + i;
}

/* Every offset and size within a small area, overlapping both ways. */
static void memory_moves(void **state)
{
	u8 ours[AREA], theirs[AREA];

	(void)state;
	for (u32 to = 0; to < AREA; to++) {
		for (u32 from = 0; from < AREA; from++) {
			u32 most = AREA - MAX(to, from);

			for (u32 size = 0; size <= most; size++) {
				fill(ours, 1);
				fill(theirs, 1);
				assert_ptr_equal(
					hv_memmove(ours + to, ours + from, size), ours + to);
				memmove(theirs + to, theirs + from, size);
				assert_memory_equal(ours, theirs, AREA);
			}
		}
	}
}

static void memory_is_copied_and_set(void **state)
{
	u8 source[AREA], ours[AREA], theirs[AREA];

	(void)state;
	fill(source, 100);
	for (u32 to = 0; to < AREA; to++) {
		for (u32 size = 0; size <= AREA - to; size++) {
			fill(ours, 1);
			fill(theirs, 1);
			assert_ptr_equal(hv_memcpy(ours + to, source, size), ours + to);
			memcpy(theirs + to, source, size);
			assert_memory_equal(ours, theirs, AREA);
			/* Only the low byte of the value counts. */
			assert_ptr_equal(hv_memset(ours + to, 0x1fe, size), ours + to);
			memset(theirs + to, 0x1fe, size);
			assert_memory_equal(ours, theirs, AREA);
		}
	}
}

static void memory_compares_as_unsigned(void **state)
{
	u8 a[AREA], b[AREA];

	(void)state;
	for (u32 i = 0; i < AREA; i++) {
		for (int change = -128; change < 128; change++) {
			fill(a, 100);
			fill(b, 100);
			b[i] += change;
			assert_int_equal(sign(hv_memcmp(a, b, AREA)), sign(memcmp(a, b, AREA)));
			assert_int_equal(hv_memcmp(a, b, i), 0);
		}
	}
}

static void strings(void **state)
{
	static const char *const texts[] = { "", "a", "b", "ab", "abc", "abd", "\xff", "a\x80" };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *a = texts[i];

		assert_int_equal(hv_strlen(a), strlen(a));
		for (int c = 0; c < 256; c++)
			assert_ptr_equal(hv_strchr(a, c), strchr(a, c));
		for (size_t limit = 0; limit < 5; limit++)
			assert_int_equal(hv_strnlen(a, limit), strnlen(a, limit));
	}
}

/* A field without a terminator: nothing behind the limit is read (AddressSanitizer watches). */
static void limits_are_kept(void **state)
{
	char *field = malloc(3);

	(void)state;
	memcpy(field, "abc", 3);
	assert_int_equal(hv_strnlen(field, 3), 3);
	free(field);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_moves),
		cmocka_unit_test(memory_is_copied_and_set),
		cmocka_unit_test(memory_compares_as_unsigned),
		cmocka_unit_test(strings),
		cmocka_unit_test(limits_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
