/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A processor for hosted tests that obeys the architecture where the hypervisor relies on it:
 * reserved bits fault, LTR refuses a busy descriptor, a VM exit leaves TR limit 0x67 and GDTR/IDTR
 * limits 0xFFFF, VMREAD without a current VMCS fails. One `fake_cpu` is current; a test of several
 * CPUs points it at another element of fake_cpus[].
 *
 * A fault (#GP, #UD, ...) fails the test, unless the test asked for it:
 *     assert_int_equal(FAKE_FAULT(insn_ltr(SEL_TSS)), 13);   the vector, -1: none
 * or set fake_cpu->count_faults: then the instruction does nothing and faults[vector] grows.
 */
#ifndef FAKE_CPU_H
#define FAKE_CPU_H

#include <setjmp.h>

#include "hv/cpu/insn.h"

#define FAKE_CPUS	   4
#define FAKE_MSRS	   256
#define FAKE_CPUID_ROWS	   96
#define FAKE_VMCS_COUNT	   4
#define FAKE_VMCS_SLOTS	   1024
#define FAKE_INVALIDATIONS 64

struct cpu;
struct fake_cpu;

enum fake_msr_rule {
	FAKE_MSR_ANY,	     /* every value is legal */
	FAKE_MSR_MASK,	     /* bits outside `valid` are #GP */
	FAKE_MSR_CANONICAL,  /* a linear address of the width CR4.LA57/CPUID allow: 48 bits */
	FAKE_MSR_PAT,	     /* eight memory types (SDM 3A 12.12.2) */
	FAKE_MSR_READ_ONLY,  /* each write is #GP */
	FAKE_MSR_WRITE_ONLY, /* each read is #GP; `valid` as for FAKE_MSR_MASK */
};

struct fake_msr {
	u32 index;
	bool exists;
	enum fake_msr_rule rule;
	u64 valid;
	u64 value;
	u32 reads, writes;
};

struct fake_cpuid_row {
	u32 leaf, subleaf;
	bool any_subleaf;
	struct cpuid_regs regs;
};

/* A segment register with its hidden part. */
struct fake_segment {
	u16 selector;
	u64 base;
	u32 limit;
	bool unusable;
};

struct fake_table {
	u64 base;
	u32 limit;
};

struct fake_vmcs {
	u64 address; /* 0: this slot is free */
	bool launched;
	u64 fields[FAKE_VMCS_SLOTS];
};

struct fake_invalidation {
	bool vpid; /* INVVPID, else INVEPT */
	u64 type;
	struct insn_inv_descriptor descriptor;
};

struct fake_cpu {
	struct cpu *block; /* what this_cpu() returns */

	struct fake_msr msrs[FAKE_MSRS];
	u32 msr_count;
	struct fake_cpuid_row cpuid[FAKE_CPUID_ROWS];
	u32 cpuid_count;
	u64 tsc;
	u64 tsc_step; /* added by each read */

	u64 cr0, cr2, cr3, cr4, cr8;
	u64 cr4_valid; /* bits this processor has */
	u64 dr[8];
	u64 xcr0, xcr0_valid;
	u32 pkru;
	struct fake_table gdtr, idtr;
	struct fake_segment tr, ldtr;
	bool gdt_read_only; /* LTR's write of the busy bit then is #PF */
	bool interrupts_on;

	bool vmx_on;
	u64 vmxon_region;
	struct fake_vmcs vmcs[FAKE_VMCS_COUNT];
	struct fake_vmcs *current_vmcs;
	bool field_missing[FAKE_VMCS_SLOTS]; /* fields this processor lacks */
	bool in_guest;

	/* Hooks; NULL: reads are all ones, writes are kept in last_out. */
	u32 (*port_read)(struct fake_cpu *cpu, u16 port, u32 size);
	void (*port_write)(struct fake_cpu *cpu, u16 port, u32 size, u32 value);
	void (*halted)(struct fake_cpu *cpu); /* HLT; NULL: the test fails */
	void *context;			      /* the test's own */
	struct {
		u16 port;
		u32 size, value;
	} last_out;

	/* What was executed since the reset. */
	u32 ltr_count, lldt_count, lgdt_count, lidt_count, vmread_count, vmwrite_count, wrmsr_count,
		rdmsr_count, cpuid_executed, wbinvd_count, invlpg_count, xsetbv_count;
	u64 last_invlpg;
	struct fake_invalidation invalidations[FAKE_INVALIDATIONS]; /* the first so many */
	u32 invalidation_count;

	bool count_faults;
	u32 faults[32];
	jmp_buf *fault_jump;
	int fault_vector;
	u32 fault_error;
};

extern struct fake_cpu fake_cpus[FAKE_CPUS];
extern struct fake_cpu *fake_cpu;

/*
 * All CPUs as after power-on and into 64-bit mode: a server processor of the Skylake kind with
 * every VMX feature that Torpor knows, not in VMX operation. fake_cpu is fake_cpus[0].
 */
void fake_cpu_reset(void);

/* Adds or replaces. */
void fake_msr_set(u32 index, u64 value, enum fake_msr_rule rule, u64 valid);
void fake_msr_remove(u32 index);
struct fake_msr *fake_msr(u32 index); /* NULL: the processor does not have it */

void fake_cpuid_set(u32 leaf, u32 subleaf, struct cpuid_regs regs); /* this subleaf only */
void fake_cpuid_set_any(u32 leaf, struct cpuid_regs regs);	    /* all subleaves */
void fake_cpuid_clear(void);

/* The fields of the current VMCS, also those that VMWRITE refuses; the field must exist. */
u64 fake_vmcs_get(u64 field);
void fake_vmcs_put(u64 field, u64 value);
void fake_vmcs_remove_field(u64 field);
/* VMXON done and an empty VMCS current: what most tests of handlers begin with. */
void fake_vmcs_begin(void);

/*
 * VM entry without its checks: loads guest state into the processor (SDM 3C 27.3.2), marks the VMCS
 * launched. And the exit: guest state is saved, host state loaded (SDM 3C 28.3, 28.5), the reason
 * noted.
 */
void fake_vmentry(void);
void fake_vmexit(u32 reason, u64 qualification, u32 instruction_length);

void fake_fault(u32 vector, u32 error_code);

#define FAKE_FAULT(statement)                        \
	({                                           \
		jmp_buf fault_jump_;                 \
		fake_cpu->fault_jump = &fault_jump_; \
		fake_cpu->fault_vector = -1;         \
		if (setjmp(fault_jump_) == 0) {      \
			statement;                   \
		}                                    \
		fake_cpu->fault_jump = NULL;         \
		fake_cpu->fault_vector;              \
	})

#endif
