// SPDX-License-Identifier: BSD-2-Clause
/* Names of the errors; see error.h. */
#include "hv/lib/error.h"
#include "hv/lib/types.h"

static const char *const error_texts[] = {
#define ERROR_NAME(name, text) [ERR_##name] = text,
	ERROR_TABLE(ERROR_NAME)
#undef ERROR_NAME
};

const char *error_text(enum error error)
{
	if ((size_t)error >= ARRAY_SIZE(error_texts))
		return "unknown error";
	return error_texts[error];
}
