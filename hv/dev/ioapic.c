// SPDX-License-Identifier: BSD-2-Clause
/*
 * The I/O APIC. Called by interrupts.c (pins), lapic.c (EOI) and platform.c (MMIO). A masked pin
 * forgets edges (82093AA "interrupt mask") and senses its level again when it is unmasked.
 */
#include "hv/dev/apic_message.h"
#include "hv/dev/board.h"

#define REG_SELECT 0x00
#define REG_WINDOW 0x10
#define REG_EOI	   0x40

#define INDEX_ID      0x00
#define INDEX_VERSION 0x01
#define INDEX_ARB     0x02
#define INDEX_TABLE   0x10

#define VERSION ((IOAPIC_PINS - 1) << 16 | 0x20)

#define RTE_VECTOR     0xffull
#define RTE_LOGICAL    BIT(11)
#define RTE_ACTIVE_LOW BIT(13)
#define RTE_REMOTE_IRR BIT(14)
#define RTE_LEVEL      BIT(15)
#define RTE_MASKED     BIT(16)
/* Delivery status (12) and remote IRR (14) are read-only. */
#define RTE_WRITABLE   (0xff0000000001ffffull & ~(BIT(12) | RTE_REMOTE_IRR))
#define RTE_MODE(rte)  ((u8)((rte) >> 8 & 7))

static struct apic_message message_of(u64 rte)
{
	return (struct apic_message){
		.destination = (u32)(rte >> 56),
		.logical = rte & RTE_LOGICAL,
		.mode = RTE_MODE(rte),
		.vector = (u8)rte,
		.level = rte & RTE_LEVEL,
	};
}

/* Sends what a pin has to say now. rising: it has just become asserted. */
static void service(struct platform *platform, u32 pin, bool rising)
{
	struct ioapic *ioapic = &platform->ioapic;
	u64 *rte = &ioapic->pins[pin];
	struct apic_message message = message_of(*rte);

	if ((*rte & RTE_MASKED) || !(ioapic->asserted & 1u << pin))
		return;
	/* Only fixed and lowest priority can be level triggered; ExtINT is asked for, not sent. */
	if (message.mode == APIC_EXTINT)
		return;
	message.level = message.level && message.mode <= APIC_LOWEST_PRIORITY;
	if (message.level ? (*rte & RTE_REMOTE_IRR) != 0 : !rising)
		return;
	if (apic_deliver(platform, &message) && message.level)
		*rte |= RTE_REMOTE_IRR;
}

/* Applies level and polarity to a pin. */
static void sense(struct platform *platform, u32 pin)
{
	struct ioapic *ioapic = &platform->ioapic;
	u32 bit = 1u << pin;
	u32 before = ioapic->asserted & bit;
	bool active_low = ioapic->pins[pin] & RTE_ACTIVE_LOW;

	if (((ioapic->lines & bit) != 0) != active_low)
		ioapic->asserted |= bit;
	else
		ioapic->asserted &= ~bit;
	service(platform, pin, !before);
}

void ioapic_set_pin(struct platform *platform, u32 pin, bool level)
{
	struct ioapic *ioapic = &platform->ioapic;

	if (level)
		ioapic->lines |= 1u << pin;
	else
		ioapic->lines &= ~(1u << pin);
	sense(platform, pin);
}

/*
 * A line that stays asserted comes again at every EOI. On a real machine the message takes its time
 * and the interrupted program gets a few instructions further; here the next interrupt would be in
 * before the first of them. So after STORM_LENGTH in a row the line rests for STORM_PAUSE_HZ's
 * period.
 */
#define STORM_LENGTH   1000
#define STORM_PAUSE_HZ 1000

static void pause_ends(void *context, u64 deadline_tsc)
{
	struct platform *platform = context;

	(void)deadline_tsc;
	for (u32 pin = 0; pin < IOAPIC_PINS; pin++)
		service(platform, pin, false);
}

static bool storms(struct platform *platform)
{
	struct ioapic *ioapic = &platform->ioapic;

	if (++ioapic->again <= STORM_LENGTH)
		return false;
	ioapic->again = 0;
	timer_arm(&platform->timers, &ioapic->pause,
		board_now(platform) + platform->config.tsc_hz / STORM_PAUSE_HZ);
	return true;
}

void ioapic_eoi(struct platform *platform, u8 vector)
{
	for (u32 pin = 0; pin < IOAPIC_PINS; pin++) {
		u64 *rte = &platform->ioapic.pins[pin];

		if (!(*rte & RTE_REMOTE_IRR) || (*rte & RTE_VECTOR) != vector)
			continue;
		*rte &= ~RTE_REMOTE_IRR;
		if (!(platform->ioapic.asserted & 1u << pin))
			platform->ioapic.again = 0;
		else if (!storms(platform))
			service(platform, pin, false);
	}
}

bool ioapic_passes_extint(struct platform *platform, u32 vcpu)
{
	u64 rte = platform->ioapic.pins[0];
	struct apic_message message = message_of(rte);

	return !(rte & RTE_MASKED) && message.mode == APIC_EXTINT &&
	       apic_is_addressed(&platform->lapics[vcpu], &message);
}

static void write_pin(struct platform *platform, u32 pin, u64 value, u64 mask)
{
	struct ioapic *ioapic = &platform->ioapic;
	u64 *rte = &ioapic->pins[pin];
	u64 old = *rte;

	mask &= RTE_WRITABLE;
	*rte = (old & ~mask) | (value & mask);
	/*
	 * Going to edge takes remote IRR along: the way to EOI a pin of chips without the register.
	 */
	if (!(*rte & RTE_LEVEL))
		*rte &= ~RTE_REMOTE_IRR;
	/* A new polarity is no edge. */
	if ((old ^ *rte) & RTE_ACTIVE_LOW)
		ioapic->asserted ^= 1u << pin;
	service(platform, pin, false);
	if (pin == 0)
		board_pic_changed(platform);
}

u32 ioapic_read(struct platform *platform, u32 offset)
{
	struct ioapic *ioapic = &platform->ioapic;
	u32 index = ioapic->select - INDEX_TABLE;

	if (offset == REG_SELECT)
		return ioapic->select;
	if (offset != REG_WINDOW)
		return 0xffffffff;
	if (ioapic->select >= INDEX_TABLE && index < 2 * IOAPIC_PINS)
		return (u32)(ioapic->pins[index / 2] >> (index & 1) * 32);
	switch (ioapic->select) {
	case INDEX_ID:
	case INDEX_ARB:
		return (u32)ioapic->id << 24;
	case INDEX_VERSION:
		return VERSION;
	default:
		return 0;
	}
}

void ioapic_write(struct platform *platform, u32 offset, u32 value)
{
	struct ioapic *ioapic = &platform->ioapic;
	u32 index = ioapic->select - INDEX_TABLE;

	if (offset == REG_SELECT) {
		ioapic->select = (u8)value;
	} else if (offset == REG_EOI) {
		ioapic_eoi(platform, (u8)value);
	} else if (offset == REG_WINDOW && ioapic->select == INDEX_ID) {
		ioapic->id = value >> 24 & 15;
	} else if (offset == REG_WINDOW && ioapic->select >= INDEX_TABLE &&
		   index < 2 * IOAPIC_PINS) {
		u32 shift = (index & 1) * 32;

		write_pin(platform, index / 2, (u64)value << shift, 0xffffffffull << shift);
	}
}

void ioapic_init(struct platform *platform)
{
	timer_init(&platform->ioapic.pause, pause_ends, platform);
}

void ioapic_reset(struct platform *platform)
{
	struct ioapic *ioapic = &platform->ioapic;

	timer_cancel(&platform->timers, &ioapic->pause);
	ioapic->select = 0;
	ioapic->id = IOAPIC_ID;
	ioapic->lines = 0;
	ioapic->asserted = 0;
	ioapic->again = 0;
	for (u32 pin = 0; pin < IOAPIC_PINS; pin++)
		ioapic->pins[pin] = RTE_MASKED;
}
