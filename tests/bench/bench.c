// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench.elf: what each kind of exit costs, in TSC ticks. For every kind the operation is timed N
 * times (option n=, default 1000) with RDTSC on both sides, and minimum and median are printed less
 * the cost of the two RDTSCs alone: "BENCH kind min median". Options: pmtimer=PORT (default 0x608).
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/string.h"

#define SAMPLES_MAX	10000
#define SAMPLES_DEFAULT 1000
#define PORT_UNCLAIMED	0x1234
#define PIT_CHANNEL0	0x40

void __noreturn guest_main(u32 magic, u32 info);

static u16 pm_timer;
static u32 random_state = 1;
static u32 samples[SAMPLES_MAX];

static u32 next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

static void op_nothing(void) {}

static void op_cpuid(void)
{
	cpuid(0, 0);
}

static void op_cpuid_random(void)
{
	/* Leaves below 0x20 and extended ones, each with an arbitrary subleaf. */
	u32 r = next_random();

	cpuid((r & 0x1f) | (r & 0x20 ? 0x80000000 : 0), r >> 6 & 3);
}

static void op_vmcall(void)
{
	u64 rax = 0;

	__asm__ volatile("vmcall" : "+a"(rax)::"memory");
}

static void op_cr8(void)
{
	write_cr8(read_cr8());
}

static void op_cr0_wp(void)
{
	write_cr0(read_cr0() ^ CR0_WP);
}

static void op_rdmsr(void)
{
	rdmsr(MSR_APIC_BASE);
}

static void op_wrmsr(void)
{
	wrmsr(MSR_TSC_DEADLINE, 0);
}

static void op_wrmsr_pat(void)
{
	wrmsr(MSR_PAT, 0x0007040600070406);
}

static void op_in_pm_timer(void)
{
	inl(pm_timer);
}

static void op_in_pit(void)
{
	inb(PIT_CHANNEL0);
}

static void op_out_unhandled(void)
{
	outl(PORT_UNCLAIMED, 0);
}

static void op_mmio_ioapic(void)
{
	ioapic_read(1);
}

static void op_mmio_lapic(void)
{
	lapic_read(LAPIC_VERSION);
}

static void op_self_ipi(void)
{
	lapic_self_ipi(VECTOR_SPURIOUS - 0x10);
	sti();
	cli();
}

static bool eoi(struct trap_frame *frame)
{
	(void)frame;
	lapic_eoi();
	return true;
}

static const struct kind {
	const char *name;
	void (*run)(void);
	bool needs_torpor;
} kinds[] = {
	{ "cpuid", op_cpuid },
	{ "cpuid_random", op_cpuid_random },
	{ "vmcall", op_vmcall, true },
	{ "cr8", op_cr8 },
	{ "cr0_wp", op_cr0_wp },
	{ "rdmsr", op_rdmsr },
	{ "wrmsr", op_wrmsr_pat },
	{ "wrmsr_tsc_deadline", op_wrmsr },
	{ "in_pm_timer", op_in_pm_timer },
	{ "in_pit", op_in_pit },
	{ "out_unhandled", op_out_unhandled },
	{ "mmio_ioapic", op_mmio_ioapic },
	{ "mmio_lapic", op_mmio_lapic },
	{ "self_ipi", op_self_ipi },
};

static void sort(u32 *values, u32 count)
{
	for (u32 gap = count / 2; gap; gap /= 2)
		for (u32 i = gap; i < count; i++) {
			u32 value = values[i], j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap)
				values[j] = values[j - gap];
			values[j] = value;
		}
}

/* Minimum and median of the plain differences. */
static void measure(void (*run)(void), u32 count, u64 *min, u64 *median)
{
	for (u32 i = 0; i < count; i++) {
		u64 start = rdtsc();

		run();
		samples[i] = (u32)MIN(rdtsc() - start, 0xffffffffull);
	}
	sort(samples, count);
	*min = samples[0];
	*median = samples[count / 2];
}

static u64 less(u64 value, u64 overhead)
{
	return value > overhead ? value - overhead : 0;
}

void __noreturn guest_main(u32 magic, u32 info)
{
	u64 overhead, min, median, n;

	boot_read(magic, info);
	machine_reset();
	trap_handle(VECTOR_SPURIOUS - 0x10, eoi);
	pm_timer = (u16)option_number("pmtimer", 0x608);
	n = MIN(MAX(option_number("n", SAMPLES_DEFAULT), 1), SAMPLES_MAX);
	measure(op_nothing, (u32)n, &overhead, &median);
	print("BENCH-START samples=%lu overhead=%lu torpor=%d\n", n, overhead, under_torpor());
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].needs_torpor && !under_torpor())
			continue;
		if (kinds[i].run == op_wrmsr && !cpuid_ecx(1, 24))
			continue;
		measure(kinds[i].run, (u32)n, &min, &median);
		print("BENCH %s %lu %lu\n", kinds[i].name, less(min, overhead),
			less(median, overhead));
	}
	print("BENCH-DONE\n");
	guest_exit(0);
}
