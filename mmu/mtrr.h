/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory types of host-physical ranges as the firmware set them in the MTRRs (SDM 3A 12.11). EPT
 * does not look at them, so whoever maps memory for a guest does.
 */
#ifndef MMU_MTRR_H
#define MMU_MTRR_H

#include "hv/lib/types.h"
#include "mmu/ept.h"

#define MTRR_FIXED	  11
#define MTRR_VARIABLE_MAX 32

/* The registers. */
struct mtrr_state {
	u64 capabilities; /* IA32_MTRRCAP; all zero with default_type: a CPU without MTRRs */
	u64 default_type; /* IA32_MTRR_DEF_TYPE */
	u64 fixed[MTRR_FIXED];
	struct {
		u64 base, mask;
	} variable[MTRR_VARIABLE_MAX];
	u32 variable_count;
	u8 maxphyaddr;
};

/* Reads this CPU's registers; all CPUs must agree (SDM 3A 12.11.8), so the boot CPU's do. */
void mtrr_read(struct mtrr_state *state);

/*
 * The type at an address, and how far it certainly reaches: *run bytes, a multiple of PAGE_SIZE for
 * a page-aligned address. The next run may have the same type. Where registers contradict each
 * other in a way that the manual leaves undefined, it is UC. address < 2^maxphyaddr.
 */
enum memory_type mtrr_run(const struct mtrr_state *state, hpa_t address, u64 *run);

/* The type of the first byte; *uniform: all the others (size > 0) have the same. */
enum memory_type mtrr_type(const struct mtrr_state *state, hpa_t address, u64 size, bool *uniform);

/*
 * ept_map() with the types that the MTRRs give: a page of the EPT never covers two types (SDM
 * 3C 29.3.7.2). Same errors.
 */
enum error __must_check ept_map_memory(struct ept *ept, const struct mtrr_state *state, gpa_t from,
	hpa_t to, u64 size, enum ept_rights rights);

#endif
