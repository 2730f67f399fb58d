// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the VMX capability MSRs. Each exists only if an earlier one says so: asking for one that
 * does not is a #GP (SDM 3D appendix A). Called once a CPU before VMXON.
 */
#include "vmx/capabilities.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/msr_index.h"

#define PRIMARY_ACTIVATE_SECONDARY BIT(31)
#define SECONDARY_EPT		   BIT(1)
#define SECONDARY_VPID		   BIT(5)

static struct allowed_settings read_allowed(u32 index)
{
	u64 value = insn_rdmsr(index);

	return (struct allowed_settings){ .must_be_1 = (u32)value, .may_be_1 = value >> 32 };
}

void vmx_capabilities_read(struct vmx_capabilities *c)
{
	*c = (struct vmx_capabilities){ .basic = insn_rdmsr(MSR_VMX_BASIC) };

	/* The TRUE registers follow the plain ones in the same order (SDM 3D A.2 to A.5). */
	bool exact = c->basic & VMX_BASIC_TRUE_CONTROLS;
	c->controls[CONTROLS_PIN] = read_allowed(exact ? MSR_VMX_TRUE_PIN : MSR_VMX_PIN);
	c->controls[CONTROLS_PRIMARY] =
		read_allowed(exact ? MSR_VMX_TRUE_PRIMARY : MSR_VMX_PRIMARY);
	c->controls[CONTROLS_EXIT] = read_allowed(exact ? MSR_VMX_TRUE_EXIT : MSR_VMX_EXIT);
	c->controls[CONTROLS_ENTRY] = read_allowed(exact ? MSR_VMX_TRUE_ENTRY : MSR_VMX_ENTRY);

	/* A.3.3: IA32_VMX_PROCBASED_CTLS2 exists iff secondary controls can be activated. */
	if (c->controls[CONTROLS_PRIMARY].may_be_1 & PRIMARY_ACTIVATE_SECONDARY)
		c->controls[CONTROLS_SECONDARY] = read_allowed(MSR_VMX_SECONDARY);
	/* A.10: IA32_VMX_EPT_VPID_CAP exists iff one of the two controls does. */
	if (c->controls[CONTROLS_SECONDARY].may_be_1 & (SECONDARY_EPT | SECONDARY_VPID))
		c->ept_vpid = insn_rdmsr(MSR_VMX_EPT_VPID_CAP);

	c->misc = insn_rdmsr(MSR_VMX_MISC);
	c->cr0_fixed0 = insn_rdmsr(MSR_VMX_CR0_FIXED0);
	c->cr0_fixed1 = insn_rdmsr(MSR_VMX_CR0_FIXED1);
	c->cr4_fixed0 = insn_rdmsr(MSR_VMX_CR4_FIXED0);
	c->cr4_fixed1 = insn_rdmsr(MSR_VMX_CR4_FIXED1);
}
