// SPDX-License-Identifier: BSD-2-Clause
/*
 * The GDT and TSS of a CPU. boot.c calls this twice on the boot CPU: at once, on static storage, so
 * that an exception during start-up is reported; and for good, when memory can be allocated.
 */
#include "hv/cpu/gdt.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/msr_index.h"
#include "hv/lib/string.h"

/*
 * SDM 3A 3.4.5 and 5.2.1: present, accessed (so that no load writes the table), 4 GiB, 64-bit code.
 */
#define CODE_64	      0x00af9b000000fffful
#define DATA_64	      0x00cf93000000fffful
#define USER_CODE_64  0x00affb000000fffful
#define USER_DATA_64  0x00cff3000000fffful
#define TSS_AVAILABLE 0x89ul

void load_segments(u64 code, u64 data); /* traps.asm */

void gdt_set_ist(struct cpu *cpu, u32 ist, u8 *top)
{
	struct ist_top *base = (struct ist_top *)top - 1;

	base->cpu = cpu;
	cpu->tss->tss.ist[ist - 1] = (u64)base;
}

static void fill_tss(struct cpu *cpu)
{
	struct tss_area *area = cpu->tss;

	area->tss.rsp[0] = (u64)cpu->stack_top;
	area->tss.io_bitmap_base = TSS_NO_IO_BITMAP;
	memset(area->io_bitmap, 0xff, sizeof(area->io_bitmap));
	memset(area->terminator, 0xff, sizeof(area->terminator));
}

static void fill_gdt(u64 *gdt, u64 tss)
{
	gdt[SEL_HOST_CODE / 8] = CODE_64;
	gdt[SEL_HOST_DATA / 8] = DATA_64;
	gdt[SEL_USER_DATA / 8] = USER_DATA_64;
	gdt[SEL_USER_CODE / 8] = USER_CODE_64;
	/* A 16-byte descriptor: SDM 3A 8.2.3. */
	gdt[SEL_TSS / 8] = (TSS_LIMIT & 0xffff) | (tss & 0xffffff) << 16 | TSS_AVAILABLE << 40 |
			   (u64)(TSS_LIMIT >> 16) << 48 | (tss >> 24 & 0xff) << 56;
	gdt[SEL_TSS / 8 + 1] = tss >> 32;
}

void gdt_load(struct cpu *cpu, u16 limit)
{
	struct insn_table table = { .limit = limit, .base = (u64)cpu->gdt };

	fill_tss(cpu);
	fill_gdt(cpu->gdt, (u64)cpu->tss);
	insn_lgdt(&table);
	load_segments(SEL_HOST_CODE, SEL_HOST_DATA);
	insn_ltr(SEL_TSS);
	cpu->self = cpu;
	/* After the segments: loading GS took its base from the descriptor. */
	insn_wrmsr(MSR_GS_BASE, (u64)cpu);
}
