// SPDX-License-Identifier: BSD-2-Clause
/*
 * GDT and TSS of payload kernels. segments_reset() is called before each case by the case runner
 * and once at start; cases edit the tables as they like in between.
 */
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"
#include "tests/guest/lib/trap.h"

static const u64 gdt_initial[GDT_ENTRIES] = {
	[SEL_CODE64 / 8] = 0x00af9b000000ffff,
	[SEL_DATA / 8] = 0x00cf93000000ffff,
	[SEL_CODE32 / 8] = 0x00cf9b000000ffff,
	[SEL_USER_CODE32 / 8] = 0x00cffb000000ffff,
	[SEL_USER_DATA / 8] = 0x00cff3000000ffff,
	[SEL_USER_CODE64 / 8] = 0x00affb000000ffff,
	[SEL_CODE16 / 8] = 0x00009b000000ffff,
	[SEL_DATA16 / 8] = 0x000093000000ffff,
};

u64 gdt[GDT_ENTRIES] = {
	[SEL_CODE64 / 8] = 0x00af9b000000ffff, /* start.asm needs these two */
	[SEL_DATA / 8] = 0x00cf93000000ffff,
};
const struct descriptor_pointer gdt_pointer = { sizeof(gdt) - 1, (u64)gdt };
struct tss tss;

void segments_load_tss(u32 limit)
{
	u64 base = (u64)&tss;

	gdt[SEL_TSS / 8] = (limit & 0xffff) | (base & 0xffffff) << 16 | 0x89ull << 40 |
			   (u64)(limit >> 16 & 0xf) << 48 | (base >> 24 & 0xff) << 56;
	gdt[SEL_TSS / 8 + 1] = base >> 32;
	__asm__ volatile("ltr %w0" ::"r"(SEL_TSS) : "memory");
}

void segments_reset(void)
{
	memcpy(gdt, gdt_initial, sizeof(gdt));
	memset(&tss, 0, TSS_FIXED_SIZE);
	tss.io_bitmap_base = sizeof(tss);
	tss.rsp[0] = trap_stack_top(0);
	for (u32 ist = 1; ist <= 3; ist++)
		tss.ist[ist - 1] = trap_stack_top(ist);
	__asm__ volatile("lgdt %0\n\t"
			 "mov %w1, %%ss\n\t"
			 "mov %w1, %%ds\n\t"
			 "mov %w1, %%es\n\t"
			 "push %q2\n\t"
			 "lea 1f(%%rip), %%rax\n\t"
			 "push %%rax\n\t"
			 "lretq\n"
			 "1:" ::"m"(gdt_pointer),
			 "r"(SEL_DATA), "i"(SEL_CODE64)
			 : "rax", "memory");
	segments_load_tss(TSS_FIXED_SIZE - 1);
}
