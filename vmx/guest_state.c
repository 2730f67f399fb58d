// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reset values of the state that stays in the processor (SDM 3A table 10-1). Called before a VM's
 * first entry.
 */
#include "vmx/guest_state.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
#include "vmx/fpu.h"
#include "vmx/msr.h"

#define CPUID_1_ECX_XSAVE    BIT(26)
#define CPUID_D_1_EAX_XSAVES BIT(3)
#define XCR0_RESET	     1

static bool has_xsave(void)
{
	return insn_cpuid(1, 0).ecx & CPUID_1_ECX_XSAVE;
}

void guest_state_enable(void)
{
	insn_write_cr4(insn_read_cr4() | CR4_OSFXSR | (has_xsave() ? CR4_OSXSAVE : 0));
}

void guest_state_reset(const struct cpuid_policy *policy)
{
	if (has_xsave()) {
		struct cpuid_regs d = insn_cpuid(0xd, 0);

		/*
		 * With every component enabled, an XRSTOR from an empty image initialises them all.
		 */
		insn_xsetbv(0, (u64)d.edx << 32 | d.eax);
		fpu_init_xsave();
		insn_xsetbv(0, XCR0_RESET);
		if (insn_cpuid(0xd, 1).eax & CPUID_D_1_EAX_XSAVES)
			insn_wrmsr(MSR_XSS, 0);
	} else {
		fpu_init_fxsave();
	}
	insn_write_dr0(0);
	insn_write_dr1(0);
	insn_write_dr2(0);
	insn_write_dr3(0);
	insn_write_dr6(DR6_FIXED);
	insn_write_cr2(0);
	msr_reset_live(policy);
}
