/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoded instructions of a vCPU, so that a device register that is read over and over costs no
 * walk and no decoding. Nothing is trusted that memory does not confirm: an entry is used only if
 * every paging-structure entry on the way to the instruction and its bytes read now as they did
 * then, and the registers that rule fetches are the same. So there is nothing to invalidate. Owner:
 * fetch.c.
 */
#ifndef VMX_FETCH_CACHE_H
#define VMX_FETCH_CACHE_H

#include "mmu/walk.h"
#include "vmx/decode.h"

#define FETCH_CACHE_ENTRIES 16

struct fetch_cache_entry {
	u64 rip, cr3, cr4, efer, cpl; /* 64-bit mode only */
	struct walk_path path;	      /* count 0: the entry is empty */
	const u8 *host;		      /* INSN_LENGTH_MAX bytes of guest memory */
	u8 bytes[INSN_LENGTH_MAX];
	struct insn insn;
};

struct fetch_cache {
	struct fetch_cache_entry entries[FETCH_CACHE_ENTRIES]; /* by a hash of RIP */
};

#endif
