// SPDX-License-Identifier: BSD-2-Clause
/*
 * XSETBV always exits. What the guest asks for is checked against its own CPUID, so that the host's
 * XSETBV cannot fault (BUG-39). Interrupts off, VMCS current.
 */
#include "vmx/xcr.h"

#include "hv/cpu/registers.h"
#include "hv/vm/vcpu.h"
#include "vmx/cpuid.h"
#include "vmx/cr.h"
#include "vmx/exit.h"

bool xcr0_valid(const struct cpuid_policy *policy, u64 value)
{
	u64 avx512 = value & XCR0_AVX512;

	/* SDM 1 13.3 */
	if ((value & ~policy->xcr0) || !(value & XCR0_X87))
		return false;
	if ((value & XCR0_AVX) && !(value & XCR0_SSE))
		return false;
	return !avx512 || (avx512 == XCR0_AVX512 && (value & XCR0_AVX));
}

void xcr0_set(struct vcpu *vcpu, u64 value)
{
	vcpu->msr.xcr0 = value;
	vcpu->msr.xsave_size = cpuid_xsave_size(vcpu->cpuid, value);
	/* No supervisor component is offered, so IA32_XSS adds nothing. */
	vcpu->msr.xsave_compact_size = cpuid_xsave_compact_size(vcpu->cpuid, value);
}

enum exit_action exit_xsetbv(struct vcpu *vcpu)
{
	u64 value = vcpu->gpr[RDX] << 32 | (u32)vcpu->gpr[RAX];

	/* The processor checks both before it exits (SDM 3C 26.1.1); a nested one may not. */
	if (!(guest_cr4(vcpu) & CR4_OSXSAVE))
		return raise_ud(vcpu);
	if (vcpu_cpl() != 0)
		return raise_gp(vcpu);
	/* The upper halves of RAX, RCX and RDX are ignored. */
	if ((u32)vcpu->gpr[RCX] != 0 || !xcr0_valid(vcpu->cpuid, value))
		return raise_gp(vcpu);
	if (value != vcpu->msr.xcr0) {
		xcr0_set(vcpu, value);
		insn_xsetbv(0, value);
	}
	return complete_instruction(vcpu);
}
