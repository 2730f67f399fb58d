// SPDX-License-Identifier: BSD-2-Clause
/* Writes the status channel; see status.h. Any context. */
#include "hv/cpu/status.h"

#include "hv/cpu/insn.h"
#include "hv/lib/print.h"

#define PORT_DEBUG 0xe9

static void write_text(const char *text)
{
	while (*text)
		insn_outb(PORT_DEBUG, *text++);
}

void status_event(const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	fmt_vprint(line, sizeof(line), format, args);
	va_end(args);
	write_text("@torpor ");
	write_text(line);
	write_text("\n");
}

void status_panic(const char *reason)
{
	char text[256];
	size_t used = 0;

	/* JSON strings: RFC 8259 section 7. */
	for (; *reason && used < sizeof(text) - 2; reason++) {
		if (*reason == '"' || *reason == '\\')
			text[used++] = '\\';
		text[used++] = *reason < ' ' ? ' ' : *reason;
	}
	text[used] = '\0';
	status_event("{\"event\":\"panic\",\"reason\":\"%s\"}", text);
}
