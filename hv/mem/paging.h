/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hypervisor's own page tables: the image by the rights of its segments, RAM at HV_DIRECT_MAP
 * writable and not executable (the image's text and constants not writable there either), devices
 * where mmio_map() was asked, a hole below each stack. The low half is empty.
 */
#ifndef HV_MEM_PAGING_H
#define HV_MEM_PAGING_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"
#include "hv/lib/types.h"

/*
 * Builds the tables, switches CR3 to them, sets CR0.WP, CR4.SMEP, SMAP, UMIP by capability. Once.
 */
void paging_init(const struct boot_info *boot);

hpa_t paging_root(void);
u64 paging_table_pages(void);

/*
 * Maps a device's registers uncached; the result stays valid. size in bytes. NULL: a part of it is
 * memory, or beyond what the direct map has room for; addresses come from firmware tables.
 */
void *mmio_map(hpa_t address, u64 size);

/*
 * Makes a firmware table readable, wherever it lies; what is mapped already stays as it is. NULL:
 * beyond what the direct map has room for.
 */
const void *firmware_map(hpa_t address, u64 size);

/* A stack of that size (a multiple of PAGE_SIZE) with an unmapped page below; returns its top. */
u8 *stack_alloc(u64 size);

/*
 * Tables that map all below 4 GiB and all memory above at its own address, writable and executable,
 * beside the hypervisor: firmware calls run on them and nothing else does. 0 before paging_init().
 */
hpa_t firmware_root(void);

#endif
