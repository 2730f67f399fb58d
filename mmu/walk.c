// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest page walker: see walk.h. The guest's other processors may change the tables at any
 * moment, so each entry is read once, and accessed and dirty flags go in by compare-and-exchange
 * with the value that was judged; when that fails the walk begins anew.
 */
#include "mmu/walk.h"
#include "hv/cpu/registers.h"

#define CPL_USER 3

/* Entries: SDM 3A tables 4-4 to 4-20. */
#define ENTRY_PRESENT	 BIT(0)
#define ENTRY_WRITABLE	 BIT(1)
#define ENTRY_USER	 BIT(2)
#define ENTRY_ACCESSED	 BIT(5)
#define ENTRY_DIRTY	 BIT(6)
#define ENTRY_PAGE_SIZE	 BIT(7)
#define ENTRY_NO_EXECUTE BIT(63)
#define ENTRY_KEY(entry) ((entry) >> 59 & 15)
#define BITS(high, low)	 ((BIT((high) - (low) + 1) - 1) << (low)) /* below 64 of them */
#define ADDRESS_MASK	 BITS(51, 12)
#define ADDRESS_MASK_32	 BITS(31, 12)
#define PSE36_WIDTH	 40

/* PKRU: access and write disable of each key. */
#define PKRU_ACCESS_DISABLE(pkru, key) ((pkru) >> 2 * (key)&1)
#define PKRU_WRITE_DISABLE(pkru, key)  ((pkru) >> (2 * (key) + 1) & 1)

#define LEVELS_MAX  5
#define RETRIES_MAX 16

/* How the mode lays out its tables (SDM 3A table 4-1). */
struct layout {
	u8 levels;     /* that are in memory */
	u8 index_bits; /* of an address, each level */
	bool pae;      /* the top entry is one of four registers */
};

static const struct layout layout_32 = { 2, 10, false };
static const struct layout layout_pae = { 2, 9, true };
static const struct layout layout_4 = { 4, 9, false };
static const struct layout layout_5 = { 5, 9, false };

struct walk {
	const struct walk_state *state;
	const struct guest_memory *memory;
	const struct layout *layout;
	u64 address;
	u32 access;
	u32 level; /* 1: the page table; where the walk stands or ended */
	void *slots[LEVELS_MAX + 1];
	u64 entries[LEVELS_MAX + 1]; /* by level */
	u64 rights;		     /* WRITABLE and USER: of all entries */
	u64 no_execute;		     /* of any */
};

static const struct layout *layout_of(const struct walk_state *state)
{
	if (!(state->cr4 & CR4_PAE))
		return &layout_32;
	if (!(state->efer & EFER_LMA))
		return &layout_pae;
	return state->cr4 & CR4_LA57 ? &layout_5 : &layout_4;
}

static bool is_32(const struct walk *walk)
{
	return walk->layout == &layout_32;
}

static u32 level_shift(const struct walk *walk, u32 level)
{
	return PAGE_SHIFT + walk->layout->index_bits * (level - 1);
}

/* A large page? Only PDEs and PDPTEs can be; elsewhere bit 7 is PAT or reserved. */
static bool is_leaf(const struct walk *walk, u64 entry)
{
	if (walk->level == 1)
		return true;
	if (!(entry & ENTRY_PAGE_SIZE))
		return false;
	if (is_32(walk))
		return walk->state->cr4 & CR4_PSE;
	return walk->level == 2 || (walk->level == 3 && walk->state->page_1g);
}

/* Reserved bits of an entry of 32-bit paging: SDM 3A table 4-4; PSE-36 is always there. */
static u64 reserved_32(const struct walk *walk, u64 entry)
{
	u32 width = MIN(walk->state->maxphyaddr, PSE36_WIDTH);

	if (walk->level == 1 || !is_leaf(walk, entry))
		return 0;
	return BITS(21, 21) | (BITS(20, 13) & ~(BIT(width - 32 + 13) - 1));
}

/* SDM 3A tables 4-9 to 4-11 (PAE), 4-15 to 4-20. */
static u64 reserved_64(const struct walk *walk, u64 entry)
{
	u64 reserved = ADDRESS_MASK & ~(BIT(walk->state->maxphyaddr) - 1);

	if (!(walk->state->efer & EFER_NXE))
		reserved |= ENTRY_NO_EXECUTE;
	if (walk->layout->pae)
		reserved |= BITS(62, 52);
	if (walk->level == 1)
		return reserved;
	if (is_leaf(walk, entry))
		return reserved | BITS(level_shift(walk, walk->level) - 1, 13);
	return walk->level >= 3 ? reserved | ENTRY_PAGE_SIZE : reserved;
}

/* Reads the entry at the current level. False: not RAM. */
static bool read_entry(struct walk *walk, u64 table)
{
	u32 size = is_32(walk) ? 4 : 8;
	u32 mask = BIT(walk->layout->index_bits) - 1;
	u64 index = walk->address >> level_shift(walk, walk->level) & mask;
	void *slot = guest_pointer(walk->memory, gpa(table + index * size), size);

	if (!slot)
		return false;
	walk->slots[walk->level] = slot;
	walk->entries[walk->level] = size == 4 ? __atomic_load_n((u32 *)slot, __ATOMIC_RELAXED)
					       : __atomic_load_n((u64 *)slot, __ATOMIC_RELAXED);
	return true;
}

/* Down to the leaf. False: a fault, with its PF_PRESENT and PF_RESERVED in *error. */
static bool descend(struct walk *walk, u32 *error)
{
	u64 table;

	*error = 0;
	walk->rights = ENTRY_WRITABLE | ENTRY_USER;
	walk->no_execute = 0;
	walk->level = walk->layout->levels;
	if (walk->layout->pae) {
		u64 pdpte = walk->state->pdptes[walk->address >> 30 & 3];

		if (!(pdpte & ENTRY_PRESENT))
			return false;
		table = pdpte & ADDRESS_MASK;
	} else {
		table = walk->state->cr3 & (is_32(walk) ? ADDRESS_MASK_32 : ADDRESS_MASK);
	}
	for (;; walk->level--) {
		u64 entry;

		*error = PF_PRESENT | PF_RESERVED;
		if (!read_entry(walk, table))
			return false;
		entry = walk->entries[walk->level];
		if (!(entry & ENTRY_PRESENT)) {
			*error = 0;
			return false;
		}
		if (entry & (is_32(walk) ? reserved_32(walk, entry) : reserved_64(walk, entry)))
			return false;
		walk->rights &= entry;
		walk->no_execute |= is_32(walk) ? 0 : entry & ENTRY_NO_EXECUTE;
		if (is_leaf(walk, entry))
			return true;
		table = entry & (is_32(walk) ? ADDRESS_MASK_32 : ADDRESS_MASK);
	}
}

static bool user_access(const struct walk *walk)
{
	return walk->state->cpl == CPL_USER && !(walk->access & WALK_IMPLICIT);
}

/* SDM 3A 4.6.2; only 4- and 5-level paging has keys. */
static bool key_forbids(const struct walk *walk)
{
	u32 key = ENTRY_KEY(walk->entries[walk->level]), pkru = walk->state->pkru;

	if (!(walk->state->cr4 & CR4_PKE) || !(walk->state->efer & EFER_LMA) ||
		!(walk->rights & ENTRY_USER) || (walk->access & WALK_FETCH))
		return false;
	if (PKRU_ACCESS_DISABLE(pkru, key))
		return true;
	return (walk->access & WALK_WRITE) && PKRU_WRITE_DISABLE(pkru, key) &&
	       (user_access(walk) || (walk->state->cr0 & CR0_WP));
}

/* SDM 3A 4.6.1. */
static bool rights_forbid(const struct walk *walk)
{
	const struct walk_state *state = walk->state;
	bool user_page = walk->rights & ENTRY_USER;
	bool writable = walk->rights & ENTRY_WRITABLE;
	bool write = walk->access & WALK_WRITE, fetch = walk->access & WALK_FETCH;

	if (fetch && walk->no_execute)
		return true;
	if (user_access(walk))
		return !user_page || (write && !writable);
	if (fetch)
		return user_page && (state->cr4 & CR4_SMEP);
	if (user_page && (state->cr4 & CR4_SMAP) &&
		((walk->access & WALK_IMPLICIT) || !(state->rflags & RFLAGS_AC)))
		return true;
	return write && !writable && (state->cr0 & CR0_WP);
}

/* SDM 3A 4.7: the bits that say what the access was. */
static u32 access_error(const struct walk *walk)
{
	const struct walk_state *state = walk->state;
	bool fetch_reported =
		(state->cr4 & CR4_SMEP) || ((state->cr4 & CR4_PAE) && (state->efer & EFER_NXE));

	return (walk->access & WALK_WRITE ? PF_WRITE : 0) | (user_access(walk) ? PF_USER : 0) |
	       ((walk->access & WALK_FETCH) && fetch_reported ? PF_FETCH : 0);
}

static bool set_flags(struct walk *walk, u32 level, u64 flags)
{
	u64 old = walk->entries[level];

	if ((old & flags) == flags)
		return true;
	if (is_32(walk)) {
		u32 expected = old;

		return __atomic_compare_exchange_n((u32 *)walk->slots[level], &expected,
			(u32)(old | flags), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	}
	return __atomic_compare_exchange_n((u64 *)walk->slots[level], &old, old | flags, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* SDM 3A 4.8. False: an entry changed since it was read. */
static bool set_accessed_and_dirty(struct walk *walk)
{
	u64 leaf = ENTRY_ACCESSED | (walk->access & WALK_WRITE ? ENTRY_DIRTY : 0);

	for (u32 level = walk->layout->levels; level > walk->level; level--) {
		if (!set_flags(walk, level, ENTRY_ACCESSED))
			return false;
	}
	return set_flags(walk, walk->level, leaf);
}

static u64 leaf_address(const struct walk *walk, u64 entry, u64 size)
{
	if (!is_32(walk))
		return entry & ADDRESS_MASK & ~(size - 1);
	if (walk->level == 1)
		return entry & ADDRESS_MASK_32;
	return (entry & BITS(31, 22)) | (entry >> 13 & 0xff) << 32;
}

static void fill_translation(const struct walk *walk, struct walk_translation *translation)
{
	u64 leaf = walk->entries[walk->level];
	u64 size = BIT(level_shift(walk, walk->level));

	*translation = (struct walk_translation){
		.address = gpa(leaf_address(walk, leaf, size) | (walk->address & (size - 1))),
		.page_size = size,
		.user = walk->rights & ENTRY_USER,
		.writable = walk->rights & ENTRY_WRITABLE,
		.no_execute = walk->no_execute,
		.dirty = (leaf & ENTRY_DIRTY) ||
			 (walk->access & (WALK_WRITE | WALK_PROBE)) == WALK_WRITE,
		.key = walk->state->efer & EFER_LMA ? ENTRY_KEY(leaf) : 0,
	};
}

static enum walk_result walk_once(struct walk *walk, struct walk_translation *translation)
{
	u32 error;
	bool present = descend(walk, &error);

	if (present && (rights_forbid(walk) || key_forbids(walk))) {
		present = false;
		error = PF_PRESENT | (key_forbids(walk) ? PF_KEY : 0);
	}
	if (!present) {
		translation->error_code = error | access_error(walk);
		return WALK_FAULT;
	}
	if (!(walk->access & WALK_PROBE) && !set_accessed_and_dirty(walk))
		return WALK_RETRY;
	fill_translation(walk, translation);
	return WALK_OK;
}

static enum walk_result walk_retrying(struct walk *walk, const struct walk_state *state,
	const struct guest_memory *memory, gva_t address, u32 access,
	struct walk_translation *translation)
{
	walk->state = state;
	walk->memory = memory;
	walk->layout = layout_of(state);
	walk->address = address.value;
	walk->access = access;
	for (u32 i = 0; i < RETRIES_MAX; i++) {
		enum walk_result result = walk_once(walk, translation);

		if (result != WALK_RETRY)
			return result;
	}
	return WALK_RETRY;
}

/* Paging off: every address is its own translation. */
static enum walk_result no_paging(gva_t address, struct walk_translation *translation)
{
	*translation = (struct walk_translation){ .address = gpa(address.value),
		.page_size = SIZE_4G,
		.user = true,
		.writable = true,
		.dirty = true };
	return WALK_OK;
}

enum walk_result walk_page_tables(const struct walk_state *state, const struct guest_memory *memory,
	gva_t address, u32 access, struct walk_translation *translation)
{
	struct walk walk;

	if (!(state->cr0 & CR0_PG))
		return no_paging(address, translation);
	return walk_retrying(&walk, state, memory, address, access, translation);
}

enum walk_result walk_page_tables_path(const struct walk_state *state,
	const struct guest_memory *memory, gva_t address, u32 access,
	struct walk_translation *translation, struct walk_path *path)
{
	enum walk_result result;
	struct walk walk;

	path->count = 0;
	if (!(state->cr0 & CR0_PG))
		return no_paging(address, translation);
	result = walk_retrying(&walk, state, memory, address, access, translation);
	if (result != WALK_OK || is_32(&walk) || walk.layout->pae)
		return result;
	for (u32 level = walk.layout->levels; level >= walk.level; level--) {
		u64 flags = access & WALK_PROBE ? 0 : ENTRY_ACCESSED;

		if (level == walk.level && (access & (WALK_PROBE | WALK_WRITE)) == WALK_WRITE)
			flags |= ENTRY_DIRTY;
		path->slots[path->count] = walk.slots[level];
		path->values[path->count++] = walk.entries[level] | flags;
	}
	return result;
}
