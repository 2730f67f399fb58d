// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area EVT: delivery of interrupts and exceptions around emulated instructions, HLT, shadows,
 * faults that keep RIP, and events whose delivery itself exits (test port 0xE4).
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define VECTOR_A    0x61
#define VECTOR_SOFT 0x62
#define PORT_UNMAP  0xe4
#define FAR_PAGE    0x600000000000ull

static u64 seen_rip, seen_rflags, seen_error;

static bool log_interrupt(struct trap_frame *frame)
{
	seen_rip = frame->rip;
	seen_rflags = frame->rflags;
	seen_error = frame->error;
	if (frame->vector >= 0x20 && frame->vector != VECTOR_SOFT)
		lapic_eoi();
	return true;
}

/* ---- shadows and windows */

SNIPPET(sti_shadow, "sti\nsti_shadow_1: cpuid\nsti_shadow_2: nop; nop; cli\n");
extern const u8 sti_shadow_1[], sti_shadow_2[];
SNIPPET(sti_shadow_io, "sti\nsti_shadow_io_1: inb $0x21, %al\nsti_shadow_io_2: nop; nop; cli\n");
extern const u8 sti_shadow_io_2[];
SNIPPET(sti_sti, "sti\nsti\nsti_sti_2: nop; nop; cli\n");
extern const u8 sti_sti_2[];
SNIPPET(sti_cli, "sti\ncli\nnop; nop\n");
SNIPPET(popf_on, "pushq $0x202; popfq\npopf_on_1: nop; nop; cli\n");
extern const u8 popf_on_1[];
SNIPPET(ss_shadow_cpuid, "mov %ss, %r8d; movl $0x44061, (%rdi)\n"
			 "sti; mov %r8d, %ss; cpuid\nss_shadow_cpuid_1: nop; nop; cli\n");
extern const u8 ss_shadow_cpuid_1[];

/* With an interrupt pending, runs code that turns IF on: where was it taken (0: not at all)? */
static u64 taken_at(const u8 *code)
{
	struct trap_frame frame = frame_kernel(code);

	frame.rdi = LAPIC_BASE + LAPIC_ICR;
	frame.rsp -= 64;
	trap_handle(VECTOR_A, log_interrupt);
	seen_rip = 0;
	lapic_self_ipi(VECTOR_A);
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end");
	return seen_rip;
}

CASE("BUG-27", "EVT", "sti-shadow", evt_sti_shadow)
{
	expect_equal(taken_at(sti_shadow), (u64)sti_shadow_2, "STI; CPUID: taken behind CPUID");
	expect_equal(taken_at(sti_shadow_io), (u64)sti_shadow_io_2, "STI; IN: taken behind IN");
	expect_equal(taken_at(popf_on), (u64)popf_on_1, "POPF has no shadow");
	expect_equal(trap_counts[VECTOR_A], 1, "interrupts");
}

CASE("BUG-27", "EVT", "sti-cli", evt_sti_cli)
{
	expect_equal(taken_at(sti_cli), 0, "STI; CLI never opens a window");
	expect(lapic_irr(VECTOR_A), "the interrupt still waits");
	sti();
	cli();
	expect_equal(trap_counts[VECTOR_A], 1, "taken later");
	expect_equal(
		taken_at(sti_sti), (u64)sti_sti_2, "the second STI makes no shadow of its own");
}

CASE("BUG-27", "EVT", "mov-ss-shadow", evt_ss_shadow)
{
	/*
	 * STI's shadow covers MOV SS, whose own covers CPUID, but need not (SDM 3A 6.8.3:
	 * "sequence").
	 */
	u64 rip = taken_at(ss_shadow_cpuid);

	expect(rip == (u64)ss_shadow_cpuid_1 || rip == (u64)ss_shadow_cpuid_1 - 2,
		"STI; MOV SS; CPUID: taken behind CPUID or behind MOV SS, not at %lx", rip);
	expect_equal(trap_counts[VECTOR_A], 1, "interrupts");
}

/* ---- HLT */

SNIPPET(sti_hlt, "sti; hlt\nsti_hlt_1: cli\n");
extern const u8 sti_hlt_1[];

CASE("BUG-60", "EVT", "sti-hlt-wakes", evt_hlt)
{
	/* Two thirds of the delays end before HLT, in its shadow, or while it sleeps. */
	trap_handle(VECTOR_A, log_interrupt);
	for (u32 i = 1; i <= 2000; i++) {
		struct trap_frame frame = frame_kernel(sti_hlt);

		lapic_timer_start(VECTOR_A, i % 200 + 1);
		run_frame(&frame);
		if (!expect_equal(trap_counts[VECTOR_A], i, "interrupts") ||
			!expect_equal(frame.vector, VECTOR_DONE, "end"))
			return;
		expect(seen_rip == (u64)sti_hlt_1 || seen_rip == (u64)sti_hlt_1 - 1,
			"RIP %lx of the interrupt is at or behind HLT", seen_rip);
	}
}

CASE("BUG-60", "EVT", "hlt-pit-pic", evt_hlt_pit)
{
	struct trap_frame frame = frame_kernel(sti_hlt);

	trap_handle(IRQ_BASE, log_interrupt);
	trap_handle(VECTOR_A, log_interrupt); /* wakes us if the PIT does not */
	lapic_write(LAPIC_LVT_LINT0, LVT_EXTINT);
	lapic_timer_start(VECTOR_A, 0x8000000);
	pic_unmask(0);
	pit_start(0, 2000);
	run_frame(&frame);
	pic_eoi(0);
	expect_equal(trap_counts[IRQ_BASE], 1, "PIT interrupts");
	expect_equal(seen_rip, (u64)sti_hlt_1, "RIP behind HLT");
}

SNIPPET(cli_hlt, "hlt\ncli_hlt_1: nop\n");
extern const u8 cli_hlt_1[];

CASE("BUG-60", "EVT", "nmi-wakes-hlt", evt_hlt_nmi)
{
	/* IF=0: only an NMI can end it; the PIT gives one through IOAPIC pin 2. */
	struct trap_frame frame = frame_kernel(cli_hlt);

	trap_handle(NMI, log_interrupt);
	ioapic_pin(2, LVT_NMI);
	pit_start(0, 20000);
	run_frame(&frame);
	ioapic_pin(2, LVT_MASKED);
	expect_equal(trap_counts[NMI], 1, "NMIs");
	expect_equal(seen_rip, (u64)cli_hlt_1, "RIP behind HLT");
}

static u32 steps;
static u64 step_rip[8];

static bool log_step(struct trap_frame *frame)
{
	if (steps < ARRAY_SIZE(step_rip))
		step_rip[steps] = frame->rip;
	if (++steps == 4)
		frame->rflags &= ~RFLAGS_TF;
	write_dr6(DR6_FIXED);
	return true;
}

SNIPPET(step_hlt, "sti\nstep_hlt_0: hlt\nstep_hlt_1: nop\nnop\ncli\n");
extern const u8 step_hlt_0[], step_hlt_1[];

CASE("BUG-60", "EVT", "single-step-hlt", evt_step_hlt)
{
	/* The trap pending after HLT comes at once: HLT does not sleep (SDM 3B 18.3.1.4). */
	struct trap_frame frame = frame_kernel(step_hlt);

	trap_handle(DB, log_step);
	trap_handle(VECTOR_A, log_interrupt);
	lapic_timer_start(VECTOR_A, 0x4000000); /* for those that sleep */
	steps = 0;
	frame.rflags |= RFLAGS_TF;
	run_frame(&frame);
	expect_equal(step_rip[0], (u64)step_hlt_0, "after STI");
	expect_equal(step_rip[1], (u64)step_hlt_1, "after HLT");
	expect_equal(step_rip[2], (u64)step_hlt_1 + 1, "after NOP");
}

/* ---- NMI blocking */

static u32 nmi_depth, nmi_deepest;

static bool nest_nmi(struct trap_frame *frame)
{
	(void)frame;
	if (++nmi_depth > nmi_deepest)
		nmi_deepest = nmi_depth;
	if (trap_counts[NMI] == 1) {
		/* Two more while blocked: one is held, the other lost. */
		lapic_write(LAPIC_ICR, ICR_SELF | ICR_ASSERT | LVT_NMI);
		lapic_write(LAPIC_ICR, ICR_SELF | ICR_ASSERT | LVT_NMI);
		cpuid(0, 0);
	}
	nmi_depth--;
	return true;
}

CASE("BUG-27", "EVT", "nmi-blocking", evt_nmi_blocking)
{
	/* Self-IPIs may not be NMIs (SDM 3A 11.6.1 allows "all including self" and by id). */
	nmi_depth = nmi_deepest = 0;
	trap_handle(NMI, nest_nmi);
	lapic_write(LAPIC_ICR_HIGH, lapic_read(LAPIC_ID));
	lapic_write(LAPIC_ICR, ICR_ASSERT | LVT_NMI);
	wait_counter(&trap_counts[NMI], 1, WAIT_LONG);
	if (!trap_counts[NMI])
		case_skip("no NMI to oneself here");
	expect_equal(nmi_deepest, 1, "depth of NMI handlers");
	expect(trap_counts[NMI] <= 2, "NMIs: %lu", trap_counts[NMI]);
}

static u64 ticks_at_hlt;

/* HLT with the next NMI waiting: it stays until the timer interrupts it, whose IRET lets NMIs in.
 */
static bool halt_in_nmi(struct trap_frame *frame)
{
	(void)frame;
	if (trap_counts[NMI] > 1)
		return true;
	lapic_write(LAPIC_ICR, ICR_ASSERT | LVT_NMI);
	lapic_timer_start(VECTOR_A, 10000);
	__asm__ volatile("sti; hlt; cli" ::: "memory");
	ticks_at_hlt = trap_counts[VECTOR_A];
	return true;
}

CASE("BUG-60", "EVT", "blocked-nmi-and-hlt", evt_hlt_blocked_nmi)
{
	ticks_at_hlt = 0;
	trap_handle(VECTOR_A, log_interrupt);
	trap_handle(NMI, halt_in_nmi);
	lapic_write(LAPIC_ICR_HIGH, lapic_read(LAPIC_ID));
	lapic_write(LAPIC_ICR, ICR_ASSERT | LVT_NMI);
	wait_counter(&trap_counts[NMI], 2, WAIT_LONG);
	if (!trap_counts[NMI])
		case_skip("no NMI to oneself here");
	expect_equal(ticks_at_hlt, 1, "timer interrupts when HLT was over");
	expect_equal(trap_counts[NMI], 2, "NMIs");
}

/* ---- faults keep RIP and can be restarted */

SNIPPET(restart_rdmsr, "rdmsr\n");
SNIPPET(restart_cr8, "mov %rax, %cr8\n");
SNIPPET(restart_cr4, "mov %rax, %cr4\n");
SNIPPET(restart_dr7, "mov %rax, %dr7\n");
SNIPPET(restart_xsetbv, ".byte 0x0f, 0x01, 0xd1\n");
SNIPPET(restart_wrmsr, "wrmsr\n");

static u64 fixed_rax, fixed_rcx, fault_at;
static u32 faults;

static bool fix_operand(struct trap_frame *frame)
{
	fault_at = frame->rip;
	frame->rax = fixed_rax;
	frame->rcx = fixed_rcx;
	frame->rdx = 0;
	return ++faults == 1; /* a second time: give up */
}

CASE("BUG-34", "EVT", "faults-restart", evt_restart)
{
	const struct {
		const char *name;
		const u8 *code;
		u64 rax, rcx, good_rax, good_rcx;
	} table[] = {
		{ "RDMSR", restart_rdmsr, 0, 0x2000, 0, MSR_EFER },
		{ "WRMSR", restart_wrmsr, 0, 0x12345678, 0, MSR_KERNEL_GS_BASE },
		{ "MOV CR8", restart_cr8, 0x10, 0, 3, 0 },
		{ "MOV CR4", restart_cr4, read_cr4() | BIT(15), 0, read_cr4(), 0 },
		{ "MOV DR7", restart_dr7, BIT(40), 0, 0x400, 0 },
		{ "XSETBV", restart_xsetbv, 0, 0, 1, 0 },
	};

	if (under_qemu_tcg())
		case_skip("QEMU TCG answers any MSR and takes reserved bits of CR4 and DR7");
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct trap_frame frame = frame_kernel(table[i].code);

		if (table[i].code == restart_xsetbv) {
			if (!cpuid_ecx(1, 26))
				continue;
			write_cr4(read_cr4() | CR4_OSXSAVE);
		}
		trap_handle(GP, fix_operand);
		faults = 0;
		fixed_rax = table[i].good_rax;
		fixed_rcx = table[i].good_rcx;
		frame.rax = table[i].rax;
		frame.rcx = table[i].rcx;
		run_frame(&frame);
		expect_equal(faults, 1, "%s: #GPs", table[i].name);
		expect_equal(fault_at, (u64)table[i].code, "%s: RIP", table[i].name);
		expect_equal(frame.vector, VECTOR_DONE, "%s: end", table[i].name);
	}
}

/* ---- INVD */

CASE("BUG-40", "EVT", "invd-keeps-memory", evt_invd)
{
	static u64 area[0x2000];

	if (!under_torpor())
		case_skip("INVD on a machine of its own loses memory");
	for (u32 round = 0; round < 1000; round++) {
		for (u32 i = round % 16; i < ARRAY_SIZE(area); i += 16)
			area[i] = round * 0x100000001ull + i;
		__asm__ volatile("invd" ::: "memory");
		for (u32 i = round % 16; i < ARRAY_SIZE(area); i += 16)
			if (!expect_equal(area[i], round * 0x100000001ull + i, "word %u", i))
				return;
	}
}

/* ---- RIP at the canonical edge */

CASE("BUG-63", "EVT", "canonical-edge", evt_canonical)
{
	/* CPUID ends at the last canonical byte: the next fetch is the guest's own #GP. */
	static u8 page[PAGE_SIZE] __aligned(4096);
	const u64 edge = 0x0000800000000000;
	static const struct {
		const char *name;
		u8 code[2];
	} table[] = { { "CPUID", { 0x0f, 0xa2 } }, { "RDMSR", { 0x0f, 0x32 } },
		{ "IN", { 0xe4, 0x21 } } };

	paging_map(edge - PAGE_SIZE, (u64)page, PTE_P | PTE_W);
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct trap_frame frame = frame_kernel((void *)(edge - 2));

		memcpy(page + PAGE_SIZE - 2, table[i].code, 2);
		frame.rcx = MSR_EFER;
		run_frame(&frame);
		expect_equal(frame.vector, GP, "%s at the edge", table[i].name);
		expect_equal(frame.rip, edge, "%s: RIP", table[i].name);
	}
}

/* ---- events whose delivery exits */

SNIPPET(soft_int, "int $0x62\nsoft_int_1: nop\n");
extern const u8 soft_int_1[];
SNIPPET(soft_int3, "int3\nsoft_int3_1: nop\n");
extern const u8 soft_int3_1[];
SNIPPET(hard_de, "xor %edx, %edx; xor %ecx, %ecx\nhard_de_1: div %ecx\n");
extern const u8 hard_de_1[];
SNIPPET(hard_ud, "ud2\n");
SNIPPET(hard_gp, "hard_gp_1: mov %eax, %ds\n");
SNIPPET(hard_pf, "mov (%rdi), %eax\n");
SNIPPET(external, "sti; nop; nop; nop; cli\n");

static bool skip_fault(struct trap_frame *frame)
{
	log_interrupt(frame);
	if (frame->vector == UD || frame->vector == DE || frame->vector == GP ||
		frame->vector == PF)
		frame->rip += 2; /* all of them are two bytes long here */
	return true;
}

static const struct delivery {
	const char *name;
	const u8 *code;
	u32 vector;
	u64 error;
	const u8 *rip; /* NULL: not checked */
} deliveries[] = {
	{ "INT n", soft_int, VECTOR_SOFT, 0, soft_int_1 },
	{ "INT3", soft_int3, BP, 0, soft_int3_1 },
	{ "#DE", hard_de, DE, 0, hard_de_1 },
	{ "#UD", hard_ud, UD, 0, hard_ud },
	{ "#GP", hard_gp, GP, 0xf8, hard_gp },
	{ "#PF", hard_pf, PF, 0, hard_pf },
	{ "external", external, VECTOR_A, 0, NULL },
	{ "NMI", external, NMI, 0, NULL },
};

static u8 idt_copy[PAGE_SIZE] __aligned(4096);
static u8 ist_stack[2 * PAGE_SIZE] __aligned(4096);
enum victim { IDT_PAGE, STACK_PAGE, GDT_PAGE, VICTIMS };

static void unmap_once(const void *page)
{
	outl(PORT_UNMAP, (u32)(u64)page);
}

static void deliver(const struct delivery *d, enum victim victim)
{
	static const char *const names[] = { "IDT", "stack", "GDT" };
	struct trap_frame frame = frame_kernel(d->code);

	trap_reset();
	trap_gate(d->vector, 2, d->vector == VECTOR_SOFT || d->vector == BP ? 3 : 0);
	tss.ist[1] = (u64)ist_stack + sizeof(ist_stack);
	trap_move_idt(idt_copy);
	trap_handle(d->vector, skip_fault);
	frame.rax = 0xf8; /* a selector beyond the GDT's end */
	frame.rdi = FAR_PAGE;
	seen_rip = 0;
	if (d->vector == VECTOR_A)
		lapic_self_ipi(VECTOR_A);
	memset(ist_stack, 0, sizeof(ist_stack)); /* accessed and dirty bits are set before */
	unmap_once(victim == IDT_PAGE	  ? idt_copy
		   : victim == STACK_PAGE ? ist_stack + PAGE_SIZE
					  : (u8 *)gdt);
	if (d->vector == NMI) {
		lapic_write(LAPIC_ICR_HIGH, lapic_read(LAPIC_ID));
		lapic_write(LAPIC_ICR, ICR_ASSERT | LVT_NMI);
	}
	run_frame(&frame);
	expect_equal(
		trap_counts[d->vector], 1, "%s over %s page: deliveries", d->name, names[victim]);
	expect_equal(frame.vector, VECTOR_DONE, "%s over %s page: end", d->name, names[victim]);
	expect_equal(seen_error, d->error, "%s over %s page: error code", d->name, names[victim]);
	if (d->rip)
		expect_equal(seen_rip, (u64)d->rip, "%s over %s page: RIP", d->name, names[victim]);
}

CASE("BUG-08", "EVT", "delivery-plain", evt_delivery_plain)
{
	/* The same events with nothing unmapped: the oracle of the next case. */
	for (u32 i = 0; i < ARRAY_SIZE(deliveries); i++) {
		struct trap_frame frame = frame_kernel(deliveries[i].code);

		trap_reset();
		trap_gate(deliveries[i].vector, 2, 3);
		trap_handle(deliveries[i].vector, skip_fault);
		frame.rax = 0xf8;
		frame.rdi = FAR_PAGE;
		if (deliveries[i].vector == VECTOR_A)
			lapic_self_ipi(VECTOR_A);
		if (deliveries[i].vector == NMI) {
			lapic_write(LAPIC_ICR_HIGH, lapic_read(LAPIC_ID));
			lapic_write(LAPIC_ICR, ICR_ASSERT | LVT_NMI);
		}
		run_frame(&frame);
		expect_equal(
			trap_counts[deliveries[i].vector], 1, "%s: deliveries", deliveries[i].name);
		expect_equal(seen_error, deliveries[i].error, "%s: error code", deliveries[i].name);
		if (deliveries[i].rip)
			expect_equal(
				seen_rip, (u64)deliveries[i].rip, "%s: RIP", deliveries[i].name);
	}
}

CASE("BUG-08", "EVT", "delivery-exits", evt_delivery_exits)
{
	if (!have_test_device())
		case_skip("no test device");
	for (u32 victim = 0; victim < VICTIMS; victim++)
		for (u32 i = 0; i < ARRAY_SIZE(deliveries); i++)
			deliver(&deliveries[i], victim);
}

CASE("BUG-56", "EPT", "unmapped-page-comes-back", evt_unmap)
{
	static volatile u64 page[512] __aligned(4096);

	if (!have_test_device())
		case_skip("no test device");
	for (u32 round = 0; round < 100; round++) {
		page[7] = round;
		unmap_once((void *)page);
		if (round & 1)
			expect_equal(page[7], round, "read after unmap");
		else
			page[8] = round;
		expect_equal(page[7], round, "contents");
		if (!(round & 1))
			expect_equal(page[8], round, "written after unmap");
	}
}

/* ---- test device's interrupt lines */

#define LEVEL_LINE 10
#define PORT_LINE  0x2000

/* Lets the line down at the third: a level that nobody serves would come for ever. */
static bool serve_level(struct trap_frame *frame)
{
	if (trap_counts[frame->vector] >= 3)
		outb(PORT_LINE + LEVEL_LINE, 0);
	lapic_eoi();
	return true;
}

CASE("BUG-27", "EVT", "level-interrupt", evt_level)
{
	if (!have_test_device())
		case_skip("no test device");
	trap_handle(VECTOR_A, serve_level);
	ioapic_pin(LEVEL_LINE, VECTOR_A | 1u << 15); /* level, active high */
	sti();
	outb(PORT_LINE + LEVEL_LINE, 1);
	wait_counter(&trap_counts[VECTOR_A], 3, WAIT_LONG);
	wait_counter(&trap_counts[VECTOR_A], 4, 1000000);
	cli();
	outb(PORT_LINE + LEVEL_LINE, 0);
	expect_equal(
		trap_counts[VECTOR_A], 3, "a level comes again after each EOI until it is down");
	ioapic_pin(LEVEL_LINE, LVT_MASKED);
}

CASE("BUG-27", "EVT", "edge-interrupt", evt_edge)
{
	if (!have_test_device())
		case_skip("no test device");
	trap_handle(VECTOR_A, log_interrupt);
	ioapic_pin(11, VECTOR_A);
	sti();
	for (u32 i = 1; i <= 10; i++) {
		outb(PORT_LINE + 11, 1);
		expect(wait_counter(&trap_counts[VECTOR_A], i, WAIT_LONG), "edge %u", i);
		outb(PORT_LINE + 11, 0);
	}
	cli();
	expect_equal(trap_counts[VECTOR_A], 10, "edges");
}
