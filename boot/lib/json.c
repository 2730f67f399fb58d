// SPDX-License-Identifier: BSD-2-Clause
/*
 * Escapes text for the lines that programs read. Called by boot/report.c; the text may hold any
 * byte.
 */
#include "boot/lib/json.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"

void json_escape(const char *text, char *to, size_t size)
{
	size_t used = 0;

	for (; *text; text++) {
		u8 c = (u8)*text;
		char piece[8];
		size_t length;

		if (c == '"' || c == '\\')
			fmt_print(piece, sizeof(piece), "\\%c", c);
		else if (c < ' ')
			fmt_print(piece, sizeof(piece), "\\u%04x", c);
		else
			fmt_print(piece, sizeof(piece), "%c", c > '~' ? '?' : c);
		length = strlen(piece);
		if (length >= size - used)
			break;
		memcpy(to + used, piece, length);
		used += length;
	}
	to[used] = 0;
}
