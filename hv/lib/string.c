// SPDX-License-Identifier: BSD-2-Clause
/* The string functions of string.h, as the C standard defines them. */
#include "hv/lib/string.h"

size_t strlen(const char *s)
{
	size_t length = 0;

	while (s[length])
		length++;
	return length;
}

size_t strnlen(const char *s, size_t limit)
{
	size_t length = 0;

	while (length < limit && s[length])
		length++;
	return length;
}

int strncmp(const char *a, const char *b, size_t limit)
{
	for (size_t i = 0; i < limit; i++) {
		unsigned char x = a[i], y = b[i];

		if (x != y)
			return x - y;
		if (x == 0)
			break;
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (*s == '\0')
			return NULL;
	}
}
