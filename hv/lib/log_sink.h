/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the log goes, for those who provide the places; writers of lines need log.h only. */
#ifndef HV_LIB_LOG_SINK_H
#define HV_LIB_LOG_SINK_H

#include "hv/lib/log.h"

/* Whole lines, ending in CR LF. Must not log. */
typedef void log_sink(const char *text, size_t length);

void log_add_sink(log_sink *sink);
void log_set_level(enum log_level level);

/*
 * Copies from position *from on (advanced; older bytes than the ring holds are skipped); returns
 * the count.
 */
u64 log_read(u64 *from, char *to, u64 size);

#endif
