/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hypervisor's log. Each call is one line (no newline in the format). Lines go into a ring
 * buffer and, up to the configured level, to the console. Callable from any context but NMI and
 * #MC.
 */
#ifndef HV_LIB_LOG_H
#define HV_LIB_LOG_H

#include "hv/lib/types.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

void log_line(enum log_level level, const char *format, ...) __printf_like(2, 3);

#define log_error(...)	 log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...)	 log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	 log_line(LOG_DEBUG, __VA_ARGS__)

/*
 * Prints the message with registers and a symbolised back trace and stops the machine (status 70).
 */
__noreturn void panic(const char *format, ...) __printf_like(1, 2);

#define ASSERT(condition)                                                                     \
	do {                                                                                  \
		if (unlikely(!(condition)))                                                   \
			panic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #condition); \
	} while (0)

#endif
