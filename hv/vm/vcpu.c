// SPDX-License-Identifier: BSD-2-Clause
/* What exit handlers ask about a vCPU. Interrupts off; the vCPU's VMCS is current. */
#include "hv/vm/vcpu.h"

#include "hv/cpu/registers.h"
#include "vmx/access_rights.h"
#include "vmx/controls.h"
#include "vmx/vmcs.h"

u64 vcpu_gpr(const struct vcpu *vcpu, u32 number)
{
	return number == RSP ? vmcs_read(VMCS_GUEST_RSP) : vcpu->gpr[number];
}

void vcpu_set_gpr(struct vcpu *vcpu, u32 number, u64 value)
{
	if (number == RSP)
		vmcs_write(VMCS_GUEST_RSP, value);
	else
		vcpu->gpr[number] = value;
}

u32 vcpu_cpl(void)
{
	return RIGHTS_DPL(vmcs_read(VMCS_GUEST_SS_RIGHTS));
}

enum cpu_mode vcpu_mode(void)
{
	u32 cs = vmcs_read(VMCS_GUEST_CS_RIGHTS);

	if (!(vmcs_read(VMCS_GUEST_CR0) & CR0_PE))
		return MODE_REAL;
	if (vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_VM)
		return MODE_VM86;
	if (vmcs_read(VMCS_ENTRY_CONTROLS) & ENTRY_IA32E_GUEST) {
		if (cs & RIGHTS_L)
			return MODE_LONG64;
		return cs & RIGHTS_DB ? MODE_COMPAT32 : MODE_COMPAT16;
	}
	return cs & RIGHTS_DB ? MODE_PROTECTED32 : MODE_PROTECTED16;
}
