/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The per-CPU block. GS base points at it while the hypervisor runs (HOST_GS_BASE after an exit).
 */
#ifndef HV_CPU_CPU_H
#define HV_CPU_CPU_H

#include "hv/lib/types.h"
#include "tss/tss.h"

struct vcpu;

#define CPU_STACK_SIZE (4 * PAGE_SIZE)

/* Selectors: the order is what SYSCALL/SYSRET want for host tasks (SDM 2B SYSRET). */
#define SEL_HOST_CODE 0x08
#define SEL_HOST_DATA 0x10
#define SEL_USER_DATA (0x18 | 3)
#define SEL_USER_CODE (0x20 | 3)
#define SEL_TSS	      0x28 /* 16 bytes */

/* Interrupt stacks of the TSS (IST index): each has a guard page below. */
enum { IST_NMI = 1, IST_DOUBLE_FAULT = 2, IST_MACHINE_CHECK = 3, IST_FAULT = 4 };

/*
 * What lies where an interrupt stack begins: NMI code finds its CPU by it and needs not trust GS.
 */
struct ist_top {
	struct cpu *cpu;
	u64 reserved; /* the processor aligns the stack to 16 bytes (SDM 3A 6.14.2) */
};

struct cpu {
	struct cpu *self; /* %gs:0 */
	u32 index;
	u32 apic_id;
	u8 *stack_top;
	u64 *gdt;			   /* alone in 64 KiB, zero beyond the table */
	struct tss_area *tss;		   /* alone on its pages */
	struct vcpu *current;		   /* the vCPU whose VMCS is current here */
	u32 nmi_count;			   /* NMIs taken in root mode, to be forwarded */
	void (*nmi_hook)(struct cpu *cpu); /* called for each, on the NMI stack; NULL: none */
	hpa_t vmxon_region;
};

static inline struct cpu *this_cpu(void)
{
	struct cpu *cpu;
	__asm__("mov %%gs:0, %0" : "=r"(cpu));
	return cpu;
}

#endif
