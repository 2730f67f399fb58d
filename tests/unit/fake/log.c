// SPDX-License-Identifier: BSD-2-Clause
// The hypervisor's log and panic for hosted tests that do not link the real ones: weak, so that a
// test of hv/lib/log.c gets the shipping definitions.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_log.h"

char fake_log_last[FAKE_LOG_LINE];
enum log_level fake_log_level;
unsigned fake_log_count;
jmp_buf *fake_panic_jump;

__attribute__((weak)) void log_line(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(fake_log_last, sizeof(fake_log_last), format, args);
	va_end(args);
	fake_log_level = level;
	fake_log_count++;
}

__attribute__((weak)) void panic(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(fake_log_last, sizeof(fake_log_last), format, args);
	va_end(args);
	if (fake_panic_jump)
		longjmp(*fake_panic_jump, 1);
	fail_msg("panic: %s", fake_log_last);
	abort();
}
