/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formatted printing into a buffer: %s %c %d %i %u %x %X %p %%, flags 0 - + and #, width and
 * precision (also '*'), lengths hh h l ll z. Nothing else; an unknown conversion is printed as it
 * stands.
 */
#ifndef HV_LIB_PRINT_H
#define HV_LIB_PRINT_H

#include "hv/lib/types.h"
#include <stdarg.h>

/* As C's snprintf: always terminated when size > 0; returns the length that was needed. */
int fmt_print(char *to, size_t size, const char *format, ...) __printf_like(3, 4);
int fmt_vprint(char *to, size_t size, const char *format, va_list args);

#endif
