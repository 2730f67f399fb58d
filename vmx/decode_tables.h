/* SPDX-License-Identifier: BSD-2-Clause */
/* The opcode maps of decode.c: a row per opcode. Owner: decode_tables.c. */
#ifndef VMX_DECODE_TABLES_H
#define VMX_DECODE_TABLES_H

#include "hv/lib/types.h"

enum opcode_flags {
	OP_MODRM = BIT(0),
	OP_BYTE = BIT(1),	/* operands of one byte */
	OP_IMM8 = BIT(2),	/* sign-extended byte */
	OP_IMMZ = BIT(3),	/* 2 or 4 bytes by operand size, sign-extended to 8 */
	OP_IMMV = BIT(4),	/* a full operand: 2, 4 or 8 */
	OP_IMM16 = BIT(5),	/* a word, besides what else there is */
	OP_MOFFS = BIT(6),	/* an absolute offset of the address size */
	OP_FAR = BIT(7),	/* selector and IMMZ offset */
	OP_DEFAULT64 = BIT(8),	/* 64-bit operands in 64-bit mode unless 66 says 16 */
	OP_FORCE64 = BIT(9),	/* near branches: 66 is ignored in 64-bit mode */
	OP_NOT64 = BIT(10),	/* #UD in 64-bit mode */
	OP_GROUP = BIT(11),	/* ModRM.reg chooses: decode.c's group table */
	OP_REGISTERS = BIT(12), /* MOV CR/DR: ModRM.mod is ignored, both are registers */
	OP_UNDEFINED = BIT(13),
	OP_MEMORY_ONLY = BIT(14), /* #UD with a register */
};

struct opcode_row {
	u8 kind; /* enum insn_kind */
	u8 form; /* enum insn_form */
	u16 flags;
};

extern const struct opcode_row opcode_map_1[256];
extern const struct opcode_row opcode_map_2[256];

/* What a group's ModRM.reg selects. flags replace those of the opcode, OP_BYTE apart. */
const struct opcode_row *opcode_group(u32 map, u32 opcode, u32 reg);

#endif
