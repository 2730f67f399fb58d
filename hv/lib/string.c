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

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (*s == '\0')
			return NULL;
	}
}
