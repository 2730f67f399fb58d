/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the firmware's memory map, descriptor by descriptor (UEFI 2.10 7.2.3). */
#ifndef HV_MEM_EFI_MEMORY_H
#define HV_MEM_EFI_MEMORY_H

#include "boot/boot_info.h"

struct efi_memory_range {
	u64 start, end; /* page numbers; start == end: empty */
	bool usable;	/* free once boot services are gone */
	bool memory;	/* RAM of any use: not MMIO, not reserved */
};

/*
 * The descriptor with that index; false: there are no more. Firmware is not trusted with
 * arithmetic: a descriptor that leaves what the processor can address (CPUID.80000008H) and the
 * direct map has room for counts as no memory, but keeps whatever it covers reserved.
 */
bool efi_memory_range(const struct boot_memory_map *map, u64 index, struct efi_memory_range *range);

#endif
