// SPDX-License-Identifier: BSD-2-Clause
/*
 * The decoder against Zydis (BUG-58): every opcode of the four legacy maps under every prefix that
 * changes a meaning, with ModRM and SIB bytes, in 16-, 32- and 64-bit mode, and random bytes. Where
 * Zydis knows a legacy instruction, the lengths agree; where ours names a kind, so does Zydis, and
 * all operands agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>
#include <cmocka.h>

#include "vmx/decode.h"

#define BYTES 24 /* given to both decoders: more than any instruction */

static u64 random_state = 0x9e3779b97f4a7c15;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const u8 *failing_bytes;
static u32 failing_mode;

static void fail_with_bytes(const char *what, int line)
{
	char text[3 * BYTES + 1] = "";

	for (u32 i = 0; i < INSN_LENGTH_MAX; i++)
		sprintf(text + 3 * i, "%02x ", failing_bytes[i]);
	fail_msg("line %d: mode %u: %s: %s", line, failing_mode, text, what);
}

#define CHECK(condition)                                       \
	do {                                                   \
		if (!(condition))                              \
			fail_with_bytes(#condition, __LINE__); \
	} while (0)

/* Kinds by the names of instructions; a trailing '*' stands for the rest of the name. */
static const struct {
	const char *name;
	enum insn_kind kind;
} names[] = {
	{ "add", INSN_ADD },
	{ "or", INSN_OR },
	{ "adc", INSN_ADC },
	{ "sbb", INSN_SBB },
	{ "and", INSN_AND },
	{ "sub", INSN_SUB },
	{ "xor", INSN_XOR },
	{ "cmp", INSN_CMP },
	{ "test", INSN_TEST },
	{ "inc", INSN_INC },
	{ "dec", INSN_DEC },
	{ "not", INSN_NOT },
	{ "neg", INSN_NEG },
	{ "bt", INSN_BT },
	{ "bts", INSN_BTS },
	{ "btr", INSN_BTR },
	{ "btc", INSN_BTC },
	{ "xchg", INSN_XCHG },
	{ "xadd", INSN_XADD },
	{ "cmpxchg", INSN_CMPXCHG },
	{ "mov", INSN_MOV },
	{ "movnti", INSN_MOV },
	{ "movbe", INSN_MOVBE },
	{ "movzx", INSN_MOVZX },
	{ "movsx", INSN_MOVSX },
	{ "movsxd", INSN_MOVSX },
	{ "cmov*", INSN_CMOV },
	{ "set*", INSN_SETCC },
	{ "push", INSN_PUSH },
	{ "pop", INSN_POP },
	{ "movsb", INSN_MOVS },
	{ "movsw", INSN_MOVS },
	{ "movsd", INSN_MOVS },
	{ "movsq", INSN_MOVS },
	{ "stosb", INSN_STOS },
	{ "stosw", INSN_STOS },
	{ "stosd", INSN_STOS },
	{ "stosq", INSN_STOS },
	{ "lodsb", INSN_LODS },
	{ "lodsw", INSN_LODS },
	{ "lodsd", INSN_LODS },
	{ "lodsq", INSN_LODS },
	{ "insb", INSN_INS },
	{ "insw", INSN_INS },
	{ "insd", INSN_INS },
	{ "outsb", INSN_OUTS },
	{ "outsw", INSN_OUTS },
	{ "outsd", INSN_OUTS },
};

static u8 kind_of_mnemonic[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static void build_kinds(void)
{
	memset(kind_of_mnemonic, INSN_OTHER, sizeof(kind_of_mnemonic));
	for (u32 m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
		const char *text = ZydisMnemonicGetString(m);

		for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
			size_t length = strlen(names[i].name);
			bool prefix = names[i].name[length - 1] == '*';

			if (prefix ? !strncmp(text, names[i].name, length - 1)
				   : !strcmp(text, names[i].name))
				kind_of_mnemonic[m] = names[i].kind;
		}
	}
	kind_of_mnemonic[ZYDIS_MNEMONIC_SETSSBSY] = INSN_OTHER;
}

/* "movsd" is a string instruction and a vector one. */
static enum insn_kind kind_of(const ZydisDecodedInstruction *z)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_MOVSD && z->meta.category != ZYDIS_CATEGORY_STRINGOP)
		return INSN_OTHER;
	return kind_of_mnemonic[z->mnemonic];
}

static ZydisRegister zydis_gpr(u32 number, u32 size, bool rex)
{
	switch (size) {
	case 1:
		return ZydisRegisterEncode(ZYDIS_REGCLASS_GPR8,
			number < 4 || (number < 8 && !rex) ? number : number + 4);
	case 2:
		return ZydisRegisterEncode(ZYDIS_REGCLASS_GPR16, number);
	case 4:
		return ZydisRegisterEncode(ZYDIS_REGCLASS_GPR32, number);
	default:
		return ZydisRegisterEncode(ZYDIS_REGCLASS_GPR64, number);
	}
}

static ZydisRegister zydis_address_register(const struct insn *insn, u8 number)
{
	return number == NO_REGISTER ? ZYDIS_REGISTER_NONE
				     : zydis_gpr(number, insn->address_size, true);
}

static void compare_memory(const struct insn *insn, const ZydisDecodedOperand *operand, u32 size)
{
	static const ZydisRegister segments[] = { ZYDIS_REGISTER_ES, ZYDIS_REGISTER_CS,
		ZYDIS_REGISTER_SS, ZYDIS_REGISTER_DS, ZYDIS_REGISTER_FS, ZYDIS_REGISTER_GS };
	ZydisRegister base = operand->mem.base;

	CHECK(insn->memory);
	/*
	 * Zydis 4.0.0 shows R13D for a SIB byte without a base (SDM 2A table 2-5: REX.B is not
	 * decoded there) if a 67 prefix is present; the length it gives is right.
	 */
	if (base == ZYDIS_REGISTER_R13D && insn->modrm >> 6 == 0 && (insn->modrm & 7) == 4)
		return;
	CHECK(insn->rip_relative == (base == ZYDIS_REGISTER_RIP || base == ZYDIS_REGISTER_EIP));
	if (!insn->rip_relative)
		CHECK(base == zydis_address_register(insn, insn->base));
	CHECK(operand->mem.index == zydis_address_register(insn, insn->index));
	if (insn->index != NO_REGISTER)
		CHECK(MAX(1, operand->mem.scale) == 1 << insn->scale);
	if (insn->has_modrm || insn->address_size == 8)
		CHECK(insn->displacement == operand->mem.disp.value);
	else
		CHECK(((insn->displacement ^ operand->mem.disp.value) &
			      ((1ull << 8 * insn->address_size) - 1)) == 0);
	CHECK(operand->mem.segment == segments[insn->segment]);
	/* MOVSXD with 66 reads a word (SDM 2B MOVSX); Zydis has it read 32 bits, as AMD's do. */
	if (insn->map != 1 || insn->opcode != 0x63 || insn->operand_size != 2)
		CHECK(operand->size == 8 * size);
}

static bool bit_test(const struct insn *insn)
{
	return insn->kind >= INSN_BT && insn->kind <= INSN_BTC;
}

static void compare_rm(const struct insn *insn, const ZydisDecodedOperand *operand, u32 size)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		compare_memory(insn, operand, size);
		return;
	}
	CHECK(!insn->memory);
	CHECK(operand->type == ZYDIS_OPERAND_TYPE_REGISTER);
	CHECK(operand->reg.value == zydis_gpr(insn->rm, size, insn->rex));
}

static void compare_reg(const struct insn *insn, const ZydisDecodedOperand *operand)
{
	CHECK(operand->type == ZYDIS_OPERAND_TYPE_REGISTER);
	CHECK(operand->reg.value == zydis_gpr(insn->reg, insn->operand_size, insn->rex));
}

static void compare_operands(const struct insn *insn, const ZydisDecodedInstruction *z,
	const ZydisDecodedOperand *operands)
{
	u64 mask = insn->operand_size == 8 ? ~0ull : (1ull << 8 * insn->operand_size) - 1;

	switch (insn->form) {
	case FORM_RM:
		compare_rm(insn, &operands[0], insn->operand_size);
		break;
	case FORM_RM_REG:
		compare_rm(insn, &operands[0], insn->operand_size);
		compare_reg(insn, &operands[1]);
		break;
	case FORM_REG_RM:
		compare_reg(insn, &operands[0]);
		compare_rm(insn, &operands[1], insn->source_size);
		break;
	case FORM_RM_IMMEDIATE:
		compare_rm(insn, &operands[0], insn->operand_size);
		CHECK(operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE);
		if (bit_test(insn))
			mask = 0xff;
		CHECK(((insn->immediate ^ operands[1].imm.value.u) & mask) == 0);
		break;
	case FORM_NONE: /* strings: the operand that an override can move, and the width */
		for (u32 i = 0; i < z->operand_count; i++) {
			if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
				continue;
			CHECK(operands[i].size ==
				8 * MIN(insn->operand_size,
					    z->mnemonic == ZYDIS_MNEMONIC_INSD ||
							    z->mnemonic == ZYDIS_MNEMONIC_OUTSD
						    ? 4
						    : 8));
			if (ZydisRegisterGetId(operands[i].mem.base) == 6)
				CHECK(operands[i].mem.segment ==
					ZydisRegisterEncode(ZYDIS_REGCLASS_SEGMENT, insn->segment));
		}
		CHECK(z->address_width == 8 * insn->address_size);
		break;
	}
	CHECK((z->attributes & ZYDIS_ATTRIB_HAS_REP) == 0 || insn->repeat == REPEAT_E);
	CHECK(!!(z->attributes & ZYDIS_ATTRIB_HAS_LOCK) == insn->lock);
}

/* Instructions of other makers' processors that do not follow the length rules of the maps. */
static bool foreign(const ZydisDecodedInstruction *z)
{
	return z->meta.isa_set == ZYDIS_ISA_SET_SSE4A || z->meta.isa_set == ZYDIS_ISA_SET_AMD ||
	       z->meta.isa_set == ZYDIS_ISA_SET_PADLOCK_ACE;
}

static bool has_memory_operand(
	const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands)
{
	for (u32 i = 0; i < z->operand_count_visible; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_SEGMENT)
			return false; /* MOV, PUSH, POP with segment registers */
	}
	return operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
	       operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static ZydisDecoder decoders[3];
static u64 compared[INSN_OTHER + 1];

static void compare(u32 mode_index, const u8 *bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	struct insn insn, again;
	bool known = ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoders[mode_index], bytes, BYTES, &z, operands));
	enum decode_result result;
	u8 exact[INSN_LENGTH_MAX];

	failing_bytes = bytes;
	failing_mode = 16 << mode_index;
	result = decode_instruction(bytes, BYTES, failing_mode, &insn);
	CHECK(result != DECODE_TRUNCATED);
	if (result == DECODE_OK) {
		compared[insn.kind]++;
		/* Cut short by a byte it asks for more; with exactly its bytes it is content. */
		memcpy(exact, bytes, insn.length);
		CHECK(decode_instruction(exact, insn.length - 1, failing_mode, &again) ==
			DECODE_TRUNCATED);
		CHECK(decode_instruction(exact, insn.length, failing_mode, &again) == DECODE_OK);
	}
	if (!known) {
		CHECK(result != DECODE_OK || insn.kind == INSN_OTHER);
		return;
	}
	if (z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && !foreign(&z)) {
		CHECK(result == DECODE_OK);
		CHECK(insn.length == z.length);
		if (insn.kind == INSN_OTHER)
			CHECK(kind_of(&z) == INSN_OTHER || !has_memory_operand(&z, operands));
	} else if (z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		   z.encoding != ZYDIS_INSTRUCTION_ENCODING_3DNOW) {
		CHECK(result == DECODE_UNSUPPORTED);
	}
	if (result != DECODE_OK || insn.kind == INSN_OTHER)
		return;
	CHECK(z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY);
	CHECK(kind_of(&z) == insn.kind);
	compare_operands(&insn, &z, operands);
}

static void random_tail(u8 *bytes, u32 from)
{
	for (u32 i = from; i < BYTES; i++)
		bytes[i] = random_u64() >> 13;
}

static const char *const prefixes[] = { "", "\x66", "\x67", "\x66\x67", "\xf2", "\xf3", "\xf0",
	"\x66\xf3", "\x2e", "\x36", "\x64", "\x65\x67", "\x64\x26", "\x48", "\x41", "\x42", "\x44",
	"\x4f", "\x66\x48", "\x48\x66", "\xf3\x48", "\xf0\x49", "\x66\xf2", "\x67\x45" };

static void test_every_opcode(void **state)
{
	static const char *const maps[] = { "", "\x0f", "\x0f\x38", "\x0f\x3a" };

	(void)state;
	for (u32 m = 0; m < 3; m++) {
		for (u32 i = 0; i < ARRAY_SIZE(prefixes) * ARRAY_SIZE(maps) * 256 * 12; i++) {
			const char *prefix = prefixes[i / 12 % ARRAY_SIZE(prefixes)];
			const char *map = maps[i / 12 / ARRAY_SIZE(prefixes) % ARRAY_SIZE(maps)];
			u32 n = strlen(prefix) + strlen(map);
			u8 bytes[BYTES];

			random_tail(bytes, n + 1);
			memcpy(bytes, prefix, strlen(prefix));
			memcpy(bytes + strlen(prefix), map, strlen(map));
			bytes[n] = i / 12 / ARRAY_SIZE(prefixes) / ARRAY_SIZE(maps);
			compare(m, bytes);
		}
	}
	for (u32 kind = 0; kind <= INSN_OTHER; kind++)
		assert_true(compared[kind] > 50);
}

/* Opcodes of emulated kinds with every ModRM and, in turn, every SIB byte. */
static void test_every_modrm(void **state)
{
	static const u8 opcodes[][2] = { { 0x8b }, { 0x88 }, { 0xc7 }, { 0x80 }, { 0xff },
		{ 0x0f, 0xb6 }, { 0x0f, 0xab } };

	(void)state;
	for (u32 m = 0; m < 3; m++) {
		for (u32 o = 0; o < ARRAY_SIZE(opcodes); o++) {
			for (u32 i = 0; i < 256 * ARRAY_SIZE(prefixes); i++) {
				const char *prefix = prefixes[i / 256];
				u32 n = strlen(prefix);
				u8 bytes[BYTES];

				random_tail(bytes, 0);
				memcpy(bytes, prefix, n);
				bytes[n++] = opcodes[o][0];
				if (opcodes[o][0] == 0x0f)
					bytes[n++] = opcodes[o][1];
				bytes[n] = i;
				bytes[n + 1] = i * 167 + i / 256;
				compare(m, bytes);
			}
		}
	}
}

static void test_random_bytes(void **state)
{
	(void)state;
	for (u32 i = 0; i < 150000; i++) {
		u8 bytes[BYTES];

		random_tail(bytes, 0);
		compare(i % 3, bytes);
	}
}

static void test_too_long(void **state)
{
	struct insn insn;
	u8 bytes[BYTES];

	(void)state;
	memset(bytes, 0x66, sizeof(bytes));
	assert_int_equal(decode_instruction(bytes, BYTES, 64, &insn), DECODE_TOO_LONG);
	assert_int_equal(decode_instruction(bytes, 15, 64, &insn), DECODE_TOO_LONG);
	assert_int_equal(decode_instruction(bytes, 14, 64, &insn), DECODE_TRUNCATED);
	bytes[14] = 0x90;
	assert_int_equal(decode_instruction(bytes, BYTES, 64, &insn), DECODE_OK);
	assert_int_equal(insn.length, 15);
	bytes[13] = 0x8b; /* MOV with ModRM 90: a displacement that does not fit */
	assert_int_equal(decode_instruction(bytes, BYTES, 64, &insn), DECODE_TOO_LONG);
	assert_int_equal(decode_instruction(bytes, 0, 64, &insn), DECODE_TRUNCATED);
	bytes[12] = 0xf7; /* a group whose ModRM is still to come: TEST would be too long */
	assert_int_equal(decode_instruction(bytes, 13, 64, &insn), DECODE_TRUNCATED);
}

/* LOCK of SDM 2A: with memory and the listed instructions only. */
static void test_lock(void **state)
{
	static const struct {
		u8 bytes[4];
		enum decode_result result;
	} rows[] = {
		{ { 0xf0, 0x01, 0x00 }, DECODE_OK },		/* ADD [RAX], EAX */
		{ { 0xf0, 0x01, 0xc0 }, DECODE_INVALID },	/* ADD EAX, EAX */
		{ { 0xf0, 0x03, 0x00 }, DECODE_INVALID },	/* ADD EAX, [RAX] */
		{ { 0xf0, 0x39, 0x00 }, DECODE_INVALID },	/* CMP */
		{ { 0xf0, 0x89, 0x00 }, DECODE_INVALID },	/* MOV */
		{ { 0xf0, 0x87, 0x00 }, DECODE_OK },		/* XCHG */
		{ { 0xf0, 0x0f, 0xc7, 0x08 }, DECODE_OK },	/* CMPXCHG8B */
		{ { 0xf0, 0x0f, 0xa3, 0x00 }, DECODE_INVALID }, /* BT */
		{ { 0xf0, 0x0f, 0xab, 0x00 }, DECODE_OK },	/* BTS */
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct insn insn;

		assert_int_equal(decode_instruction(rows[i].bytes, 4, 64, &insn), rows[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_opcode),
		cmocka_unit_test(test_every_modrm),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_lock),
	};

	build_kinds();
	ZydisDecoderInit(&decoders[0], ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16);
	ZydisDecoderInit(&decoders[1], ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	ZydisDecoderInit(&decoders[2], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
