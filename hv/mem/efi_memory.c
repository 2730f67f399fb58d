// SPDX-License-Identifier: BSD-2-Clause
/*
 * The UEFI memory map, descriptor by descriptor. Called by frames.c and paging.c during start-up.
 */
#include "hv/mem/efi_memory.h"

#include "hv/cpu/insn.h"
#include "hv/mem/frames.h"

/*
 * EFI_MEMORY_DESCRIPTOR; the stride between two is the map's descriptor_size, which may be larger.
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

#define CPUID_ADDRESS_SIZES 0x80000008
#define PHYSICAL_BITS_MAX   52 /* SDM 3A 4.1.4 */

/* Frames that the processor can address and the direct map has room for. */
static u64 frame_limit(void)
{
	u64 bits = 36;

	if (insn_cpuid(0x80000000, 0).eax >= CPUID_ADDRESS_SIZES)
		bits = insn_cpuid(CPUID_ADDRESS_SIZES, 0).eax & 0xff;
	return MIN(BIT(MIN(bits, PHYSICAL_BITS_MAX)), HV_IMAGE_BASE - HV_DIRECT_MAP) / PAGE_SIZE;
}

bool efi_memory_range(const struct boot_memory_map *map, u64 index, struct efi_memory_range *range)
{
	const struct efi_descriptor *d;
	u64 limit = frame_limit();
	bool sound;

	if (map->descriptor_size < sizeof(*d) || index >= map->size / map->descriptor_size)
		return false;
	d = (const void *)((u8 *)phys_to_virt(hpa(map->address)) + index * map->descriptor_size);
	*range = (struct efi_memory_range){ .start = d->physical_start / PAGE_SIZE };
	range->end = range->start;
	/* A start within a page is against UEFI 2.10 7.2.3: one page more is touched. */
	if (range->start < limit)
		range->end += MIN(d->pages, limit - range->start);
	sound = range->end - range->start == d->pages && IS_ALIGNED(d->physical_start, PAGE_SIZE);
	if (!sound && range->end > range->start && range->end < limit)
		range->end++;
	range->usable =
		sound && (d->type == EFI_CONVENTIONAL || d->type == EFI_BOOT_SERVICES_CODE ||
				 d->type == EFI_BOOT_SERVICES_DATA);
	range->memory =
		range->usable ||
		(sound && (d->type == EFI_LOADER_CODE || d->type == EFI_LOADER_DATA ||
				  d->type == EFI_RUNTIME_CODE || d->type == EFI_RUNTIME_DATA ||
				  d->type == EFI_ACPI_RECLAIM || d->type == EFI_ACPI_NVS));
	return true;
}
