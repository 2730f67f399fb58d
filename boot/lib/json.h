/* SPDX-License-Identifier: BSD-2-Clause */
/* Text inside a JSON string (RFC 8259, 7). */
#ifndef BOOT_LIB_JSON_H
#define BOOT_LIB_JSON_H

#include "hv/lib/types.h"

/*
 * Escapes quotation marks, backslashes and control characters; bytes above 0x7e become '?'. Always
 * terminated; what does not fit into size (at least 1) is left out, never half an escape.
 */
void json_escape(const char *text, char *to, size_t size);

#endif
