// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area FPU: x87, SSE, AVX state is the guest's own, whatever exits happen. The payload itself is
 * compiled without vector code, so registers hold what the snippets put there.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/string.h"

#define ROUNDS	      300
#define XSTATE_AVX512 0xe7u

static u8 pattern[2048] __aligned(64);
static u8 result[2048] __aligned(64);

/* Loads from RSI, then exits of every kind RBX times, then stores to RDI. */
#define EXITS                                                              \
	"1: push %rdi; push %rsi; push %rbx\n"                             \
	"xor %eax, %eax; xor %ecx, %ecx; cpuid\n"                          \
	"mov $0xc0000080, %ecx; rdmsr; wrmsr\n"                            \
	"inb $0x21, %al; outb %al, $0x80\n"                                \
	"mov %cr4, %rax; mov %rax, %cr4; mov %cr0, %rax; mov %rax, %cr0\n" \
	"mov %cr3, %rax; mov %rax, %cr3; mov %cr8, %rax; mov %rax, %cr8\n" \
	"mov %dr7, %rax; mov %rax, %dr7\n"                                 \
	"mov $0xfec00000, %eax; mov (%rax), %ecx; mov %ecx, (%rax)\n"      \
	"rdtsc; pause\n"                                                   \
	"pop %rbx; pop %rsi; pop %rdi; dec %ebx; jnz 1b\n"

SNIPPET(sse_state,
	"fninit; fldl (%rsi); fldl 8(%rsi); fldpi; ldmxcsr 512(%rsi)\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nmovups 16*\\n(%rsi), %xmm\\n\n.endr\n" EXITS
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nmovups %xmm\\n, 16*\\n(%rdi)\n.endr\n"
	"stmxcsr 512(%rdi); fldpi; fcomip %st(1), %st; setnz %al; movzbl %al, %eax\n"
	"fstp %st(0); fstpl 520(%rdi); fstpl 528(%rdi)\n");
SNIPPET(avx_state,
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nvmovups 32*\\n(%rsi), %ymm\\n\n.endr\n" EXITS
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nvmovups %ymm\\n, 32*\\n(%rdi)\n.endr\n");
SNIPPET(avx512_state,
	".irp "
	"n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"vmovups 64*\\n(%rsi), %zmm\\n\n.endr\n"
	"mov $0x5aa5, %eax; kmovw %eax, %k1; mov $0x1234, %eax; kmovw %eax, %k7\n" EXITS ".irp "
	"n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"vmovups %zmm\\n, 64*\\n(%rdi)\n.endr\n"
	"kmovw %k1, %eax; kmovw %k7, %edx\n");

static void fill(void)
{
	u32 seed = 7;

	for (u32 i = 0; i < sizeof(pattern); i++) {
		seed = seed * 1664525 + 1013904223;
		pattern[i] = (u8)(seed >> 24);
	}
	/* two ordinary doubles, MXCSR with rounding down and all exceptions masked */
	memcpy(pattern, &(u64[2]){ 0x4009000000000000, 0xc010000000000000 }, 16);
	memset(result, 0, sizeof(result));
}

static void compare(u32 size, const char *what)
{
	for (u32 i = 0; i < size; i++)
		if (!expect_equal(result[i], pattern[i], "%s byte %u", what, i))
			return;
}

static struct trap_frame run_state(const u8 *code)
{
	struct trap_frame frame = frame_kernel(code);

	frame.rbx = ROUNDS;
	frame.rsi = (u64)pattern;
	frame.rdi = (u64)result;
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end");
	return frame;
}

CASE("BUG-18", "FPU", "x87-sse-over-exits", fpu_sse)
{
	const u32 mxcsr = 0x3f80;
	struct trap_frame frame;

	fill();
	memcpy(pattern + 512, &mxcsr, 4);
	frame = run_state(sse_state);
	compare(256, "XMM");
	expect_equal(*(u32 *)(result + 512), mxcsr, "MXCSR");
	expect_equal(frame.rax, 0, "x87 top of stack");
	expect_equal(*(u64 *)(result + 528), *(u64 *)pattern, "x87 ST(2)");
	expect_equal(*(u64 *)(result + 520), *(u64 *)(pattern + 8), "x87 ST(1)");
}

static void xsave_with(u64 components)
{
	if (!cpuid_ecx(1, 26) || (cpuid(0xd, 0).eax & components) != components)
		case_skip("CPU has no such state");
	write_cr4(read_cr4() | CR4_OSXSAVE);
	expect_equal((u64)try_xsetbv(0, components), (u64)NO_FAULT, "XSETBV");
}

CASE("BUG-18", "FPU", "avx-over-exits", fpu_avx)
{
	fill();
	xsave_with(7);
	run_state(avx_state);
	compare(512, "YMM");
}

CASE("BUG-18", "FPU", "avx512-over-exits", fpu_avx512)
{
	struct trap_frame frame;

	fill();
	xsave_with(XSTATE_AVX512);
	frame = run_state(avx512_state);
	compare(2048, "ZMM");
	expect_equal(frame.rax, 0x5aa5, "K1");
	expect_equal(frame.rdx, 0x1234, "K7");
}

SNIPPET(use_x87, "fld1\n");
SNIPPET(use_sse, "movaps %xmm0, %xmm0\n");
SNIPPET(use_wait, "fwait\n");

CASE("BUG-18", "FPU", "ts-em-nm-ud", fpu_traps)
{
	struct trap_frame frame;
	u64 cr0 = read_cr0();

	write_cr0(cr0 | CR0_TS);
	frame = frame_kernel(use_x87);
	run_frame(&frame);
	expect_equal(frame.vector, NM, "x87 with TS");
	frame = frame_kernel(use_sse);
	run_frame(&frame);
	expect_equal(frame.vector, NM, "SSE with TS");
	frame = frame_kernel(use_wait);
	run_frame(&frame);
	expect_equal(frame.vector, NM, "FWAIT with TS and MP");
	write_cr0((cr0 | CR0_EM) & ~CR0_TS);
	frame = frame_kernel(use_sse);
	run_frame(&frame);
	expect_equal(frame.vector, UD, "SSE with EM");
	frame = frame_kernel(use_x87);
	run_frame(&frame);
	expect_equal(frame.vector, NM, "x87 with EM");
	write_cr0(cr0);
	write_cr4(read_cr4() & ~CR4_OSFXSR);
	frame = frame_kernel(use_sse);
	run_frame(&frame);
	expect_equal(frame.vector, UD, "SSE without OSFXSR");
	write_cr4(read_cr4() | CR4_OSFXSR);
}

SNIPPET(unmasked_x87, "fninit; fldz; fld1; movw $0x37b, -8(%rsp); fldcw -8(%rsp)\n"
		      "fdiv %st(1), %st; fwait\n");
SNIPPET(unmasked_sse, "movl $0x1d80, -8(%rsp); ldmxcsr -8(%rsp); xorps %xmm1, %xmm1\n"
		      "mov $0x3f800000, %eax; movd %eax, %xmm0; divss %xmm1, %xmm0\n");

CASE("BUG-18", "FPU", "mf-xm", fpu_exceptions)
{
	struct trap_frame frame = frame_kernel(unmasked_x87);

	run_frame(&frame);
	expect_equal(frame.vector, MF, "x87 division by zero");
	__asm__ volatile("fninit");
	frame = frame_kernel(unmasked_sse);
	run_frame(&frame);
	expect_equal(frame.vector, XM, "SSE division by zero");
	__asm__ volatile("ldmxcsr %0" ::"m"((const u32){ 0x1f80 }));
}
