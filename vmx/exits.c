// SPDX-License-Identifier: BSD-2-Clause
/*
 * The short exit handlers: interrupts, windows, timers, HLT, exceptions, hypercalls. See exit.h for
 * what a handler may assume.
 */
#include "hv/cpu/irq.h"
#include "hv/cpu/registers.h"
#include "hv/lib/log.h"
#include "hv/vm/vm.h"
#include "vmx/controls.h"
#include "vmx/entry.h"
#include "vmx/exit.h"

#define INTERRUPTION_NMI_UNBLOCKED BIT(12)

/*
 * DR6 (SDM 3B 18.2.3): B0 to B3, BD, BS, RTM as the exit qualification reports them (3C table
 * 28-1).
 */
#define QUALIFICATION_DR6      (0xfull | BIT(13) | BIT(14))
#define QUALIFICATION_BUS_LOCK BIT(11)
#define QUALIFICATION_RTM      BIT(16)

enum exit_action exit_external_interrupt(struct vcpu *vcpu)
{
	(void)vcpu;
	/* Acknowledged by the exit: the vector is here and the host's APIC has it in service. */
	irq_dispatch(vmcs_read(VMCS_EXIT_INTERRUPTION_INFO) & 0xff);
	return EXIT_RELOAD;
}

enum exit_action exit_preemption_timer(struct vcpu *vcpu)
{
	vcpu->pending |= PENDING_TIMER;
	return EXIT_RELOAD;
}

enum exit_action exit_hlt(struct vcpu *vcpu)
{
	vcpu->halted = true;
	(void)complete_instruction(vcpu);
	return EXIT_RELOAD;
}

enum exit_action exit_rdpmc(struct vcpu *vcpu)
{
	return raise_gp(vcpu);
}

enum exit_action exit_vmcall(struct vcpu *vcpu)
{
	if (unlikely((u32)vcpu->gpr[RAX] != HYPERCALL_NOP)) {
		vcpu->gpr[RAX] = HYPERCALL_UNKNOWN;
		return complete_instruction(vcpu);
	}
	vcpu->gpr[RAX] = 0;
	return complete_instruction(vcpu);
}

enum exit_action exit_triple_fault(struct vcpu *vcpu)
{
	log_error("vm %s: triple fault", vcpu->vm->config->name);
	return vcpu_crash(vcpu);
}

/*
 * #DB exits so that a guest whose #DB delivery raises #DB again cannot keep the processor
 * (XSA-156). The exit leaves DR6, DR7 and DEBUGCTL as they were (SDM 3C 28.1): what delivery would
 * have done is done here.
 */
static enum exit_action reflect_debug(struct vcpu *vcpu, u32 info)
{
	u64 qualification = vmcs_read(VMCS_EXIT_QUALIFICATION);
	u64 dr6 = insn_read_dr6();

	if (EVENT_TYPE(info) == EVENT_PRIVILEGED_SOFTWARE_EXCEPTION) {
		/*
		 * INT1 leaves DR6 alone and returns behind itself. In a shadow with TF set an entry
		 * would insist on a pending BS (SDM 3C 27.3.1.5), which this exit cleared.
		 */
		event_clear_shadow();
		vcpu->events.info = info & (EVENT_VALID | 0x7ff);
		vcpu->events.instruction_length = vmcs_read(VMCS_EXIT_INSTRUCTION_LENGTH);
		vcpu->pending |= PENDING_EVENT;
		return EXIT_RESUME;
	}
	dr6 = (dr6 & ~0xfull) | DR6_FIXED | (qualification & QUALIFICATION_DR6);
	if (qualification & QUALIFICATION_RTM)
		dr6 &= ~BIT(16);
	if (qualification & QUALIFICATION_BUS_LOCK)
		dr6 &= ~BIT(11);
	insn_write_dr6(dr6);
	vmcs_write(VMCS_GUEST_DR7, vmcs_read(VMCS_GUEST_DR7) & ~DR7_GD);
	return raise_exception(vcpu, VECTOR_DB, NO_ERROR_CODE);
}

enum exit_action exit_exception(struct vcpu *vcpu)
{
	u32 info = vmcs_read(VMCS_EXIT_INTERRUPTION_INFO);

	if (EVENT_TYPE(info) == EVENT_NMI) {
		/* The exit blocked NMIs in the host (SDM 3C 28.1); IRET opens them again. */
		nmi_unblock();
		event_queue_nmi(vcpu);
		return EXIT_RESUME;
	}
	if (info & INTERRUPTION_NMI_UNBLOCKED && !(vcpu->events.info & EVENT_VALID))
		event_restore_nmi_blocking();
	switch (EVENT_VECTOR(info)) {
	case VECTOR_DB:
		return reflect_debug(vcpu, info);
	case VECTOR_AC:
		return raise_exception(
			vcpu, VECTOR_AC, vmcs_read(VMCS_EXIT_INTERRUPTION_ERROR_CODE));
	case VECTOR_MC:
		panic("machine check while vm %s ran", vcpu->vm->config->name);
	default:
		log_error("vm %s: exit for exception %u, which is not intercepted",
			vcpu->vm->config->name, EVENT_VECTOR(info));
		return vcpu_crash(vcpu);
	}
}
