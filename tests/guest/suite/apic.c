// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area APIC, what one CPU can show: modes, TPR and CR8, priorities, IOAPIC registers (SDM 3A 11).
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"

#define VECTOR_LOW	   0x51
#define VECTOR_HIGH	   0x71
#define X2APIC_MSR(offset) (0x800 + (offset) / 16)

static u64 order[4];
static u32 taken;

static bool log_order(struct trap_frame *frame)
{
	if (taken < ARRAY_SIZE(order))
		order[taken] = frame->vector;
	taken++;
	lapic_eoi();
	return true;
}

static void pause_a_little(void)
{
	for (u32 i = 0; i < 200; i++)
		__asm__ volatile("pause");
}

CASE("BUG-45", "APIC", "cr8-is-tpr-high", apic_cr8)
{
	for (u64 value = 0; value < 16; value++) {
		expect_equal((u64)try_write_cr8(value), (u64)NO_FAULT, "CR8=%lx", value);
		expect_equal(read_cr8(), value, "CR8 read back");
		expect_equal(lapic_read(LAPIC_TPR) & 0xff, value << 4, "TPR with CR8=%lx", value);
	}
	for (u32 tpr = 0; tpr < 256; tpr++) {
		lapic_write(LAPIC_TPR, tpr);
		expect_equal(read_cr8(), tpr >> 4, "CR8 with TPR=%x", tpr);
		expect_equal(lapic_read(LAPIC_TPR) & 0xff, tpr, "TPR read back");
	}
	lapic_write(LAPIC_TPR, 0);
	for (u32 bit = 4; bit < 64; bit++)
		expect_equal((u64)try_write_cr8(BIT(bit)), GP, "CR8 bit %u", bit);
	expect_equal(read_cr8(), 0, "CR8 after refused writes");
}

CASE("BUG-45", "APIC", "tpr-holds-and-releases", apic_tpr)
{
	taken = 0;
	trap_handle(VECTOR_LOW, log_order);
	trap_handle(VECTOR_HIGH, log_order);
	write_cr8(6);
	sti();
	lapic_self_ipi(VECTOR_LOW);
	lapic_self_ipi(VECTOR_HIGH);
	pause_a_little();
	expect_equal(taken, 1, "interrupts above the TPR");
	expect_equal(order[0], VECTOR_HIGH, "first");
	expect(lapic_irr(VECTOR_LOW), "the low one waits");
	write_cr8(5);
	pause_a_little();
	expect_equal(taken, 1, "same class is held back");
	write_cr8(0);
	pause_a_little();
	cli();
	expect_equal(taken, 2, "TPR=0 releases it");
	expect_equal(order[1], VECTOR_LOW, "second");
}

static u64 ppr_inside;

static bool nest(struct trap_frame *frame)
{
	if (taken < ARRAY_SIZE(order))
		order[taken] = frame->vector;
	taken++;
	if (frame->vector == VECTOR_HIGH) {
		ppr_inside = lapic_read(LAPIC_PPR) & 0xff;
		lapic_self_ipi(VECTOR_LOW); /* below what is in service: waits for our EOI */
		sti();
		pause_a_little();
		cli();
		expect_equal(taken, 1, "lower vector during service of a higher");
	}
	lapic_eoi();
	return true;
}

CASE("BUG-45", "APIC", "priority-and-eoi", apic_priority)
{
	taken = 0;
	trap_handle(VECTOR_LOW, nest);
	trap_handle(VECTOR_HIGH, nest);
	sti();
	lapic_self_ipi(VECTOR_HIGH);
	pause_a_little();
	cli();
	expect_equal(taken, 2, "interrupts");
	expect_equal(order[1], VECTOR_LOW, "the lower one comes after EOI");
	expect_equal(ppr_inside, VECTOR_HIGH & 0xf0, "PPR in service");
	expect_equal(lapic_read(LAPIC_PPR) & 0xff, 0, "PPR at the end");
}

/*
 * Bare Bochs takes no write of APIC_BASE any more once the APIC was disabled, which is the only way
 * back from x2APIC: there these cases run only if asked for (x2apic=1), and nothing after them
 * works.
 */
static void need_x2apic(void)
{
	if (!cpuid_ecx(1, 21))
		case_skip("no x2APIC");
	if (!cpuid_ecx(1, 31) && !option_number("x2apic", 0))
		case_skip("bare Bochs cannot leave x2APIC mode");
}

CASE("BUG-44", "APIC", "mode-transitions", apic_modes)
{
	u64 base = rdmsr(MSR_APIC_BASE), id, value = 0;
	u64 off = base & ~(APIC_BASE_ENABLE | APIC_BASE_X2APIC), xapic = off | APIC_BASE_ENABLE;
	u64 x2apic = xapic | APIC_BASE_X2APIC;

	need_x2apic();
	id = lapic_read(LAPIC_ID) >> 24;
	expect_equal((u64)try_rdmsr(X2APIC_MSR(LAPIC_ID), &value), GP, "x2APIC MSR in xAPIC mode");
	expect_equal((u64)try_wrmsr(MSR_APIC_BASE, off | APIC_BASE_X2APIC), GP, "EXTD without EN");
	expect_equal((u64)try_wrmsr(MSR_APIC_BASE, x2apic), (u64)NO_FAULT, "xAPIC to x2APIC");
	expect_equal(rdmsr(MSR_APIC_BASE), x2apic, "APIC_BASE in x2APIC mode");
	expect_equal((u64)try_rdmsr(X2APIC_MSR(LAPIC_ID), &value), (u64)NO_FAULT, "x2APIC ID");
	expect_equal(value, id, "ID is the same");
	expect_equal((u64)try_wrmsr(X2APIC_MSR(LAPIC_ID), 0), GP, "x2APIC ID is read-only");
	expect_equal((u64)try_wrmsr(X2APIC_MSR(LAPIC_TPR), 0x100), GP, "x2APIC TPR reserved bit");
	expect_equal((u64)try_wrmsr(X2APIC_MSR(LAPIC_TPR), 0x50), (u64)NO_FAULT, "x2APIC TPR");
	expect_equal(read_cr8(), 5, "CR8 in x2APIC mode");
	wrmsr(X2APIC_MSR(LAPIC_TPR), 0);
	expect_equal((u64)try_wrmsr(X2APIC_MSR(LAPIC_EOI), 1), GP, "x2APIC EOI of 1");
	expect_equal((u64)try_rdmsr(X2APIC_MSR(LAPIC_EOI), &value), GP, "x2APIC EOI is write-only");
	expect_equal((u64)try_rdmsr(0x831, &value), GP, "there is no ICR_HIGH");
	expect_equal((u64)try_rdmsr(0x80e, &value), GP, "there is no DFR");
	expect_equal((u64)try_wrmsr(MSR_APIC_BASE, xapic), GP, "x2APIC straight to xAPIC");
	expect_equal((u64)try_wrmsr(MSR_APIC_BASE, off), (u64)NO_FAULT, "x2APIC to disabled");
	expect_equal((u64)try_wrmsr(MSR_APIC_BASE, x2apic), GP, "disabled straight to x2APIC");
	expect_equal((u64)try_wrmsr(MSR_APIC_BASE, xapic), (u64)NO_FAULT, "disabled to xAPIC");
	expect_equal(rdmsr(MSR_APIC_BASE), xapic, "APIC_BASE");
	expect_equal(lapic_read(LAPIC_ID) >> 24, id, "ID by MMIO");
	expect_equal(lapic_read(LAPIC_SVR) & 0x1ff, 0xff, "SVR as after reset");
}

static bool count_x2(struct trap_frame *frame)
{
	(void)frame;
	wrmsr(X2APIC_MSR(LAPIC_EOI), 0);
	return true;
}

CASE("BUG-44", "APIC", "x2apic-self-ipi-and-timer", apic_x2_interrupts)
{
	need_x2apic();
	wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | APIC_BASE_X2APIC);
	trap_handle(VECTOR_LOW, count_x2);
	sti();
	wrmsr(0x83f, VECTOR_LOW);
	expect(wait_counter(&trap_counts[VECTOR_LOW], 1, WAIT_LONG), "SELF_IPI");
	wrmsr(X2APIC_MSR(LAPIC_LVT_TIMER), VECTOR_LOW);
	wrmsr(X2APIC_MSR(LAPIC_TIMER_INITIAL), 1000);
	expect(wait_counter(&trap_counts[VECTOR_LOW], 2, WAIT_LONG), "timer");
	wrmsr(X2APIC_MSR(LAPIC_ICR), ICR_SELF | ICR_ASSERT | VECTOR_LOW);
	expect(wait_counter(&trap_counts[VECTOR_LOW], 3, WAIT_LONG), "ICR to self");
	cli();
}

CASE("BUG-44", "APIC", "software-disable", apic_software_disable)
{
	lapic_write(LAPIC_LVT_TIMER, VECTOR_LOW);
	lapic_write(LAPIC_SVR, 0xff); /* bit 8 clear: all LVTs are masked (SDM 3A 11.4.7.2) */
	expect_equal(lapic_read(LAPIC_LVT_TIMER) & LVT_MASKED, LVT_MASKED, "LVT timer mask");
	lapic_write(LAPIC_LVT_TIMER, VECTOR_LOW);
	expect_equal(
		lapic_read(LAPIC_LVT_TIMER) & LVT_MASKED, LVT_MASKED, "mask cannot be cleared");
	lapic_write(LAPIC_SVR, 0x1ff);
	lapic_write(LAPIC_LVT_TIMER, VECTOR_LOW);
	expect_equal(lapic_read(LAPIC_LVT_TIMER) & LVT_MASKED, 0, "mask clears when enabled");
	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED);
}

CASE("BUG-44", "APIC", "ioapic-registers", apic_ioapic)
{
	u32 version = ioapic_read(1), pins = (version >> 16 & 0xff) + 1;

	expect(pins >= 16 && pins <= 240, "pins %u", pins);
	expect((version & 0xff) >= 0x10, "version %x", version & 0xff);
	for (u32 pin = 0; pin < pins; pin++) {
		ioapic_write(0x10 + pin * 2, 0xffffffff);
		/* delivery status and remote IRR are read-only, bits from 17 on reserved */
		expect_equal(ioapic_read(0x10 + pin * 2) & 0x1afff, 0x1afff, "pin %u", pin);
		ioapic_write(0x11 + pin * 2, 0x05000000);
		expect_equal(ioapic_read(0x11 + pin * 2), 0x05000000, "destination of pin %u", pin);
		ioapic_write(0x10 + pin * 2, LVT_MASKED);
	}
}
