/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events towards a guest (SDM 3C 27.6, 3A 6.8 and 6.9): what waits to be injected, and the
 * decision, made before each entry through the run loop, what goes in now and which window is
 * opened for the rest.
 */
#ifndef VMX_EVENT_H
#define VMX_EVENT_H

#include "hv/lib/types.h"

struct vcpu;

/* Interruption types of the entry and exit interruption-information fields (SDM 3C 25.8.3). */
enum event_type {
	EVENT_EXTERNAL = 0,
	EVENT_NMI = 2,
	EVENT_HARDWARE_EXCEPTION = 3,
	EVENT_SOFTWARE_INTERRUPT = 4,
	EVENT_PRIVILEGED_SOFTWARE_EXCEPTION = 5, /* INT1 */
	EVENT_SOFTWARE_EXCEPTION = 6,		 /* INT3, INTO */
	EVENT_OTHER = 7,
};

#define EVENT_VALID		 BIT(31)
#define EVENT_ERROR_CODE	 BIT(11)
#define EVENT_TYPE(info)	 ((enum event_type)((info) >> 8 & 7))
#define EVENT_VECTOR(info)	 ((info)&0xff)
#define EVENT_INFO(type, vector) (EVENT_VALID | (u32)(type) << 8 | (u32)(vector))

/* Guest interruptibility state (SDM 3C table 25-3). */
#define BLOCKING_BY_STI	   BIT(0)
#define BLOCKING_BY_MOV_SS BIT(1)
#define BLOCKING_BY_NMI	   BIT(3)

/* Of NMIs that arrive while one is being handled the processor keeps one (SDM 3A 6.7.1). */
#define NMI_PENDING_MAX 2

struct event_state {
	/*
	 * An event in the layout of the entry interruption-information field; 0: none. It was
	 * queued by a handler or is what an exit interrupted, and goes in at the next entry.
	 */
	u32 info;
	u32 error_code;
	u32 instruction_length; /* of software events: how far the return address lies behind */
	u32 nmi_pending;
};

/* What the decision depends on, and what it is: pure, so that all of its states can be tried. */
struct event_inputs {
	bool event_queued; /* event_state.info is valid */
	bool nmi_pending;
	bool interrupt_pending; /* a vector above the processor priority waits */
	bool interrupt_flag;	/* RFLAGS.IF */
	bool debug_pending;	/* a debug trap waits: it comes before both (SDM 3A table 6-2) */
	u32 interruptibility;
};

struct event_decision {
	bool inject_event, inject_nmi, inject_interrupt;
	bool nmi_window, interrupt_window;
};

struct event_decision event_decide(const struct event_inputs *inputs);

/*
 * First thing in the handler of an exit that may have interrupted the delivery of an event
 * (SDM 3C 28.2.4): queues that event again.
 */
void event_requeue_interrupted(struct vcpu *vcpu);
/* The exit struck an IRET that had already unblocked NMIs (SDM 3C 28.2.3): blocks them again. */
void event_restore_nmi_blocking(void);
/* The instruction behind STI or MOV SS is over: nothing is held back any more. */
void event_clear_shadow(void);

/* An NMI for the guest; kept until it can be taken. */
void event_queue_nmi(struct vcpu *vcpu);

/*
 * Right before an entry: writes the injection fields, opens and closes windows, sets the TPR
 * threshold.
 */
void event_prepare_entry(struct vcpu *vcpu);

/*
 * True if the guest, were it halted, would go on: SDM 3A 9.10.1 (HLT ends on NMI or unmasked
 * interrupt).
 */
bool event_deliverable(struct vcpu *vcpu);

#endif
