/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page tables of payload kernels: identity map of the first 4 GiB, supervisor, writable,
 * executable, except the user arena, which ring 3 may use. Cases map pages of their own from it and
 * get everything back as it was before the next case.
 */
#ifndef TESTS_GUEST_LIB_PAGING_H
#define TESTS_GUEST_LIB_PAGING_H

#include "hv/lib/types.h"

#define PTE_P  BIT(0)
#define PTE_W  BIT(1)
#define PTE_U  BIT(2)
#define PTE_A  BIT(5)
#define PTE_D  BIT(6)
#define PTE_PS BIT(7)
#define PTE_G  BIT(8)
#define PTE_NX BIT(63)

#define PTE_ADDRESS 0x000ffffffffff000ull

#define PF_P	BIT(0)
#define PF_W	BIT(1)
#define PF_U	BIT(2)
#define PF_RSVD BIT(3)
#define PF_I	BIT(4)

#define USER_ARENA_SIZE 0x200000ull
extern u8 user_arena[USER_ARENA_SIZE]; /* code from its start, stack from its end */

extern u64 paging_pml4[512];

/* The identity map as at start; loads CR3. */
void paging_reset(void);
/*
 * The 4 KiB entry that maps this linear address, which may be any canonical one: tables are made
 * and large pages split as needed, upper levels with all rights. The caller does INVLPG after a
 * change. Ends the case if the pool of tables is used up.
 */
u64 *paging_entry(u64 linear);
/* Maps one page: linear -> physical with these bits (PTE_P is not implied), and INVLPG. */
void paging_map(u64 linear, u64 physical, u64 bits);

#endif
