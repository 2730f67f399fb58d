/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaving boot services (UEFI 2.10, 7.4.6), free of UEFI's own types so that a test can play
 * firmware.
 */
#ifndef BOOT_LIB_EXIT_BOOT_H
#define BOOT_LIB_EXIT_BOOT_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"

/* The two services that are called; each returns whether it succeeded. */
struct exit_boot_services {
	void *context;
	/*
	 * GetMemoryMap: map->address is given, map->size is the buffer's size and becomes the
	 * map's.
	 */
	bool (*get_memory_map)(void *context, struct boot_memory_map *map, u64 *key);
	bool (*exit)(void *context, u64 key);
};

/* Firmware whose map still changes after so many attempts will not come to rest. */
#define EXIT_BOOT_ATTEMPTS 16

/*
 * Fetches the map and leaves, again and again while the firmware says that the map has changed.
 * Calls nothing else in between. `buffer` has `capacity` bytes, enough for the map to grow. On
 * success *map describes what lies in the buffer, and there are no boot services any more.
 * ERR_NO_MEMORY: the map does not fit; ERR_HARDWARE: every attempt failed. In both cases *attempted
 * tells whether an exit was attempted: then the console is not to be used.
 */
enum error __must_check exit_boot(const struct exit_boot_services *services, u64 buffer,
	u64 capacity, struct boot_memory_map *map, bool *attempted);

#endif
