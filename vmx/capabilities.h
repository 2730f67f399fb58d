/* SPDX-License-Identifier: BSD-2-Clause */
/* What this processor's VMX offers, read once from its capability MSRs (SDM 3D appendix A). */
#ifndef VMX_CAPABILITIES_H
#define VMX_CAPABILITIES_H

#include "hv/lib/types.h"

/* The five words of VM-execution, exit and entry controls that have a capability MSR. */
enum control_word {
	CONTROLS_PIN,
	CONTROLS_PRIMARY,
	CONTROLS_SECONDARY,
	CONTROLS_EXIT,
	CONTROLS_ENTRY,
	CONTROL_WORDS,
};

/* SDM 3D A.2: a bit set in must_be_1 cannot be 0, a bit clear in may_be_1 cannot be 1. */
struct allowed_settings {
	u32 must_be_1;
	u32 may_be_1;
};

struct vmx_capabilities {
	u64 basic;
	u64 misc;
	u64 ept_vpid; /* 0 where neither EPT nor VPID exists: the MSR is not there then */
	u64 cr0_fixed0, cr0_fixed1;
	u64 cr4_fixed0, cr4_fixed1;
	struct allowed_settings controls[CONTROL_WORDS];
};

/* IA32_VMX_BASIC (A.1). */
#define VMX_BASIC_REVISION(basic) ((u32)(basic)&0x7fffffff)
#define VMX_BASIC_ADDRESS_32	  BIT(48) /* VMX structures must lie below 4 GiB */
#define VMX_BASIC_INS_OUTS_INFO	  BIT(54) /* INS/OUTS exits report segment and address size */
#define VMX_BASIC_TRUE_CONTROLS	  BIT(55) /* the TRUE capability MSRs exist */

/* IA32_VMX_MISC (A.6): the preemption timer counts down by one every 2^this ticks of the TSC. */
#define VMX_MISC_PREEMPTION_SHIFT(misc) ((u32)(misc)&0x1f)

/* IA32_VMX_EPT_VPID_CAP (A.10); the bits of INVEPT and INVVPID are mmu/invalidate.c's. */
#define EPT_CAP_EXECUTE_ONLY   BIT(0)
#define EPT_CAP_WALK_4	       BIT(6)
#define EPT_CAP_TABLES_UC      BIT(8)
#define EPT_CAP_TABLES_WB      BIT(14)
#define EPT_CAP_PAGE_2M	       BIT(16)
#define EPT_CAP_PAGE_1G	       BIT(17)
#define EPT_CAP_ACCESSED_DIRTY BIT(21)

/* Requires a processor with CPUID.1:ECX.VMX. Executes RDMSR only of registers that exist. */
void vmx_capabilities_read(struct vmx_capabilities *capabilities);

#endif
