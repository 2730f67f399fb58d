// SPDX-License-Identifier: BSD-2-Clause
/*
 * The line level of the configuration file. Called by config.c; may assume nothing about the text
 * but its size: it need not end with a newline, and may hold any byte.
 */
#include "boot/lib/ini.h"
#include "hv/lib/string.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool slice_equal(struct slice slice, const char *text)
{
	return strlen(text) == slice.length && !memcmp(slice.start, text, slice.length);
}

static struct slice trim(const char *start, const char *end)
{
	while (start < end && is_blank(*start))
		start++;
	while (start < end && is_blank(end[-1]))
		end--;
	return (struct slice){ start, (size_t)(end - start) };
}

const char *slice_find(struct slice slice, char c)
{
	for (size_t i = 0; i < slice.length; i++)
		if (slice.start[i] == c)
			return slice.start + i;
	return NULL;
}

void ini_begin(struct ini *ini, const char *text, size_t size)
{
	static const char byte_order_mark[] = { '\xef', '\xbb', '\xbf' };

	*ini = (struct ini){ .next = text, .end = text + size };
	if (size >= sizeof(byte_order_mark) &&
		!memcmp(text, byte_order_mark, sizeof(byte_order_mark)))
		ini->next += sizeof(byte_order_mark);
}

static struct slice next_line(struct ini *ini)
{
	const char *start = ini->next, *end = start;

	while (end < ini->end && *end != '\n')
		end++;
	ini->next = end < ini->end ? end + 1 : end;
	ini->line++;
	if (end > start && end[-1] == '\r')
		end--;
	return (struct slice){ start, (size_t)(end - start) };
}

/* What makes the line unfit to be looked at any further, or NULL. */
static const char *line_error(struct slice line)
{
	if (line.length > INI_LINE_MAX)
		return "the line is longer than 4096 bytes; shorten it";
	for (size_t i = 0; i < line.length; i++) {
		u8 c = (u8)line.start[i];

		if (!c)
			return "there is a NUL byte in the line; save the file as plain ASCII or "
			       "UTF-8";
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return "there is a control character in the line; remove it";
	}
	return NULL;
}

static struct ini_item item_error(const char *error)
{
	return (struct ini_item){ .kind = INI_ERROR, .error = error };
}

static struct ini_item section_item(struct slice line)
{
	const char *end = line.start + line.length - 1;
	struct slice inside, name;

	if (*end != ']')
		return item_error(
			"the section does not end with ']'; write [hypervisor] or [vm NAME]");
	inside = trim(line.start + 1, end);
	name = inside;
	for (size_t i = 0; i < inside.length; i++) {
		if (is_blank(inside.start[i])) {
			name.length = i;
			break;
		}
	}
	return (struct ini_item){
		.kind = INI_SECTION,
		.name = name,
		.value = trim(inside.start + name.length, end),
	};
}

static struct ini_item key_item(struct slice line)
{
	const char *equals = slice_find(line, '=');

	if (!equals || equals == line.start)
		return item_error(
			"neither a comment, a [section] nor a setting; write KEY = VALUE");
	return (struct ini_item){
		.kind = INI_KEY,
		.name = trim(line.start, equals),
		.value = trim(equals + 1, line.start + line.length),
	};
}

struct ini_item ini_next(struct ini *ini)
{
	while (ini->next < ini->end) {
		struct slice raw = next_line(ini);
		const char *error = line_error(raw);
		struct slice line = trim(raw.start, raw.start + raw.length);

		if (error)
			return item_error(error);
		if (!line.length || *line.start == '#' || *line.start == ';')
			continue;
		return *line.start == '[' ? section_item(line) : key_item(line);
	}
	return (struct ini_item){ .kind = INI_END };
}
