// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupt controllers and timers for payload kernels (contract: interrupt.h). interrupt_reset()
 * runs before and after each case, with interrupts off.
 */
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/insn.h"

#define PIC1	     0x20
#define PIC2	     0xa0
#define PIT_CHANNEL0 0x40
#define PIT_CONTROL  0x43
#define DIVIDE_BY_16 3
#define REDIRECTION  0x10

static volatile u32 *lapic_register(u32 offset)
{
	return (volatile u32 *)(LAPIC_BASE + offset);
}

u32 lapic_read(u32 offset)
{
	return *lapic_register(offset);
}

void lapic_write(u32 offset, u32 value)
{
	*lapic_register(offset) = value;
}

void lapic_eoi(void)
{
	lapic_write(LAPIC_EOI, 0);
}

void lapic_self_ipi(u32 vector)
{
	lapic_write(LAPIC_ICR, ICR_SELF | ICR_ASSERT | vector);
}

static bool bit_set(u32 offset, u32 vector)
{
	return lapic_read(offset + vector / 32 * 16) >> vector % 32 & 1;
}

bool lapic_irr(u32 vector)
{
	return bit_set(LAPIC_IRR, vector);
}

void lapic_timer_start(u32 vector, u32 ticks)
{
	lapic_write(LAPIC_LVT_TIMER, vector | (ticks ? 0 : (u32)LVT_MASKED));
	lapic_write(LAPIC_TIMER_DIVIDE, DIVIDE_BY_16);
	lapic_write(LAPIC_TIMER_INITIAL, ticks);
}

u32 ioapic_read(u32 index)
{
	*(volatile u32 *)IOAPIC_BASE = index;
	return *(volatile u32 *)(IOAPIC_BASE + 0x10);
}

void ioapic_write(u32 index, u32 value)
{
	*(volatile u32 *)IOAPIC_BASE = index;
	*(volatile u32 *)(IOAPIC_BASE + 0x10) = value;
}

void ioapic_pin(u32 pin, u32 vector_and_mode)
{
	ioapic_write(REDIRECTION + pin * 2 + 1, lapic_read(LAPIC_ID));
	ioapic_write(REDIRECTION + pin * 2, vector_and_mode);
}

void pic_unmask(u32 irq)
{
	if (irq >= 8) {
		outb(PIC2 + 1, (u8)(inb(PIC2 + 1) & ~(1u << (irq - 8))));
		irq = 2;
	}
	outb(PIC1 + 1, (u8)(inb(PIC1 + 1) & ~(1u << irq)));
}

void pic_mask_all(void)
{
	outb(PIC1 + 1, 0xff);
	outb(PIC2 + 1, 0xff);
}

void pic_eoi(u32 irq)
{
	if (irq >= 8)
		outb(PIC2, 0x20);
	outb(PIC1, 0x20);
}

static void pic_reset(void)
{
	outb(PIC1, 0x11);
	outb(PIC1 + 1, IRQ_BASE);
	outb(PIC1 + 1, 4);
	outb(PIC1 + 1, 1);
	outb(PIC2, 0x11);
	outb(PIC2 + 1, IRQ_BASE + 8);
	outb(PIC2 + 1, 2);
	outb(PIC2 + 1, 1);
	pic_mask_all();
}

/* Any interrupt that a case left behind is taken and acknowledged here. */
static bool swallow(struct trap_frame *frame)
{
	if (frame->vector >= IRQ_BASE && frame->vector < IRQ_BASE + 16)
		pic_eoi((u32)frame->vector - IRQ_BASE);
	else
		lapic_eoi();
	return true;
}

static void drain(void)
{
	for (u32 vector = 0x20; vector < 256; vector++)
		if (vector != VECTOR_DONE)
			trap_handle(vector, swallow);
	for (u32 i = 0; i < 16; i++) /* in-service bits: highest first, one an EOI */
		lapic_eoi();
	sti();
	for (u32 i = 0; i < 16; i++)
		__asm__ volatile("pause");
	cli();
	trap_reset();
}

void interrupt_reset(void)
{
	u64 base = rdmsr(MSR_APIC_BASE);

	if (base & APIC_BASE_X2APIC) /* only by way of "disabled" (SDM 3A 11.12.5) */
		wrmsr(MSR_APIC_BASE, base & ~(APIC_BASE_X2APIC | APIC_BASE_ENABLE));
	wrmsr(MSR_APIC_BASE, LAPIC_BASE | (base & APIC_BASE_BSP) | APIC_BASE_ENABLE);
	pic_reset();
	outb(PIT_CONTROL, 0x30); /* channel 0: one-shot, not started until a count is written */
	lapic_write(LAPIC_SVR, 0x100 | VECTOR_SPURIOUS);
	lapic_write(LAPIC_TPR, 0);
	lapic_timer_start(VECTOR_SPURIOUS, 0);
	lapic_write(LAPIC_LVT_LINT0, LVT_MASKED | LVT_EXTINT);
	lapic_write(LAPIC_LVT_LINT1, LVT_MASKED | LVT_NMI);
	lapic_write(LAPIC_LVT_ERROR, LVT_MASKED);
	for (u32 pin = 0; pin < 24; pin++)
		ioapic_pin(pin, LVT_MASKED);
	drain();
}

void pit_start(u32 mode, u16 count)
{
	outb(PIT_CONTROL, (u8)(0x30 | mode << 1));
	outb(PIT_CHANNEL0, (u8)count);
	outb(PIT_CHANNEL0, (u8)(count >> 8));
}

bool wait_counter(const volatile u64 *counter, u64 wanted, u64 ticks)
{
	u64 start = rdtsc();

	while (*counter < wanted) {
		if (rdtsc() - start > ticks)
			return false;
		__asm__ volatile("pause");
	}
	return true;
}
