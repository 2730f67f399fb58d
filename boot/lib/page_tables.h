/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builder of the temporary 4-level page tables on which the hypervisor starts (SDM 3A 4.5). Tables
 * come from a pool of pages that the caller allocated; a table's address is both its physical
 * address and a pointer, as under UEFI's identity map.
 */
#ifndef BOOT_LIB_PAGE_TABLES_H
#define BOOT_LIB_PAGE_TABLES_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"

struct page_tables {
	u64 pool;	/* page aligned */
	u64 pool_pages; /* its size */
	u64 pool_used;	/* pages taken so far */
	u64 root;	/* for CR3 */
	bool large_1g;	/* CPUID 80000001H:EDX[26]: 1-GiB pages */
};

enum page_rights { PAGE_READ = 0, PAGE_WRITE = 1, PAGE_EXECUTE = 2 };

/* Takes the root from the pool. ERR_NO_MEMORY if the pool is empty. */
enum error __must_check page_tables_init(
	struct page_tables *tables, u64 pool, u64 pool_pages, bool large_1g);

/*
 * Maps size bytes with the largest pages that fit. Addresses and size are whole pages; the linear
 * range must not wrap. What is mapped already to the same address with the same rights stays.
 * ERR_CONFLICT if something else is mapped there, ERR_NO_MEMORY if the pool is used up.
 */
enum error __must_check page_tables_map(
	struct page_tables *tables, u64 linear, u64 physical, u64 size, enum page_rights rights);

/* Takes one 4-KiB page out, splitting larger ones. ERR_NO_MEMORY if the pool is used up. */
enum error __must_check page_tables_unmap_page(struct page_tables *tables, u64 linear);

/*
 * Maps at HV_DIRECT_MAP, writable and not executable, all addresses below 4 GiB and what the memory
 * map names above, up to address_limit (2^MAXPHYADDR). Descriptors with impossible values are
 * skipped or clipped.
 */
enum error __must_check page_tables_map_direct(
	struct page_tables *tables, const struct boot_memory_map *map, u64 address_limit);

#endif
