/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's ACPI tables (ACPI 6.5): what the platform of platform_map.h offers, told by its
 * firmware.
 */
#ifndef HV_DEV_ACPI_TABLES_H
#define HV_DEV_ACPI_TABLES_H

#include "hv/lib/error.h"
#include "hv/vm/guest_memory.h"

/*
 * Writes RSDP, RSDT, XSDT, FADT, FACS, DSDT, MADT, MCFG and an SSDT with the processors to
 * GUEST_ACPI and clears the rest of that area. Local APIC ids are 0..cpus-1. *rsdp becomes the
 * RSDP's guest-physical address, where a search of 0xe0000-0xfffff finds it as well. ERR_RANGE:
 * more processors than the area has room for, none, or the area is not RAM.
 */
enum error __must_check acpi_tables_build(struct guest_memory *memory, u32 cpus, u64 *rsdp);

#endif
