// SPDX-License-Identifier: BSD-2-Clause
/*
 * The exit table: one row for each basic exit reason of SDM 3D appendix C, and the common steps for
 * the rows that need more than a handler. Called by the exit stub, interrupts off.
 */
#include "vmx/dispatch.h"

#include "hv/lib/log.h"
#include "hv/vm/vm.h"

static exit_handler exit_reload, exit_undefined, exit_skip, exit_unexpected;

#define ALL	 EXIT_ALL_REGISTERS
#define DELIVERY EXIT_MAY_INTERRUPT_DELIVERY

const struct exit_row exit_table[EXIT_REASONS] = {
	[EXIT_EXCEPTION_OR_NMI] = { exit_exception, DELIVERY },
	[EXIT_EXTERNAL_INTERRUPT] = { exit_external_interrupt, 0 },
	[EXIT_TRIPLE_FAULT] = { exit_triple_fault, 0 },
	/* INIT is latched while in root mode; one for the machine itself is not for a guest. */
	[EXIT_INIT] = { exit_unexpected, ALL },
	[EXIT_SIPI] = { exit_unexpected, ALL },
	/* Only with the dual-monitor treatment of SMIs, which is not used. */
	[EXIT_IO_SMI] = { exit_unexpected, ALL },
	[EXIT_OTHER_SMI] = { exit_unexpected, ALL },
	[EXIT_INTERRUPT_WINDOW] = { exit_reload, 0 },
	[EXIT_NMI_WINDOW] = { exit_reload, 0 },
	[EXIT_TASK_SWITCH] = { exit_task_switch, ALL | DELIVERY },
	[EXIT_CPUID] = { exit_cpuid, 0 },
	/* CR4.SMXE cannot be set: #UD comes first; listed for completeness. */
	[EXIT_GETSEC] = { exit_undefined, 0 },
	[EXIT_HLT] = { exit_hlt, 0 },
	/*
	 * A guest must not throw away dirty lines of the machine (SDM 2A INVD); its memory is
	 * coherent.
	 */
	[EXIT_INVD] = { exit_skip, 0 },
	[EXIT_INVLPG] = { exit_unexpected, ALL },
	/* No PMU: every counter is out of range, and that is #GP(0) (SDM 2B RDPMC). */
	[EXIT_RDPMC] = { exit_rdpmc, 0 },
	[EXIT_RDTSC] = { exit_unexpected, ALL },
	/* RSM outside of SMM is #UD. */
	[EXIT_RSM] = { exit_undefined, 0 },
	[EXIT_VMCALL] = { exit_vmcall, 0 },
	/* VMX is hidden: CR4.VMXE reads 0, so each of these is #UD (SDM 3C chapter 31). */
	[EXIT_VMCLEAR] = { exit_undefined, 0 },
	[EXIT_VMLAUNCH] = { exit_undefined, 0 },
	[EXIT_VMPTRLD] = { exit_undefined, 0 },
	[EXIT_VMPTRST] = { exit_undefined, 0 },
	[EXIT_VMREAD] = { exit_undefined, 0 },
	[EXIT_VMRESUME] = { exit_undefined, 0 },
	[EXIT_VMWRITE] = { exit_undefined, 0 },
	[EXIT_VMXOFF] = { exit_undefined, 0 },
	[EXIT_VMXON] = { exit_undefined, 0 },
	[EXIT_CR_ACCESS] = { exit_cr_access, ALL },
	[EXIT_DR_ACCESS] = { exit_dr_access, ALL },
	[EXIT_IO] = { exit_io, 0 },
	[EXIT_RDMSR] = { exit_rdmsr, 0 },
	[EXIT_WRMSR] = { exit_wrmsr, 0 },
	/* These three come with bit 31 and take the stub's entry-failure path. */
	[EXIT_ENTRY_GUEST_STATE] = { exit_unexpected, ALL },
	[EXIT_ENTRY_MSR_LOAD] = { exit_unexpected, ALL },
	[EXIT_ENTRY_MACHINE_CHECK] = { exit_unexpected, ALL },
	[35] = { exit_unexpected, ALL },
	/* CPUID hides both; executed all the same they are what they are without the feature. */
	[EXIT_MWAIT] = { exit_undefined, 0 },
	[EXIT_MONITOR] = { exit_undefined, 0 },
	[EXIT_MONITOR_TRAP] = { exit_unexpected, ALL },
	[38] = { exit_unexpected, ALL },
	[EXIT_PAUSE] = { exit_skip, 0 },
	[42] = { exit_unexpected, ALL },
	/* Trap-like: RIP is already behind the instruction (SDM 3C 30.1.2). */
	[EXIT_TPR_BELOW_THRESHOLD] = { exit_reload, 0 },
	[EXIT_APIC_ACCESS] = { exit_unexpected, ALL },
	[EXIT_VIRTUALIZED_EOI] = { exit_unexpected, ALL },
	[EXIT_GDTR_IDTR_ACCESS] = { exit_unexpected, ALL },
	[EXIT_LDTR_TR_ACCESS] = { exit_unexpected, ALL },
	[EXIT_EPT_VIOLATION] = { exit_ept_violation, ALL | DELIVERY },
	[EXIT_EPT_MISCONFIGURATION] = { exit_unexpected, ALL },
	[EXIT_INVEPT] = { exit_undefined, 0 },
	[EXIT_RDTSCP] = { exit_unexpected, ALL },
	[EXIT_PREEMPTION_TIMER] = { exit_preemption_timer, 0 },
	[EXIT_INVVPID] = { exit_undefined, 0 },
	[EXIT_WBINVD] = { exit_skip, 0 },
	[EXIT_XSETBV] = { exit_xsetbv, 0 },
	[EXIT_APIC_WRITE] = { exit_unexpected, ALL },
	[EXIT_RDRAND] = { exit_unexpected, ALL },
	[EXIT_INVPCID] = { exit_unexpected, ALL },
	[EXIT_VMFUNC] = { exit_undefined, 0 },
	/* SGX is hidden. */
	[EXIT_ENCLS] = { exit_undefined, 0 },
	[EXIT_ENCLV] = { exit_undefined, 0 },
	[EXIT_RDSEED] = { exit_unexpected, ALL },
	[EXIT_PML_FULL] = { exit_unexpected, ALL | DELIVERY },
	[EXIT_XSAVES] = { exit_unexpected, ALL },
	[EXIT_XRSTORS] = { exit_unexpected, ALL },
	[EXIT_PCONFIG] = { exit_undefined, 0 },
	[EXIT_SPP_EVENT] = { exit_unexpected, ALL | DELIVERY },
	[EXIT_UMWAIT] = { exit_unexpected, ALL },
	[EXIT_TPAUSE] = { exit_unexpected, ALL },
	[EXIT_LOADIWKEY] = { exit_undefined, 0 },
	[71] = { exit_unexpected, ALL },
	[EXIT_ENQCMD_PASID] = { exit_undefined, 0 },
	[EXIT_ENQCMDS_PASID] = { exit_undefined, 0 },
	[EXIT_BUS_LOCK] = { exit_unexpected, ALL },
	[EXIT_NOTIFY] = { exit_unexpected, ALL },
};

static const char *const reason_names[EXIT_REASONS] = {
#define EXIT_REASON_NAME(name, number, text) [number] = text,
	EXIT_REASON_TABLE(EXIT_REASON_NAME)
#undef EXIT_REASON_NAME
};

const char *exit_reason_name(u32 reason)
{
	return reason < EXIT_REASONS ? reason_names[reason] : NULL;
}

enum exit_action exit_dispatch_extended(struct vcpu *vcpu, const struct exit_row *row)
{
	if (row->flags & EXIT_MAY_INTERRUPT_DELIVERY)
		event_requeue_interrupted(vcpu);
	return row->handler(vcpu);
}

/* Something may be injected now: the run loop decides and, if nothing waits, closes the window. */
static enum exit_action exit_reload(struct vcpu *vcpu)
{
	(void)vcpu;
	return EXIT_RELOAD;
}

static enum exit_action exit_undefined(struct vcpu *vcpu)
{
	return raise_ud(vcpu);
}

/* Instructions that do nothing here. */
static enum exit_action exit_skip(struct vcpu *vcpu)
{
	return complete_instruction(vcpu);
}

/* A reason whose control is off: the processor or this table is wrong. Ends that VM alone. */
static enum exit_action exit_unexpected(struct vcpu *vcpu)
{
	u32 reason = vmcs_read(VMCS_EXIT_REASON);
	const char *name = exit_reason_name(reason & 0xffff);

	log_error("vm %s: unexpected exit %#x (%s), qualification %#lx", vcpu->vm->config->name,
		reason, name ? name : "not defined", vmcs_read(VMCS_EXIT_QUALIFICATION));
	return vcpu_crash(vcpu);
}
