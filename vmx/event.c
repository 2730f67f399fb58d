// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event injection. Handlers queue exceptions here; the run loop calls event_prepare_entry() before
 * each entry that passes through it. Interrupts off, VMCS current.
 */
#include "vmx/event.h"

#include "hv/cpu/registers.h"
#include "hv/dev/lapic.h"
#include "hv/dev/platform.h"
#include "hv/lib/log.h"
#include "hv/vm/vm.h"
#include "vmx/controls.h"
#include "vmx/exit.h"

/* Pending debug exceptions (SDM 3C table 25-4): an enabled breakpoint was met, a single step. */
#define PENDING_DEBUG_TRAPS (BIT(12) | BIT(14))

enum fault_class { BENIGN, CONTRIBUTORY, PAGE_FAULT, DOUBLE_FAULT };

/* SDM 3A table 6-4. */
static enum fault_class fault_class(u32 vector)
{
	switch (vector) {
	case VECTOR_DE:
	case VECTOR_TS:
	case VECTOR_NP:
	case VECTOR_SS:
	case VECTOR_GP:
	case VECTOR_CP:
		return CONTRIBUTORY;
	case VECTOR_PF:
	case VECTOR_VE:
		return PAGE_FAULT;
	case VECTOR_DF:
		return DOUBLE_FAULT;
	default:
		return BENIGN;
	}
}

/*
 * Exceptions that report the instruction itself, to be run again with RFLAGS.RF set (SDM 3B
 * 18.3.1.1).
 */
static bool is_fault(u32 vector)
{
	return vector != VECTOR_DB && vector != VECTOR_BP && vector != VECTOR_OF &&
	       vector != VECTOR_DF && vector != VECTOR_MC;
}

void event_clear_shadow(void)
{
	u32 blocking = vmcs_read(VMCS_GUEST_INTERRUPTIBILITY);

	if (blocking & (BLOCKING_BY_STI | BLOCKING_BY_MOV_SS))
		vmcs_write(VMCS_GUEST_INTERRUPTIBILITY,
			blocking & ~(BLOCKING_BY_STI | BLOCKING_BY_MOV_SS));
}

/* SDM 3A table 6-5: what becomes of an exception raised while another was being delivered. */
static enum exit_action combine(struct vcpu *vcpu, enum vector *vector, s64 *error_code)
{
	enum fault_class first = BENIGN, second = fault_class(*vector);

	if ((vcpu->events.info & EVENT_VALID) &&
		EVENT_TYPE(vcpu->events.info) == EVENT_HARDWARE_EXCEPTION)
		first = fault_class(EVENT_VECTOR(vcpu->events.info));

	if (first == DOUBLE_FAULT && second != BENIGN) {
		log_error("vm %s: triple fault (vector %u while #DF was delivered)",
			vcpu->vm->config->name, *vector);
		return vcpu_crash(vcpu);
	}
	if ((first == CONTRIBUTORY && second == CONTRIBUTORY) ||
		(first == PAGE_FAULT && (second == CONTRIBUTORY || second == PAGE_FAULT))) {
		*vector = VECTOR_DF;
		*error_code = 0;
	}
	return EXIT_RESUME;
}

enum exit_action raise_exception(struct vcpu *vcpu, enum vector vector, s64 error_code)
{
	enum exit_action action = combine(vcpu, &vector, &error_code);

	if (action != EXIT_RESUME)
		return action;
	if (is_fault(vector))
		vmcs_write(VMCS_GUEST_RFLAGS, vmcs_read(VMCS_GUEST_RFLAGS) | RFLAGS_RF);
	event_clear_shadow();
	vcpu->events.info = EVENT_INFO(EVENT_HARDWARE_EXCEPTION, vector);
	/* Real-address mode pushes no error codes; the entry check insists (SDM 3C 27.2.1.3). */
	if (error_code != NO_ERROR_CODE && (vmcs_read(VMCS_GUEST_CR0) & CR0_PE)) {
		vcpu->events.info |= EVENT_ERROR_CODE;
		vcpu->events.error_code = error_code;
	}
	vcpu->events.instruction_length = 0;
	vcpu->pending |= PENDING_EVENT;
	return EXIT_RESUME;
}

enum exit_action raise_page_fault(struct vcpu *vcpu, gva_t address, u32 error_code)
{
	/* The host takes no page faults of its own: CR2 is the guest's. */
	insn_write_cr2(address.value);
	return raise_exception(vcpu, VECTOR_PF, error_code);
}

void event_restore_nmi_blocking(void)
{
	vmcs_write(VMCS_GUEST_INTERRUPTIBILITY,
		vmcs_read(VMCS_GUEST_INTERRUPTIBILITY) | BLOCKING_BY_NMI);
}

void event_requeue_interrupted(struct vcpu *vcpu)
{
	u32 info = vmcs_read(VMCS_IDT_VECTORING_INFO);

	if (!(info & EVENT_VALID))
		return;
	/* Bit 12 is undefined here and must be 0 at entry (SDM 3C 25.8.3, 25.9.3). */
	vcpu->events.info = info & (EVENT_VALID | EVENT_ERROR_CODE | 0x7ff);
	if (info & EVENT_ERROR_CODE)
		vcpu->events.error_code = vmcs_read(VMCS_IDT_VECTORING_ERROR_CODE);
	switch (EVENT_TYPE(info)) {
	case EVENT_SOFTWARE_INTERRUPT:
	case EVENT_SOFTWARE_EXCEPTION:
	case EVENT_PRIVILEGED_SOFTWARE_EXCEPTION:
		vcpu->events.instruction_length = vmcs_read(VMCS_EXIT_INSTRUCTION_LENGTH);
		break;
	case EVENT_NMI:
		/* Its delivery set the blocking that would now refuse it (SDM 3C 27.3.1.5). */
		vmcs_write(VMCS_GUEST_INTERRUPTIBILITY,
			vmcs_read(VMCS_GUEST_INTERRUPTIBILITY) & ~BLOCKING_BY_NMI);
		break;
	default:
		break;
	}
	vcpu->pending |= PENDING_EVENT;
}

void event_queue_nmi(struct vcpu *vcpu)
{
	if (vcpu->events.nmi_pending < NMI_PENDING_MAX)
		vcpu->events.nmi_pending++;
	vcpu->pending |= PENDING_EVENT;
}

struct event_decision event_decide(const struct event_inputs *in)
{
	/* STI blocks NMIs too on some processors, and entry checks may insist (SDM 3C 27.3.1.5). */
	bool shadow = in->interruptibility & (BLOCKING_BY_STI | BLOCKING_BY_MOV_SS);
	bool shut = shadow || in->debug_pending;
	bool nmi_open = !shut && !(in->interruptibility & BLOCKING_BY_NMI);
	bool interrupt_open = !shut && in->interrupt_flag;
	struct event_decision out = { 0 };

	out.inject_event = in->event_queued;
	out.inject_nmi = !out.inject_event && in->nmi_pending && nmi_open;
	out.inject_interrupt =
		!out.inject_event && !out.inject_nmi && in->interrupt_pending && interrupt_open;
	out.nmi_window = in->nmi_pending && !out.inject_nmi;
	out.interrupt_window = in->interrupt_pending && !out.inject_interrupt;
	return out;
}

static struct event_inputs gather(struct vcpu *vcpu)
{
	struct event_inputs in = {
		.event_queued = vcpu->events.info & EVENT_VALID,
		.nmi_pending = vcpu->events.nmi_pending > 0,
		.interrupt_pending = platform_interrupt_pending(vcpu->vm->platform, vcpu->id) >= 0,
	};

	if (in.nmi_pending || in.interrupt_pending) {
		in.interrupt_flag = vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_IF;
		in.interruptibility = vmcs_read(VMCS_GUEST_INTERRUPTIBILITY);
		in.debug_pending = vmcs_read(VMCS_GUEST_PENDING_DEBUG) & PENDING_DEBUG_TRAPS;
	}
	return in;
}

static void inject_queued(struct event_state *events)
{
	if (events->info & EVENT_ERROR_CODE)
		vmcs_write(VMCS_ENTRY_ERROR_CODE, events->error_code);
	switch (EVENT_TYPE(events->info)) {
	case EVENT_SOFTWARE_INTERRUPT:
	case EVENT_SOFTWARE_EXCEPTION:
	case EVENT_PRIVILEGED_SOFTWARE_EXCEPTION:
		vmcs_write(VMCS_ENTRY_INSTRUCTION_LENGTH, events->instruction_length);
		break;
	default:
		break;
	}
	vmcs_write(VMCS_ENTRY_INTERRUPTION_INFO, events->info);
	events->info = 0;
}

static void set_windows(struct vcpu *vcpu, const struct event_decision *decision)
{
	u32 controls = vcpu->primary_controls & ~(PRIMARY_INTERRUPT_WINDOW | PRIMARY_NMI_WINDOW);

	if (decision->interrupt_window)
		controls |= PRIMARY_INTERRUPT_WINDOW;
	if (decision->nmi_window)
		controls |= PRIMARY_NMI_WINDOW;
	if (controls == vcpu->primary_controls)
		return;
	vcpu->primary_controls = controls;
	vmcs_write(VMCS_PRIMARY_CONTROLS, controls);
}

void event_prepare_entry(struct vcpu *vcpu)
{
	struct event_inputs inputs = gather(vcpu);
	struct event_decision decision = event_decide(&inputs);

	if (decision.inject_event) {
		inject_queued(&vcpu->events);
	} else if (decision.inject_nmi) {
		vcpu->events.nmi_pending--;
		vmcs_write(VMCS_ENTRY_INTERRUPTION_INFO, EVENT_INFO(EVENT_NMI, VECTOR_NMI));
		decision.nmi_window = vcpu->events.nmi_pending > 0;
	} else if (decision.inject_interrupt) {
		int vector = platform_interrupt_accept(vcpu->vm->platform, vcpu->id);

		vmcs_write(VMCS_ENTRY_INTERRUPTION_INFO, EVENT_INFO(EVENT_EXTERNAL, vector));
		decision.interrupt_window =
			platform_interrupt_pending(vcpu->vm->platform, vcpu->id) >= 0;
	}
	set_windows(vcpu, &decision);
	if (vcpu->primary_controls & PRIMARY_TPR_SHADOW) {
		u32 threshold = lapic_tpr_threshold(vcpu->lapic);

		if (threshold != vcpu->tpr_threshold) {
			vcpu->tpr_threshold = threshold;
			vmcs_write(VMCS_TPR_THRESHOLD, threshold);
		}
	}
}

bool event_deliverable(struct vcpu *vcpu)
{
	struct event_inputs inputs = gather(vcpu);
	struct event_decision decision = event_decide(&inputs);

	/* A single step over HLT traps at once: the processor never sleeps (SDM 3B 18.3.1.4). */
	return decision.inject_event || decision.inject_nmi || decision.inject_interrupt ||
	       (vmcs_read(VMCS_GUEST_PENDING_DEBUG) & PENDING_DEBUG_TRAPS);
}
