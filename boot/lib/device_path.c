// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds UART nodes in the value of the ConOut variable. Called by boot/report.c; the variable is
 * firmware's and may be malformed.
 */
#include "boot/lib/device_path.h"
#include "hv/lib/string.h"

#define NODE_MESSAGING 0x03
#define MESSAGING_UART 0x0e

struct node {
	u8 type, subtype;
	u8 length[2]; /* this header included */
};

bool device_path_has_uart(const void *path, size_t size)
{
	const u8 *bytes = path;

	for (size_t at = 0; size - at >= sizeof(struct node);) {
		struct node node;
		size_t length;

		memcpy(&node, bytes + at, sizeof(node));
		length = node.length[0] | node.length[1] << 8;
		if (length < sizeof(node) || length > size - at)
			return false;
		if (node.type == NODE_MESSAGING && node.subtype == MESSAGING_UART)
			return true;
		at += length;
	}
	return false;
}
