// SPDX-License-Identifier: BSD-2-Clause
/* Calls GetMemoryMap. Called by boot/main.c and leave.c while boot services are there. */
#include <efi.h>

#include "boot/firmware.h"
#include "boot/memory.h"

/* Each of the dozen allocations that follow splits a descriptor into three at worst. */
#define MAP_SLACK 128

bool memory_map_get(void *services, struct boot_memory_map *map, u64 *key)
{
	const EFI_BOOT_SERVICES *boot_services = services;
	UINTN size = map->size, map_key, descriptor_size;
	UINT32 version;

	if (EFI_ERROR(boot_services->GetMemoryMap(&size,
		    (EFI_MEMORY_DESCRIPTOR *)(uintptr_t)map->address, &map_key, &descriptor_size,
		    &version)))
		return false;
	map->size = size;
	map->descriptor_size = descriptor_size;
	map->descriptor_version = version;
	*key = map_key;
	return true;
}

bool memory_buffer_allocate(struct memory_buffer *buffer)
{
	UINTN size = 0, key, descriptor_size = sizeof(EFI_MEMORY_DESCRIPTOR);
	UINT32 version;

	/* Fails for want of a buffer and tells the size. */
	firmware->BootServices->GetMemoryMap(&size, NULL, &key, &descriptor_size, &version);
	buffer->capacity = ALIGN_UP(size + MAP_SLACK * descriptor_size, PAGE_SIZE);
	buffer->address = firmware_allocate(buffer->capacity);
	return buffer->address;
}

bool memory_map_take(const struct memory_buffer *buffer, struct boot_memory_map *map)
{
	u64 key;

	*map = (struct boot_memory_map){ .address = buffer->address, .size = buffer->capacity };
	return memory_map_get(firmware->BootServices, map, &key);
}
