/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupt controllers and timers as payload kernels use them: LAPIC, IOAPIC, 8259 pair, 8254. */
#ifndef TESTS_GUEST_LIB_INTERRUPT_H
#define TESTS_GUEST_LIB_INTERRUPT_H

#include "hv/lib/types.h"

#define LAPIC_BASE  0xfee00000ull
#define IOAPIC_BASE 0xfec00000ull

/* Register offsets in the xAPIC page; x2APIC MSR is 0x800 + offset / 16. */
enum {
	LAPIC_ID = 0x20,
	LAPIC_VERSION = 0x30,
	LAPIC_TPR = 0x80,
	LAPIC_PPR = 0xa0,
	LAPIC_EOI = 0xb0,
	LAPIC_SVR = 0xf0,
	LAPIC_ISR = 0x100,
	LAPIC_TMR = 0x180,
	LAPIC_IRR = 0x200,
	LAPIC_ESR = 0x280,
	LAPIC_ICR = 0x300,
	LAPIC_ICR_HIGH = 0x310,
	LAPIC_LVT_TIMER = 0x320,
	LAPIC_LVT_LINT0 = 0x350,
	LAPIC_LVT_LINT1 = 0x360,
	LAPIC_LVT_ERROR = 0x370,
	LAPIC_TIMER_INITIAL = 0x380,
	LAPIC_TIMER_CURRENT = 0x390,
	LAPIC_TIMER_DIVIDE = 0x3e0,
};

#define LVT_MASKED	 BIT(16)
#define LVT_PERIODIC	 BIT(17)
#define LVT_TSC_DEADLINE BIT(18)
#define LVT_EXTINT	 0x700u
#define LVT_NMI		 0x400u
#define ICR_SELF	 (1u << 18)
#define ICR_ASSERT	 (1u << 14)
#define APIC_BASE_BSP	 BIT(8)
#define APIC_BASE_X2APIC BIT(10)
#define APIC_BASE_ENABLE BIT(11)

#define IRQ_BASE 0x30 /* vectors of the 8259 pair: 0x30 to 0x3f */

/* LAPIC on in xAPIC mode with everything masked, IOAPIC pins and 8259 masked, nothing pending. */
void interrupt_reset(void);

u32 lapic_read(u32 offset);
void lapic_write(u32 offset, u32 value);
void lapic_eoi(void);
/* Self-IPI, fixed. */
void lapic_self_ipi(u32 vector);
bool lapic_irr(u32 vector);
/* One-shot, divided by 16. ticks 0: off. */
void lapic_timer_start(u32 vector, u32 ticks);

u32 ioapic_read(u32 index);
void ioapic_write(u32 index, u32 value);
void ioapic_pin(u32 pin, u32 vector_and_mode); /* to APIC id 0 */

void pic_unmask(u32 irq);
void pic_mask_all(void);
void pic_eoi(u32 irq);
/* 8254 channel 0, mode 2 (periodic) or 0 (one-shot); count 0 is 65536. */
void pit_start(u32 mode, u16 count);

/* Waits with PAUSE until *counter >= wanted or about `ticks` TSC ticks went by; true if reached. */
bool wait_counter(const volatile u64 *counter, u64 wanted, u64 ticks);
#define WAIT_LONG 400000000ull /* TSC ticks; enough for any device here */

#endif
