/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk of a guest's own page tables in software (SDM 3A 4.3 to 4.6): for the emulation of
 * single accesses and for shadow paging. A pure function of the state that it is given and of guest
 * memory.
 */
#ifndef MMU_WALK_H
#define MMU_WALK_H

#include "hv/lib/types.h"
#include "hv/vm/guest_memory.h"

struct walk_state {
	u64 cr0, cr3, cr4, efer, rflags;
	u64 pdptes[4]; /* PAE paging: the registers that MOV to CR3 loaded */
	u32 pkru;      /* only looked at where CR4.PKE is set */
	u8 cpl;
	u8 maxphyaddr; /* 32 to 52 */
	bool page_1g;  /* CPUID.80000001:EDX.Page1GB */
};

/* What the access is; a read of data by the instruction itself: 0. */
enum walk_access {
	WALK_WRITE = BIT(0),
	WALK_FETCH = BIT(1),
	WALK_IMPLICIT = BIT(2), /* of a system structure: supervisor at any CPL (SDM 3A 4.6) */
	WALK_PROBE = BIT(3),	/* leaves accessed and dirty flags alone */
};

/* Error code of a page fault: SDM 3A 4.7. */
enum page_fault_error {
	PF_PRESENT = BIT(0),
	PF_WRITE = BIT(1),
	PF_USER = BIT(2),
	PF_RESERVED = BIT(3),
	PF_FETCH = BIT(4),
	PF_KEY = BIT(5),
};

struct walk_translation {
	gpa_t address;
	u64 page_size;			 /* of the guest's page; 4 GiB with paging off */
	bool user, writable, no_execute; /* what all entries together say */
	bool dirty;
	u8 key;		/* protection key of a 4- or 5-level walk */
	u32 error_code; /* of WALK_FAULT; its address (CR2) is the one that was asked for */
};

enum walk_result {
	WALK_OK,
	WALK_FAULT, /* only error_code is valid */
	WALK_RETRY, /* another processor kept changing the entries: run the instruction again */
};

/*
 * Translates one address, which is canonical in 64-bit mode and below 4 GiB otherwise. A permitted
 * access sets the accessed flags on its path and, if it writes, the dirty flag, each by an atomic
 * update; a faulting one changes nothing. A table outside RAM counts as one full of reserved bits:
 * no bus answers there.
 */
enum walk_result walk_page_tables(const struct walk_state *state, const struct guest_memory *memory,
	gva_t address, u32 access, struct walk_translation *translation);

/* The entries that a walk went by, to see later whether it would go the same way again. */
struct walk_path {
	u32 count; /* 0: not recorded (paging off, 32-bit or PAE) */
	const u64 *slots[5];
	u64 values[5];
};

/* The same, and the path of a successful walk. It stays valid as long as the guest's memory. */
enum walk_result walk_page_tables_path(const struct walk_state *state,
	const struct guest_memory *memory, gva_t address, u32 access,
	struct walk_translation *translation, struct walk_path *path);

/*
 * True if all entries read now as they did then: a walk of the same kind of access from the same
 * CR3 and mode would end the same and set no flag.
 */
static inline bool walk_path_holds(const struct walk_path *path)
{
	for (u32 i = 0; i < path->count; i++) {
		if (__atomic_load_n(path->slots[i], __ATOMIC_RELAXED) != path->values[i])
			return false;
	}
	return path->count != 0;
}

#endif
