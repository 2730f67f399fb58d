/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doubles of log_line() and panic() for hosted tests (log.c): the last line is kept, a panic fails
 * the test unless it was asked for:  assert_true(FAKE_PANIC(f(NULL)));
 */
#ifndef FAKE_LOG_H
#define FAKE_LOG_H

#include <setjmp.h>

#include "hv/lib/log.h"

#define FAKE_LOG_LINE 1024

extern char fake_log_last[FAKE_LOG_LINE]; /* of log_line() or panic() */
extern enum log_level fake_log_level;
extern unsigned fake_log_count;
extern jmp_buf *fake_panic_jump;

#define FAKE_PANIC(statement)                   \
	({                                      \
		jmp_buf panic_jump_;            \
		volatile bool panicked_ = true; \
		fake_panic_jump = &panic_jump_; \
		if (setjmp(panic_jump_) == 0) { \
			statement;              \
			panicked_ = false;      \
		}                               \
		fake_panic_jump = NULL;         \
		panicked_;                      \
	})

#endif
