/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events towards a guest (SDM 3C 27.8, 3A 6.8 and 6.9): what waits to be injected, and the decision, made
 * before each entry through the run loop, what goes in now and which window is opened for the rest.
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

#define EVENT_VALID	 BIT(31)
#define EVENT_ERROR_CODE BIT(11)

struct event_state {
	/* An event in the layout of the entry interruption-information field; 0: none. It was queued
	 * by a handler or is what an exit interrupted, and goes in at the next entry. */
	u32 info;
	u32 error_code;
	u32 instruction_length;
	u32 nmi_pending; /* 0..2: one being held while another is blocked (SDM 3A 6.7.1) */
};

#endif
