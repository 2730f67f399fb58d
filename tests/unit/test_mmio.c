// SPDX-License-Identifier: BSD-2-Clause
/*
 * Emulated device accesses against the processor itself (BUG-58): each instruction form runs on
 * this machine with its operand in RAM and is emulated with its operand in the test device's
 * memory; registers, flags and bytes must come out equal. Then the faults and limits that cannot be
 * had from user code. BUG-34, BUG-50.
 */
#include "emulation_fixture.h"

#include <stdio.h>
#include <sys/mman.h>

#include "vmx/alu.h"
#include "vmx/decode.h"

#define VIOLATION_READ	BIT(0)
#define VIOLATION_WRITE BIT(1)
#define VIOLATION_VALID (BIT(7) | BIT(8))

/* ---------------------------------------------------------------- the machine underneath */

struct native_state {
	u64 gpr[GPR_COUNT];
	u64 rflags;
	void *code;
};

/* Runs code with those registers (all, RSP too) and stores what they are when it jumps back. */
void native_run(struct native_state *state);
extern u8 native_return[];

__asm__(".pushsection .text\n"
	".globl native_run, native_return\n"
	"native_run:\n"
	"	push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
	"	mov %rsp, native_stack(%rip)\n"
	"	mov %rdi, native_pointer(%rip)\n"
	"	push 128(%rdi)\n popfq\n"
	"	mov 0(%rdi), %rax\n mov 8(%rdi), %rcx\n mov 16(%rdi), %rdx\n mov 24(%rdi), %rbx\n"
	"	mov 32(%rdi), %rsp\n mov 40(%rdi), %rbp\n mov 48(%rdi), %rsi\n"
	"	mov 64(%rdi), %r8\n mov 72(%rdi), %r9\n mov 80(%rdi), %r10\n mov 88(%rdi), %r11\n"
	"	mov 96(%rdi), %r12\n mov 104(%rdi), %r13\n mov 112(%rdi), %r14\n"
	"	mov 120(%rdi), %r15\n"
	"	push 136(%rdi)\n" /* the code's address, taken by RET, which changes nothing else */
	"	mov 56(%rdi), %rdi\n"
	"	ret\n"
	"native_return:\n"
	"	mov %rdi, native_rdi(%rip)\n"
	"	mov native_pointer(%rip), %rdi\n"
	"	mov %rsp, 32(%rdi)\n"
	"	mov native_stack(%rip), %rsp\n"
	"	pushfq\n pop 128(%rdi)\n"
	"	cld\n"
	"	mov %rax, 0(%rdi)\n mov %rcx, 8(%rdi)\n mov %rdx, 16(%rdi)\n mov %rbx, 24(%rdi)\n"
	"	mov %rbp, 40(%rdi)\n mov %rsi, 48(%rdi)\n"
	"	mov %r8, 64(%rdi)\n mov %r9, 72(%rdi)\n mov %r10, 80(%rdi)\n mov %r11, 88(%rdi)\n"
	"	mov %r12, 96(%rdi)\n mov %r13, 104(%rdi)\n mov %r14, 112(%rdi)\n"
	"	mov %r15, 120(%rdi)\n"
	"	mov native_rdi(%rip), %rax\n mov %rax, 56(%rdi)\n"
	"	pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
	"	ret\n"
	".popsection\n"
	".pushsection .bss\n"
	".lcomm native_stack, 8\n .lcomm native_pointer, 8\n .lcomm native_rdi, 8\n"
	".popsection\n");

static u8 *native_code; /* executable */
static u8 native_memory[PAGE_SIZE] __attribute__((aligned(4096)));
static u8 native_stack_memory[PAGE_SIZE] __attribute__((aligned(4096)));

static void native_prepare(const u8 *bytes, u32 length)
{
	static const u8 jump[] = { 0xff, 0x25, 0, 0, 0, 0 }; /* JMP [RIP] */
	u64 target = (u64)native_return;

	memcpy(native_code, bytes, length);
	memcpy(native_code + length, jump, sizeof(jump));
	memcpy(native_code + length + sizeof(jump), &target, 8);
}

/* ---------------------------------------------------------------- comparison */

#define WINDOW	     0x400 /* the operand's place in its page */
#define FLAGS_STATUS (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)

static char failing_text[64];

static void describe(const u8 *bytes, u32 length)
{
	for (u32 i = 0; i < length; i++)
		sprintf(failing_text + 3 * i, "%02x ", bytes[i]);
}

#define CHECK_EQUAL(a, b)                                                                        \
	do {                                                                                     \
		u64 a_ = (a), b_ = (b);                                                          \
		if (a_ != b_)                                                                    \
			fail_msg("%s: %s %#lx, %s %#lx (line %d)", failing_text, #a, a_, #b, b_, \
				__LINE__);                                                       \
	} while (0)

static void violation(u64 linear, u64 physical, u64 access)
{
	fake_vmcs_put(VMCS_EXIT_REASON, EXIT_EPT_VIOLATION);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, access | VIOLATION_VALID);
	fake_vmcs_put(VMCS_GUEST_LINEAR_ADDRESS, linear);
	fake_vmcs_put(VMCS_GUEST_PHYSICAL_ADDRESS, physical);
}

/* BT with an undefined flag result: only CF and ZF mean something (SDM 2A BT). */
static u64 defined_flags(u32 kind)
{
	return kind >= INSN_BT && kind <= INSN_BTC ? FLAG_CF | FLAG_ZF : FLAGS_STATUS;
}

/* Runs one instruction with its operand at [RBX + 8] both ways. */
static void compare(const u8 *bytes, const struct insn *insn, u64 reg_value)
{
	struct native_state state;
	u64 flags = (random_u64() & FLAGS_STATUS) | 2;
	bool stack = insn->kind == INSN_PUSH || insn->kind == INSN_POP;

	describe(bytes, insn->length);
	for (u32 i = 0; i < GPR_COUNT; i++)
		state.gpr[i] = random_u64() >> (random_u64() % 64);
	if (insn->reg != RBX && insn->reg != RSP)
		state.gpr[insn->reg] = reg_value;
	state.rflags = flags;
	state.code = native_code;
	for (u32 i = 0; i < 64; i++) {
		u8 byte = random_u64() % 4 ? random_u64() : 0;

		if (random_u64() % 8 == 0 && i >= 8 && i < 16) /* so that CMPXCHG may match */
			byte = state.gpr[RAX] >> 8 * (i - 8);
		native_memory[WINDOW - 8 + i] = byte;
		set_device_byte(WINDOW - 8 + i, byte);
	}
	memset(&ram[DATA], 0x5a, PAGE_SIZE);
	memset(native_stack_memory, 0x5a, PAGE_SIZE);
	state.gpr[RSP] = stack ? (u64)native_stack_memory + 0x800 : state.gpr[RSP];
	memcpy(vcpu.gpr, state.gpr, sizeof(state.gpr));
	vcpu.gpr[RBX] = DEVICE + WINDOW - 8;
	state.gpr[RBX] = (u64)native_memory + WINDOW - 8;
	fake_vmcs_put(VMCS_GUEST_RSP, stack ? DATA + 0x800 : state.gpr[RSP]);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, flags | BIT(16));
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.events.info = 0;
	fixture_code(bytes, insn->length);
	violation(DEVICE + WINDOW, MMIO_SCRATCH + WINDOW, random_u64() % 2 ? VIOLATION_WRITE : 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);

	if (!stack) /* the trampoline's RET needs a stack */
		state.gpr[RSP] = (u64)native_stack_memory + 0x800;
	native_prepare(bytes, insn->length);
	native_run(&state);

	CHECK_EQUAL(vcpu.events.info, 0);
	CHECK_EQUAL(fake_vmcs_get(VMCS_GUEST_RIP), CODE + insn->length);
	for (u32 i = 0; i < GPR_COUNT; i++) {
		if (i == RSP && stack)
			CHECK_EQUAL(fake_vmcs_get(VMCS_GUEST_RSP) - DATA,
				state.gpr[RSP] - (u64)native_stack_memory);
		else if (i != RSP && i != RBX)
			CHECK_EQUAL(vcpu.gpr[i], state.gpr[i]);
	}
	CHECK_EQUAL(fake_vmcs_get(VMCS_GUEST_RFLAGS) & defined_flags(insn->kind),
		state.rflags & defined_flags(insn->kind));
	CHECK_EQUAL(fake_vmcs_get(VMCS_GUEST_RFLAGS) & BIT(16), 0);
	for (u32 i = 0; i < 64; i++)
		CHECK_EQUAL(device_byte(WINDOW - 8 + i), native_memory[WINDOW - 8 + i]);
	/* Below RSP lies what the trampoline left. */
	for (u64 i = state.gpr[RSP] - (u64)native_stack_memory; i < 0x810; i++)
		CHECK_EQUAL(ram[DATA + i], native_stack_memory[i]);
}

/* RBX differs between the two runs and RSP is the trampoline's: BL, BH, SPL too. */
static bool uses_rsp_or_rbx(const struct insn *insn)
{
	bool high_byte = insn->operand_size == 1 && !insn->rex && insn->reg >= 4;

	if (insn->form != FORM_RM_REG && insn->form != FORM_REG_RM)
		return false;
	return high_byte ? insn->reg == 4 + RBX : insn->reg == RSP || insn->reg == RBX;
}

/* Every emulated opcode with every register and prefix, operand at [RBX + 8]. */
static void test_forms(void **state)
{
	static const char *const prefixes[] = { "", "\x66", "\x48", "\x40", "\x44", "\x4c", "\xf0",
		"\x66\x44" };
	static const char *const maps[] = { "", "\x0f", "\x0f\x38" };
	u32 compared[INSN_OTHER] = { 0 };

	(void)state;
	fixture_begin();
	for (u32 i = 0; i < ARRAY_SIZE(prefixes) * ARRAY_SIZE(maps) * 256 * 8; i++) {
		const char *prefix = prefixes[i % ARRAY_SIZE(prefixes)];
		const char *map = maps[i / ARRAY_SIZE(prefixes) % ARRAY_SIZE(maps)];
		u32 rest = i / ARRAY_SIZE(prefixes) / ARRAY_SIZE(maps);
		u32 n = strlen(prefix) + strlen(map);
		u8 bytes[24] = { 0 };
		struct insn insn;

		memcpy(bytes, prefix, strlen(prefix));
		memcpy(bytes + strlen(prefix), map, strlen(map));
		bytes[n] = rest;
		bytes[n + 1] = 0x43 | (rest >> 8 & 7) << 3;
		bytes[n + 2] = 8;
		for (u32 k = 3; k < 12; k++)
			bytes[n + k] = random_u64();
		if (decode_instruction(bytes, 15, 64, &insn) != DECODE_OK ||
			insn.kind == INSN_OTHER || !insn.memory || (insn.modrm & 0xc7) != 0x43 ||
			insn.base != RBX || insn.displacement != 8 || uses_rsp_or_rbx(&insn))
			continue;
		for (u32 k = 0; k < 6; k++) {
			u64 value = random_u64() >> (random_u64() % 64);

			if (insn.kind >= INSN_BT && insn.kind <= INSN_BTC &&
				insn.form == FORM_RM_REG)
				value = (s64)(random_u64() % 128) - 64;
			compare(bytes, &insn, value);
			compared[insn.kind]++;
		}
	}
	for (u32 kind = 0; kind <= INSN_POP; kind++)
		assert_true(compared[kind] > 10);
}

/* Offsets without ModRM: A0 to A3, all widths. */
static void test_absolute_offsets(void **state)
{
	static const char *const prefixes[] = { "", "\x66", "\x48" };

	(void)state;
	for (u32 i = 0; i < 4 * ARRAY_SIZE(prefixes); i++) {
		const char *prefix = prefixes[i / 4];
		u32 n = strlen(prefix), size = !(i & 1) ? 1 : n == 0 ? 4 : *prefix == 0x66 ? 2 : 8;
		u64 address = DEVICE + WINDOW, old = 0x1122334455667788, value;
		u8 bytes[16];

		fixture_begin();
		memcpy(bytes, prefix, n);
		bytes[n] = 0xa0 + i % 4;
		memcpy(bytes + n + 1, &address, 8);
		fixture_code(bytes, n + 9);
		for (u32 k = 0; k < 8; k++)
			set_device_byte(WINDOW + k, 0xa0 + k);
		vcpu.gpr[RAX] = old;
		violation(address, MMIO_SCRATCH + WINDOW, i % 4 >= 2 ? VIOLATION_WRITE : 1);
		assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + n + 9);
		if (i % 4 >= 2) {
			assert_int_equal(vcpu.gpr[RAX], old);
			for (u32 k = 0; k < 8; k++)
				assert_int_equal(device_byte(WINDOW + k),
					k < size ? (u8)(old >> 8 * k) : 0xa0 + k);
			continue;
		}
		value = 0xa7a6a5a4a3a2a1a0;
		if (size == 1)
			value = (old & ~0xffull) | 0xa0;
		else if (size == 2)
			value = (old & ~0xffffull) | 0xa1a0;
		else if (size == 4)
			value = 0xa3a2a1a0;
		assert_int_equal(vcpu.gpr[RAX], value);
	}
}

/* ---------------------------------------------------------------- addresses and faults */

static enum exit_action run(const char *bytes, u32 size, u64 linear, u64 physical, u64 access)
{
	fixture_code(bytes, size);
	violation(linear, physical, access);
	return exit_ept_violation(&vcpu);
}

#define RUN(bytes, linear, physical, access) run(bytes, sizeof(bytes) - 1, linear, physical, access)

static void test_addressing(void **state)
{
	u32 displacement = DEVICE + 0x10 - (CODE + 6);
	u8 rip_relative[6] = { 0x8b, 0x05 };

	(void)state;
	fixture_begin();
	set_device_byte(0x10, 0x77);
	memcpy(rip_relative + 2, &displacement, 4);
	assert_int_equal(
		run((char *)rip_relative, 6, DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1), EXIT_RESUME);
	assert_int_equal(vcpu.gpr[RAX], 0x77);

	/* [RAX + RCX * 8 - 0x10], both beyond 32 bits: the sum counts. */
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.gpr[RAX] = 0x8000000000000000ull + DEVICE + 0x10;
	vcpu.gpr[RCX] = 0x1000000000000002ull;
	RUN("\x8b\x44\xc8\xf0", DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x77);

	/* FS base counts in 64-bit mode, DS base does not; 67 cuts the offset, not the sum. */
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	fake_vmcs_put(VMCS_GUEST_FS_BASE, 0x10);
	fake_vmcs_put(VMCS_GUEST_DS_BASE, 0x1234);
	vcpu.gpr[RDX] = 0xdead00000000ull + DEVICE;
	RUN("\x64\x67\x8b\x02", DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x77);
	vcpu.gpr[RDX] = DEVICE + 0x10;
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.gpr[RAX] = 0;
	RUN("\x8b\x02", DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x77);

	/* An exit without a valid linear address says nothing about the translation. */
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	RUN("\x8b\x02", DEVICE + 0x10, MMIO_SCRATCH + 0x20, 1);
	assert_int_equal(vcpu.gpr[RAX], 0);
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_int_equal(vcpu.gpr[RAX], 0x77);
	assert_int_equal(vcpu.events.info, 0);
}

static void test_canonical(void **state)
{
	(void)state;
	fixture_begin();
	vcpu.gpr[RDX] = 0x0000800000000000;
	RUN("\x8b\x02", DEVICE, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_GP));
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE); /* BUG-34 */

	fixture_begin();
	vcpu.gpr[RBP] = 0x00007ffffffffffe; /* the last bytes are not canonical */
	RUN("\x8b\x45\x00", DEVICE, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_SS));
}

static void use_32bit(void)
{
	fake_vmcs_put(VMCS_ENTRY_CONTROLS, 0);
	fake_vmcs_put(VMCS_GUEST_EFER, 0);
	fake_vmcs_put(VMCS_GUEST_CR0, 0x31); /* paging off */
	fake_vmcs_put(VMCS_GUEST_CR4, 0);
	use_segments(RIGHTS_CODE32, RIGHTS_DATA32, 0xffffffff);
}

/* One access of 32-bit code to DS:[EDX] at MMIO_SCRATCH + 0x100. Returns the vector or -1. */
static int access_32(u64 base, u32 limit, u32 rights, u32 offset, bool write)
{
	fixture_begin();
	use_32bit();
	put_segment(VMCS_GUEST_DS_RIGHTS, base, limit, rights);
	vcpu.gpr[RDX] = offset;
	if (write)
		RUN("\x89\x02", (u32)(base + offset), (u32)(base + offset), VIOLATION_WRITE);
	else
		RUN("\x8b\x02", (u32)(base + offset), (u32)(base + offset), 1);
	return vcpu.events.info & EVENT_VALID ? (int)EVENT_VECTOR(vcpu.events.info) : -1;
}

static void test_segments(void **state)
{
	const u64 base = MMIO_SCRATCH;
	const u32 expand_down = 0xc097, expand_down16 = 0x8097, read_only = 0xc091, code = 0xc09b,
		  execute_only = 0xc099, unusable = 0x10000;

	(void)state;
	assert_int_equal(access_32(base, 0x103, RIGHTS_DATA32, 0x100, false), -1);
	assert_int_equal(access_32(base, 0x102, RIGHTS_DATA32, 0x100, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffffffff, RIGHTS_DATA32, 0xfffffffd, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xff, expand_down, 0x100, false), -1);
	assert_int_equal(access_32(base, 0x100, expand_down, 0x100, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xff, expand_down16, 0xfffc, false), -1);
	assert_int_equal(access_32(base, 0xff, expand_down16, 0xfffd, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, read_only, 0x100, false), -1);
	assert_int_equal(access_32(base, 0xffff, read_only, 0x100, true), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, code, 0x100, false), -1);
	assert_int_equal(access_32(base, 0xffff, code, 0x100, true), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, execute_only, 0x100, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, unusable, 0x100, false), VECTOR_GP);
	/* Linear addresses wrap at 4 GiB. */
	assert_int_equal(access_32(base + 0x200, 0xffffffff, RIGHTS_DATA32, -0x100, false), -1);
	assert_int_equal(vcpu.events.info, 0);

	/* An instruction that does not fit into CS. */
	fixture_begin();
	use_32bit();
	put_segment(VMCS_GUEST_CS_RIGHTS, 0, CODE, RIGHTS_CODE32);
	vcpu.gpr[RDX] = MMIO_SCRATCH;
	RUN("\x8b\x02", MMIO_SCRATCH, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_GP));

	/* Real-address mode: DS:[BX + SI + 4]. */
	fixture_begin();
	use_32bit();
	fake_vmcs_put(VMCS_GUEST_CR0, 0x30);
	put_segment(VMCS_GUEST_CS_RIGHTS, CODE, 0xffff, 0x93);
	put_segment(VMCS_GUEST_DS_RIGHTS, MMIO_SCRATCH, 0xffff, 0x93);
	fake_vmcs_put(VMCS_GUEST_RIP, 0);
	vcpu.gpr[RBX] = 0xfff0;
	vcpu.gpr[RSI] = 0xffff0020;
	vcpu.gpr[RAX] = 0xffffffff;
	set_device_byte(0x14, 0x34);
	set_device_byte(0x15, 0x12);
	RUN("\x8b\x40\x04", MMIO_SCRATCH + 0x14, MMIO_SCRATCH + 0x14, 1);
	assert_int_equal(vcpu.gpr[RAX], 0xffff1234);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), 3);
}

static void test_page_faults(void **state)
{
	(void)state;
	/* The instruction's second page is not there. */
	fixture_begin();
	vcpu.gpr[RDX] = DEVICE;
	fake_vmcs_put(VMCS_GUEST_RIP, RAM_SIZE - 1);
	ram[RAM_SIZE - 1] = 0x8b;
	violation(DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(vcpu.events.error_code, PF_FETCH);
	assert_int_equal(fake_cpu->cr2, RAM_SIZE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), RAM_SIZE - 1);

	/* Read, change, write on a read-only page: the exit's read permission is not enough. */
	fixture_begin();
	vcpu.gpr[RDX] = DEVICE + 9 * PAGE_SIZE;
	RUN("\x01\x02", DEVICE + 9 * PAGE_SIZE, MMIO_SCRATCH, VIOLATION_READ);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(vcpu.events.error_code, PF_PRESENT | PF_WRITE);
	assert_int_equal(fake_cpu->cr2, DEVICE + 9 * PAGE_SIZE);
	assert_int_equal(device_byte(0), 0);

	/* The operand's second page is not there: CR2 is its first byte. */
	fixture_begin();
	vcpu.gpr[RDX] = NOWHERE + 2 * PAGE_SIZE - 2;
	vcpu.gpr[RAX] = 0x1111;
	RUN("\x8b\x02", NOWHERE + 2 * PAGE_SIZE - 2, NOWHERE_PHYSICAL + 2 * PAGE_SIZE - 2, 1);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(fake_cpu->cr2, NOWHERE + 2 * PAGE_SIZE);
	assert_int_equal(vcpu.gpr[RAX], 0x1111);

	/* Alignment checks of user code. */
	fixture_begin();
	fake_vmcs_put(VMCS_GUEST_CR0, 0x80050033);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | BIT(18));
	vcpu.gpr[RDX] = DEVICE + 2;
	RUN("\x8b\x02", DEVICE + 2, MMIO_SCRATCH + 2, 1);
	assert_true(exception_queued(VECTOR_AC));
	vcpu.events.info = 0;
	vcpu.gpr[RDX] = DEVICE + 4;
	RUN("\x8b\x02", DEVICE + 4, MMIO_SCRATCH + 4, 1);
	assert_int_equal(vcpu.events.info, 0);
}

/* Operands and instructions that lie on both sides of a page boundary. */
static void test_crossing(void **state)
{
	(void)state;
	fixture_begin();
	/* Two bytes of RAM, two of the device: from either side. */
	vcpu.gpr[RDX] = DEVICE - 2;
	vcpu.gpr[RAX] = 0x44332211;
	RUN("\x89\x02", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_int_equal(ram[DATA - 2], 0x11);
	assert_int_equal(ram[DATA - 1], 0x22);
	assert_int_equal(device_byte(0), 0x33);
	assert_int_equal(device_byte(1), 0x44);
	assert_int_equal(device_byte(2), 0);

	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.gpr[RDX] = DEVICE + 8 * PAGE_SIZE - 3;
	ram[DATA] = 0x99;
	set_device_byte(8 * PAGE_SIZE - 3, 0x66);
	RUN("\x8b\x02", DEVICE + 8 * PAGE_SIZE - 3, MMIO_SCRATCH + 8 * PAGE_SIZE - 3, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x99000066);

	/* The instruction crosses. */
	fixture_begin();
	vcpu.gpr[RDX] = DEVICE;
	set_device_byte(0, 0x5c);
	fake_vmcs_put(VMCS_GUEST_RIP, 0x201fff);
	memcpy(&ram[0x201fff], "\x8b\x02", 2);
	violation(DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_int_equal(vcpu.gpr[RAX], 0x5c);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), 0x202001);
}

/* ---------------------------------------------------------------- strings */

static void test_strings(void **state)
{
	(void)state;
	/* REP MOVSB from RAM to the device, downwards. */
	fixture_begin();
	for (u32 i = 0; i < 16; i++)
		ram[DATA + i] = i + 1;
	vcpu.gpr[RSI] = DATA + 15;
	vcpu.gpr[RDI] = DEVICE + 0x2f;
	vcpu.gpr[RCX] = 16;
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | FLAG_DF);
	RUN("\xf3\xa4", DEVICE + 0x2f, MMIO_SCRATCH + 0x2f, VIOLATION_WRITE);
	for (u32 i = 0; i < 16; i++)
		assert_int_equal(device_byte(0x20 + i), i + 1);
	assert_int_equal(vcpu.gpr[RCX], 0);
	assert_int_equal(vcpu.gpr[RSI], DATA - 1);
	assert_int_equal(vcpu.gpr[RDI], DEVICE + 0x1f);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);

	/* LODSW keeps the upper bits; 67: 32-bit registers. */
	fixture_begin();
	vcpu.gpr[RAX] = ~0ull;
	vcpu.gpr[RSI] = 0x100000000 + DEVICE;
	RUN("\x67\x66\xad", DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(vcpu.gpr[RAX], 0xffffffffffff0000);
	assert_int_equal(vcpu.gpr[RSI], DEVICE + 2);

	/* A long REP STOSD goes in turns at one RIP and ends. */
	fixture_begin();
	vcpu.gpr[RAX] = 0x01020304;
	vcpu.gpr[RDI] = DEVICE;
	vcpu.gpr[RCX] = 5000;
	fake_vmcs_put(VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_BY_STI);
	for (u32 turns = 1; fake_vmcs_get(VMCS_GUEST_RIP) == CODE; turns++) {
		u64 before = vcpu.gpr[RCX];

		assert_in_range(turns, 1, 100);
		RUN("\xf3\xab", vcpu.gpr[RDI], vcpu.gpr[RDI] - DEVICE + MMIO_SCRATCH,
			VIOLATION_WRITE);
		assert_true(vcpu.gpr[RCX] < before);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_INTERRUPTIBILITY), 0);
	}
	assert_int_equal(vcpu.gpr[RCX], 0);
	assert_int_equal(vcpu.gpr[RDI], DEVICE + 20000);
	assert_int_equal(device_byte(19999), 1);
	assert_int_equal(device_byte(20000), 0);
	assert_int_equal(vcpu.gpr[RAX], 0x01020304);

	/* A single step after each element. */
	fixture_begin();
	vcpu.gpr[RDI] = DEVICE;
	vcpu.gpr[RCX] = 2;
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | BIT(8));
	RUN("\xf3\xaa", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_int_equal(vcpu.gpr[RCX], 1);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_PENDING_DEBUG), BIT(14));
	assert_true(fake_vmcs_get(VMCS_GUEST_RFLAGS) & BIT(16));

	/* The source's page ends: two elements are done, the third faults. */
	fixture_begin();
	vcpu.gpr[RSI] = NOWHERE + 2 * PAGE_SIZE - 8;
	vcpu.gpr[RDI] = DEVICE;
	vcpu.gpr[RCX] = 4;
	RUN("\xf3\xa5", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(fake_cpu->cr2, NOWHERE + 2 * PAGE_SIZE);
	assert_int_equal(vcpu.gpr[RCX], 2);
	assert_int_equal(vcpu.gpr[RDI], DEVICE + 8);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);

	/* REP with nothing to do is done. */
	fixture_begin();
	RUN("\xf3\xa4", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);
	assert_int_equal(vcpu.events.info, 0);
}

/* ---------------------------------------------------------------- what is not emulated */

static void test_bug50_nothing_there(void **state)
{
	(void)state;
	fixture_begin();
	vcpu.gpr[RDX] = NOWHERE;
	for (u32 i = 0; i < 10; i++) {
		vcpu.gpr[RAX] = 0;
		fake_vmcs_put(VMCS_GUEST_RIP, CODE);
		RUN("\x48\x8b\x02", NOWHERE, NOWHERE_PHYSICAL, 1);
		assert_int_equal(vcpu.gpr[RAX], ~0ull);
	}
	assert_int_equal(fake_log_count, 1);
	assert_non_null(strstr(fake_log_last, "0xd0000000"));
	assert_non_null(strstr(fake_log_last, "0x200800"));
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	RUN("\x89\x02", NOWHERE, NOWHERE_PHYSICAL, VIOLATION_WRITE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);

	/* Two pages in turn: the log stays bounded. */
	for (u32 i = 0; i < 1000; i++) {
		vcpu.gpr[RDX] = NOWHERE + i % 2 * PAGE_SIZE;
		fake_vmcs_put(VMCS_GUEST_RIP, CODE);
		RUN("\x8b\x02", vcpu.gpr[RDX], NOWHERE_PHYSICAL + i % 2 * PAGE_SIZE, 1);
	}
	assert_in_range(fake_log_count, 2, 16);
}

static void test_refusals(void **state)
{
	static const char *const instructions[] = { "\xc1\x22\x01", "\x0f\xc7\x0a", "\xff\x12",
		"\xc5\xf8\x10\x02", "\x62\xf1\x7c\x48\x10\x02" };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(instructions); i++) {
		fixture_begin();
		vcpu.gpr[RDX] = DEVICE;
		assert_int_equal(
			run(instructions[i], strlen(instructions[i]), DEVICE, MMIO_SCRATCH, 1),
			EXIT_RESUME);
		assert_true(exception_queued(VECTOR_UD));
		assert_int_equal(fake_log_count, 1);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);
	}
	assert_non_null(strstr(fake_log_last, "62 f1 7c 48 10 02"));

	/* Not valid on any processor: no line. */
	fixture_begin();
	RUN("\xf0\x89\x02", DEVICE, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_UD));
	assert_int_equal(fake_log_count, 0);

	/* Changed by another processor into one without memory: let it run. */
	fixture_begin();
	assert_int_equal(RUN("\x89\xc0", DEVICE, MMIO_SCRATCH, 1), EXIT_RESUME);
	assert_int_equal(vcpu.events.info, 0);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);

	/* Code outside RAM reads as FF FF. */
	fixture_begin();
	fake_vmcs_put(VMCS_GUEST_RIP, DEVICE);
	violation(DEVICE, MMIO_SCRATCH, BIT(2));
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_UD));
}

static void test_event_delivery(void **state)
{
	(void)state;
	fixture_begin();
	vcpu.events.info = EVENT_VALID | 14 | 3 << 8;
	assert_int_equal(RUN("\x90", NOWHERE, NOWHERE_PHYSICAL, VIOLATION_WRITE), EXIT_STOP);
	assert_int_equal(vm.stop, STOP_CRASH);

	/* RAM that another vCPU has just mapped again: nothing to do. */
	fixture_begin();
	vcpu.events.info = EVENT_VALID | 14 | 3 << 8;
	assert_int_equal(RUN("\x90", DATA, DATA, VIOLATION_WRITE), EXIT_RESUME);

	/* IRET had opened NMIs before it failed. */
	fixture_begin();
	RUN("\x90", DATA, DATA, BIT(12));
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_INTERRUPTIBILITY), BLOCKING_BY_NMI);
}

static void test_paging_structure_outside_ram(void **state)
{
	(void)state;
	fixture_begin();
	put_entry(TABLES + 0x1000, 2, NOWHERE_PHYSICAL | 7);
	fixture_code("\x8b\x02", 2);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, BIT(7) | BIT(1));
	fake_vmcs_put(VMCS_GUEST_LINEAR_ADDRESS, 0x80000123);
	fake_vmcs_put(VMCS_GUEST_PHYSICAL_ADDRESS, NOWHERE_PHYSICAL);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(vcpu.events.error_code, PF_PRESENT | PF_RESERVED | PF_WRITE);
	assert_int_equal(fake_cpu->cr2, 0x80000123);
}

/* Reads the device at RDX with whatever code RIP shows now; -1: no fault. */
static int fetch_once(u64 rip)
{
	fake_vmcs_put(VMCS_GUEST_RIP, rip);
	vcpu.gpr[RAX] = vcpu.gpr[RCX] = 0;
	vcpu.gpr[RDX] = DEVICE;
	vcpu.events.info = 0;
	violation(DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	return vcpu.events.info & EVENT_VALID ? (int)EVENT_VECTOR(vcpu.events.info) : -1;
}

/* What is remembered of a fetch counts only while code, tables and registers are the same. */
static void test_remembered_fetch(void **state)
{
	const u64 rip = DEVICE + 8 * PAGE_SIZE, leaf = TABLES + 0x4000 + 8 * 8; /* of page DATA */
	u64 entry;

	(void)state;
	fixture_begin();
	set_device_byte(0, 0x5c);
	memcpy(&ram[DATA], "\x8b\x02", 2);	    /* MOV EAX, [RDX] */
	memcpy(&ram[DATA + 0x1000], "\x8b\x0a", 2); /* MOV ECX, [RDX] */
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(fetch_once(rip), -1);
		assert_int_equal(vcpu.gpr[RAX], 0x5c);
	}
	/* Of an instruction on two pages, the second changes; what follows the first stays. */
	put_entry(TABLES + 0x4000, 10, DATA | 7);
	put_entry(TABLES + 0x4000, 11, (DATA + 0x3000) | 7);
	ram[DATA + 0xfff] = 0x8b;
	memcpy(&ram[DATA + 0x1000], "\x02\x00", 2);
	ram[DATA + 0x3000] = 0x02;
	assert_int_equal(fetch_once(DEVICE + 11 * PAGE_SIZE - 1), -1);
	assert_int_equal(vcpu.gpr[RAX], 0x5c);
	ram[DATA + 0x3000] = 0x0a;
	assert_int_equal(fetch_once(DEVICE + 11 * PAGE_SIZE - 1), -1);
	assert_int_equal(vcpu.gpr[RCX], 0x5c);
	memcpy(&ram[DATA + 0x1000], "\x8b\x0a", 2);
	/* Self-modifying code. */
	ram[DATA + 1] = 0x0a;
	assert_int_equal(fetch_once(rip), -1);
	assert_int_equal(vcpu.gpr[RCX], 0x5c);
	ram[DATA + 1] = 0x02;
	assert_int_equal(fetch_once(rip), -1);
	/* Another page at the same address. */
	put_entry(TABLES + 0x4000, 8, (DATA + 0x1000) | 7);
	assert_int_equal(fetch_once(rip), -1);
	assert_int_equal(vcpu.gpr[RCX], 0x5c);
	put_entry(TABLES + 0x4000, 8, DATA | 7);
	assert_int_equal(fetch_once(rip), -1);
	assert_int_equal(vcpu.gpr[RAX], 0x5c);
	/* The accessed flag is set again if the guest cleared it. */
	put_entry(TABLES + 0x4000, 8, DATA | 7);
	assert_int_equal(fetch_once(rip), -1);
	memcpy(&entry, &ram[leaf], 8);
	assert_int_equal(entry, DATA | 0x27);
	/* SMEP forbids what was allowed; a user page stays good for the user. */
	fake_vmcs_put(VMCS_GUEST_CR4, 0x20 | BIT(20));
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
	assert_int_equal(fetch_once(rip), -1);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc093);
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	fake_vmcs_put(VMCS_GUEST_CR4, 0x20);
	/* An upper entry goes away, no-execute comes, CR3 leads elsewhere. */
	assert_int_equal(fetch_once(rip), -1);
	put_entry(TABLES + 0x4000, 8, DATA | 0x27 | BIT(63));
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	put_entry(TABLES + 0x4000, 8, DATA | 0x27);
	assert_int_equal(fetch_once(rip), -1);
	fake_vmcs_put(VMCS_GUEST_CR3, TABLES + 0x5000);
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	fake_vmcs_put(VMCS_GUEST_CR3, TABLES);
	put_entry(TABLES, 0, 0);
	assert_int_equal(fetch_once(rip), VECTOR_PF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_absolute_offsets),
		cmocka_unit_test(test_addressing),
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_page_faults),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bug50_nothing_there),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_event_delivery),
		cmocka_unit_test(test_remembered_fetch),
		cmocka_unit_test(test_paging_structure_outside_ram),
	};
	native_code = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (native_code == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
