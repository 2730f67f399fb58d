/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instruction decoder (SDM 2A chapter 2, 2D appendix A). Pure: bytes and a mode in, a
 * description out. It knows the length of every legacy-encoded instruction and describes those
 * completely that emulation of device memory and string I/O needs.
 */
#ifndef VMX_DECODE_H
#define VMX_DECODE_H

#include "hv/lib/types.h"

#define INSN_LENGTH_MAX 15

enum segment { SEG_ES, SEG_CS, SEG_SS, SEG_DS, SEG_FS, SEG_GS };

/* The groups ADD..CMP and ROL..: by the numbers of the encoding. */
enum insn_kind {
	INSN_ADD,
	INSN_OR,
	INSN_ADC,
	INSN_SBB,
	INSN_AND,
	INSN_SUB,
	INSN_XOR,
	INSN_CMP,
	INSN_TEST,
	INSN_INC,
	INSN_DEC,
	INSN_NOT,
	INSN_NEG,
	INSN_BT,
	INSN_BTS,
	INSN_BTR,
	INSN_BTC,
	INSN_XCHG,
	INSN_XADD,
	INSN_CMPXCHG,
	INSN_MOV,
	INSN_MOVBE,
	INSN_MOVZX,
	INSN_MOVSX, /* MOVSXD too */
	INSN_CMOV,  /* condition: low four bits of the opcode */
	INSN_SETCC,
	INSN_PUSH, /* with an r/m operand */
	INSN_POP,
	INSN_MOVS,
	INSN_STOS,
	INSN_LODS,
	INSN_INS,
	INSN_OUTS,
	INSN_OTHER, /* only the length, the prefixes and the r/m operand are valid */
};

/* Where the operands are. "rm" is the memory operand or, without one, the register `rm`. */
enum insn_form {
	FORM_NONE,   /* implied by the kind, or INSN_OTHER */
	FORM_RM,     /* one operand */
	FORM_RM_REG, /* destination rm, source register `reg` */
	FORM_REG_RM,
	FORM_RM_IMMEDIATE,
};

#define REPEAT_NONE 0
#define REPEAT_NE   0xf2
#define REPEAT_E    0xf3

#define NO_REGISTER 0xff

struct insn {
	u8 length;
	u8 kind; /* enum insn_kind */
	u8 form; /* enum insn_form */
	u8 map;	 /* 1: one byte; 2: 0F; 3: 0F 38; 4: 0F 3A */
	u8 opcode;
	u8 modrm;
	u8 rex;	   /* 0: none */
	u8 repeat; /* the last of F2 and F3 */
	bool lock, operand_override, address_override, segment_override;
	bool has_modrm;
	u8 operand_size; /* bytes: 1, 2, 4, 8 */
	u8 source_size;	 /* of MOVZX, MOVSX; else operand_size */
	u8 address_size; /* bytes: 2, 4, 8 */
	u8 reg, rm;	 /* registers, REX included; 4..7 of size 1 without REX: AH, CH, DH, BH */

	/*
	 * The memory operand of ModRM or moffs: segment:[base + (index << scale) + displacement].
	 */
	bool memory;
	bool rip_relative; /* displacement counts from the next instruction */
	u8 segment;	   /* enum segment; for strings the source's */
	u8 base, index;	   /* or NO_REGISTER */
	u8 scale;
	s64 displacement;

	u64 immediate; /* sign-extended as the instruction does */
};

enum decode_result {
	DECODE_OK,
	DECODE_TRUNCATED,   /* more bytes are needed (and allowed) */
	DECODE_TOO_LONG,    /* over 15 bytes: #GP(0) (SDM 2A 2.3.11) */
	DECODE_INVALID,	    /* #UD on every processor, LOCK where it may not stand included */
	DECODE_UNSUPPORTED, /* VEX, EVEX, XOP: valid perhaps, never emulated */
};

/*
 * mode: 16, 32 or 64, the default address size of the code. In real and virtual-8086 mode VEX
 * and EVEX do not exist; the caller sees DECODE_UNSUPPORTED all the same and refuses either way.
 */
enum decode_result decode_instruction(const u8 *bytes, u32 available, u32 mode, struct insn *insn);

#endif
