// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completing an emulated instruction as the processor would have: RIP behind it, the STI and MOV-SS
 * shadow gone, a single-step trap pending. Called by exit handlers (interrupts off, VMCS current).
 * Plain exits pass here, so the rare cases are kept out of the straight path.
 */
#include "hv/cpu/registers.h"
#include "vmx/exit.h"

#define DEBUGCTL_BTF	      BIT(1)
#define PENDING_DEBUG_BS      BIT(14)
#define INTERRUPTIBILITY_MASK (BIT(0) | BIT(1)) /* blocking by STI, by MOV SS */

/*
 * RIP crossed a multiple of 64 KiB. In legacy and compatibility mode EIP wraps at 4 GiB; in 16-bit
 * code the processor lets IP run past 0xffff into the limit check of the next fetch (SDM
 * 3A 5.3, 20.1.1), except where the offset is 16 bits wide by nature: real-address and virtual-8086
 * mode.
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
 * SDM 3B 17.3.1.4 and 3C 25.3: the trap of a single step comes after the instruction; with BTF set
 * only branches trap, and no emulated instruction is one.
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
	if (unlikely(blocking & INTERRUPTIBILITY_MASK))
		vmcs_write(VMCS_GUEST_INTERRUPTIBILITY, blocking & ~INTERRUPTIBILITY_MASK);
	if (unlikely(vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_TF))
		single_step();
	return EXIT_RESUME;
}

enum exit_action complete_instruction(struct vcpu *vcpu)
{
	return complete_instruction_length(vcpu, vmcs_read(VMCS_EXIT_INSTRUCTION_LENGTH));
}
