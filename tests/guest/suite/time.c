// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area TIME: TSC, 8254, port 0x61, PM timer, RTC, LAPIC timer in its three modes. Every wait is
 * bounded.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"

#define PIT_CHANNEL0  0x40
#define PIT_CHANNEL2  0x42
#define PIT_CONTROL   0x43
#define PORT_61	      0x61
#define PORT_61_OUT2  0x20
#define PIT_HZ	      1193182ull
#define PM_TIMER_HZ   3579545ull
#define PM_TIMER_MASK 0xffffffu
#define VECTOR_TIMER  0x60

static u64 ticks_10ms; /* TSC ticks in 10 ms by the PIT; 0: not measured */

/* Channel 2, mode 0: the time until OUT2 rises, in TSC ticks; 0 if it does not. */
static u64 pit_measure(u16 count)
{
	u64 start;

	outb(PORT_61, (u8)((inb(PORT_61) & ~2) | 1));
	outb(PIT_CONTROL, 0xb0);
	outb(PIT_CHANNEL2, (u8)count);
	outb(PIT_CHANNEL2, (u8)(count >> 8));
	start = rdtsc();
	if (inb(PORT_61) & PORT_61_OUT2)
		return 0;
	while (rdtsc() - start < WAIT_LONG)
		if (inb(PORT_61) & PORT_61_OUT2)
			return rdtsc() - start;
	return 0;
}

CASE("BUG-23", "TIME", "pit-channel2-calibration", pit_calibration)
{
	u64 one = pit_measure(PIT_HZ / 100), two = pit_measure(PIT_HZ / 50);

	expect(one != 0 && two != 0, "OUT2 rises (10 ms: %lu, 20 ms: %lu ticks)", one, two);
	ticks_10ms = one;
	expect(two > one * 3 / 2 && two < one * 3, "20 ms is twice 10 ms: %lu and %lu ticks", two,
		one);
}

CASE("BUG-23", "TIME", "pit-latch-and-read-back", pit_latch)
{
	u32 first, second, status;

	outb(PIT_CONTROL, 0x34); /* channel 0, both bytes, mode 2 */
	outb(PIT_CHANNEL0, 0xff);
	outb(PIT_CHANNEL0, 0xff);
	for (u32 i = 0; i < 1000; i++)
		__asm__ volatile("pause");
	outb(PIT_CONTROL, 0x00); /* latch the count */
	first = inb(PIT_CHANNEL0);
	first |= (u32)inb(PIT_CHANNEL0) << 8;
	for (u64 start = rdtsc(); rdtsc() - start < 1000000;)
		__asm__ volatile("pause");
	outb(PIT_CONTROL, 0xd2); /* read-back: count of channel 0 */
	second = inb(PIT_CHANNEL0);
	second |= (u32)inb(PIT_CHANNEL0) << 8;
	expect(first != second, "the count moves: %x twice", first);
	outb(PIT_CONTROL, 0xe2); /* read-back: status of channel 0 */
	status = inb(PIT_CHANNEL0);
	expect_equal(status & 0x3f, 0x34, "status: access and mode");
	outb(PIT_CONTROL, 0xc2); /* status, then count */
	expect_equal(inb(PIT_CHANNEL0) & 0x3f, 0x34, "status before the latched count");
	first = inb(PIT_CHANNEL0);
	first |= (u32)inb(PIT_CHANNEL0) << 8;
	outb(PIT_CONTROL, 0x00);
	outb(PIT_CONTROL, 0x00); /* a second latch is ignored until the first is read */
	first = inb(PIT_CHANNEL0);
	first |= (u32)inb(PIT_CHANNEL0) << 8;
	expect(first <= 0xffff, "count");
}

CASE("BUG-23", "TIME", "port-61", port_61)
{
	u8 initial = inb(PORT_61), first;

	outb(PORT_61, (u8)((initial & 0xc) | 1));
	expect_equal(inb(PORT_61) & 3, 1, "gate and speaker bits");
	outb(PORT_61, (u8)((initial & 0xc) | 2));
	expect_equal(inb(PORT_61) & 3, 2, "gate and speaker bits");
	outb(PORT_61, initial & 0xf);
	first = inb(PORT_61) & 0x10; /* refresh toggle */
	for (u64 start = rdtsc(); rdtsc() - start < WAIT_LONG;)
		if ((inb(PORT_61) & 0x10) != first)
			return;
	case_fail("refresh bit 4 of port 0x61 never toggles");
}

CASE("BUG-23", "TIME", "pm-timer", pm_timer)
{
	u16 port = (u16)option_number("pmtimer", 0x608);
	u32 start = inl(port), ticks;
	u64 tsc, took;

	if (start == 0xffffffff || inl(port) > PM_TIMER_MASK)
		case_skip("no 24-bit PM timer at the port (option pmtimer=)");
	tsc = pit_measure(PIT_HZ / 100);
	start = inl(port);
	took = pit_measure(PIT_HZ / 100);
	ticks = (inl(port) - start) & PM_TIMER_MASK;
	expect(tsc && took, "PIT channel 2 works");
	expect(ticks > PM_TIMER_HZ / 120 && ticks < PM_TIMER_HZ / 40, "PM timer ticks in 10 ms: %u",
		ticks);
}

CASE("BUG-23", "TIME", "tsc-frequency-leaves", tsc_leaves)
{
	u64 measured = pit_measure(PIT_HZ / 100) * 100 / 1000, claimed;

	if (!under_torpor())
		case_skip("not under Torpor");
	if (cpuid(0x40000000, 0).eax < 0x40000010)
		case_skip("no leaf 0x40000010");
	claimed = cpuid(0x40000010, 0).eax; /* kHz */
	expect(claimed > measured * 9 / 10 && claimed < measured * 11 / 10,
		"leaf 0x40000010: %lu kHz, measured %lu kHz", claimed, measured);
}

CASE("BUG-23", "TIME", "tsc-monotonic", tsc_monotonic)
{
	u64 last = rdtsc();

	for (u32 i = 0; i < 20000; i++) {
		u64 now;

		if (i % 16 == 0)
			cpuid(0, 0);
		now = rdtsc();
		if (!expect(now > last, "TSC went from %lx to %lx", last, now))
			return;
		last = now;
	}
}

static u8 cmos(u8 index)
{
	outb(0x70, index);
	return inb(0x71);
}

CASE("BUG-23", "TIME", "rtc", rtc)
{
	u8 b = cmos(0xb);
	u64 start = rdtsc();

	expect_equal(cmos(0xd) & 0x80, 0x80, "RTC: valid RAM and time");
	while ((cmos(0xa) & 0x80) && rdtsc() - start < WAIT_LONG)
		;
	expect_equal(cmos(0xa) & 0x80, 0, "update in progress ends");
	if (!(b & 4))
		for (u8 i = 0; i < 10; i += 2)
			if (i != 4 && i != 6)
				expect((cmos(i) & 0xf) <= 9, "RTC register %u is BCD: %x", i,
					cmos(i));
	expect(cmos(8) >= 1 && cmos(8) <= 0x12, "month %x", cmos(8));
}

static bool count_timer(struct trap_frame *frame)
{
	(void)frame;
	lapic_eoi();
	return true;
}

CASE("BUG-60", "TIME", "lapic-one-shot", lapic_one_shot)
{
	trap_handle(VECTOR_TIMER, count_timer);
	sti();
	for (u32 i = 1; i <= 50; i++) {
		lapic_timer_start(VECTOR_TIMER, 1000 * i);
		if (!expect(wait_counter(&trap_counts[VECTOR_TIMER], i, WAIT_LONG),
			    "interrupt %u comes", i))
			return;
		expect_equal(lapic_read(LAPIC_TIMER_CURRENT), 0, "current count after it fired");
	}
	wait_counter(&trap_counts[VECTOR_TIMER], 51, 1000000);
	cli();
	expect_equal(trap_counts[VECTOR_TIMER], 50, "interrupts");
}

CASE("BUG-60", "TIME", "lapic-periodic", lapic_periodic)
{
	trap_handle(VECTOR_TIMER, count_timer);
	sti();
	lapic_timer_start(VECTOR_TIMER, 0);
	lapic_write(LAPIC_LVT_TIMER, VECTOR_TIMER | LVT_PERIODIC);
	lapic_write(LAPIC_TIMER_INITIAL, 10000);
	expect(wait_counter(&trap_counts[VECTOR_TIMER], 20, 4 * WAIT_LONG), "20 periods");
	lapic_write(LAPIC_TIMER_INITIAL, 0);
	cli();
}

CASE("BUG-60", "TIME", "lapic-masked", lapic_masked)
{
	trap_handle(VECTOR_TIMER, count_timer);
	sti();
	lapic_write(LAPIC_LVT_TIMER, VECTOR_TIMER | LVT_MASKED);
	lapic_write(LAPIC_TIMER_INITIAL, 1000);
	wait_counter(&trap_counts[VECTOR_TIMER], 1, 2000000);
	cli();
	expect_equal(trap_counts[VECTOR_TIMER], 0, "interrupts of a masked timer");
}

CASE("BUG-60", "TIME", "tsc-deadline", tsc_deadline)
{
	if (!cpuid_ecx(1, 24))
		case_skip("no TSC-deadline mode");
	trap_handle(VECTOR_TIMER, count_timer);
	sti();
	lapic_write(LAPIC_LVT_TIMER, VECTOR_TIMER | LVT_TSC_DEADLINE);
	for (u32 i = 1; i <= 50; i++) {
		u64 deadline = rdtsc() + 2000 * i;

		wrmsr(MSR_TSC_DEADLINE, deadline);
		if (!expect(wait_counter(&trap_counts[VECTOR_TIMER], i, WAIT_LONG), "deadline %u",
			    i))
			return;
		expect(rdtsc() >= deadline, "not early");
		/* Bochs 2.7 does not clear it (SDM 3A 11.5.4.1 does). */
		expect_equal(rdmsr(MSR_TSC_DEADLINE), 0, "MSR after it fired");
	}
	wrmsr(MSR_TSC_DEADLINE, rdtsc() + WAIT_LONG * 100);
	expect(rdmsr(MSR_TSC_DEADLINE) != 0, "armed");
	wrmsr(MSR_TSC_DEADLINE, 0);
	wrmsr(MSR_TSC_DEADLINE, 1); /* long past: fires at once */
	expect(wait_counter(&trap_counts[VECTOR_TIMER], 51, WAIT_LONG), "a deadline in the past");
	cli();
}

static bool count_pit(struct trap_frame *frame)
{
	(void)frame;
	pic_eoi(0);
	return true;
}

CASE("BUG-60", "TIME", "pit-through-pic", pit_pic)
{
	trap_handle(IRQ_BASE, count_pit);
	lapic_write(LAPIC_LVT_LINT0, LVT_EXTINT);
	pic_unmask(0);
	sti();
	pit_start(2, 1193);
	expect(wait_counter(&trap_counts[IRQ_BASE], 10, WAIT_LONG), "10 interrupts");
	cli();
	pic_mask_all();
}

CASE("BUG-60", "TIME", "pit-through-ioapic", pit_ioapic)
{
	trap_handle(VECTOR_TIMER, count_timer);
	ioapic_pin(2, VECTOR_TIMER);
	sti();
	pit_start(2, 1193);
	expect(wait_counter(&trap_counts[VECTOR_TIMER], 10, WAIT_LONG), "10 interrupts");
	cli();
	ioapic_pin(2, LVT_MASKED);
}
