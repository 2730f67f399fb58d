// SPDX-License-Identifier: BSD-2-Clause
// The host's local APIC in both modes (BUG-44: firmware may have left either), and its timer.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "hv/acpi/madt.h"
#include "hv/cpu/hostapic.h"
#include "hv/cpu/irq.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/time.h"
#include "hv/mem/paging.h"

#define TSC_HZ	      1000000000ul
#define X2APIC	      BIT(21)
#define TSC_DEADLINE  BIT(24)
#define X2(reg)	      (MSR_X2APIC_FIRST + (reg) / 16)
#define COUNTED_IN_MS 25000u

static u32 local[1024]; /* the xAPIC page, plain memory */

u64 tsc_hz(void)
{
	return TSC_HZ;
}

void madt_read(u64 rsdp, struct madt_info *info)
{
	(void)rsdp;
	memset(info, 0, sizeof(*info));
}

/* There is a local APIC and no IOAPIC. */
void *mmio_map(hpa_t address, u64 size)
{
	assert_int_equal(size, PAGE_SIZE);
	return address.value == 0xfee00000 ? local : NULL;
}

static void start(u64 apic_base, u32 features)
{
	static const struct boot_info boot;
	struct cpuid_regs one;

	fake_cpu_reset();
	fake_cpu->tsc_step = 10;
	one = insn_cpuid(1, 0);
	one.ecx = (one.ecx & ~(X2APIC | TSC_DEADLINE)) | features;
	fake_cpuid_set_any(1, one);
	fake_msr(MSR_APIC_BASE)->value = apic_base;
	for (u32 reg = 0; reg < 0x400; reg += 16)
		fake_msr_set(X2(reg), 0, FAKE_MSR_ANY, 0);
	fake_msr(X2(0x20))->value = 0x12345;
	fake_msr(X2(0x390))->value = ~0u - COUNTED_IN_MS;
	memset(local, 0, sizeof(local));
	local[0x20 / 4] = 7u << 24;
	local[0x390 / 4] = ~0u - COUNTED_IN_MS;
	hostapic_init(&boot);
}

/* Firmware in xAPIC mode, in x2APIC mode, and with the APIC off. */
static void x2apic(void **state)
{
	static const u64 bases[] = { 0xfee00900, 0xfee00d00, 0xfee00100 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(bases); i++) {
		start(bases[i], X2APIC | TSC_DEADLINE);
		assert_int_equal(fake_msr(MSR_APIC_BASE)->value, 0xfee00d00);
		assert_int_equal(fake_msr(X2(0xf0))->value, 0x100 | IRQ_VECTOR_SPURIOUS);
		assert_int_equal(fake_msr(X2(0x80))->value, 0);
		assert_int_equal(fake_msr(X2(0x320))->value, BIT(18) | IRQ_VECTOR_TIMER);
		for (u32 lvt = 0x350; lvt <= 0x370; lvt += 16)
			assert_int_equal(fake_msr(X2(lvt))->value, BIT(16));
		assert_int_equal(hostapic_id(), 0x12345);
		hostapic_eoi();
		assert_int_equal(fake_msr(X2(0xb0))->writes, 1);
		assert_int_equal(local[0xf0 / 4], 0); /* the page is not touched */
	}
}

static void deadline_timer(void **state)
{
	static const struct {
		u64 deadline, written;
	} rows[] = { { 5000, 5000 }, { ~0ul, 0 }, { 0, 1 }, { 1, 1 }, { ~0ul - 1, ~0ul - 1 } };

	(void)state;
	start(0xfee00900, X2APIC | TSC_DEADLINE);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		host_timer_set(rows[i].deadline);
		assert_int_equal(fake_msr(MSR_TSC_DEADLINE)->value, rows[i].written);
	}
}

static void wake(struct fake_cpu *cpu)
{
	assert_true(cpu->interrupts_on);
	cpu->tsc += 1000;
}

static void idle(void **state)
{
	(void)state;
	start(0xfee00900, X2APIC | TSC_DEADLINE);
	fake_cpu->halted = wake;
	host_idle(123456);
	assert_int_equal(fake_msr(MSR_TSC_DEADLINE)->value, 123456);
	assert_false(fake_cpu->interrupts_on);
}

/* An older processor: registers in memory, a timer of unknown frequency that counts down. */
static void xapic(void **state)
{
	u64 now;

	(void)state;
	start(0xfee00800, 0);
	assert_int_equal(fake_msr(MSR_APIC_BASE)->value & BIT(10), 0);
	assert_int_equal(fake_msr(X2(0xf0))->writes, 0);
	assert_int_equal(local[0xf0 / 4], 0x100 | IRQ_VECTOR_SPURIOUS);
	assert_int_equal(local[0x320 / 4], IRQ_VECTOR_TIMER); /* one-shot, not masked */
	assert_int_equal(local[0x3e0 / 4], 0xb);
	assert_int_equal(hostapic_id(), 7);
	local[0xb0 / 4] = 1;
	hostapic_eoi();
	assert_int_equal(local[0xb0 / 4], 0);

	/* 1 ms is COUNTED_IN_MS; reading the TSC costs a few ticks. */
	now = fake_cpu->tsc;
	host_timer_set(now + TSC_HZ / 1000);
	assert_in_range(local[0x380 / 4], COUNTED_IN_MS - 10, COUNTED_IN_MS);
	host_timer_set(now + 100 * TSC_HZ);
	assert_in_range(local[0x380 / 4], 100000u * (COUNTED_IN_MS - 10), 100000u * COUNTED_IN_MS);
	host_timer_set(0); /* over: at once, and 0 would never fire */
	assert_int_equal(local[0x380 / 4], 1);
	host_timer_set(~0ul);
	assert_int_equal(local[0x380 / 4], 0);
	host_timer_set(~0ul - 1); /* longer than the counter: as long as it can */
	assert_int_equal(local[0x380 / 4], ~0u);
}

/* Without an IOAPIC nothing is routed, and nothing breaks. */
static void no_ioapic(void **state)
{
	(void)state;
	start(0xfee00900, X2APIC | TSC_DEADLINE);
	assert_false(hostapic_route_isa(4, IRQ_VECTOR_SERIAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x2apic),
		cmocka_unit_test(deadline_timer),
		cmocka_unit_test(idle),
		cmocka_unit_test(no_ioapic),
		cmocka_unit_test(xapic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
