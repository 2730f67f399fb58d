// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area DBG, single-step: each instruction that a hypervisor emulates, run with RFLAGS.TF set, must
 * be followed by exactly one #DB with DR6.BS at the next RIP (SDM 3B 18.3.1.4).
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/segments.h"

#define STEPS_MAX 16

static struct {
	u64 rip[STEPS_MAX], dr6[STEPS_MAX];
	u32 count;
	u64 stop; /* single-stepping ends at this RIP */
} steps;

static bool log_step(struct trap_frame *frame)
{
	if (steps.count < STEPS_MAX) {
		steps.rip[steps.count] = frame->rip;
		steps.dr6[steps.count] = read_dr6();
	}
	steps.count++;
	write_dr6(DR6_FIXED);
	if (frame->rip >= steps.stop || steps.count > STEPS_MAX)
		frame->rflags &= ~RFLAGS_TF;
	return true;
}

/* POPF sets TF; then the instruction, then two NOPs. name_step: where the instruction is over. */
#define STEP(name, instruction)        \
	extern const u8 name##_step[]; \
	SNIPPET(name,                  \
		"pushfq; orq $0x100, (%rsp); popfq\n" instruction "\n" #name "_step: nop\nnop\n")

STEP(step_cpuid, "cpuid");
STEP(step_rdmsr, "rdmsr");
STEP(step_wrmsr, "wrmsr");
STEP(step_in_imm, "inb $0x21, %al");
STEP(step_in_dx, "inl %dx, %eax");
STEP(step_out, "outb %al, %dx");
STEP(step_outsb, "outsb");
STEP(step_insb, "insb");
STEP(step_xsetbv, ".byte 0x0f, 0x01, 0xd1");
STEP(step_to_cr0, "mov %rax, %cr0");
STEP(step_from_cr0, "mov %cr0, %rax");
STEP(step_to_cr3, "mov %rax, %cr3");
STEP(step_from_cr3, "mov %cr3, %rax");
STEP(step_to_cr4, "mov %rax, %cr4");
STEP(step_from_cr4, "mov %cr4, %rax");
STEP(step_to_cr8, "mov %rax, %cr8");
STEP(step_from_cr8, "mov %cr8, %rax");
STEP(step_clts, "clts");
STEP(step_lmsw, "lmsw %ax");
STEP(step_smsw, "smsw %ax");
STEP(step_to_dr0, "mov %rax, %dr0");
STEP(step_from_dr0, "mov %dr0, %rax");
STEP(step_to_dr7, "mov %rax, %dr7");
STEP(step_from_dr7, "mov %dr7, %rax");
STEP(step_invd, "invd");
STEP(step_wbinvd, "wbinvd");
STEP(step_invlpg, "invlpg (%rdi)");
STEP(step_rdtsc, "rdtsc");
STEP(step_rdtscp, "rdtscp");
STEP(step_pause, "pause");
STEP(step_vmcall, "vmcall");
STEP(step_sgdt, "sgdt -16(%rsp)");
STEP(step_mmio_load, "mov (%rdi), %eax");
STEP(step_mmio_store, "movl $0, (%rdi)");

/* What stands in RAX and RDX before the instruction. */
enum operand { NOTHING, OLD_CR0, OLD_CR3, OLD_CR4, OLD_DR7, OLD_XCR0, OLD_EFER };
/* What the instruction needs. */
enum need { ALWAYS, TORPOR, XSAVE, RDTSCP };

static const struct step {
	const char *name;
	const u8 *code, *next;
	enum operand operand;
	enum need need;
	u64 rcx, rdx, rdi;
} step_table[] = {
#define ROW(n, ...)                                        \
	{                                                  \
#n, step_##n, step_##n##_step, __VA_ARGS__ \
	}
	ROW(cpuid, NOTHING, ALWAYS, 0),
	ROW(rdmsr, NOTHING, ALWAYS, MSR_APIC_BASE),
	ROW(wrmsr, OLD_EFER, ALWAYS, MSR_EFER),
	ROW(in_imm, NOTHING, ALWAYS),
	ROW(in_dx, NOTHING, ALWAYS, .rdx = 0xcf8),
	ROW(out, NOTHING, ALWAYS, .rdx = 0x80),
	ROW(outsb, NOTHING, ALWAYS, .rdx = 0x80),
	ROW(insb, NOTHING, ALWAYS, .rdx = 0x21, .rdi = (u64)&steps.stop),
	ROW(xsetbv, OLD_XCR0, XSAVE),
	ROW(to_cr0, OLD_CR0, ALWAYS),
	ROW(from_cr0, NOTHING, ALWAYS),
	ROW(to_cr3, OLD_CR3, ALWAYS),
	ROW(from_cr3, NOTHING, ALWAYS),
	ROW(to_cr4, OLD_CR4, ALWAYS),
	ROW(from_cr4, NOTHING, ALWAYS),
	ROW(to_cr8, NOTHING, ALWAYS),
	ROW(from_cr8, NOTHING, ALWAYS),
	ROW(clts, NOTHING, ALWAYS),
	ROW(lmsw, OLD_CR0, ALWAYS),
	ROW(smsw, NOTHING, ALWAYS),
	ROW(to_dr0, NOTHING, ALWAYS),
	ROW(from_dr0, NOTHING, ALWAYS),
	ROW(to_dr7, OLD_DR7, ALWAYS),
	ROW(from_dr7, NOTHING, ALWAYS),
	ROW(invd, NOTHING, TORPOR), /* on a real processor without a hypervisor it loses memory */
	ROW(wbinvd, NOTHING, ALWAYS),
	ROW(invlpg, NOTHING, ALWAYS, .rdi = 0x1000),
	ROW(rdtsc, NOTHING, ALWAYS),
	ROW(rdtscp, NOTHING, RDTSCP),
	ROW(pause, NOTHING, ALWAYS),
	ROW(vmcall, NOTHING, TORPOR),
	ROW(sgdt, NOTHING, ALWAYS),
	ROW(mmio_load, NOTHING, ALWAYS, .rdi = IOAPIC_BASE),
	ROW(mmio_store, NOTHING, ALWAYS, .rdi = IOAPIC_BASE),
#undef ROW
};

static bool available(enum need need)
{
	switch (need) {
	case TORPOR:
		return under_torpor();
	case XSAVE:
		return cpuid_ecx(1, 26);
	case RDTSCP:
		return cpuid_edx(0x80000001, 27);
	default:
		return true;
	}
}

static u64 operand_value(enum operand operand)
{
	u64 value = 0;

	switch (operand) {
	case OLD_CR0:
		return read_cr0();
	case OLD_CR3:
		return read_cr3();
	case OLD_CR4:
		return read_cr4();
	case OLD_DR7:
		return read_dr7();
	case OLD_EFER:
		return rdmsr(MSR_EFER);
	case OLD_XCR0:
		write_cr4(read_cr4() | CR4_OSXSAVE);
		try_xgetbv(0, &value);
		return value;
	default:
		return 0;
	}
}

/* Runs the frame; every step must be a #DB with BS at these RIPs, in order. */
static void expect_steps(struct trap_frame *frame, const char *name, const u64 *rips, u32 count)
{
	steps.count = 0;
	steps.stop = rips[count - 1];
	trap_handle(DB, log_step);
	run_frame(frame);
	if (!expect_equal(frame->vector, VECTOR_DONE, "%s: ends with vector", name))
		return;
	for (u32 i = 0; i < count; i++) {
		expect_equal(
			i < steps.count ? steps.rip[i] : 0, rips[i], "%s: RIP of step %u", name, i);
		expect_equal(steps.dr6[i] & (DR6_BS | 0xf), DR6_BS, "%s: DR6 of step %u", name, i);
	}
	expect_equal(steps.count, count, "%s: number of steps", name);
}

CASE("BUG-01", "DBG", "single-step-emulated", single_step_emulated)
{
	for (u32 i = 0; i < ARRAY_SIZE(step_table); i++) {
		const struct step *step = &step_table[i];
		struct trap_frame frame = frame_kernel(step->code);
		u64 next = (u64)step->next;
		u64 rips[] = { next, next + 1, next + 2 };
		u64 operand;

		if (!available(step->need))
			continue;
		operand = operand_value(step->operand);
		frame.rax = (u32)operand;
		frame.rdx = operand >> 32 | step->rdx;
		if (step->operand == OLD_CR3)
			frame.rax = operand;
		frame.rcx = step->rcx;
		frame.rsi = frame.rsp - 64;
		frame.rdi = step->rdi;
		expect_steps(&frame, step->name, rips, ARRAY_SIZE(rips));
	}
}

SNIPPET(step_mov_ss, "mov %ss, %eax; pushfq; orq $0x100, (%rsp); popfq; mov %eax, %ss\n"
		     "step_mov_ss_0: cpuid\nstep_mov_ss_1: nop\nnop\n");
extern const u8 step_mov_ss_1[];

CASE("BUG-01", "DBG", "single-step-mov-ss", single_step_mov_ss)
{
	/* #DB is held back over the instruction behind MOV SS; emulating that drops the shadow. */
	struct trap_frame frame = frame_kernel(step_mov_ss);
	u64 rips[] = { (u64)step_mov_ss_1, (u64)step_mov_ss_1 + 1, (u64)step_mov_ss_1 + 2 };

	expect_steps(&frame, "mov ss; cpuid", rips, ARRAY_SIZE(rips));
}

SNIPPET(step_int1, "mov %ss, %eax; pushfq; orq $0x100, (%rsp); popfq; mov %eax, %ss\n"
		   ".byte 0xf1\nstep_int1_1: nop\nnop\n");
extern const u8 step_int1_1[];

CASE("BUG-01", "DBG", "single-step-mov-ss-int1", single_step_int1)
{
	/* The #DB of INT1 in the shadow; whether BS is up already differs between processors. */
	struct trap_frame frame = frame_kernel(step_int1);

	steps.count = 0;
	steps.stop = (u64)step_int1_1 + 2;
	trap_handle(DB, log_step);
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "ends with vector");
	expect_equal(steps.rip[0], (u64)step_int1_1, "RIP of the first #DB");
	expect_equal(steps.rip[steps.count - 1], steps.stop, "RIP of the last #DB");
}

SNIPPET(step_sti, "pushfq; orq $0x100, (%rsp); popfq; sti\n"
		  "step_sti_0: cpuid\nstep_sti_1: nop\nnop\n");
extern const u8 step_sti_0[], step_sti_1[];

CASE("BUG-01", "DBG", "single-step-sti", single_step_sti)
{
	/* STI holds back interrupts only, not #DB (SDM 2B, STI). */
	struct trap_frame frame = frame_kernel(step_sti);
	u64 rips[] = { (u64)step_sti_0, (u64)step_sti_1, (u64)step_sti_1 + 1, (u64)step_sti_1 + 2 };

	expect_steps(&frame, "sti; cpuid", rips, ARRAY_SIZE(rips));
}

SNIPPET(step_rep, "pushfq; orq $0x100, (%rsp); popfq\n"
		  "step_rep_0: rep outsb\nstep_rep_1: nop\nnop\n");
extern const u8 step_rep_0[], step_rep_1[];

CASE("BUG-01", "DBG", "single-step-rep-outs", single_step_rep_outs)
{
	/* One trap after each iteration; all but the last at the instruction itself. */
	struct trap_frame frame = frame_kernel(step_rep);
	u64 rips[] = { (u64)step_rep_0, (u64)step_rep_0, (u64)step_rep_1, (u64)step_rep_1 + 1,
		(u64)step_rep_1 + 2 };

	frame.rcx = 3;
	frame.rdx = 0x80;
	frame.rsi = frame.rsp - 64;
	expect_steps(&frame, "rep outsb", rips, ARRAY_SIZE(rips));
	expect_equal(frame.rcx, 0, "RCX");
}

SNIPPET(step_iret, "cpuid\nstep_iret_1: nop\nnop\n");
extern const u8 step_iret_1[];

CASE("BUG-01", "DBG", "single-step-iret-cpuid", single_step_iret)
{
	struct trap_frame frame = frame_kernel(step_iret);
	u64 rips[] = { (u64)step_iret_1, (u64)step_iret_1 + 1, (u64)step_iret_1 + 2 };

	frame.rflags |= RFLAGS_TF;
	expect_steps(&frame, "iret to cpuid", rips, ARRAY_SIZE(rips));
}

CASE("BUG-01", "DBG", "single-step-user", single_step_user)
{
	struct trap_frame frame = frame_user(step_iret, step_iret_end);
	u64 next = user_copy_address(step_iret, step_iret_1);
	u64 rips[] = { next, next + 1, next + 2 };

	frame.rflags |= RFLAGS_TF;
	expect_steps(&frame, "ring 3 cpuid", rips, ARRAY_SIZE(rips));
}

SNIPPET(step_native, "nop\nstep_native_1: nop\n");
extern const u8 step_native_1[];

static u32 count_steps(const u8 *code, const u8 *stop)
{
	struct trap_frame frame = frame_kernel(code);

	frame.rflags |= RFLAGS_TF;
	steps.count = 0;
	steps.stop = (u64)stop;
	wrmsr(MSR_DEBUGCTL, BIT(1));
	trap_handle(DB, log_step);
	run_frame(&frame);
	wrmsr(MSR_DEBUGCTL, 0);
	return steps.count;
}

CASE("BUG-01", "DBG", "single-step-btf", single_step_btf)
{
	/* With DEBUGCTL.BTF only taken branches trap: none here. */
	u64 value = 0;

	if (try_wrmsr(MSR_DEBUGCTL, BIT(1)) != NO_FAULT ||
		try_rdmsr(MSR_DEBUGCTL, &value) != NO_FAULT || !(value & BIT(1)))
		case_skip("no DEBUGCTL.BTF");
	if (count_steps(step_native, step_native_1)) /* Bochs */
		case_skip("the processor itself does not obey DEBUGCTL.BTF");
	expect_equal(count_steps(step_iret, step_iret_1), 0, "steps");
}
