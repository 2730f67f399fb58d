// SPDX-License-Identifier: BSD-2-Clause
/*
 * The one-byte and 0F opcode maps (SDM 2D tables ), constant data for decode.c. An
 * opcode without operands needs no row of its own beyond "other".
 */
#include "vmx/decode_tables.h"

#include "vmx/decode.h"

/* The maps begin with a default for every opcode, which the rows then override. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define OTHER(f)                         \
	{                                \
		INSN_OTHER, FORM_NONE, f \
	}
#define UNDEFINED OTHER(OP_UNDEFINED)
#define ROW(kind, form, f)                  \
	{                                   \
		INSN_##kind, FORM_##form, f \
	}
#define M OP_MODRM

/* The eight arithmetic instructions have the same six opcodes each. */
#define ARITHMETIC(base, kind)                                                                  \
	[base + 0] = ROW(kind, RM_REG, M | OP_BYTE), [base + 1] = ROW(kind, RM_REG, M),         \
		[base + 2] = ROW(kind, REG_RM, M | OP_BYTE), [base + 3] = ROW(kind, REG_RM, M), \
		[base + 4] = OTHER(OP_IMM8 | OP_BYTE), [base + 5] = OTHER(OP_IMMZ)

const struct opcode_row opcode_map_1[256] = {
	[0x00 ... 0xff] = OTHER(0),
	ARITHMETIC(0x00, ADD),
	ARITHMETIC(0x08, OR),
	ARITHMETIC(0x10, ADC),
	ARITHMETIC(0x18, SBB),
	ARITHMETIC(0x20, AND),
	ARITHMETIC(0x28, SUB),
	ARITHMETIC(0x30, XOR),
	ARITHMETIC(0x38, CMP),
	[0x06 ... 0x07] = OTHER(OP_NOT64), /* PUSH and POP of segment registers */
	[0x0e] = OTHER(OP_NOT64),
	[0x16 ... 0x17] = OTHER(OP_NOT64),
	[0x1e ... 0x1f] = OTHER(OP_NOT64),
	[0x27] = OTHER(OP_NOT64), /* DAA, DAS, AAA, AAS */
	[0x2f] = OTHER(OP_NOT64),
	[0x37] = OTHER(OP_NOT64),
	[0x3f] = OTHER(OP_NOT64),
	[0x50 ... 0x5f] = OTHER(OP_DEFAULT64),
	[0x60 ... 0x61] = OTHER(OP_NOT64),	       /* PUSHA, POPA */
	[0x62] = OTHER(M | OP_NOT64 | OP_MEMORY_ONLY), /* BOUND */
	[0x63] = ROW(MOVSX, REG_RM, M),		       /* ARPL outside 64-bit mode: decode.c */
	[0x68] = OTHER(OP_IMMZ | OP_DEFAULT64),
	[0x69] = OTHER(M | OP_IMMZ),
	[0x6a] = OTHER(OP_IMM8 | OP_DEFAULT64),
	[0x6b] = OTHER(M | OP_IMM8),
	[0x6c] = ROW(INS, NONE, OP_BYTE),
	[0x6d] = ROW(INS, NONE, 0),
	[0x6e] = ROW(OUTS, NONE, OP_BYTE),
	[0x6f] = ROW(OUTS, NONE, 0),
	[0x70 ... 0x7f] = OTHER(OP_IMM8 | OP_FORCE64),
	[0x80] = OTHER(M | OP_GROUP | OP_BYTE),
	[0x81] = OTHER(M | OP_GROUP),
	[0x82] = OTHER(M | OP_GROUP | OP_BYTE | OP_NOT64),
	[0x83] = OTHER(M | OP_GROUP),
	[0x84] = ROW(TEST, RM_REG, M | OP_BYTE),
	[0x85] = ROW(TEST, RM_REG, M),
	[0x86] = ROW(XCHG, RM_REG, M | OP_BYTE),
	[0x87] = ROW(XCHG, RM_REG, M),
	[0x88] = ROW(MOV, RM_REG, M | OP_BYTE),
	[0x89] = ROW(MOV, RM_REG, M),
	[0x8a] = ROW(MOV, REG_RM, M | OP_BYTE),
	[0x8b] = ROW(MOV, REG_RM, M),
	[0x8c] = OTHER(M), /* MOV from and to segment registers */
	[0x8d] = OTHER(M | OP_MEMORY_ONLY),
	[0x8e] = OTHER(M),
	[0x8f] = OTHER(M | OP_GROUP),
	[0x9a] = OTHER(OP_FAR | OP_NOT64),
	[0x9c ... 0x9d] = OTHER(OP_DEFAULT64),
	[0xa0] = ROW(MOV, REG_RM, OP_MOFFS | OP_BYTE),
	[0xa1] = ROW(MOV, REG_RM, OP_MOFFS),
	[0xa2] = ROW(MOV, RM_REG, OP_MOFFS | OP_BYTE),
	[0xa3] = ROW(MOV, RM_REG, OP_MOFFS),
	[0xa4] = ROW(MOVS, NONE, OP_BYTE),
	[0xa5] = ROW(MOVS, NONE, 0),
	[0xa6] = OTHER(OP_BYTE), /* CMPS */
	[0xa8] = OTHER(OP_IMM8 | OP_BYTE),
	[0xa9] = OTHER(OP_IMMZ),
	[0xaa] = ROW(STOS, NONE, OP_BYTE),
	[0xab] = ROW(STOS, NONE, 0),
	[0xac] = ROW(LODS, NONE, OP_BYTE),
	[0xad] = ROW(LODS, NONE, 0),
	[0xae] = OTHER(OP_BYTE), /* SCAS */
	[0xb0 ... 0xb7] = OTHER(OP_IMM8 | OP_BYTE),
	[0xb8 ... 0xbf] = OTHER(OP_IMMV),
	[0xc0] = OTHER(M | OP_IMM8 | OP_BYTE),
	[0xc1] = OTHER(M | OP_IMM8),
	[0xc2] = OTHER(OP_IMM16 | OP_FORCE64),
	[0xc3] = OTHER(OP_FORCE64),
	[0xc4 ... 0xc5] = OTHER(M | OP_NOT64 | OP_MEMORY_ONLY), /* LES, LDS; VEX: decode.c */
	[0xc6] = OTHER(M | OP_GROUP | OP_BYTE),
	[0xc7] = OTHER(M | OP_GROUP),
	[0xc8] = OTHER(OP_IMM16 | OP_IMM8 | OP_DEFAULT64), /* ENTER */
	[0xc9] = OTHER(OP_DEFAULT64),
	[0xca] = OTHER(OP_IMM16),
	[0xcd] = OTHER(OP_IMM8),
	[0xce] = OTHER(OP_NOT64), /* INTO */
	[0xd0] = OTHER(M | OP_BYTE),
	[0xd1] = OTHER(M),
	[0xd2] = OTHER(M | OP_BYTE),
	[0xd3] = OTHER(M),
	[0xd4 ... 0xd5] = OTHER(OP_IMM8 | OP_NOT64), /* AAM, AAD */
	[0xd6] = OTHER(OP_NOT64),		     /* SALC */
	[0xd8 ... 0xdf] = OTHER(M),		     /* x87 */
	[0xe0 ... 0xe3] = OTHER(OP_IMM8 | OP_FORCE64),
	[0xe4 ... 0xe7] = OTHER(OP_IMM8),
	[0xe8 ... 0xe9] = OTHER(OP_IMMZ | OP_FORCE64),
	[0xea] = OTHER(OP_FAR | OP_NOT64),
	[0xeb] = OTHER(OP_IMM8 | OP_FORCE64),
	[0xf6] = OTHER(M | OP_GROUP | OP_BYTE),
	[0xf7] = OTHER(M | OP_GROUP),
	[0xfe] = OTHER(M | OP_GROUP | OP_BYTE),
	[0xff] = OTHER(M | OP_GROUP),
};

const struct opcode_row opcode_map_2[256] = {
	[0x00 ... 0xff] = OTHER(M),
	[0x04] = UNDEFINED,
	[0x05 ... 0x09] = OTHER(0), /* SYSCALL, CLTS, SYSRET, INVD, WBINVD */
	[0x0a] = UNDEFINED,
	[0x0b] = OTHER(0), /* UD2: its #UD is the processor's */
	[0x0c] = UNDEFINED,
	[0x0e] = OTHER(0),	     /* FEMMS */
	[0x0f] = OTHER(M | OP_IMM8), /* 3DNow!: the opcode stands behind the operands */
	[0x20 ... 0x23] = OTHER(M | OP_REGISTERS),
	[0x24 ... 0x27] = UNDEFINED,
	[0x30 ... 0x35] = OTHER(0), /* WRMSR, RDTSC, RDMSR, RDPMC, SYSENTER, SYSEXIT */
	[0x36] = UNDEFINED,
	[0x37] = OTHER(0), /* GETSEC */
	[0x39] = UNDEFINED,
	[0x3b ... 0x3f] = UNDEFINED,
	[0x40 ... 0x4f] = ROW(CMOV, REG_RM, M),
	[0x70 ... 0x73] = OTHER(M | OP_IMM8),
	[0x77] = OTHER(0), /* EMMS */
	[0x7a ... 0x7b] = UNDEFINED,
	[0x80 ... 0x8f] = OTHER(OP_IMMZ | OP_FORCE64),
	[0x90 ... 0x9f] = ROW(SETCC, RM, M | OP_BYTE),
	[0xa0 ... 0xa1] = OTHER(OP_DEFAULT64), /* PUSH, POP FS */
	[0xa2] = OTHER(0),		       /* CPUID */
	[0xa3] = ROW(BT, RM_REG, M),
	[0xa4] = OTHER(M | OP_IMM8),
	[0xa8 ... 0xa9] = OTHER(OP_DEFAULT64),
	[0xaa] = OTHER(0), /* RSM */
	[0xab] = ROW(BTS, RM_REG, M),
	[0xac] = OTHER(M | OP_IMM8),
	[0xb0] = ROW(CMPXCHG, RM_REG, M | OP_BYTE),
	[0xb1] = ROW(CMPXCHG, RM_REG, M),
	[0xb2] = OTHER(M | OP_MEMORY_ONLY), /* LSS */
	[0xb3] = ROW(BTR, RM_REG, M),
	[0xb4 ... 0xb5] = OTHER(M | OP_MEMORY_ONLY), /* LFS, LGS */
	[0xb6 ... 0xb7] = ROW(MOVZX, REG_RM, M),
	[0xba] = OTHER(M | OP_GROUP),
	[0xbb] = ROW(BTC, RM_REG, M),
	[0xbe ... 0xbf] = ROW(MOVSX, REG_RM, M),
	[0xc0] = ROW(XADD, RM_REG, M | OP_BYTE),
	[0xc1] = ROW(XADD, RM_REG, M),
	[0xc2] = OTHER(M | OP_IMM8),
	[0xc3] = ROW(MOV, RM_REG, M | OP_MEMORY_ONLY), /* MOVNTI */
	[0xc4 ... 0xc6] = OTHER(M | OP_IMM8),
	[0xc8 ... 0xcf] = OTHER(0), /* BSWAP */
};

/* Group 1, by ModRM.reg. The immediate differs by opcode, so there are two sets. */
#define GROUP_1(f)                                                                              \
	{                                                                                       \
		ROW(ADD, RM_IMMEDIATE, f), ROW(OR, RM_IMMEDIATE, f), ROW(ADC, RM_IMMEDIATE, f), \
			ROW(SBB, RM_IMMEDIATE, f), ROW(AND, RM_IMMEDIATE, f),                   \
			ROW(SUB, RM_IMMEDIATE, f), ROW(XOR, RM_IMMEDIATE, f),                   \
			ROW(CMP, RM_IMMEDIATE, f),                                              \
	}

static const struct opcode_row group_1_imm8[8] = GROUP_1(OP_IMM8);
static const struct opcode_row group_1_immz[8] = GROUP_1(OP_IMMZ);
static const struct opcode_row group_1a[8] = { ROW(POP, RM, OP_DEFAULT64), UNDEFINED, UNDEFINED,
	UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED };
/* TEST, NOT, NEG, MUL, IMUL, DIV, IDIV; /1 is the undocumented twin of /0. */
#define GROUP_3(f)                                                                       \
	{                                                                                \
		ROW(TEST, RM_IMMEDIATE, f), ROW(TEST, RM_IMMEDIATE, f), ROW(NOT, RM, 0), \
			ROW(NEG, RM, 0), OTHER(0), OTHER(0), OTHER(0), OTHER(0),         \
	}
static const struct opcode_row group_3_byte[8] = GROUP_3(OP_IMM8);
static const struct opcode_row group_3[8] = GROUP_3(OP_IMMZ);
static const struct opcode_row group_4[8] = { ROW(INC, RM, 0), ROW(DEC, RM, 0), UNDEFINED,
	UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED };
/* INC, DEC, CALL, CALL far, JMP, JMP far, PUSH. */
static const struct opcode_row group_5[8] = { ROW(INC, RM, 0), ROW(DEC, RM, 0), OTHER(OP_FORCE64),
	OTHER(OP_MEMORY_ONLY), OTHER(OP_FORCE64), OTHER(OP_MEMORY_ONLY),
	ROW(PUSH, RM, OP_DEFAULT64), UNDEFINED };
static const struct opcode_row group_8[8] = { UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED,
	ROW(BT, RM_IMMEDIATE, OP_IMM8), ROW(BTS, RM_IMMEDIATE, OP_IMM8),
	ROW(BTR, RM_IMMEDIATE, OP_IMM8), ROW(BTC, RM_IMMEDIATE, OP_IMM8) };
/* /7 is XABORT and XBEGIN with their own immediates, ModRM F8 only: decode.c. */
#define GROUP_11(f)                                                                               \
	{                                                                                         \
		ROW(MOV, RM_IMMEDIATE, f), UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, \
			UNDEFINED, OTHER(f),                                                      \
	}
static const struct opcode_row group_11_byte[8] = GROUP_11(OP_IMM8);
static const struct opcode_row group_11[8] = GROUP_11(OP_IMMZ);

const struct opcode_row *opcode_group(u32 map, u32 opcode, u32 reg)
{
	if (map == 2)
		return &group_8[reg];
	switch (opcode) {
	case 0x81:
		return &group_1_immz[reg];
	case 0x8f:
		return &group_1a[reg];
	case 0xc6:
		return &group_11_byte[reg];
	case 0xc7:
		return &group_11[reg];
	case 0xf6:
		return &group_3_byte[reg];
	case 0xf7:
		return &group_3[reg];
	case 0xfe:
		return &group_4[reg];
	case 0xff:
		return &group_5[reg];
	default:
		return &group_1_imm8[reg]; /* 80, 82, 83 */
	}
}
