// SPDX-License-Identifier: BSD-2-Clause
/* Area DBG, debug registers and the exceptions they make (SDM 3B 18.2, 18.3). */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/paging.h"

#define DR6_WRITABLE  0xe00full /* B0-3, BD, BS, BT; RTM and bus lock by CPUID */
#define DR7_FIXED     0x400ull
#define DR7_GD	      BIT(13)
#define DR7_WRITE_4_0 (BIT(1) | 1ull << 16 | 3ull << 18) /* breakpoint 0: G0, write, 4 bytes */
#define DR7_EXECUTE_0 BIT(1)

CASE("BUG-61", "DBG", "dr6-dr7-fixed-bits", dr_fixed_bits)
{
	write_dr6(0);
	expect_equal(read_dr6() & ~(DR6_WRITABLE | BIT(11) | BIT(16)),
		DR6_FIXED & ~(BIT(11) | BIT(16)), "DR6 after 0");
	write_dr6(0xffffffff);
	expect_equal(read_dr6(), 0xffff0ff0 | DR6_WRITABLE, "DR6 after all ones");
	write_dr6(DR6_FIXED);
	write_dr7(0);
	expect_equal(read_dr7(), DR7_FIXED, "DR7 after 0");
	/* all but GD; LEN and R/W of disabled breakpoints are stored as they are */
	write_dr7(0xffffffff & ~DR7_GD & ~0xffull);
	expect_equal(read_dr7() & ~BIT(11), 0xffff0700 & ~BIT(11), "DR7 after ones");
	write_dr7(DR7_FIXED);
}

CASE("BUG-61", "DBG", "dr-upper-bits", dr_upper_bits)
{
	for (u32 bit = 32; bit < 64; bit++) {
		expect_equal((u64)try_write_dr6(DR6_FIXED | BIT(bit)), GP, "MOV DR6 bit %u", bit);
		expect_equal((u64)try_write_dr7(DR7_FIXED | BIT(bit)), GP, "MOV DR7 bit %u", bit);
	}
	write_dr0(0x8000000012345678);
	expect_equal(read_dr0(), 0x8000000012345678, "DR0 takes 64 bits");
	write_dr3(0x1122334455667788);
	expect_equal(read_dr3(), 0x1122334455667788, "DR3 takes 64 bits");
	write_dr0(0);
	write_dr3(0);
}

CASE("BUG-61", "DBG", "dr4-dr5", dr4_dr5)
{
	u64 value = 0;

	write_cr4(read_cr4() & ~CR4_DE);
	write_dr6(DR6_FIXED | 5);
	fault_clear();
	__asm__ volatile(TRY("mov %%db4, %0") : "+r"(value));
	expect_equal((u64)last_fault.vector, (u64)NO_FAULT, "MOV from DR4, DE=0");
	expect_equal(value, DR6_FIXED | 5, "DR4 is DR6");
	fault_clear();
	__asm__ volatile(TRY("mov %%db5, %0") : "+r"(value));
	expect_equal(value, DR7_FIXED, "DR5 is DR7");
	write_cr4(read_cr4() | CR4_DE);
	fault_clear();
	__asm__ volatile(TRY("mov %%db4, %0") : "+r"(value));
	expect_equal((u64)last_fault.vector, UD, "MOV from DR4, DE=1");
	fault_clear();
	__asm__ volatile(TRY("mov %0, %%db5")::"r"(value));
	expect_equal((u64)last_fault.vector, UD, "MOV to DR5, DE=1");
}

static u64 seen_dr6, seen_dr7, seen_rip;
static u32 seen;

static bool look_at_debug(struct trap_frame *frame)
{
	seen_dr7 = read_dr7();
	seen_dr6 = read_dr6();
	seen_rip = frame->rip;
	seen++;
	write_dr6(DR6_FIXED);
	frame->rflags |= RFLAGS_RF;
	return true;
}

SNIPPET(gd_read, "mov %dr0, %rbx\n");

CASE("BUG-61", "DBG", "dr7-gd", dr7_gd)
{
	struct trap_frame frame = frame_kernel(gd_read);

	trap_handle(DB, look_at_debug);
	seen = 0;
	write_dr0(0x1234);
	write_dr7(DR7_FIXED | DR7_GD);
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end");
	expect_equal(seen, 1, "#DB count");
	expect_equal(seen_rip, (u64)gd_read, "RIP is at the MOV (fault)");
	expect_equal(seen_dr6 & (DR6_BD | DR6_BS), DR6_BD, "DR6.BD");
	expect_equal(seen_dr7 & DR7_GD, 0, "GD inside the handler");
	expect_equal(frame.rbx, 0x1234, "the MOV runs again behind the handler");
	write_dr0(0);
}

SNIPPET(user_from_dr7, "mov %dr7, %rax\n");
SNIPPET(user_to_dr0, "mov %rax, %dr0\n");

CASE("BUG-61", "DBG", "dr-ring3", dr_ring3)
{
	struct trap_frame frame = frame_user(user_from_dr7, user_from_dr7_end);
	u64 start = frame.rip;

	run_frame(&frame);
	expect_equal(frame.vector, GP, "MOV from DR7 at CPL 3");
	expect_equal(frame.rip, start, "RIP");
	frame = frame_user(user_to_dr0, user_to_dr0_end);
	run_frame(&frame);
	expect_equal(frame.vector, GP, "MOV to DR0 at CPL 3");
}

SNIPPET(int1, ".byte 0xf1\n");

CASE("BUG-48", "DBG", "int1", int1_trap)
{
	struct trap_frame frame = frame_kernel(int1);

	trap_handle(DB, look_at_debug);
	seen = 0;
	run_frame(&frame);
	expect_equal(seen, 1, "#DB count");
	expect_equal(seen_rip, (u64)int1 + 1, "RIP behind INT1");
	expect_equal(seen_dr6, DR6_FIXED, "DR6 untouched");
}

static volatile u32 watched;
SNIPPET(watch_write, "movl $1, (%rdi)\nwatch_write_next: nop\n");
extern const u8 watch_write_next[];

CASE("BUG-48", "DBG", "data-watchpoint", data_watchpoint)
{
	struct trap_frame frame = frame_kernel(watch_write);

	frame.rdi = (u64)&watched;
	trap_handle(DB, look_at_debug);
	seen = 0;
	watched = 0;
	write_dr0((u64)&watched);
	write_dr7(DR7_FIXED | DR7_WRITE_4_0);
	run_frame(&frame);
	write_dr7(DR7_FIXED);
	expect_equal(seen, 1, "#DB count");
	expect_equal(seen_rip, (u64)watch_write_next, "RIP behind the store (trap)");
	expect_equal(seen_dr6 & 0xe00f, 1, "DR6.B0");
	expect_equal(watched, 1, "the store");
}

SNIPPET(break_here, "nop\nbreak_here_at: cpuid\n");
extern const u8 break_here_at[];

CASE("BUG-48", "DBG", "code-breakpoint", code_breakpoint)
{
	struct trap_frame frame = frame_kernel(break_here);

	trap_handle(DB, look_at_debug);
	seen = 0;
	write_dr0((u64)break_here_at);
	write_dr7(DR7_FIXED | DR7_EXECUTE_0);
	run_frame(&frame);
	write_dr7(DR7_FIXED);
	expect_equal(seen, 1, "#DB count (RF lets the instruction run)");
	expect_equal(seen_rip, (u64)break_here_at, "RIP at the instruction (fault)");
	expect_equal(seen_dr6 & 0xe00f, 1, "DR6.B0");
}

SNIPPET(watch_io, "movl $2, (%rdi)\nmovl $3, (%rsi)\nnop\n");
static volatile u32 watched_second;

CASE("BUG-48", "DBG", "watchpoint-mmio", watchpoint_mmio)
{
	/*
	 * A store that the hypervisor emulates: later watchpoints still work, the store counts
	 * once.
	 */
	struct trap_frame frame = frame_kernel(watch_io);

	frame.rdi = IOAPIC_BASE;
	frame.rsi = (u64)&watched_second;
	trap_handle(DB, look_at_debug);
	seen = 0;
	write_dr0((u64)&watched_second);
	write_dr7(DR7_FIXED | DR7_WRITE_4_0);
	run_frame(&frame);
	write_dr7(DR7_FIXED);
	expect_equal(seen, 1, "#DB count");
	expect_equal(watched_second, 3, "the store");
}

SNIPPET(misaligned, "mov 1(%rsp), %eax\n");

CASE("BUG-48", "DBG", "alignment-check", alignment_check)
{
	struct trap_frame frame = frame_user(misaligned, misaligned_end);
	u64 start = frame.rip;

	write_cr0(read_cr0() | CR0_AM);
	frame.rflags |= RFLAGS_AC;
	frame.rsp -= 64;
	run_frame(&frame);
	expect_equal(frame.vector, AC, "vector"); /* QEMU TCG does not implement #AC */
	expect_equal(frame.error, 0, "error code");
	expect_equal(frame.rip, start, "RIP");
}

SNIPPET(exits, "mov $1000, %ebx\n1: xor %eax, %eax; xor %ecx, %ecx; push %rbx; cpuid; pop %rbx\n"
	       "dec %ebx; jnz 1b\n");

CASE("BUG-63", "DBG", "dr7-survives-exits", dr7_survives)
{
	struct trap_frame frame = frame_kernel(exits);
	const u64 dr7 = DR7_FIXED | 0xf00f0000 | BIT(3);
	u64 debugctl = 0;
	bool btf = try_wrmsr(MSR_DEBUGCTL, BIT(1)) == NO_FAULT &&
		   try_rdmsr(MSR_DEBUGCTL, &debugctl) == NO_FAULT && (debugctl & BIT(1));

	write_dr0(0x1000);
	write_dr1(0x2000);
	write_dr2(0x3000);
	write_dr3(0x4000);
	write_dr7(dr7);
	write_dr6(DR6_FIXED | 0xa);
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end");
	expect_equal(read_dr7(), dr7, "DR7");
	expect_equal(read_dr6(), DR6_FIXED | 0xa, "DR6");
	expect_equal(read_dr0() | read_dr1() << 16 | read_dr2() << 32 | read_dr3() << 48,
		0x4000300020001000, "DR0 to DR3");
	if (btf) {
		expect_equal(rdmsr(MSR_DEBUGCTL), BIT(1), "DEBUGCTL");
		wrmsr(MSR_DEBUGCTL, 0);
	}
}
