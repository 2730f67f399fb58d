// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exits of MOV to and from control registers, CLTS and LMSW: takes the qualification apart and lets
 * vmx/cr.c decide. The processor has checked CPL and the register number already (SDM 3C 26.1.1).
 */
#include "vmx/cr.h"

#include "hv/cpu/registers.h"
#include "hv/dev/lapic.h"
#include "hv/lib/log.h"
#include "hv/vm/vm.h"
#include "vmx/exit.h"

/* SDM 3C table 28-3 */
#define QUALIFICATION_REGISTER(q) ((q)&0xf)
#define QUALIFICATION_ACCESS(q)	  ((q) >> 4 & 3)
#define QUALIFICATION_GPR(q)	  ((q) >> 8 & 0xf)
#define QUALIFICATION_LMSW(q)	  ((q) >> 16 & 0xffff)

enum cr_access { MOV_TO_CR, MOV_FROM_CR, CLTS, LMSW };

#define CR8_PRIORITY 0xfull

/* SDM 3A 11.8.6.1: CR8 is TPR[7:4]; its upper bits are reserved. */
static bool cr8_write(struct vcpu *vcpu, u64 value)
{
	if (value & ~CR8_PRIORITY)
		return false;
	lapic_cr8_write(vcpu->lapic, value);
	return true;
}

static bool (*const writers[16])(struct vcpu *vcpu, u64 value) = {
	[0] = cr0_write,
	[3] = cr3_write,
	[4] = cr4_write,
	[8] = cr8_write,
};

static u64 read_register(const struct vcpu *vcpu, u32 number)
{
	switch (number) {
	case 0:
		return guest_cr0(vcpu);
	case 3:
		return vmcs_read(VMCS_GUEST_CR3);
	case 4:
		return guest_cr4(vcpu);
	default:
		return lapic_cr8_read(vcpu->lapic);
	}
}

static enum exit_action finish(struct vcpu *vcpu, bool accepted)
{
	return accepted ? complete_instruction(vcpu) : raise_gp(vcpu);
}

enum exit_action exit_cr_access(struct vcpu *vcpu)
{
	u64 qualification = vmcs_read(VMCS_EXIT_QUALIFICATION);
	u32 number = QUALIFICATION_REGISTER(qualification);
	u32 gpr = QUALIFICATION_GPR(qualification);
	u64 value;

	switch ((enum cr_access)QUALIFICATION_ACCESS(qualification)) {
	case CLTS:
		return finish(vcpu, cr0_write(vcpu, guest_cr0(vcpu) & ~CR0_TS));
	case LMSW:
		/* SDM 2A LMSW: the low four bits, and PE cannot be cleared. */
		value = guest_cr0(vcpu) & ~(CR0_MP | CR0_EM | CR0_TS);
		value |= QUALIFICATION_LMSW(qualification) & 0xf;
		return finish(vcpu, cr0_write(vcpu, value));
	case MOV_FROM_CR:
		vcpu_set_gpr(vcpu, gpr, read_register(vcpu, number));
		return complete_instruction(vcpu);
	case MOV_TO_CR:
		break;
	}
	if (!writers[number])
		return raise_ud(vcpu);
	/* Outside 64-bit mode the operand has 32 bits. */
	value = vcpu_gpr(vcpu, gpr);
	if (vcpu_mode() != MODE_LONG64)
		value = (u32)value;
	return finish(vcpu, writers[number](vcpu, value));
}
