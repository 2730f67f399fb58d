// SPDX-License-Identifier: BSD-2-Clause
/*
 * The instruction decoder: prefixes, opcode, ModRM and SIB, displacement, immediate, in the order
 * in which they stand. Called by the emulation of device memory and string I/O with bytes that it
 * copied out of the guest once. No state, no access to anything but its arguments.
 */
#include "vmx/decode.h"

#include "hv/vm/vcpu.h"
#include "vmx/decode_tables.h"

struct cursor {
	const u8 *bytes;
	u32 position, available;
	u32 mode;
	enum decode_result result; /* DECODE_OK until the bytes run out */
};

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

static const struct opcode_row row_38 = { INSN_OTHER, FORM_NONE, OP_MODRM };
static const struct opcode_row row_3a = { INSN_OTHER, FORM_NONE, OP_MODRM | OP_IMM8 };
static const struct opcode_row row_movbe_load = { INSN_MOVBE, FORM_REG_RM,
	OP_MODRM | OP_MEMORY_ONLY };
static const struct opcode_row row_movbe_store = { INSN_MOVBE, FORM_RM_REG,
	OP_MODRM | OP_MEMORY_ONLY };
static const struct opcode_row row_arpl = { INSN_OTHER, FORM_NONE, OP_MODRM };

static u8 peek(const struct cursor *cursor)
{
	return cursor->position < cursor->available ? cursor->bytes[cursor->position] : 0;
}

/* Little-endian, zero-extended. */
static u64 take(struct cursor *cursor, u32 size)
{
	u64 value = 0;

	if (unlikely(cursor->result != DECODE_OK))
		return 0;
	if (unlikely(cursor->position + size > MIN(cursor->available, INSN_LENGTH_MAX))) {
		cursor->result = cursor->position + size > INSN_LENGTH_MAX ? DECODE_TOO_LONG
									   : DECODE_TRUNCATED;
		return 0;
	}
	for (u32 i = 0; i < size; i++)
		value |= (u64)cursor->bytes[cursor->position + i] << 8 * i;
	cursor->position += size;
	return value;
}

static s64 take_signed(struct cursor *cursor, u32 size)
{
	u32 shift = 64 - 8 * size;

	return (s64)(take(cursor, size) << shift) >> shift;
}

/*
 * SDM 2A 2.1.1: up to the opcode, which is returned. REX counts only right before the opcode. In
 * 64-bit mode the overrides of ES, CS, SS and DS do nothing, not even to an FS before them.
 */
static u8 take_prefixes(struct cursor *cursor, struct insn *insn)
{
	for (;;) {
		u8 byte = take(cursor, 1);

		if (cursor->result != DECODE_OK)
			return 0;
		switch (byte) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			if (cursor->mode != 64) {
				insn->segment = SEG_ES + (byte >> 3 & 3);
				insn->segment_override = true;
			}
			break;
		case 0x64:
		case 0x65:
			insn->segment = byte == 0x64 ? SEG_FS : SEG_GS;
			insn->segment_override = true;
			break;
		case 0x66:
			insn->operand_override = true;
			break;
		case 0x67:
			insn->address_override = true;
			break;
		case 0xf0:
			insn->lock = true;
			break;
		case REPEAT_NE:
		case REPEAT_E:
			insn->repeat = byte;
			break;
		default:
			if (cursor->mode != 64 || (byte & 0xf0) != 0x40)
				return byte;
			insn->rex = byte;
			continue;
		}
		insn->rex = 0;
	}
}

/* SDM 2A 2.3.5, 2.7; AMD's XOP shares its first byte with POP. */
static bool is_vector_prefix(const struct cursor *cursor, u8 byte)
{
	u8 next = peek(cursor);

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return cursor->mode == 64 || next >= 0xc0;
	return byte == 0x8f && (next & 0x38) && (next & 0x1f) >= 8;
}

static const struct opcode_row *take_opcode(struct cursor *cursor, struct insn *insn, u8 first)
{
	insn->map = 1;
	insn->opcode = first;
	if (first != 0x0f) {
		if (first == 0x63 && cursor->mode != 64)
			return &row_arpl;
		return &opcode_map_1[first];
	}
	insn->map = 2;
	insn->opcode = take(cursor, 1);
	if (insn->opcode == 0x38) {
		insn->map = 3;
		insn->opcode = take(cursor, 1);
		if (insn->repeat == REPEAT_NONE && insn->opcode == 0xf0)
			return &row_movbe_load;
		if (insn->repeat == REPEAT_NONE && insn->opcode == 0xf1)
			return &row_movbe_store;
		return &row_38;
	}
	if (insn->opcode == 0x3a) {
		insn->map = 4;
		insn->opcode = take(cursor, 1);
		return &row_3a;
	}
	return &opcode_map_2[insn->opcode];
}

static void set_default_segment(struct insn *insn)
{
	if (!insn->segment_override && (insn->base == RSP || insn->base == RBP))
		insn->segment = SEG_SS;
}

/* SDM 2A table 2-1. */
static void take_address16(struct cursor *cursor, struct insn *insn)
{
	static const u8 bases[8] = { RBX, RBX, RBP, RBP, RSI, RDI, RBP, RBX };
	static const u8 indices[8] = { RSI, RDI, RSI, RDI, NO_REGISTER, NO_REGISTER, NO_REGISTER,
		NO_REGISTER };
	u32 mod = insn->modrm >> 6, rm = insn->modrm & 7;

	if (mod == 0 && rm == 6) {
		insn->displacement = take_signed(cursor, 2);
		return;
	}
	insn->base = bases[rm];
	insn->index = indices[rm];
	if (mod)
		insn->displacement = take_signed(cursor, mod);
	set_default_segment(insn);
}

/* SDM 2A tables 2-2 and 2-3, 2.2.1.6 for RIP-relative. */
static void take_address(struct cursor *cursor, struct insn *insn)
{
	u32 mod = insn->modrm >> 6, rm = insn->modrm & 7;

	if (rm == 4) {
		u8 sib = take(cursor, 1);
		u32 index = (sib >> 3 & 7) | (insn->rex & REX_X ? 8 : 0);

		insn->scale = sib >> 6;
		if (index != 4)
			insn->index = index;
		rm = sib & 7;
		if (mod || rm != 5)
			insn->base = rm | (insn->rex & REX_B ? 8 : 0);
	} else if (mod == 0 && rm == 5) {
		insn->rip_relative = cursor->mode == 64;
	} else {
		insn->base = rm | (insn->rex & REX_B ? 8 : 0);
	}
	if (mod == 1)
		insn->displacement = take_signed(cursor, 1);
	else if (mod == 2 || (mod == 0 && rm == 5))
		insn->displacement = take_signed(cursor, 4);
	set_default_segment(insn);
}

static void take_modrm(struct cursor *cursor, struct insn *insn, u32 flags)
{
	insn->modrm = take(cursor, 1);
	insn->has_modrm = true;
	insn->reg = (insn->modrm >> 3 & 7) | (insn->rex & REX_R ? 8 : 0);
	insn->rm = (insn->modrm & 7) | (insn->rex & REX_B ? 8 : 0);
	if (insn->modrm >= 0xc0 || (flags & OP_REGISTERS))
		return;
	insn->memory = true;
	if (insn->address_size == 2)
		take_address16(cursor, insn);
	else
		take_address(cursor, insn);
}

static void set_sizes(struct insn *insn, u32 mode, u32 flags)
{
	if (flags & OP_BYTE)
		insn->operand_size = 1;
	else if (mode == 64 && ((insn->rex & REX_W) || (flags & OP_FORCE64)))
		insn->operand_size = 8;
	else if (mode == 64 && !insn->operand_override)
		insn->operand_size = flags & OP_DEFAULT64 ? 8 : 4;
	else if (mode == 64)
		insn->operand_size = 2;
	else
		insn->operand_size = (mode == 32) != insn->operand_override ? 4 : 2;
	if (insn->map == 2 && insn->opcode == 0xc3) /* MOVNTI has no 16-bit form */
		insn->operand_size = MAX(insn->operand_size, 4);
	insn->source_size = insn->operand_size;
	if (insn->kind != INSN_MOVZX && insn->kind != INSN_MOVSX)
		return;
	if (insn->map == 2)
		insn->source_size = insn->opcode & 1 ? 2 : 1;
	else
		insn->source_size = insn->operand_size == 2 ? 2 : 4; /* MOVSXD */
}

static void take_immediates(struct cursor *cursor, struct insn *insn, u32 flags)
{
	u32 z = insn->operand_size == 2 ? 2 : 4;

	if (flags & OP_MOFFS) {
		insn->memory = true;
		insn->reg = RAX;
		insn->displacement = take(cursor, insn->address_size);
	}
	if (flags & OP_IMM16)
		take(cursor, 2);
	if (flags & OP_IMM8)
		insn->immediate = take_signed(cursor, 1);
	if (flags & OP_IMMZ)
		insn->immediate = take_signed(cursor, z);
	if (flags & OP_IMMV)
		insn->immediate = take(cursor, insn->operand_size);
	if (flags & OP_FAR) {
		take(cursor, z);
		take(cursor, 2);
	}
}

/* SDM 2A LOCK: only with a destination in memory, and only these; CMPXCHG8B and 16B are "other". */
static bool lock_allowed(const struct insn *insn)
{
	const u64 kinds = BIT(INSN_ADD) | BIT(INSN_OR) | BIT(INSN_ADC) | BIT(INSN_SBB) |
			  BIT(INSN_AND) | BIT(INSN_SUB) | BIT(INSN_XOR) | BIT(INSN_INC) |
			  BIT(INSN_DEC) | BIT(INSN_NOT) | BIT(INSN_NEG) | BIT(INSN_BTS) |
			  BIT(INSN_BTR) | BIT(INSN_BTC) | BIT(INSN_XCHG) | BIT(INSN_XADD) |
			  BIT(INSN_CMPXCHG);

	if (!insn->memory)
		return false;
	if (insn->map == 2 && insn->opcode == 0xc7)
		return (insn->modrm >> 3 & 7) == 1;
	return (kinds >> insn->kind & 1) && insn->form != FORM_REG_RM;
}

static enum decode_result check(const struct insn *insn, u32 mode, u32 flags)
{
	bool group_11_7 =
		insn->map == 1 && (insn->opcode & 0xfe) == 0xc6 && (insn->modrm & 0x38) == 0x38;
	bool movnti = insn->map == 2 && insn->opcode == 0xc3;

	if ((flags & OP_UNDEFINED) || ((flags & OP_NOT64) && mode == 64) ||
		((flags & OP_MEMORY_ONLY) && !insn->memory) || (insn->lock && !lock_allowed(insn)))
		return DECODE_INVALID;
	if ((group_11_7 && insn->modrm != 0xf8) ||
		(movnti && (insn->operand_override || insn->repeat)))
		return DECODE_INVALID;
	return DECODE_OK;
}

enum decode_result decode_instruction(const u8 *bytes, u32 available, u32 mode, struct insn *insn)
{
	struct cursor cursor = { .bytes = bytes, .available = available, .mode = mode };
	const struct opcode_row *row;
	u32 flags;
	u8 byte;

	*insn = (struct insn){ .segment = SEG_DS, .base = NO_REGISTER, .index = NO_REGISTER };
	byte = take_prefixes(&cursor, insn);
	if (cursor.result == DECODE_OK &&
		(byte == 0xc4 || byte == 0xc5 || byte == 0x62 || byte == 0x8f) &&
		cursor.position == cursor.available && cursor.position < INSN_LENGTH_MAX)
		return DECODE_TRUNCATED;
	if (cursor.result == DECODE_OK && is_vector_prefix(&cursor, byte))
		return DECODE_UNSUPPORTED;
	row = take_opcode(&cursor, insn, byte);
	if (cursor.result != DECODE_OK)
		return cursor.result;

	insn->address_size = mode == 64 ? (insn->address_override ? 4 : 8)
					: ((mode == 32) != insn->address_override ? 4 : 2);
	flags = row->flags;
	if (flags & OP_GROUP) {
		u32 reg = peek(&cursor) >> 3 & 7;

		row = opcode_group(insn->map, insn->opcode, reg);
		flags = row->flags | (flags & (OP_BYTE | OP_NOT64)) | OP_MODRM;
	}
	insn->kind = row->kind;
	insn->form = row->form;
	if (flags & OP_MODRM)
		take_modrm(&cursor, insn, flags);
	set_sizes(insn, mode, flags);
	take_immediates(&cursor, insn, flags);
	if (cursor.result != DECODE_OK)
		return cursor.result;
	insn->length = cursor.position;
	return check(insn, mode, flags);
}
