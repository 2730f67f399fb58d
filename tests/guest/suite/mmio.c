// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area MMIO: every form of instruction a hypervisor must decode, run once against RAM and once
 * against RAM-like MMIO (the test device's, or option scratch=ADDRESS): registers, flags and memory
 * must come out the same.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/string.h"

#define WINDOW	   0x480000000000ull
#define AREA_BYTES 64

/* RDI points to the operand, in the middle of the area; other registers hold patterns. */
#define FORMS(X)                                                        \
	X(load8, "movb (%rdi), %al")                                    \
	X(load8_high, "movb (%rdi), %ah")                               \
	X(load8_rex, "movb (%rdi), %sil")                               \
	X(load16, "movw (%rdi), %ax")                                   \
	X(load32, "movl (%rdi), %eax")                                  \
	X(load64, "movq (%rdi), %rax")                                  \
	X(load32_r15, "movl (%rdi), %r15d")                             \
	X(load_disp8, "movl 4(%rdi), %eax")                             \
	X(load_disp32, "movl 0x00000010(%rdi), %eax")                   \
	X(load_sib, "mov $4, %ecx; movl -8(%rdi,%rcx,2), %eax")         \
	X(load_r12, "mov %rdi, %r12; movl (%r12), %eax")                \
	X(load_r13, "mov %rdi, %r13; movl (%r13), %eax")                \
	X(movzx8_16, "movzbw (%rdi), %ax")                              \
	X(movzx8_32, "movzbl (%rdi), %eax")                             \
	X(movzx8_64, "movzbq (%rdi), %rax")                             \
	X(movzx16_32, "movzwl (%rdi), %eax")                            \
	X(movzx16_64, "movzwq (%rdi), %rax")                            \
	X(movsx8_16, "movsbw (%rdi), %ax")                              \
	X(movsx8_32, "movsbl (%rdi), %eax")                             \
	X(movsx8_64, "movsbq (%rdi), %rax")                             \
	X(movsx16_64, "movswq (%rdi), %rax")                            \
	X(movsxd, "movslq (%rdi), %rax")                                \
	X(store8, "movb %al, (%rdi)")                                   \
	X(store8_high, "movb %ch, (%rdi)")                              \
	X(store8_r9, "movb %r9b, (%rdi)")                               \
	X(store16, "movw %ax, (%rdi)")                                  \
	X(store32, "movl %eax, (%rdi)")                                 \
	X(store64, "movq %rax, (%rdi)")                                 \
	X(store_imm8, "movb $0x5a, (%rdi)")                             \
	X(store_imm16, "movw $0x5aa5, (%rdi)")                          \
	X(store_imm32, "movl $0x12345678, (%rdi)")                      \
	X(store_imm64, "movq $-2, (%rdi)")                              \
	X(add_to, "addl %ecx, (%rdi)")                                  \
	X(add_from, "addl (%rdi), %eax")                                \
	X(add_imm, "addl $0x7f, (%rdi)")                                \
	X(add8_imm, "addb $0x81, (%rdi)")                               \
	X(adc_to, "stc; adcl %ecx, (%rdi)")                             \
	X(sub_to, "subq %rcx, (%rdi)")                                  \
	X(sbb_from, "stc; sbbw (%rdi), %ax")                            \
	X(and_imm, "andl $0xff00ff, (%rdi)")                            \
	X(and_from, "andq (%rdi), %rax")                                \
	X(or_to, "orb %al, (%rdi)")                                     \
	X(or_imm, "orl $0x80000001, (%rdi)")                            \
	X(xor_to, "xorl %eax, (%rdi)")                                  \
	X(xor_from, "xorl (%rdi), %eax")                                \
	X(cmp_imm8, "cmpb $0x33, (%rdi)")                               \
	X(cmp_imm32, "cmpl $0x1000, (%rdi)")                            \
	X(cmp_from, "cmpl (%rdi), %eax")                                \
	X(cmp_to, "cmpw %ax, (%rdi)")                                   \
	X(test_imm8, "testb $0x10, (%rdi)")                             \
	X(test_imm32, "testl $0x80000000, (%rdi)")                      \
	X(test_reg, "testl %eax, (%rdi)")                               \
	X(xchg32, "xchgl %eax, (%rdi)")                                 \
	X(xchg8, "xchgb %al, (%rdi)")                                   \
	X(lock_or, "lock orl $2, (%rdi)")                               \
	X(inc32, "incl (%rdi)")                                         \
	X(dec8, "decb (%rdi)")                                          \
	X(not32, "notl (%rdi)")                                         \
	X(neg32, "negl (%rdi)")                                         \
	X(bt_imm, "btl $5, (%rdi)")                                     \
	X(bts_imm, "btsl $5, (%rdi)")                                   \
	X(btr_imm, "btrl $3, (%rdi)")                                   \
	X(btc_imm, "btcl $31, (%rdi)")                                  \
	X(movs8, "lea 16(%rdi), %rsi; movsb")                           \
	X(movs32_rep, "lea 16(%rdi), %rsi; mov $3, %ecx; rep movsl")    \
	X(stos32_rep, "mov $3, %ecx; rep stosl")                        \
	X(stos8_down, "std; mov $3, %ecx; rep stosb; cld")              \
	X(lods32, "mov %rdi, %rsi; lodsl")                              \
	X(push_mem, "push (%rdi); pop %rax")                            \
	X(addr32, "mov %rdi, %rbx; addr32 movl (%ebx), %eax")           \
	X(unaligned, "movl 1(%rdi), %eax; movl %eax, 3(%rdi)")          \
	X(cmov_taken, "stc; cmovcl (%rdi), %eax")                       \
	X(cmpxchg_hit, "movl (%rdi), %eax; lock cmpxchgl %ecx, (%rdi)") \
	X(cmpxchg_miss, "xor %eax, %eax; lock cmpxchgl %ecx, (%rdi)")   \
	X(xadd, "lock xaddl %eax, (%rdi)")

#define X(name, code) SNIPPET(mmio_##name, code "\npushfq; pop %rbp\n");
FORMS(X)
#undef X

static const struct form {
	const char *name;
	const u8 *code;
} forms[] = {
#define X(name, code) { #name, mmio_##name },
	FORMS(X)
#undef X
};

static u8 ram_area[PAGE_SIZE] __aligned(4096);

static void fill(volatile u8 *area)
{
	for (u32 i = 0; i < AREA_BYTES; i++)
		area[i] = (u8)(0xf3 - i * 37);
}

/*
 * The 32-bit address form needs the window below 4 GiB: the frames run with identity-mapped pages.
 */
static struct trap_frame run_on(const struct form *form, u64 base)
{
	struct trap_frame frame = frame_kernel(form->code);

	fill((volatile u8 *)base);
	for (u32 i = 0; i < 16; i++)
		if (i != 4)
			*frame_register(&frame, i) = 0x8182838485868788ull * (i + 1);
	frame.rdi = base + 16;
	run_frame(&frame);
	return frame;
}

static void compare_form(const struct form *form, u64 scratch)
{
	const u64 flags = 0x8d5 & ~BIT(4); /* CF PF ZF SF OF; AF is undefined after logic */
	struct trap_frame ram = run_on(form, (u64)ram_area), mmio = run_on(form, scratch);

	if (!expect_equal(mmio.vector, ram.vector, "%s: vector (RIP %lx)", form->name, mmio.rip))
		return;
	for (u32 i = 0; i < 16; i++) {
		u64 a = *frame_register(&ram, i), b = *frame_register(&mmio, i);

		if (i == 5) /* RBP holds RFLAGS */
			expect_equal(b & flags, a & flags, "%s: flags", form->name);
		else if (a - (u64)ram_area < PAGE_SIZE) /* a pointer into the area */
			expect_equal(
				b - scratch, a - (u64)ram_area, "%s: pointer %u", form->name, i);
		else
			expect_equal(b, a, "%s: register %u", form->name, i);
	}
	for (u32 i = 0; i < AREA_BYTES; i++)
		if (!expect_equal(
			    ((volatile u8 *)scratch)[i], ram_area[i], "%s: byte %u", form->name, i))
			return;
}

CASE("BUG-58", "MMIO", "forms-as-on-ram", mmio_forms)
{
	u64 scratch = mmio_scratch();

	if (!scratch)
		case_skip("no RAM-like MMIO (test device, or option scratch=)");
	for (u32 i = 0; i < ARRAY_SIZE(forms); i++)
		compare_form(&forms[i], scratch);
}

SNIPPET(rip_relative,
	"mov %eax, scratch_target(%rip)\n.pushsection .bss\n.balign 4096\nscratch_target:\n"
	".skip 4096\n.popsection\n");
extern u8 scratch_target[];

CASE("BUG-58", "MMIO", "rip-relative", mmio_rip_relative)
{
	/*
	 * A page of the image is replaced by the scratch page, so that a RIP-relative operand
	 * exits.
	 */
	struct trap_frame frame = frame_kernel(rip_relative);
	u64 scratch = mmio_scratch();

	if (!scratch)
		case_skip("no RAM-like MMIO");
	*(volatile u32 *)scratch = 0;
	paging_map((u64)scratch_target, scratch, PTE_P | PTE_W);
	frame.rax = 0x11223344;
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end");
	expect_equal(*(volatile u32 *)scratch, 0x11223344, "the store");
}

CASE("BUG-58", "MMIO", "code-across-pages", mmio_across_pages)
{
	/* MOV EAX,[RDI+disp32], its bytes on two pages that do not lie side by side in memory. */
	static const u8 bytes[] = { 0x8b, 0x87, 0x10, 0x00, 0x00, 0x00, 0xcd, VECTOR_DONE };
	static u8 pages[3][PAGE_SIZE] __aligned(4096);
	u32 expected = ioapic_read(1);

	paging_map(WINDOW, (u64)pages[0], PTE_P | PTE_W);
	paging_map(WINDOW + PAGE_SIZE, (u64)pages[2], PTE_P | PTE_W);
	for (u32 split = 1; split < 6; split++) {
		struct trap_frame frame = frame_kernel((void *)(WINDOW + PAGE_SIZE - split));

		memcpy((void *)(WINDOW + PAGE_SIZE - split), bytes, sizeof(bytes));
		frame.rdi = IOAPIC_BASE;
		run_frame(&frame);
		expect_equal(frame.vector, VECTOR_DONE, "split after %u bytes: end", split);
		expect_equal(frame.rax, expected, "split after %u bytes: value", split);
	}
}

SNIPPET(plain_stos, "rep stosl\n");

CASE("BUG-58", "MMIO", "string-page-cross", mmio_string_faults)
{
	/*
	 * REP STOSL over the end of a mapped MMIO page: partial progress, #PF with the right CR2.
	 */
	struct trap_frame frame = frame_kernel(plain_stos);
	u64 scratch = mmio_scratch();

	if (!scratch)
		case_skip("no RAM-like MMIO");
	paging_map(WINDOW, scratch, PTE_P | PTE_W);
	paging_map(WINDOW + PAGE_SIZE, 0, 0);
	frame.rax = 0xa1b2c3d4;
	frame.rcx = 5;
	frame.rdi = WINDOW + PAGE_SIZE - 12;
	run_frame(&frame);
	expect_equal(frame.vector, PF, "vector");
	expect_equal(last_fault.cr2, WINDOW + PAGE_SIZE, "CR2");
	expect_equal(frame.rcx, 2, "RCX");
	expect_equal(frame.rdi, WINDOW + PAGE_SIZE, "RDI");
	expect_equal(*(volatile u32 *)(scratch + PAGE_SIZE - 4), 0xa1b2c3d4, "last element");
}

CASE("BUG-58", "MMIO", "lapic-ioapic-forms", mmio_apic_forms)
{
	volatile u32 *svr = (volatile u32 *)(LAPIC_BASE + LAPIC_SVR);
	u32 value = *svr;
	u64 wide;

	__asm__ volatile("movzwl (%1), %k0" : "=r"(wide) : "r"(svr));
	expect_equal(wide & 0x1ff, value & 0x1ff, "MOVZX of 16 bits from the LAPIC");
	__asm__ volatile("orl $0, (%0)" ::"r"(svr) : "memory");
	expect_equal(*svr, value, "OR to the LAPIC");
	wide = ~0ull;
	__asm__ volatile("movl (%1), %k0" : "+r"(wide) : "r"(svr));
	expect_equal(wide, value, "a 32-bit load clears the upper half");
	__asm__ volatile("testl $0x100, (%1); setnz %b0" : "=r"(wide) : "r"(svr));
	expect_equal(wide & 1, 1, "TEST on the LAPIC");
	__asm__ volatile("movabs 0xfee000f0, %%eax" : "=a"(wide));
	expect_equal((u32)wide, value, "MOV with a 64-bit offset");
}

CASE("BUG-50", "EPT", "unbacked-address", ept_unbacked)
{
	/* Nobody answers there: reads are what they are, writes do not stick, and the VM lives. */
	u32 width = cpuid(0x80000008, 0).eax & 0xff;
	const u64 addresses[] = { 0xd0000000, BIT(width - 1), BIT(width) - PAGE_SIZE };

	for (u32 i = 0; i < ARRAY_SIZE(addresses); i++) {
		volatile u64 *at = (volatile u64 *)WINDOW;
		u64 before;

		paging_map(WINDOW, addresses[i], PTE_P | PTE_W);
		before = *at;
		*at = 0x1234567890abcdef;
		expect_equal(*at, before, "read of %lx after a write", addresses[i]);
		if (under_torpor())
			expect_equal(before, ~0ull, "read of %lx", addresses[i]);
	}
}
