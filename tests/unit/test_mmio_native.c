// SPDX-License-Identifier: BSD-2-Clause
/*
 * Emulated device accesses against the processor itself (BUG-58): each instruction form runs on
 * this machine with its operand in RAM and is emulated with its operand in the test device's
 * memory; registers, flags and bytes must come out equal.
 */
#include "emulation_fixture.h"

#include <stdio.h>
#include <sys/mman.h>

#include "vmx/alu.h"
#include "vmx/decode.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_absolute_offsets),
	};
	native_code = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (native_code == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
