/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits the text of an INI file into sections and keys:
 *
 *   # comment, ; comment (only at the start of a line)
 *   [section] or [section argument]
 *   key = value    (the rest of the line, blanks at both ends removed)
 *
 * Lines end with LF or CRLF; a UTF-8 byte order mark at the start is skipped.
 */
#ifndef BOOT_LIB_INI_H
#define BOOT_LIB_INI_H

#include "hv/lib/types.h"

#define INI_LINE_MAX 4096 /* bytes of a line, its end not counted */

/* A piece of the text; not terminated. */
struct slice {
	const char *start;
	size_t length;
};

bool slice_equal(struct slice slice, const char *text);

/* Where the first such character is, or NULL. */
const char *slice_find(struct slice slice, char c);

enum ini_kind { INI_END, INI_SECTION, INI_KEY, INI_ERROR };

struct ini_item {
	enum ini_kind kind;
	struct slice name;  /* INI_SECTION, INI_KEY */
	struct slice value; /* INI_SECTION: the argument; INI_KEY: the value; may be empty */
	const char *error;  /* INI_ERROR: what is wrong; what to do */
};

struct ini {
	const char *next, *end;
	u32 line; /* of the item returned last, from 1 */
};

void ini_begin(struct ini *ini, const char *text, size_t size);

/* The next section, key or error; INI_END behind the last line. */
struct ini_item ini_next(struct ini *ini);

#endif
