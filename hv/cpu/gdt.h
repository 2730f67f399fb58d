/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptor table and the task state of a CPU. */
#ifndef HV_CPU_GDT_H
#define HV_CPU_GDT_H

#include "hv/cpu/cpu.h"

#define GDT_ENTRIES (SEL_TSS / 8 + 2)
/*
 * After an exit the limit is 0xffff (SDM 3C 28.5.2) and stays so: the table owns all of what that
 * shows, zeros beyond its end, and a selector past it is #GP.
 */
#define GDT_LIMIT   0xffff

/*
 * Fills cpu->gdt and cpu->tss (no I/O bitmap, interrupt stacks as set_ist() left them) and loads
 * GDTR, the segment registers, TR and GS base: this_cpu() works from here on. Interrupts off.
 */
void gdt_load(struct cpu *cpu, u16 limit);

/* Makes [.., top) the interrupt stack with that IST index; top is 16-byte aligned. */
void gdt_set_ist(struct cpu *cpu, u32 ist, u8 *top);

#endif
