/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory map that a guest is told, whichever boot protocol carries it: types are those of the
 * BIOS call E820 (ACPI 6.5 15.1), which Linux, PVH and multiboot all use.
 */
#ifndef HV_VM_GUEST_MAP_H
#define HV_VM_GUEST_MAP_H

#include "hv/vm/guest_memory.h"

enum guest_map_type { GUEST_MAP_RAM = 1, GUEST_MAP_RESERVED = 2 };

#define GUEST_MAP_MAX 7

#define GUEST_LOW_RAM_END 0xa0000ull  /* 640 KiB: above it a PC has video memory and ROMs */
#define GUEST_BIOS_END	  0x100000ull /* 1 MiB */

struct guest_map_entry {
	gpa_t start;
	u64 size;
	enum guest_map_type type;
};

/* Where RAM below the hole ends, and how much of it lies from 4 GiB on. */
u64 guest_low_memory(const struct guest_memory *memory);
u64 guest_high_memory(const struct guest_memory *memory);

/*
 * The map of a guest with that memory (at least GUEST_MEMORY_MIN), ascending, without overlaps or
 * empty entries. Returns the number of entries.
 */
u32 guest_map_build(const struct guest_memory *memory, struct guest_map_entry map[GUEST_MAP_MAX]);

#endif
