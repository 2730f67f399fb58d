// SPDX-License-Identifier: BSD-2-Clause
/*
 * Extended page tables: building, changing and reading them. Called by whoever creates a VM, by the
 * handlers that map or unmap single pages, and by ept_destroy's callers; interrupts off, one caller
 * at a time for each struct ept (the VM's lock). A processor may walk the tables meanwhile, so
 * every change is one 64-bit store of a complete entry, and a table that was taken out keeps its
 * contents until the INVEPT is done.
 */
#include "mmu/ept.h"

#include "hv/mem/frames.h"

/* Entries: SDM 3C tables 29-1 to 29-7. */
#define EPT_ENTRIES	 512
#define EPT_RIGHTS	 7ull
#define EPT_TYPE_SHIFT	 3
#define EPT_TYPE_MASK	 (7ull << EPT_TYPE_SHIFT)
#define EPT_PAGE	 BIT(7) /* a leaf at level 2 or 3 */
#define EPT_ADDRESS_MASK 0x000ffffffffff000ull

/* EPTP: SDM 3C table 25-9. */
#define EPTP_WALK_4	(3ull << 3)
#define EPTP_WRITE_BACK 6ull

/* Level 1 holds 4 KiB leaves, level 4 is the root. */
#define EPT_LEVELS 4

static u64 level_size(u32 level)
{
	return PAGE_SIZE << (9 * (level - 1));
}

static u32 level_index(u64 address, u32 level)
{
	return address >> (PAGE_SHIFT + 9 * (level - 1)) & (EPT_ENTRIES - 1);
}

static u64 *table_at(u64 entry)
{
	return phys_to_virt(hpa(entry & EPT_ADDRESS_MASK));
}

static bool is_leaf(u64 entry, u32 level)
{
	return level == 1 || (entry & EPT_PAGE);
}

static u64 load(const u64 *entry)
{
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

/* Release: a new table's contents are seen before the entry that names it. */
static void store(u64 *entry, u64 value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

static enum error table_alloc(struct ept *ept, hpa_t *table)
{
	enum error error;

	if (ept->table_pages >= ept->table_limit)
		return ERR_NO_MEMORY;
	error = frames_alloc(1, PAGE_SIZE, table);
	if (error == ERR_OK)
		ept->table_pages++;
	return error;
}

/*
 * Takes the tables below an entry out of use. They are chained through their first entry: an
 * aligned address has the rights bits clear, so a processor that still reaches the table finds "not
 * present".
 */
static void retire(struct ept *ept, u64 entry, u32 level)
{
	u64 *table;

	if (!(entry & EPT_RIGHTS) || is_leaf(entry, level))
		return;
	table = table_at(entry);
	if (level > 2) {
		for (u32 i = 0; i < EPT_ENTRIES; i++)
			retire(ept, table[i], level - 1);
	}
	store(&table[0], ept->retired.value);
	ept->retired = hpa(entry & EPT_ADDRESS_MASK);
}

static void replace(struct ept *ept, u64 *entry, u64 value, u32 level)
{
	u64 old = load(entry);

	if (old == value)
		return;
	store(entry, value);
	if (old & EPT_RIGHTS) {
		ept->changed = true;
		retire(ept, old, level);
	}
}

/*
 * Makes the entry at `level` point to a table. A large page becomes a table of pages of the next
 * size with the same translations. The size of a present translation changes with it, and a page
 * inside is about to change: replace() of that page notes it.
 */
static enum error descend(struct ept *ept, u64 *entry, u32 level, u64 **below)
{
	u64 value = load(entry);
	enum error error;
	hpa_t table;

	if ((value & EPT_RIGHTS) && !is_leaf(value, level)) {
		*below = table_at(value);
		return ERR_OK;
	}
	error = table_alloc(ept, &table);
	if (error != ERR_OK)
		return error;
	*below = phys_to_virt(table);
	if (value & EPT_RIGHTS) {
		u64 leaf = level == 2 ? value & ~EPT_PAGE : value;

		for (u32 i = 0; i < EPT_ENTRIES; i++)
			(*below)[i] = leaf + i * level_size(level - 1);
		ept->changed = true;
	}
	store(entry, table.value | EPT_RWX);
	return ERR_OK;
}

static bool table_empty(const u64 *table)
{
	for (u32 i = 0; i < EPT_ENTRIES; i++) {
		if (table[i] & EPT_RIGHTS)
			return false;
	}
	return true;
}

/* What a range becomes: leaves that begin with `leaf` (0: not present). */
struct change {
	struct ept *ept;
	u64 from, end; /* what is left of the range */
	u64 leaf;      /* address, type and rights of the page at `from` */
};

static bool may_be_leaf(const struct change *change, u32 level)
{
	u64 size = level_size(level);
	bool allowed = level == 1 ||
		       (level == 2 && (change->ept->capabilities.page_2m || !change->leaf)) ||
		       (level == 3 && (change->ept->capabilities.page_1g || !change->leaf)) ||
		       (level == 4 && !change->leaf);

	return allowed && IS_ALIGNED(change->from, size) && change->end - change->from >= size &&
	       (!change->leaf || IS_ALIGNED(change->leaf & EPT_ADDRESS_MASK, size));
}

/* Applies the change to the entries of one table; recursion depth is the number of levels. */
static enum error apply(struct change *change, u64 *table, u32 level)
{
	u64 size = level_size(level);

	for (u32 i = level_index(change->from, level);
		i < EPT_ENTRIES && change->from < change->end; i++) {
		u64 stop = MIN(ALIGN_DOWN(change->from, size) + size, change->end);

		if (may_be_leaf(change, level)) {
			u64 page = change->leaf && level > 1 ? EPT_PAGE : 0;

			replace(change->ept, &table[i], change->leaf | page, level);
			change->leaf += change->leaf ? size : 0;
			change->from += size;
		} else if (!change->leaf && !(load(&table[i]) & EPT_RIGHTS)) {
			change->from = stop;
		} else {
			u64 *below;
			enum error error = descend(change->ept, &table[i], level, &below);

			if (error == ERR_OK)
				error = apply(change, below, level - 1);
			if (error != ERR_OK)
				return error;
			if (!change->leaf && table_empty(below))
				replace(change->ept, &table[i], 0, level);
		}
	}
	return ERR_OK;
}

static enum error check_range(u64 from, u64 size)
{
	if (!IS_ALIGNED(from | size, PAGE_SIZE))
		return ERR_INVALID;
	if (from > EPT_ADDRESS_LIMIT || size > EPT_ADDRESS_LIMIT - from)
		return ERR_RANGE;
	return ERR_OK;
}

enum error ept_init(struct ept *ept, const struct ept_capabilities *capabilities)
{
	*ept = (struct ept){ .capabilities = *capabilities, .table_limit = EPT_TABLES_MAX };
	enum error error = table_alloc(ept, &ept->root);

	if (error != ERR_OK)
		return error;
	ept->eptp = ept->root.value | EPTP_WALK_4 |
		    (capabilities->write_back_tables ? EPTP_WRITE_BACK : 0);
	return ERR_OK;
}

void ept_invalidated(struct ept *ept)
{
	while (ept->retired.value) {
		hpa_t table = ept->retired;

		ept->retired = hpa(*(u64 *)phys_to_virt(table));
		frames_free(table, 1);
		ept->table_pages--;
	}
	ept->changed = false;
}

void ept_destroy(struct ept *ept)
{
	if (!ept->root.value)
		return;
	retire(ept, ept->root.value | EPT_RWX, EPT_LEVELS + 1);
	ept_invalidated(ept);
	ept->root = hpa(0);
	ept->eptp = 0;
}

static bool rights_valid(const struct ept *ept, enum ept_rights rights)
{
	if (rights & EPT_READ)
		return rights <= EPT_RWX;
	return rights == EPT_EXECUTE && ept->capabilities.execute_only;
}

static bool type_valid(enum memory_type type)
{
	return type == MEMORY_UC || type == MEMORY_WC || type == MEMORY_WT || type == MEMORY_WP ||
	       type == MEMORY_WB;
}

enum error ept_map(struct ept *ept, gpa_t from, hpa_t to, u64 size, enum ept_rights rights,
	enum memory_type type)
{
	struct change change = { .ept = ept, .from = from.value, .end = from.value + size };
	enum error error = check_range(from.value, size);

	if (error != ERR_OK)
		return error;
	if (!IS_ALIGNED(to.value, PAGE_SIZE) || !rights_valid(ept, rights) || !type_valid(type))
		return ERR_INVALID;
	if (to.value > EPT_ADDRESS_MASK || size > EPT_ADDRESS_MASK + PAGE_SIZE - to.value)
		return ERR_RANGE;
	change.leaf = to.value | (u64)type << EPT_TYPE_SHIFT | rights;
	return apply(&change, phys_to_virt(ept->root), EPT_LEVELS);
}

enum error ept_unmap(struct ept *ept, gpa_t from, u64 size)
{
	struct change change = { .ept = ept, .from = from.value, .end = from.value + size };
	enum error error = check_range(from.value, size);

	return error != ERR_OK ? error : apply(&change, phys_to_virt(ept->root), EPT_LEVELS);
}

bool ept_lookup(const struct ept *ept, gpa_t address, hpa_t *to, u64 *page_size,
	enum ept_rights *rights, enum memory_type *type)
{
	const u64 *table = phys_to_virt(ept->root);

	if (address.value >= EPT_ADDRESS_LIMIT)
		return false;
	for (u32 level = EPT_LEVELS;; level--) {
		u64 entry = load(&table[level_index(address.value, level)]);
		u64 size = level_size(level);

		if (!(entry & EPT_RIGHTS))
			return false;
		if (!is_leaf(entry, level)) {
			table = table_at(entry);
			continue;
		}
		*to = hpa((entry & EPT_ADDRESS_MASK & ~(size - 1)) + (address.value & (size - 1)));
		*page_size = size;
		*rights = entry & EPT_RIGHTS;
		*type = (entry & EPT_TYPE_MASK) >> EPT_TYPE_SHIFT;
		return true;
	}
}
