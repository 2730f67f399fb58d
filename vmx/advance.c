// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completing an emulated instruction as the processor would have: RIP behind it, the STI and MOV-SS
 * shadow gone, a single-step trap pending. Called by exit handlers (interrupts off, VMCS current).
 * Plain exits pass here, so the rare cases are kept out of the straight path.
 */
#include "hv/cpu/registers.h"
#include "vmx/exit.h"

#define DEBUGCTL_BTF	 BIT(1)
#define PENDING_DEBUG_BS BIT(14)
#define SHADOW		 (BLOCKING_BY_STI | BLOCKING_BY_MOV_SS)

/*
 * RIP crossed a multiple of 64 KiB. 16-bit code wraps there, 32-bit code at 4 GiB (SDM 1 3.3.7 and
 * 3B 21.1.1).
 */
static __attribute__((noinline, cold)) u64 wrap_rip(u64 rip)
{
	switch (vcpu_mode()) {
	case MODE_LONG64:
		return rip;
	case MODE_REAL:
	case MODE_VM86:
	case MODE_PROTECTED16:
	case MODE_COMPAT16:
		return (u16)rip;
	default:
		return (u32)rip;
	}
}

/*
 * SDM 3B 18.3.1.4 and 3C 25.4.2: the trap of a single step comes after the instruction; with BTF
 * set only branches trap, and no emulated instruction is one.
 */
static __attribute__((noinline, cold)) void single_step(void)
{
	if (vmcs_read(VMCS_GUEST_DEBUGCTL) & DEBUGCTL_BTF)
		return;
	vmcs_write(
		VMCS_GUEST_PENDING_DEBUG, vmcs_read(VMCS_GUEST_PENDING_DEBUG) | PENDING_DEBUG_BS);
}

enum exit_action complete_instruction_length(struct vcpu *vcpu, u32 length)
{
	u64 rip = vmcs_read(VMCS_GUEST_RIP);
	u64 next = rip + length;
	u32 blocking = vmcs_read(VMCS_GUEST_INTERRUPTIBILITY);

	(void)vcpu;
	if (unlikely((rip ^ next) >> 16))
		next = wrap_rip(next);
	vmcs_write(VMCS_GUEST_RIP, next);
	if (unlikely(blocking & SHADOW))
		vmcs_write(VMCS_GUEST_INTERRUPTIBILITY, blocking & ~SHADOW);
	if (unlikely(vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_TF))
		single_step();
	return EXIT_RESUME;
}

enum exit_action complete_instruction(struct vcpu *vcpu)
{
	return complete_instruction_length(vcpu, vmcs_read(VMCS_EXIT_INSTRUCTION_LENGTH));
}
