/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's functions that payload kernels need, and printing to COM1 by polling. */
#ifndef TESTS_GUEST_LIB_STRING_H
#define TESTS_GUEST_LIB_STRING_H

#include "hv/lib/types.h"
#include <stdarg.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);

/* Number in C notation (0x.., decimal); ends at the first other character. */
u64 parse_number(const char *s);
/* %s %c %d %u %x %llx-style lengths l and ll, width with leading zero. Always terminates. */
size_t format(char *to, size_t size, const char *fmt, va_list args);
/* COM1 at 115200 8N1, no interrupts, no FIFO: as print() needs it. */
void print_init(void);
void print(const char *fmt, ...) __printf_like(1, 2);

#endif
