/* SPDX-License-Identifier: BSD-2-Clause */
/* The firmware's memory map and the buffer it is kept in. */
#ifndef BOOT_MEMORY_H
#define BOOT_MEMORY_H

#include "boot/boot_info.h"

struct memory_buffer {
	u64 address;
	u64 capacity; /* bytes */
};

/* Room for the map as it is and for the descriptors that the loader's last allocations add. */
bool memory_buffer_allocate(struct memory_buffer *buffer);

/* Takes the map into the buffer. False if it does not fit. */
bool memory_map_take(const struct memory_buffer *buffer, struct boot_memory_map *map);

/* GetMemoryMap in the form exit_boot() wants: the context is the EFI_BOOT_SERVICES. */
bool memory_map_get(void *services, struct boot_memory_map *map, u64 *key);

#endif
