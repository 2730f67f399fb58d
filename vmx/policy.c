// SPDX-License-Identifier: BSD-2-Clause
/*
 * Joins the policies to this machine: what the controls enable goes into CPUID, the fixed bits into
 * the control registers. Called when a VM and its vCPUs are made.
 */
#include "vmx/policy.h"

#include "hv/vm/vm.h"
#include "vmx/cpuid.h"
#include "vmx/machine.h"

static bool secondary(u32 bit)
{
	return vmx_control(&vmx_machine.controls, CONTROLS_PRIMARY, PRIMARY_ACTIVATE_SECONDARY) &&
	       vmx_control(&vmx_machine.controls, CONTROLS_SECONDARY, bit);
}

void vm_policy_init(struct vm *vm, u64 tsc_hz)
{
	const struct cpuid_inputs inputs = {
		.rdtscp = secondary(SECONDARY_RDTSCP),
		.invpcid = secondary(SECONDARY_INVPCID),
		.xsaves = secondary(SECONDARY_XSAVES),
		.user_wait = secondary(SECONDARY_USER_WAIT),
		/* The guest's SPEC_CTRL stays in force from its reset to the end of the VM. */
		.speculation = true,
		/* The walkers know four levels. */
		.la57 = false,
		.cpus = vm->vcpu_count,
		.tsc_hz = tsc_hz,
	};

	cpuid_policy_build(&vm->cpuid, &inputs);
}

void vcpu_policy_init(struct vcpu *vcpu, void *msr_bitmap, u64 tsc_hz)
{
	const struct vmx_capabilities *c = &vmx_machine.capabilities;
	const struct cr_inputs inputs = {
		.ept = secondary(SECONDARY_EPT),
		.unrestricted_guest = secondary(SECONDARY_UNRESTRICTED_GUEST),
		.vpid = secondary(SECONDARY_VPID),
		.cr0_fixed0 = c->cr0_fixed0,
		.cr0_fixed1 = c->cr0_fixed1,
		.cr4_fixed0 = c->cr4_fixed0,
		.cr4_fixed1 = c->cr4_fixed1,
	};

	msr_init(vcpu, &(struct msr_inputs){ .tsc_hz = tsc_hz });
	cr_init(vcpu, &inputs);
	msr_bitmap_fill(msr_bitmap, vcpu->cpuid);
}
