// SPDX-License-Identifier: BSD-2-Clause
/*
 * Delivery of APIC messages: the system bus of SDM 3A 11.6.2. Called by ioapic.c and lapic.c.
 */
#include "hv/dev/apic_message.h"
#include "hv/dev/board.h"

#define BROADCAST8  0xffu
#define BROADCAST32 0xffffffffu

/* SDM 3A 11.6.2.2: flat or cluster model by DFR; 11.12.10.2: x2APIC has clusters of 16 only. */
static bool logical_match(const struct lapic *lapic, u32 destination)
{
	u32 ldr = lapic_register(lapic, LAPIC_LDR);

	if (lapic_mode(lapic) == LAPIC_X2APIC)
		return ldr >> 16 == destination >> 16 && (ldr & destination & 0xffff);
	ldr >>= 24;
	if (destination > 0xff)
		return false;
	if (lapic_register(lapic, LAPIC_DFR) >> 28 == 0xf)
		return ldr & destination;
	return ldr >> 4 == destination >> 4 && (ldr & destination & 0xf);
}

bool apic_is_addressed(const struct lapic *lapic, const struct apic_message *message)
{
	if (lapic_mode(lapic) == LAPIC_DISABLED)
		return false;
	if (message->destination == (message->wide ? BROADCAST32 : BROADCAST8))
		return true;
	if (message->logical)
		return logical_match(lapic, message->destination);
	return lapic->id == message->destination;
}

/* SDM 3A 11.6.2.4: the lowest processor priority wins; among equals it goes round. */
static bool deliver_lowest(struct platform *platform, const struct apic_message *message)
{
	u32 cpus = platform->config.cpus;
	struct lapic *best = NULL;

	for (u32 i = 0; i < cpus; i++) {
		struct lapic *lapic =
			&platform->lapics[(platform->lowest_priority_next + i) % cpus];

		if (!apic_is_addressed(lapic, message) || !lapic_software_enabled(lapic))
			continue;
		if (!best || lapic_ppr(lapic) < lapic_ppr(best))
			best = lapic;
	}
	if (!best)
		return false;
	platform->lowest_priority_next = best->id + 1;
	return lapic_receive(best, APIC_FIXED, message->vector, message->level);
}

bool apic_deliver(struct platform *platform, const struct apic_message *message)
{
	bool taken = false;

	if (message->mode == APIC_LOWEST_PRIORITY)
		return deliver_lowest(platform, message);
	for (u32 i = 0; i < platform->config.cpus; i++) {
		struct lapic *lapic = &platform->lapics[i];

		if (apic_is_addressed(lapic, message))
			taken |= lapic_receive(
				lapic, message->mode, message->vector, message->level);
	}
	return taken;
}
