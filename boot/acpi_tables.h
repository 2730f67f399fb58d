/* SPDX-License-Identifier: BSD-2-Clause */
/* The firmware's ACPI tables. */
#ifndef BOOT_ACPI_TABLES_H
#define BOOT_ACPI_TABLES_H

#include "boot/boot_info.h"

/* The RSDP from UEFI's configuration table, ACPI 2.0's entry first; 0 if there is no sound one. */
u64 acpi_tables_rsdp(const struct boot_memory_map *map);

/* As acpi_processors(). */
u32 acpi_tables_processors(const struct boot_memory_map *map, u64 rsdp, u32 *apic_ids, u32 max);

#endif
