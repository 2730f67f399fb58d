// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory map of a guest, as a PC's firmware would report it. The loaders of the three boot
 * protocols call it; it depends on the size of the guest's RAM only, by the rule of guest_memory.h.
 */
#include "hv/vm/guest_map.h"
#include "hv/dev/platform_map.h"

/* IOAPIC, LAPIC, test device and the rest of a PC's fixed devices, up to where RAM goes on. */
#define FIXED_DEVICES IOAPIC_BASE

u64 guest_low_memory(const struct guest_memory *memory)
{
	return MIN(memory->size, GUEST_HOLE);
}

u64 guest_high_memory(const struct guest_memory *memory)
{
	return memory->size - guest_low_memory(memory);
}

u32 guest_map_build(const struct guest_memory *memory, struct guest_map_entry map[GUEST_MAP_MAX])
{
	const struct guest_map_entry all[GUEST_MAP_MAX] = {
		{ gpa(0), GUEST_EBDA, GUEST_MAP_RAM },
		/* The EBDA with the MP table. */
		{ gpa(GUEST_EBDA), GUEST_LOW_RAM_END - GUEST_EBDA, GUEST_MAP_RESERVED },
		/*
		 * Where a PC has video memory and ROMs: RAM too, but nothing that an operating
		 * system may use; the ACPI tables are in it.
		 */
		{ gpa(GUEST_LOW_RAM_END), GUEST_BIOS_END - GUEST_LOW_RAM_END, GUEST_MAP_RESERVED },
		{ gpa(GUEST_BIOS_END), guest_low_memory(memory) - GUEST_BIOS_END, GUEST_MAP_RAM },
		/* An operating system believes MCFG only if the map says the same. */
		{ gpa(PCI_ECAM_BASE), PCI_ECAM_SIZE, GUEST_MAP_RESERVED },
		{ gpa(FIXED_DEVICES), SIZE_4G - FIXED_DEVICES, GUEST_MAP_RESERVED },
		{ gpa(SIZE_4G), guest_high_memory(memory), GUEST_MAP_RAM },
	};
	u32 count = 0;

	for (u32 i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].size)
			map[count++] = all[i];
	return count;
}
