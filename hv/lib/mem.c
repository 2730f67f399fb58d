// SPDX-License-Identifier: BSD-2-Clause
/*
 * The four functions that the compiler calls by itself (GCC manual, -ffreestanding). Hosted
 * programs have the C library's. String instructions: no vector register is touched, and processors
 * run them at full width. Words first: an emulator counts every iteration.
 */
#include "hv/lib/string.h"

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *at = to;
	size_t words = size / 8;

	__asm__ volatile("rep movsq" : "+D"(at), "+S"(from), "+c"(words)::"memory");
	size &= 7;
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size)::"memory");
	return to;
}

void *memset(void *to, int value, size_t size)
{
	void *at = to;
	size_t words = size / 8;

	__asm__ volatile("rep stosq"
			 : "+D"(at), "+c"(words)
			 : "a"((unsigned char)value * 0x0101010101010101ull)
			 : "memory");
	size &= 7;
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	unsigned char *d = to;
	const unsigned char *s = from;

	if (d <= s || d >= s + size)
		return memcpy(to, from, size);
	while (size--)
		d[size] = s[size];
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < size; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}
