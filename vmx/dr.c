// SPDX-License-Identifier: BSD-2-Clause
/*
 * The exit of MOV DR. Torpor does not ask for that control; a processor may insist on it. DR0 to
 * DR3 and DR6 stay in the processor while their vCPU is loaded (an exit leaves them alone), DR7 is
 * in the VMCS. Interrupts off, VMCS current.
 */
#include "hv/cpu/registers.h"
#include "hv/vm/vcpu.h"
#include "vmx/cr.h"
#include "vmx/exit.h"

/* SDM 3C table 28-4 */
#define QUALIFICATION_REGISTER(q) ((q)&7)
#define QUALIFICATION_FROM_DR(q)  ((q) >> 4 & 1)
#define QUALIFICATION_GPR(q)	  ((q) >> 8 & 0xf)

/* SDM 3B 18.2.4: LEN, R/W, GD and the enables; RTM (11) is hidden; bit 10 reads 1. */
#define DR7_WRITABLE 0xffff23ffull
/* B0 to B3, BD, BS, BT; the others read 1 but for bit 12 (RTM and bus lock are hidden). */
#define DR6_WRITABLE 0xe00full
#define DR6_TRAPS    0xfull

static u64 read_register(u32 number)
{
	switch (number) {
	case 0:
		return insn_read_dr0();
	case 1:
		return insn_read_dr1();
	case 2:
		return insn_read_dr2();
	case 3:
		return insn_read_dr3();
	case 6:
		return insn_read_dr6();
	default:
		return vmcs_read(VMCS_GUEST_DR7);
	}
}

/* False: #GP(0), SDM 2B MOV DR: DR6 and DR7 take 32 bits. */
static bool write_register(u32 number, u64 value)
{
	if (number >= 6 && value >> 32)
		return false;
	switch (number) {
	case 0:
		insn_write_dr0(value);
		break;
	case 1:
		insn_write_dr1(value);
		break;
	case 2:
		insn_write_dr2(value);
		break;
	case 3:
		insn_write_dr3(value);
		break;
	case 6:
		insn_write_dr6((value & DR6_WRITABLE) | DR6_FIXED);
		break;
	default:
		vmcs_write(VMCS_GUEST_DR7, (value & DR7_WRITABLE) | DR7_FIXED);
		break;
	}
	return true;
}

/* SDM 3B 18.2.4: a guarded access is a #DB before the instruction; delivery clears GD. */
static enum exit_action raise_general_detect(struct vcpu *vcpu)
{
	insn_write_dr6((insn_read_dr6() & ~DR6_TRAPS) | DR6_BD);
	vmcs_write(VMCS_GUEST_DR7, vmcs_read(VMCS_GUEST_DR7) & ~DR7_GD);
	return raise_exception(vcpu, VECTOR_DB, NO_ERROR_CODE);
}

/*
 * This exit comes before the checks of CPL, CR4.DE and DR7.GD (SDM 3C 26.1.1 and 26.1.3), so they
 * are made here, in the order of SDM 3A 6.9: #UD, #GP, #DB.
 */
enum exit_action exit_dr_access(struct vcpu *vcpu)
{
	u64 qualification = vmcs_read(VMCS_EXIT_QUALIFICATION);
	u32 number = QUALIFICATION_REGISTER(qualification);
	u32 gpr = QUALIFICATION_GPR(qualification);
	u64 value;

	if (number == 4 || number == 5) {
		if (guest_cr4(vcpu) & CR4_DE)
			return raise_ud(vcpu);
		number += 2;
	}
	if (vcpu_cpl() != 0)
		return raise_gp(vcpu);
	if (vmcs_read(VMCS_GUEST_DR7) & DR7_GD)
		return raise_general_detect(vcpu);
	if (QUALIFICATION_FROM_DR(qualification)) {
		vcpu_set_gpr(vcpu, gpr, read_register(number));
		return complete_instruction(vcpu);
	}
	value = vcpu_gpr(vcpu, gpr);
	if (vcpu_mode() != MODE_LONG64)
		value = (u32)value;
	return write_register(number, value) ? complete_instruction(vcpu) : raise_gp(vcpu);
}
