/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks a UEFI memory map (UEFI 2.10, 7.2.3), whatever the size of its descriptors. */
#ifndef BOOT_LIB_MEMORY_MAP_H
#define BOOT_LIB_MEMORY_MAP_H

#include "boot/boot_info.h"

/* EFI_MEMORY_TYPE, as far as the loader tells them apart. */
enum efi_memory {
	EFI_MEMORY_BOOT_SERVICES_CODE = 3,
	EFI_MEMORY_BOOT_SERVICES_DATA = 4,
	EFI_MEMORY_CONVENTIONAL = 7,
};

struct memory_range {
	u32 type;
	u64 start;
	u64 size; /* bytes, whole pages */
};

/*
 * The range of descriptor `index`, clipped to addresses below `limit` (whole pages, at most 2^52);
 * false behind the last. A descriptor with nothing below the limit has size 0.
 */
bool memory_map_range(
	const struct boot_memory_map *map, u64 index, u64 limit, struct memory_range *range);

/* Bytes that are free once boot services have ended: conventional memory and boot services' own. */
u64 memory_map_free(const struct boot_memory_map *map);

#endif
