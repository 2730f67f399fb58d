// SPDX-License-Identifier: BSD-2-Clause
/* The UEFI memory map. Firmware is not trusted with arithmetic: sizes that overflow yield empty
 * ranges. */
#include "hv/mem/efi_memory.h"

#include "hv/mem/frames.h"

/* EFI_MEMORY_DESCRIPTOR; the stride between two is the map's descriptor_size, which may be larger.
 */
struct efi_descriptor {
	u32 type;
	u32 padding;
	u64 physical_start;
	u64 virtual_start;
	u64 pages;
	u64 attribute;
};

enum efi_type { /* UEFI 2.10 table 7.6 */
	EFI_LOADER_CODE = 1,
	EFI_LOADER_DATA,
	EFI_BOOT_SERVICES_CODE,
	EFI_BOOT_SERVICES_DATA,
	EFI_RUNTIME_CODE,
	EFI_RUNTIME_DATA,
	EFI_CONVENTIONAL,
	EFI_UNUSABLE,
	EFI_ACPI_RECLAIM,
	EFI_ACPI_NVS,
};

#define PHYSICAL_PAGES_MAX (1ull << (52 - PAGE_SHIFT)) /* SDM 3A 4.1.4: MAXPHYADDR is at most 52 \
							*/

bool efi_memory_range(const struct boot_memory_map *map, u64 index, struct efi_memory_range *range)
{
	const struct efi_descriptor *d;

	if (map->descriptor_size < sizeof(*d) || index >= map->size / map->descriptor_size)
		return false;
	d = (const void *)((u8 *)phys_to_virt(hpa(map->address)) + index * map->descriptor_size);
	*range = (struct efi_memory_range){ .start = d->physical_start / PAGE_SIZE };
	range->end = range->start;
	if (range->start < PHYSICAL_PAGES_MAX && d->pages <= PHYSICAL_PAGES_MAX - range->start)
		range->end += d->pages;
	range->usable = d->type == EFI_CONVENTIONAL || d->type == EFI_BOOT_SERVICES_CODE ||
			d->type == EFI_BOOT_SERVICES_DATA;
	range->memory = range->usable || d->type == EFI_LOADER_CODE || d->type == EFI_LOADER_DATA ||
			d->type == EFI_RUNTIME_CODE || d->type == EFI_RUNTIME_DATA ||
			d->type == EFI_ACPI_RECLAIM || d->type == EFI_ACPI_NVS;
	return true;
}
