// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the ACPI tables where UEFI says they are (never by searching memory). Called by boot/main.c
 * and cpus.c. A pointer out of a table is followed only to memory that the memory map names:
 * anything else may not be mapped.
 */
#include <efi.h>

#include "boot/acpi_tables.h"
#include "boot/firmware.h"
#include "boot/lib/acpi.h"
#include "boot/lib/memory_map.h"
#include "hv/lib/string.h"

/* The BIOS area: firmware may leave it out of the map and still keep tables there. */
#define BIOS_AREA     0xe0000ull
#define BIOS_AREA_END 0x100000ull

static const void *read_memory(void *context, u64 address, u64 size)
{
	const struct boot_memory_map *map = context;
	struct memory_range range;

	if (address >= BIOS_AREA && address < BIOS_AREA_END && size <= BIOS_AREA_END - address)
		return (const void *)(uintptr_t)address;
	for (u64 i = 0; memory_map_range(map, i, BIT(52), &range); i++) {
		if (address >= range.start && address - range.start < range.size &&
			size <= range.size - (address - range.start))
			return (const void *)(uintptr_t)address;
	}
	return NULL;
}

static struct acpi_memory memory_of(const struct boot_memory_map *map)
{
	return (struct acpi_memory){ .context = (void *)(uintptr_t)map, .read = read_memory };
}

static u64 table_with_guid(const EFI_GUID *guid)
{
	for (UINTN i = 0; i < firmware->NumberOfTableEntries; i++) {
		const EFI_CONFIGURATION_TABLE *table = &firmware->ConfigurationTable[i];

		if (!memcmp(&table->VendorGuid, guid, sizeof(*guid)))
			return (u64)(uintptr_t)table->VendorTable;
	}
	return 0;
}

u64 acpi_tables_rsdp(const struct boot_memory_map *map)
{
	static const EFI_GUID guids[] = { ACPI_20_TABLE_GUID, ACPI_TABLE_GUID };
	const struct acpi_memory memory = memory_of(map);

	for (u32 i = 0; i < ARRAY_SIZE(guids); i++) {
		u64 rsdp = table_with_guid(&guids[i]);

		if (acpi_rsdp_valid(&memory, rsdp))
			return rsdp;
	}
	return 0;
}

u32 acpi_tables_processors(const struct boot_memory_map *map, u64 rsdp, u32 *apic_ids, u32 max)
{
	const struct acpi_memory memory = memory_of(map);

	return acpi_processors(&memory, rsdp, apic_ids, max);
}
