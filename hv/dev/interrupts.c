// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupt lines of the board: each goes to the 8259 pair and to the I/O APIC, the 8259's INTR
 * goes to every LINT0; and the question what a vCPU would take now. Called by the devices
 * (board_irq) and by the run loop.
 */
#include "hv/dev/apic_message.h"
#include "hv/dev/board.h"

#define ISA_LINES 16
#define PIT_PIN	  2 /* where the MADT override has line 0 */

void board_interrupt_changed(struct platform *platform, u32 vcpu)
{
	const struct platform_host *host = &platform->config.host;

	host->interrupt_changed(host->context, vcpu);
}

void board_pic_changed(struct platform *platform)
{
	for (u32 i = 0; i < platform->config.cpus; i++) {
		struct lapic *lapic = &platform->lapics[i];

		lapic_set_lint0(lapic, platform->pic.intr);
		if (platform->pic.intr &&
			(lapic_takes_extint(lapic) || ioapic_passes_extint(platform, i)))
			board_interrupt_changed(platform, i);
	}
}

static void drive(struct platform *platform, u32 line)
{
	u32 lines = platform->device_lines | platform->test_lines;
	bool level = lines >> line & 1;
	bool intr = platform->pic.intr;

	if (line < ISA_LINES) {
		pic_set_line(&platform->pic, line, level);
		if (platform->pic.intr != intr)
			board_pic_changed(platform);
	}
	/* Pin 2 has line 0, and the test device's line 2 with it; pin 0 is the 8259's. */
	if (line == IRQ_PIT || line == PIT_PIN)
		ioapic_set_pin(platform, PIT_PIN, lines & (1u << IRQ_PIT | 1u << PIT_PIN));
	else
		ioapic_set_pin(platform, line, level);
}

static void set_line(struct platform *platform, u32 *lines, u32 line, bool level)
{
	u32 before = *lines;

	*lines = level ? before | 1u << line : before & ~(1u << line);
	if (*lines != before)
		drive(platform, line);
}

void board_irq(struct platform *platform, u32 line, bool level)
{
	set_line(platform, &platform->device_lines, line, level);
}

void board_test_irq(struct platform *platform, u32 line, bool level)
{
	set_line(platform, &platform->test_lines, line, level);
}

/* The 8259 interrupts this vCPU: through LINT0, a disabled APIC, or pin 0 of the I/O APIC. */
static bool extint(struct platform *platform, u32 vcpu)
{
	return platform->pic.intr && (lapic_takes_extint(&platform->lapics[vcpu]) ||
					     ioapic_passes_extint(platform, vcpu));
}

/* What pic_acknowledge() would answer, without the cycle. */
static u8 pic_peek(const struct platform *platform)
{
	struct pic copy = platform->pic;

	return pic_acknowledge(&copy);
}

int platform_interrupt_pending(struct platform *platform, u32 vcpu)
{
	int vector = lapic_deliverable(&platform->lapics[vcpu]);

	if (vector < 0 && extint(platform, vcpu))
		vector = pic_peek(platform);
	return vector;
}

int platform_interrupt_accept(struct platform *platform, u32 vcpu)
{
	int vector = lapic_accept(&platform->lapics[vcpu]);

	if (vector < 0 && extint(platform, vcpu)) {
		vector = pic_acknowledge(&platform->pic);
		board_pic_changed(platform);
	}
	return vector;
}

/* Delivery modes of redirection entries and LVTs, bits 10:8 (SDM 3A 11.5.1). */
#define DELIVERY(entry) ((entry) >> 8 & 7)
#define DELIVERY_NMI	4

bool platform_nmi_possible(const struct platform *platform, u32 vcpu)
{
	u32 lint0 = lapic_register(&platform->lapics[vcpu], LAPIC_LVT_LINT0);

	for (u32 pin = 0; pin < IOAPIC_PINS; pin++)
		if (!(platform->ioapic.pins[pin] & LVT_MASKED) &&
			DELIVERY(platform->ioapic.pins[pin]) == DELIVERY_NMI)
			return true;
	return !(lint0 & LVT_MASKED) && DELIVERY(lint0) == DELIVERY_NMI;
}
