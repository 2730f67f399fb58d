// SPDX-License-Identifier: BSD-2-Clause
/*
 * Page tables of payload kernels (contract: paging.h). start.asm fills the three levels first;
 * paging_reset(), called before each case, does it again.
 */
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/string.h"

#define POOL_PAGES 32
#define UPPER	   (PTE_P | PTE_W | PTE_U)

u64 paging_pml4[512] __aligned(4096);
u64 paging_pdpt[512] __aligned(4096);
u64 paging_pd[2048] __aligned(4096);
u8 user_arena[USER_ARENA_SIZE] __aligned(USER_ARENA_SIZE);
static u64 pool[POOL_PAGES][512] __aligned(4096);
static u32 pool_used;

void paging_reset(void)
{
	/* The tables are in use: each entry goes straight to its final value. */
	for (u64 i = 0; i < ARRAY_SIZE(paging_pd); i++)
		paging_pd[i] = i * SIZE_2M | PTE_P | PTE_W | PTE_PS |
			       (i == (u64)user_arena / SIZE_2M ? PTE_U : 0);
	for (u64 i = 0; i < 512; i++) {
		paging_pdpt[i] = i < 4 ? (u64)&paging_pd[i * 512] | UPPER : 0;
		paging_pml4[i] = i < 1 ? (u64)paging_pdpt | UPPER : 0;
	}
	pool_used = 0;
	write_cr3((u64)paging_pml4);
}

static u64 *new_table(void)
{
	if (pool_used == POOL_PAGES) {
		case_fail("page-table pool is empty");
		case_abort();
	}
	memset(pool[pool_used], 0, PAGE_SIZE);
	return pool[pool_used++];
}

u64 *paging_entry(u64 linear)
{
	u64 *table = paging_pml4;

	for (u32 shift = 39; shift > 12; shift -= 9) {
		u64 *entry = &table[linear >> shift & 511];

		if (!(*entry & PTE_P)) {
			*entry = (u64)new_table() | UPPER;
		} else if (*entry & PTE_PS) {
			u64 *split = new_table();
			u64 step = 1ull << (shift - 9);
			u64 bits = *entry & ~PTE_ADDRESS & ~(step == PAGE_SIZE ? PTE_PS : 0);

			for (u64 i = 0; i < 512; i++)
				split[i] = ((*entry & PTE_ADDRESS) + i * step) | bits;
			*entry = (u64)split | UPPER;
		}
		table = (u64 *)(*entry & PTE_ADDRESS);
	}
	return &table[linear >> 12 & 511];
}

void paging_map(u64 linear, u64 physical, u64 bits)
{
	*paging_entry(linear) = physical | bits;
	invlpg((void *)linear);
}
