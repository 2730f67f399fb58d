// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loader's view of the UEFI memory map. Called by the page-table builder and the check that the
 * VMs fit. The map comes from firmware: its numbers may overflow and its stride may exceed the
 * descriptor's size.
 */
#include "boot/lib/memory_map.h"
#include "hv/lib/string.h"

#define ADDRESS_LIMIT BIT(52) /* no x86 address is wider (SDM 3A 4.1.4) */

struct efi_memory_descriptor {
	u32 type;
	u32 padding;
	u64 physical_start;
	u64 virtual_start;
	u64 pages;
	u64 attributes;
};

_Static_assert(sizeof(struct efi_memory_descriptor) == 40, "UEFI 2.10, 7.2.3");

bool memory_map_range(
	const struct boot_memory_map *map, u64 index, u64 limit, struct memory_range *range)
{
	struct efi_memory_descriptor descriptor;

	if (map->descriptor_size < sizeof(descriptor) || index >= map->size / map->descriptor_size)
		return false;
	memcpy(&descriptor, (const void *)(uintptr_t)(map->address + index * map->descriptor_size),
		sizeof(descriptor));

	range->type = descriptor.type;
	range->start = ALIGN_DOWN(descriptor.physical_start, PAGE_SIZE);
	range->size = 0;
	if (range->start < limit)
		range->size = MIN(descriptor.pages, (limit - range->start) / PAGE_SIZE) * PAGE_SIZE;
	return true;
}

u64 memory_map_free(const struct boot_memory_map *map)
{
	struct memory_range range;
	u64 bytes = 0;

	for (u64 i = 0; memory_map_range(map, i, ADDRESS_LIMIT, &range); i++) {
		if (range.type == EFI_MEMORY_CONVENTIONAL ||
			range.type == EFI_MEMORY_BOOT_SERVICES_CODE ||
			range.type == EFI_MEMORY_BOOT_SERVICES_DATA)
			bytes += range.size;
	}
	return bytes;
}
