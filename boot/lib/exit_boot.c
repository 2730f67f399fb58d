// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loop around ExitBootServices. Called last thing by boot/leave.c. Firmware may change the map
 * in an event handler between the two calls, and may have shut part of itself down on a failed
 * attempt.
 */
#include "boot/lib/exit_boot.h"

enum error exit_boot(const struct exit_boot_services *services, u64 buffer, u64 capacity,
	struct boot_memory_map *map, bool *attempted)
{
	*attempted = false;
	for (u32 attempt = 0; attempt < EXIT_BOOT_ATTEMPTS; attempt++) {
		u64 key;

		*map = (struct boot_memory_map){ .address = buffer, .size = capacity };
		if (!services->get_memory_map(services->context, map, &key))
			return ERR_NO_MEMORY;
		*attempted = true;
		if (services->exit(services->context, key))
			return ERR_OK;
	}
	return ERR_HARDWARE;
}
