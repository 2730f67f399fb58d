/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between APICs: what the I/O APIC and a local APIC's ICR send, and who is meant (SDM
 * 3A 11.6.2).
 */
#ifndef HV_DEV_APIC_MESSAGE_H
#define HV_DEV_APIC_MESSAGE_H

#include "hv/lib/types.h"

struct lapic;
struct platform;

/* Delivery modes of ICR, LVT and redirection table. */
enum apic_delivery {
	APIC_FIXED = 0,
	APIC_LOWEST_PRIORITY = 1,
	APIC_SMI = 2,
	APIC_NMI = 4,
	APIC_INIT = 5,
	APIC_STARTUP = 6,
	APIC_EXTINT = 7,
};

struct apic_message {
	u32 destination;
	bool wide;    /* destination has 32 bits (sent by an x2APIC), else 8 */
	bool logical; /* by LDR, else by APIC id */
	bool level;   /* level triggered: sets TMR */
	u8 mode;      /* enum apic_delivery */
	u8 vector;
};

/* Whether the message's destination names this APIC; a disabled APIC hears nothing. */
bool apic_is_addressed(const struct lapic *lapic, const struct apic_message *message);
/* Delivers to all that are addressed (lowest priority: to one). True if anyone took it. */
bool apic_deliver(struct platform *platform, const struct apic_message *message);

#endif
