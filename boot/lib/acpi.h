/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The little of ACPI the loader needs: a valid RSDP and the processors in the MADT (ACPI 6.5, 5.2.5
 * to 5.2.12). Tables are firmware's: lengths and checksums are checked, addresses go through a
 * function that says whether they can be read.
 */
#ifndef BOOT_LIB_ACPI_H
#define BOOT_LIB_ACPI_H

#include "hv/lib/types.h"

/* How to get at physical memory: a pointer to `size` readable bytes, or NULL. */
struct acpi_memory {
	void *context;
	const void *(*read)(void *context, u64 address, u64 size);
};

/* Whether a sound RSDP of revision 0 or 2 lies there. */
bool acpi_rsdp_valid(const struct acpi_memory *memory, u64 rsdp);

/*
 * Local APIC ids of the enabled processors in the MADT, each once, at most `max` of them. 0 if
 * there is no sound MADT; an entry that is malformed ends the list.
 */
u32 acpi_processors(const struct acpi_memory *memory, u64 rsdp, u32 *apic_ids, u32 max);

#endif
