/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's string functions that freestanding code needs, with the C standard's contracts.
 * mem.c holds the four that the compiler itself calls; a hosted build uses the C library's.
 */
#ifndef HV_LIB_STRING_H
#define HV_LIB_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t limit);
char *strchr(const char *s, int c);

#endif
