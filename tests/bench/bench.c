// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench.elf: what each kind of exit costs, in TSC ticks. For every kind the operation is timed N
 * times (option n=, default 1000) with RDTSC on both sides, and minimum and median are printed less
 * the cost of the two RDTSCs alone: "BENCH kind min median". Exits that no instruction causes show
 * as a gap between two RDTSCs of a loop. Options: kinds=A,B,... (none: all), pmtimer=PORT (default
 * 0x608); trace=1: then each operation is done once more between two XCHG BX,BX, which stop Bochs's
 * debugger if it was told so and do nothing elsewhere, announced by "TRACE kind marked-operations".
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/string.h"

#define SAMPLES_MAX	   10000
#define SAMPLES_DEFAULT	   1000
#define NO_SAMPLE	   0xffffffffull
#define GAP_SAMPLES	   50  /* of a kind that must be waited for */
#define CPUID_COMBINATIONS 256 /* a power of 2: an odd step visits them all */
#define PORT_UNCLAIMED	   0x1234
#define PORT_COM1	   0x3f8
#define PIT_CHANNEL0	   0x40
#define IOAPIC_WINDOW	   (*(volatile u32 *)(IOAPIC_BASE + 0x10))
#define TIMER_COUNT	   200 /* divided by 16 */
/* What was printed before leaves COM1 within this time: 300 bytes at 115200 baud. */
#define SETTLE_TICKS	   3000000
#define GAP_LIMIT	   40000

/* Bochs's magic breakpoint. */
#define MARK() __asm__ volatile(".byte 0x66, 0x87, 0xdb" ::: "memory")

void __noreturn guest_main(u32 magic, u32 info);

static u16 pm_timer;
static u32 samples[SAMPLES_MAX];
static u64 loop_ticks; /* one turn of wait_for_gap()'s loop without an exit */

static void op_nothing(void) {}

static void op_cpuid(void)
{
	cpuid(0, 0);
}

/* Any leaf below 0x20, basic or extended, each with subleaves 0 to 3, in a scattered order. */
static void op_cpuid_random(void)
{
	static u32 at;

	at = (at + 0x9d) % CPUID_COMBINATIONS;
	cpuid((at & 0x1f) | (at & 0x20 ? 0x80000000 : 0), at >> 6);
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

static void op_wrmsr_deadline(void)
{
	wrmsr(MSR_TSC_DEADLINE, 0);
}

static void op_wrmsr(void)
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
	(void)IOAPIC_WINDOW;
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

/* One byte in the host's shift register, one in its FIFO: the third waits for an interrupt. */
static void arm_uart(void)
{
	outb(PORT_COM1, '\r');
	outb(PORT_COM1, '\r');
	outb(PORT_COM1, '\r');
}

/* A deadline for the host that brings no interrupt to the guest. */
static void arm_timer(void)
{
	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED | VECTOR_SPURIOUS);
	lapic_write(LAPIC_TIMER_INITIAL, TIMER_COUNT);
}

static bool has_tsc_deadline(void)
{
	return cpuid_ecx(1, 24);
}

static bool eoi(struct trap_frame *frame)
{
	(void)frame;
	lapic_eoi();
	return true;
}

/* Either run (the instruction that exits) or arm (what makes an exit come by itself, soon). */
static const struct kind {
	const char *name;
	void (*run)(void);
	void (*arm)(void);
	bool (*possible)(void);
	u32 marks; /* operations to be traced, 0: one */
} kinds[] = {
	{ "cpuid", op_cpuid },
	{ "cpuid_random", op_cpuid_random, .marks = CPUID_COMBINATIONS },
	{ "vmcall", op_vmcall, .possible = under_torpor },
	{ "cr8", op_cr8 },
	{ "cr0_wp", op_cr0_wp },
	{ "rdmsr", op_rdmsr },
	{ "wrmsr", op_wrmsr },
	{ "wrmsr_tsc_deadline", op_wrmsr_deadline, .possible = has_tsc_deadline },
	{ "in_hv", op_in_pm_timer },
	{ "in_pit", op_in_pit },
	{ "out_unhandled", op_out_unhandled },
	{ "mmio_ioapic", op_mmio_ioapic },
	{ "mmio_lapic", op_mmio_lapic },
	{ "self_ipi", op_self_ipi },
	{ "extint", .arm = arm_uart },
	{ "preempt", .arm = arm_timer },
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

static u64 less(u64 value, u64 overhead)
{
	return value > overhead ? value - overhead : 0;
}

static void settle(void)
{
	u64 start = rdtsc();

	while (rdtsc() - start < SETTLE_TICKS)
		;
}

/*
 * Reads the TSC in a loop until two readings are `gap` apart, and returns how far; 0: none came.
 * Interrupts are on: Bochs keeps the machine's from a guest that has them off, although they exit.
 */
static __attribute__((noinline)) u64 wait_for_gap(u64 gap)
{
	u64 start, last, now;

	sti();
	start = last = now = rdtsc();
	while (now - last < gap && now - start <= GAP_LIMIT) {
		last = now;
		now = rdtsc();
	}
	cli();
	return now - last >= gap ? now - last : 0;
}

static u64 sample(const struct kind *kind)
{
	u64 start, gap;

	if (kind->arm) {
		kind->arm();
		gap = wait_for_gap(2 * loop_ticks);
		return gap ? gap - loop_ticks : NO_SAMPLE;
	}
	start = rdtsc();
	kind->run();
	return rdtsc() - start;
}

/* Leaves the samples in order, NO_SAMPLE last. */
static void measure(const struct kind *kind, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		u64 ticks = sample(kind);

		samples[i] = (u32)MIN(ticks, NO_SAMPLE);
	}
	sort(samples, count);
}

static void trace(const struct kind *kind)
{
	u32 marks = MAX(kind->marks, 1u);

	print("TRACE %s %u\n", kind->name, marks);
	settle();
	for (u32 i = 0; i < marks; i++) {
		if (kind->arm) {
			kind->arm();
			MARK();
			(void)wait_for_gap(2 * loop_ticks);
			MARK();
		} else {
			MARK();
			kind->run();
			MARK();
		}
	}
}

/* A turn of the loop by itself: the shortest of a few. */
static void measure_loop(void)
{
	loop_ticks = ~0ull;
	for (u32 i = 0; i < GAP_SAMPLES; i++)
		loop_ticks = MIN(loop_ticks, wait_for_gap(1));
}

/* The option kinds= names it, or is not there. */
static bool wanted(const char *name)
{
	const char *list = option_text("kinds");

	while (list && *list && *list != ' ') {
		size_t length = strlen(name);

		if (!memcmp(list, name, length) &&
			(list[length] == ',' || list[length] == ' ' || !list[length]))
			return true;
		while (*list && *list != ' ' && *list++ != ',')
			;
	}
	return !list;
}

void __noreturn guest_main(u32 magic, u32 info)
{
	static const struct kind nothing = { "nothing", op_nothing };
	u64 overhead;
	u32 n;

	boot_read(magic, info);
	machine_reset();
	trap_handle(VECTOR_SPURIOUS - 0x10, eoi);
	pm_timer = (u16)option_number("pmtimer", 0x608);
	ioapic_read(1); /* selects the register that the IOAPIC's window shows */
	n = (u32)MIN(MAX(option_number("n", SAMPLES_DEFAULT), 1), SAMPLES_MAX);
	measure(&nothing, n);
	overhead = samples[0];
	measure_loop();
	print("BENCH-START samples=%u overhead=%lu torpor=%d\n", n, overhead, under_torpor());
	for (const struct kind *kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		u32 count = kind->arm ? MIN(n, (u32)GAP_SAMPLES) : n;
		u64 base = kind->arm ? 0 : overhead;

		if (!wanted(kind->name) || (kind->possible && !kind->possible()))
			continue;
		settle();
		measure(kind, count);
		print("BENCH %s %lu %lu\n", kind->name, less(samples[0], base),
			less(samples[count / 2], base));
		if (option_number("trace", 0))
			trace(kind);
	}
	print("BENCH-DONE\n");
	guest_exit(0);
}
