// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area CR: MOV to and from control registers, CLTS, LMSW, PCID (SDM 3A 2.5, 2B MOV). The oracle of
 * legal bits is the table below with CPUID.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/string.h"

#define CR3_NO_FLUSH BIT(63)
#define CR3_PWT	     BIT(3)
#define RSP_NUMBER   4u
#define R8_NUMBER    8u
#define R9_NUMBER    9u
#define PATTERN(n)   (0x8421000000000000ull | (u64)(n)*0x0101010101ull) /* not canonical */

/* Legal bits of CR4 and the CPUID bit that makes each so. */
enum cpuid_register { EAX, EBX, ECX, EDX };
static const struct cr4_bit {
	u32 bit, leaf, subleaf;
	enum cpuid_register reg;
	u32 feature;
} cr4_bits[] = {
	{ 0, 1, 0, EDX, 1 },   /* VME */
	{ 1, 1, 0, EDX, 1 },   /* PVI */
	{ 2, 1, 0, EDX, 4 },   /* TSD */
	{ 3, 1, 0, EDX, 2 },   /* DE */
	{ 4, 1, 0, EDX, 3 },   /* PSE */
	{ 6, 1, 0, EDX, 7 },   /* MCE */
	{ 7, 1, 0, EDX, 13 },  /* PGE */
	{ 8, 1, 0, EDX, 0 },   /* PCE: there since the P6; FPU stands for "always" */
	{ 9, 1, 0, EDX, 24 },  /* OSFXSR */
	{ 10, 1, 0, EDX, 25 }, /* OSXMMEXCPT */
	{ 11, 7, 0, ECX, 2 },  /* UMIP */
	{ 13, 1, 0, ECX, 5 },  /* VMXE */
	{ 14, 1, 0, ECX, 6 },  /* SMXE */
	{ 16, 7, 0, EBX, 0 },  /* FSGSBASE */
	{ 17, 1, 0, ECX, 17 }, /* PCIDE */
	{ 18, 1, 0, ECX, 26 }, /* OSXSAVE */
	{ 19, 7, 0, ECX, 23 }, /* KL */
	{ 20, 7, 0, EBX, 7 },  /* SMEP */
	{ 21, 7, 0, EBX, 20 }, /* SMAP */
	{ 22, 7, 0, ECX, 3 },  /* PKE */
	{ 23, 7, 0, ECX, 7 },  /* CET, shadow stacks */
	{ 23, 7, 0, EDX, 20 }, /* CET, branch tracking */
	{ 24, 7, 0, ECX, 31 }, /* PKS */
	{ 25, 7, 0, EDX, 5 },  /* UINTR */
	{ 28, 7, 1, EAX, 26 }, /* LAM_SUP */
	{ 32, 7, 1, EAX, 17 }, /* FRED */
};

static bool cr4_legal(u32 bit)
{
	u32 max_leaf = cpuid(0, 0).eax;

	for (u32 i = 0; i < ARRAY_SIZE(cr4_bits); i++) {
		const struct cr4_bit *row = &cr4_bits[i];
		struct cpuid r;
		u32 value;

		if (row->bit != bit || row->leaf > max_leaf ||
			(row->subleaf && cpuid(row->leaf, 0).eax < row->subleaf))
			continue;
		r = cpuid(row->leaf, row->subleaf);
		value = row->reg == EAX	  ? r.eax
			: row->reg == EBX ? r.ebx
			: row->reg == ECX ? r.ecx
					  : r.edx;
		if (value >> row->feature & 1)
			return true;
	}
	return false;
}

/* On a bare machine with VMX the bit is legal; that is not what is tested. */
CASE("BUG-14", "CR", "cr4-bit-walk", cr4_bit_walk)
{
	u64 initial = read_cr4();

	if (under_qemu_tcg())
		case_skip("QEMU TCG checks no bits of CR4 and dies without PAE");
	for (u32 bit = 0; bit < 64; bit++) {
		bool clear = initial >> bit & 1;
		bool legal = bit == 5	 ? false /* PAE stays on in long mode */
			     : bit == 12 ? false /* LA57 cannot flip in long mode */
					 : cr4_legal(bit);
		int vector = try_write_cr4(initial ^ BIT(bit));
		u64 now = read_cr4();

		write_cr4(initial);
		if (!legal) {
			expect_equal(
				(u64)vector, GP, "%s CR4 bit %u", clear ? "clear" : "set", bit);
			expect_equal(last_fault.error, 0, "error code, bit %u", bit);
			expect_equal(now, initial, "CR4 after a refused write of bit %u", bit);
		} else {
			expect_equal((u64)vector, (u64)NO_FAULT, "%s CR4 bit %u",
				clear ? "clear" : "set", bit);
			expect_equal(now, initial ^ BIT(bit), "CR4 read back, bit %u", bit);
		}
	}
}

CASE("BUG-14", "CR", "cr0-bit-walk", cr0_bit_walk)
{
	const u64 writable = CR0_MP | CR0_EM | CR0_TS | CR0_NE | CR0_WP | CR0_AM | CR0_CD;
	u64 initial = read_cr0();

	if (under_qemu_tcg())
		case_skip("QEMU TCG checks no bits of CR0 and dies without PG");
	for (u32 bit = 0; bit < 64; bit++) {
		/*
		 * PE needs PG off, PG cannot go off in 64-bit mode, NW needs CD (SDM 2B, MOV CR).
		 */
		bool fault =
			bit >= 32 || BIT(bit) == CR0_PE || BIT(bit) == CR0_PG || BIT(bit) == CR0_NW;
		int vector = try_write_cr0(initial ^ BIT(bit));
		u64 now = read_cr0();

		write_cr0(initial);
		expect_equal((u64)vector, (u64)(fault ? GP : NO_FAULT), "flip CR0 bit %u", bit);
		/* ET reads 1, reserved bits are ignored */
		expect_equal(now, !fault && (writable & BIT(bit)) ? initial ^ BIT(bit) : initial,
			"CR0 after flipping bit %u", bit);
	}
}

CASE("BUG-14", "CR", "vmxe-hidden", vmxe_hidden)
{
	if (cpuid_ecx(1, 5))
		case_skip("VMX is there");
	if (under_qemu_tcg())
		case_skip("QEMU TCG lets VMXE be set");
	expect_equal(read_cr4() & BIT(13), 0, "CR4.VMXE");
	expect_equal((u64)try_write_cr4(read_cr4() | BIT(13)), GP, "set CR4.VMXE");
	fault_clear();
	__asm__ volatile(TRY("vmxoff"));
	expect_equal((u64)last_fault.vector, UD, "VMXOFF");
}

CASE("BUG-13", "CR", "cr0-read-back", cr0_read_back)
{
	u64 initial = read_cr0();
	static const u64 combinations[] = { 0, CR0_CD, CR0_CD | CR0_NW, CR0_NW };

	expect_equal((u64)try_write_cr0(initial & ~CR0_NE), (u64)NO_FAULT, "NE=0");
	expect_equal(read_cr0(), initial & ~CR0_NE, "CR0 with NE=0");
	write_cr0(initial);
	for (u32 i = 0; i < ARRAY_SIZE(combinations); i++) {
		bool legal = combinations[i] != CR0_NW;

		expect_equal((u64)try_write_cr0(initial | combinations[i]),
			(u64)(legal ? NO_FAULT : GP), "CD/NW %lx", combinations[i]);
		expect_equal(read_cr0(), legal ? initial | combinations[i] : initial,
			"CR0, CD/NW %lx", combinations[i]);
		write_cr0(initial);
	}
	expect_equal((u64)try_write_cr4(read_cr4()), (u64)NO_FAULT, "CR4 as read");
}

CASE("BUG-13", "CR", "clts-lmsw-smsw", clts_lmsw)
{
	u64 initial = read_cr0(), msw;

	write_cr0(initial | CR0_TS);
	__asm__ volatile("clts");
	expect_equal(read_cr0(), initial & ~CR0_TS, "CR0 after CLTS");
	/* LMSW sets the low four bits, but cannot clear PE (SDM 2A). */
	__asm__ volatile("lmsw %w0" ::"r"((u32)(CR0_TS | CR0_EM)));
	expect_equal(read_cr0(), (initial & ~0xfull) | CR0_PE | CR0_EM | CR0_TS, "CR0 after LMSW");
	__asm__ volatile("smsw %q0" : "=r"(msw));
	expect_equal(msw, read_cr0(), "SMSW of 64 bits");
	__asm__ volatile("lmsw %0" ::"m"(initial));
	expect_equal(read_cr0(), initial, "CR0 after LMSW from memory");
	write_cr0(initial);
}

/* ---- every register number with every control register */

enum direction { FROM, TO };

/*
 * MOV between a general and a control (or debug) register, RSP kept in R8 where it is the operand.
 */
static void emit_move(u8 *code, enum direction direction, u8 opcode, u32 special, u32 reg)
{
	static const u8 save_rsp[] = { 0x49, 0x89, 0xe0 };    /* mov r8, rsp */
	static const u8 rsp_from_r9[] = { 0x4c, 0x89, 0xcc }; /* mov rsp, r9 */
	static const u8 r9_from_rsp[] = { 0x49, 0x89, 0xe1 }; /* mov r9, rsp */
	static const u8 restore_rsp[] = { 0x4c, 0x89, 0xc4 }; /* mov rsp, r8 */
	u8 *at = code;

#define EMIT(bytes) (memcpy(at, bytes, sizeof(bytes)), at += sizeof(bytes))
	if (reg == RSP_NUMBER) {
		EMIT(save_rsp);
		if (direction == TO)
			EMIT(rsp_from_r9);
	}
	*at++ = (u8)(0x40 | (special >= 8) << 2 | (reg >= 8)); /* REX.R, REX.B */
	*at++ = 0x0f;
	*at++ = (u8)(opcode + (direction == TO ? 2 : 0));
	*at++ = (u8)(0xc0 | (special & 7) << 3 | (reg & 7));
	if (reg == RSP_NUMBER) {
		if (direction == FROM)
			EMIT(r9_from_rsp);
		EMIT(restore_rsp);
	}
	*at++ = 0xcd;
	*at = VECTOR_DONE;
#undef EMIT
}

static u8 code_buffer[64];

/* The frame after the move; all registers but the operand hold patterns, and must still do so. */
static u64 run_move(
	enum direction direction, u8 opcode, u32 special, u32 reg, u64 value, const char *name)
{
	struct trap_frame frame = frame_kernel(code_buffer), before;
	u32 operand = reg == RSP_NUMBER ? R9_NUMBER : reg;

	emit_move(code_buffer, direction, opcode, special, reg);
	for (u32 i = 0; i < 16; i++)
		if (i != RSP_NUMBER)
			*frame_register(&frame, i) = PATTERN(i);
	if (direction == TO)
		*frame_register(&frame, operand) = value;
	before = frame;
	run_frame(&frame);
	if (!expect_equal(frame.vector, VECTOR_DONE, "%s with register %u", name, reg))
		return 0;
	for (u32 i = 0; i < 16; i++) {
		if ((i == operand && direction == FROM) || (reg == RSP_NUMBER && i == R8_NUMBER))
			continue;
		expect_equal(*frame_register(&frame, i), *frame_register(&before, i),
			"%s with register %u: register %u", name, reg, i);
	}
	return *frame_register(&frame, operand);
}

static const struct special {
	const char *name;
	u8 opcode; /* of the move from it */
	u32 number;
	u64 (*read)(void);
	void (*write)(u64 value);
	u64 flip; /* a harmless bit */
} specials[] = {
	{ "CR0", 0x20, 0, read_cr0, write_cr0, CR0_AM },
	{ "CR2", 0x20, 2, read_cr2, write_cr2, 0x123456789000 },
	{ "CR3", 0x20, 3, read_cr3, write_cr3, CR3_PWT },
	{ "CR4", 0x20, 4, read_cr4, write_cr4, CR4_TSD },
	{ "CR8", 0x20, 8, read_cr8, write_cr8, 5 },
	{ "DR0", 0x21, 0, read_dr0, write_dr0, 0xfedcba9876543210 },
	{ "DR6", 0x21, 6, read_dr6, write_dr6, 5 },
	{ "DR7", 0x21, 7, read_dr7, write_dr7, 0xf000 & ~BIT(13) & ~BIT(12) & ~BIT(14) & ~BIT(15) },
};

CASE("BUG-11", "CR", "all-registers", all_registers)
{
	for (u32 i = 0; i < ARRAY_SIZE(specials); i++) {
		const struct special *s = &specials[i];
		u64 initial = s->read();

		for (u32 reg = 0; reg < 16; reg++) {
			u64 value = initial ^ (reg & 1 ? s->flip : 0);

			run_move(TO, s->opcode, s->number, reg, value, s->name);
			expect_equal(s->read(), value, "MOV to %s from register %u", s->name, reg);
			expect_equal(run_move(FROM, s->opcode, s->number, reg, 0, s->name), value,
				"MOV from %s to register %u", s->name, reg);
			s->write(initial);
		}
	}
}

/* ---- PCID */

#define PCID_PAGE 0x700000000000ull
static u8 pcid_pages[2][PAGE_SIZE] __aligned(4096);

CASE("BUG-12", "CR", "pcid", pcid)
{
	u64 cr3 = read_cr3(), cr4 = read_cr4();
	const volatile u8 *window = (const volatile u8 *)PCID_PAGE;

	if (!cpuid_ecx(1, 17))
		case_skip("no PCID");
	pcid_pages[0][0] = 1;
	pcid_pages[1][0] = 2;
	write_cr3(cr3 | CR3_PWT);
	expect_equal((u64)try_write_cr4(cr4 | CR4_PCIDE), GP, "PCIDE with CR3[11:0] not 0");
	expect_equal(read_cr4(), cr4, "CR4 after it");
	write_cr3(cr3);
	expect_equal((u64)try_write_cr3(cr3 | CR3_NO_FLUSH), GP, "CR3 bit 63 without PCIDE");
	if (!expect_equal((u64)try_write_cr4(cr4 | CR4_PCIDE), (u64)NO_FAULT, "PCIDE"))
		return;
	for (u32 id = 0; id < 4096; id += 273) {
		write_cr3(cr3 | id | CR3_NO_FLUSH);
		expect_equal(read_cr3(), cr3 | id, "CR3 after a load without flush");
		write_cr3(cr3 | id);
		expect_equal(read_cr3(), cr3 | id, "CR3 after a load with flush");
	}
	for (u32 id = 0; id < 8; id++) {
		paging_map(PCID_PAGE, (u64)pcid_pages[0], PTE_P | PTE_W);
		write_cr3(cr3 | id);
		expect_equal(*window, 1, "first mapping");
		*paging_entry(PCID_PAGE) = (u64)pcid_pages[1] | PTE_P | PTE_W;
		write_cr3(cr3 | (id + 1));
		write_cr3(cr3 | id | CR3_NO_FLUSH); /* old or new: both legal */
		(void)*window;
		write_cr3(cr3 | id);
		expect_equal(*window, 2, "new mapping after a load with flush");
	}
	expect_equal((u64)try_write_cr3(cr3 | BIT(62)), GP, "CR3 bit 62");
	expect_equal((u64)try_write_cr0(read_cr0() & ~CR0_PG), GP, "PG=0 with PCIDE");
	write_cr3(cr3);
	expect_equal((u64)try_write_cr4(cr4), (u64)NO_FAULT, "PCIDE off");
	expect_equal(read_cr3(), cr3, "CR3 at the end");
}

CASE("BUG-12", "CR", "cr3-reserved-bits", cr3_reserved)
{
	u32 width = cpuid(0x80000008, 0).eax & 0xff;
	u64 cr3 = read_cr3();

	if (under_qemu_tcg())
		case_skip("QEMU TCG takes reserved CR3 bits as part of the address");
	for (u32 bit = width; bit < 61; bit++)
		expect_equal((u64)try_write_cr3(cr3 | BIT(bit)), GP, "CR3 bit %u", bit);
	expect_equal((u64)try_write_cr3(cr3 | BIT(63)), GP, "CR3 bit 63, PCIDE=0");
	expect_equal(read_cr3(), cr3, "CR3");
}

SNIPPET(user_cr0, "mov %cr0, %rax\n");
SNIPPET(user_cr8, "mov %rax, %cr8\n");
SNIPPET(user_clts, "clts\n");
SNIPPET(user_invlpg, "invlpg (%rdi)\n");
SNIPPET(user_hlt, "hlt\n");
SNIPPET(user_wbinvd, "wbinvd\n");
SNIPPET(user_invd, "invd\n");
SNIPPET(user_rdmsr, "rdmsr\n");
SNIPPET(user_wrmsr, "wrmsr\n");
SNIPPET(user_lidt, "lidt (%rdi)\n");
SNIPPET(user_swapgs, "swapgs\n");

CASE("BUG-34", "CR", "privileged-in-ring3", privileged_ring3)
{
	static const struct {
		const char *name;
		const u8 *code, *end;
	} table[] = {
#define ROW(n) { #n, user_##n, user_##n##_end }
		ROW(cr0),
		ROW(cr8),
		ROW(clts),
		ROW(invlpg),
		ROW(hlt),
		ROW(wbinvd),
		ROW(invd),
		ROW(rdmsr),
		ROW(wrmsr),
		ROW(lidt),
		ROW(swapgs),
#undef ROW
	};

	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct trap_frame frame = frame_user(table[i].code, table[i].end);
		u64 start = frame.rip;

		run_frame(&frame);
		expect_equal(frame.vector, GP, "%s in ring 3", table[i].name);
		expect_equal(frame.error, 0, "%s: error code", table[i].name);
		expect_equal(frame.rip, start, "%s: RIP", table[i].name);
	}
}

CASE("BUG-04", "CR", "wp-toggle", wp_toggle)
{
	static u8 page[PAGE_SIZE] __aligned(4096);
	volatile u32 *target = (volatile u32 *)PCID_PAGE;
	u64 cr0 = read_cr0();

	paging_map(PCID_PAGE, (u64)page, PTE_P);
	for (u32 round = 0; round < 1000; round++) {
		fault_clear();
		__asm__ volatile(TRY("movl $1, %0") : "=m"(*target));
		if (!expect_equal((u64)last_fault.vector, PF, "write with WP=1, round %u", round))
			return;
		expect_equal(last_fault.error, PF_P | PF_W, "error code");
		expect_equal(last_fault.cr2, PCID_PAGE, "CR2");
		expect_equal(*paging_entry(PCID_PAGE) & PTE_D, round ? PTE_D : 0, "dirty bit");
		write_cr0(cr0 & ~CR0_WP);
		fault_clear();
		__asm__ volatile(TRY("movl %1, %0") : "=m"(*target) : "r"(round));
		if (!expect_equal((u64)last_fault.vector, (u64)NO_FAULT,
			    "write with WP=0, round %u", round))
			return;
		expect_equal(*target, round, "what was written");
		write_cr0(cr0);
	}
}
