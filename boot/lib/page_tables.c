// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the loader's temporary page tables. Called by boot/image.c before boot services end;
 * writes to the pool only, so it may run as often as the caller likes until a pool is large enough.
 */
#include "boot/lib/page_tables.h"
#include "boot/lib/memory_map.h"
#include "hv/lib/string.h"

/* SDM 3A, tables 4-15 to 4-20. */
#define PTE_PRESENT  BIT(0)
#define PTE_WRITE    BIT(1)
#define PTE_ACCESSED BIT(5)
#define PTE_DIRTY    BIT(6)
#define PTE_LARGE    BIT(7)
#define PTE_NX	     BIT(63)
#define PTE_ADDRESS  0x000ffffffffff000ull

#define ENTRIES 512
#define LEVELS	4 /* 4: PML4 .. 1: page table */

/* The linear addresses of the direct map, up to the image's. */
#define DIRECT_MAP_SIZE (HV_IMAGE_BASE - HV_DIRECT_MAP)

static u64 level_size(u32 level)
{
	return PAGE_SIZE << (9 * (level - 1));
}

static u64 *entry_of(u64 table, u64 linear, u32 level)
{
	u64 index = linear / level_size(level) % ENTRIES;

	return (u64 *)(uintptr_t)table + index;
}

static u64 table_of(u64 entry)
{
	return entry & PTE_ADDRESS;
}

static bool is_leaf(u64 entry, u32 level)
{
	return level == 1 || (entry & PTE_LARGE);
}

static u64 leaf_bits(u32 level, enum page_rights rights)
{
	u64 bits = PTE_PRESENT | PTE_ACCESSED | PTE_DIRTY;

	if (level > 1)
		bits |= PTE_LARGE;
	if (rights & PAGE_WRITE)
		bits |= PTE_WRITE;
	if (!(rights & PAGE_EXECUTE))
		bits |= PTE_NX;
	return bits;
}

static enum error take_table(struct page_tables *tables, u64 *table)
{
	if (tables->pool_used == tables->pool_pages)
		return ERR_NO_MEMORY;
	*table = tables->pool + tables->pool_used++ * PAGE_SIZE;
	memset((void *)(uintptr_t)*table, 0, PAGE_SIZE);
	return ERR_OK;
}

enum error page_tables_init(struct page_tables *tables, u64 pool, u64 pool_pages, bool large_1g)
{
	*tables = (struct page_tables){
		.pool = pool,
		.pool_pages = pool_pages,
		.large_1g = large_1g,
	};
	return take_table(tables, &tables->root);
}

/* Whether a page of this level may begin here. */
static bool page_fits(
	const struct page_tables *tables, u32 level, u64 linear, u64 physical, u64 size)
{
	u64 page = level_size(level);

	if (level > 3 || (level == 3 && !tables->large_1g))
		return false;
	return size >= page && IS_ALIGNED(linear | physical, page);
}

/* Replaces a large page by a table of the next smaller ones. */
static enum error split(struct page_tables *tables, u64 *entry, u32 level)
{
	u64 bits = *entry & ~PTE_ADDRESS;
	u64 physical = table_of(*entry);
	u64 table;
	enum error error = take_table(tables, &table);

	if (error)
		return error;
	if (level == 2)
		bits &= ~PTE_LARGE;
	for (u64 i = 0; i < ENTRIES; i++)
		((u64 *)(uintptr_t)table)[i] = (physical + i * level_size(level - 1)) | bits;
	*entry = table | PTE_PRESENT | PTE_WRITE;
	return ERR_OK;
}

/* Maps one page at the start of the range, as large as fits, and tells how many bytes are done. */
static enum error map_one(struct page_tables *tables, u64 linear, u64 physical, u64 size,
	enum page_rights rights, u64 *done)
{
	u64 table = tables->root;

	for (u32 level = LEVELS;; level--) {
		u64 *entry = entry_of(table, linear, level);
		u64 page = level_size(level);
		u64 offset = linear & (page - 1);

		*done = MIN(size, page - offset);
		if (!(*entry & PTE_PRESENT)) {
			enum error error;

			if (page_fits(tables, level, linear, physical, size)) {
				*entry = physical | leaf_bits(level, rights);
				return ERR_OK;
			}
			error = take_table(tables, &table);
			if (error)
				return error;
			*entry = table | PTE_PRESENT | PTE_WRITE;
		} else if (is_leaf(*entry, level)) {
			bool same = *entry == ((physical - offset) | leaf_bits(level, rights));

			return same ? ERR_OK : ERR_CONFLICT;
		}
		table = table_of(*entry);
	}
}

enum error page_tables_map(
	struct page_tables *tables, u64 linear, u64 physical, u64 size, enum page_rights rights)
{
	while (size) {
		u64 done;
		enum error error = map_one(tables, linear, physical, size, rights, &done);

		if (error)
			return error;
		linear += done;
		physical += done;
		size -= done;
	}
	return ERR_OK;
}

enum error page_tables_unmap_page(struct page_tables *tables, u64 linear)
{
	u64 table = tables->root;

	for (u32 level = LEVELS; level > 1; level--) {
		u64 *entry = entry_of(table, linear, level);

		if (!(*entry & PTE_PRESENT))
			return ERR_OK;
		if (is_leaf(*entry, level)) {
			enum error error = split(tables, entry, level);

			if (error)
				return error;
		}
		table = table_of(*entry);
	}
	*entry_of(table, linear, 1) = 0;
	return ERR_OK;
}

enum error page_tables_map_direct(
	struct page_tables *tables, const struct boot_memory_map *map, u64 address_limit)
{
	u64 limit = MIN(address_limit, DIRECT_MAP_SIZE);
	struct memory_range range;
	enum error error = page_tables_map(tables, HV_DIRECT_MAP, 0, SIZE_4G, PAGE_WRITE);

	for (u64 i = 0; !error && memory_map_range(map, i, limit, &range); i++) {
		u64 start = MAX(range.start, SIZE_4G);
		u64 end = range.start + range.size;

		if (end > start)
			error = page_tables_map(
				tables, HV_DIRECT_MAP + start, start, end - start, PAGE_WRITE);
	}
	return error;
}
