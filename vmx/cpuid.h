/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUID as a guest sees it: a table made once for a VM from the host's CPUID, the feature table
 * (vmx/cpuid_features.h) and what the VMX controls make work. Leaves that are not in the policy
 * read zero; leaves above the highest one read as the highest basic leaf (SDM 2A CPUID).
 */
#ifndef VMX_CPUID_H
#define VMX_CPUID_H

#include "hv/cpu/insn.h"
#include "hv/lib/types.h"
#include "vmx/cpuid_features.h"

struct vcpu;

#define CPUID_HYPERVISOR_BASE 0x40000000u
#define CPUID_EXTENDED_BASE   0x80000000u

#define CPUID_BASIC_LEAVES	0x20
#define CPUID_HYPERVISOR_LEAVES 0x11
#define CPUID_EXTENDED_LEAVES	9
#define CPUID_ROWS		80
#define XSTATE_COMPONENTS	10 /* the highest that a guest may have is PKRU, 9 */

/* XCR0 (SDM 1 13.3). */
#define XCR0_X87    BIT(0)
#define XCR0_SSE    BIT(1)
#define XCR0_AVX    BIT(2)
#define XCR0_AVX512 (BIT(5) | BIT(6) | BIT(7))
#define XCR0_PKRU   BIT(9)

#define XSAVE_LEGACY_BYTES 576 /* FXSAVE area and XSAVE header (SDM 1 13.4) */
/* ECX of CPUID.0DH's component subleaves. */
#define XSTATE_SUPERVISOR  BIT(0)
#define XSTATE_ALIGN	   BIT(1)

/* What the builder must know beyond the host's CPUID. */
struct cpuid_inputs {
	/* Secondary controls that are on (SDM 3C table 25-7). */
	bool rdtscp, invpcid, xsaves, user_wait;
	bool speculation; /* SPEC_CTRL is switched with the vCPU */
	bool la57;	  /* guests may use five-level paging */
	u32 cpus;	  /* vCPUs, at least 1 */
	u64 tsc_hz;	  /* as measured; 0: not known */
};

/* Bits of the answer that depend on the vCPU's state at the moment. */
enum cpuid_dynamic {
	CPUID_STATIC,
	CPUID_LEAF_1,	     /* APIC id, APIC enabled, OSXSAVE */
	CPUID_LEAF_7,	     /* OSPKE */
	CPUID_LEAF_D,	     /* save area sizes */
	CPUID_LEAF_TOPOLOGY, /* x2APIC id, echo of the level number */
};

struct cpuid_leaf {
	u32 subleaf_mask; /* 0: ECX does not matter */
	u8 first;	  /* row of subleaf 0; row 0 is all zeros */
	u8 count;	  /* subleaves that exist */
	u8 dynamic;	  /* enum cpuid_dynamic */
};

/* Leaves with the same bits 31:28. Aligned so that one scaled address reaches it. */
struct cpuid_range {
	u8 first; /* in `leaves` */
	u8 count;
	u8 otherwise; /* the leaf that answers for those beyond */
} __aligned(4);

#define CPUID_LEAVES	(CPUID_BASIC_LEAVES + CPUID_HYPERVISOR_LEAVES + CPUID_EXTENDED_LEAVES + 1)
#define CPUID_LEAF_ZERO (CPUID_LEAVES - 1) /* reads zero */

struct cpuid_policy {
	struct cpuid_regs rows[CPUID_ROWS];
	struct cpuid_leaf leaves[CPUID_LEAVES]; /* basic, hypervisor, extended */
	struct cpuid_range ranges[16];
	u8 row_count;
	u8 highest_basic;
	u8 physical_width, linear_width; /* address bits */
	u64 xcr0;			 /* bits that the guest may set */
};

_Static_assert(sizeof(struct cpuid_policy) <= 4096, "a policy takes a page at most");

/* Fills the policy. Executes CPUID on this CPU; all CPUs of the machine are alike. */
void cpuid_policy_build(struct cpuid_policy *policy, const struct cpuid_inputs *inputs);

/* The row that CPUID leaf:subleaf answers with, before the dynamic bits. Never NULL. */
const struct cpuid_regs *cpuid_policy_row(const struct cpuid_policy *policy, u32 leaf, u32 subleaf);
bool cpuid_has(const struct cpuid_policy *policy, enum cpuid_feature feature);

/* Everything, dynamic bits too: what exit_cpuid() gives the guest. VMCS current. */
struct cpuid_regs cpuid_execute(const struct vcpu *vcpu, u32 leaf, u32 subleaf);

/*
 * Bytes of an XSAVE area for the components (SDM 1 13.4): in the standard format, where each lies
 * at its own offset, and in the compacted one, where they follow each other.
 */
u32 cpuid_xsave_size(const struct cpuid_policy *policy, u64 components);
u32 cpuid_xsave_compact_size(const struct cpuid_policy *policy, u64 components);

#endif
