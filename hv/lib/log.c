// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log: the last LOG_RING_SIZE bytes in memory, and up to a level on the sinks (serial console,
 * frame buffer). Each line names its level.
 */
#include "hv/lib/log.h"

#include "hv/lib/log_sink.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"

#define LOG_RING_SIZE 16384
#define LOG_LINE_MAX  512
#define LOG_SINKS     2

static char ring[LOG_RING_SIZE];
static u64 ring_end; /* bytes ever written */
static log_sink *sinks[LOG_SINKS];
static enum log_level sink_level = LOG_INFO;

void log_add_sink(log_sink *sink)
{
	for (u32 i = 0; i < LOG_SINKS; i++) {
		if (sinks[i] == sink)
			return;
		if (!sinks[i]) {
			sinks[i] = sink;
			return;
		}
	}
}

void log_set_level(enum log_level level)
{
	sink_level = level;
}

u64 log_read(u64 *from, char *to, u64 size)
{
	u64 oldest = ring_end > LOG_RING_SIZE ? ring_end - LOG_RING_SIZE : 0;
	u64 count = 0;

	if (*from < oldest)
		*from = oldest;
	while (*from < ring_end && count < size)
		to[count++] = ring[(*from)++ % LOG_RING_SIZE];
	return count;
}

static void emit(enum log_level level, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		ring[ring_end++ % LOG_RING_SIZE] = text[i];
	for (u32 i = 0; i < LOG_SINKS && level <= sink_level; i++)
		if (sinks[i])
			sinks[i](text, length);
}

void log_line(enum log_level level, const char *format, ...)
{
	static const char *const prefixes[] = {
		[LOG_ERROR] = "torpor: error: ",
		[LOG_WARNING] = "torpor: warning: ",
		[LOG_INFO] = "torpor: ",
		[LOG_DEBUG] = "torpor: debug: ",
	};
	char line[LOG_LINE_MAX];
	size_t used = fmt_print(line, sizeof(line), "%s", prefixes[level]);
	va_list args;

	va_start(args, format);
	used += fmt_vprint(line + used, sizeof(line) - used, format, args);
	va_end(args);
	used = MIN(used, sizeof(line) - 3);
	/* A guest's name or a file's may hold anything: one line stays one line. */
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < ' ')
			line[i] = '?';
	line[used++] = '\r';
	line[used++] = '\n';
	emit(level, line, used);
}
