/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results and flags of the arithmetic instructions (SDM 1 3.4.3.1 and the instructions' pages in
 * 2A, 2B). Pure.
 */
#ifndef VMX_ALU_H
#define VMX_ALU_H

#include "hv/lib/types.h"
#include "vmx/decode.h"

/* Status flags of RFLAGS. */
#define FLAG_CF BIT(0)
#define FLAG_PF BIT(2)
#define FLAG_AF BIT(4)
#define FLAG_ZF BIT(6)
#define FLAG_SF BIT(7)
#define FLAG_OF BIT(11)
#define FLAG_DF BIT(10)

/*
 * One of ADD..CMP, TEST, INC, DEC, NEG (a is the destination, b the source where there is one) of
 * `size` bytes; also NOT, which leaves the flags alone. Returns the result, cut to the size; CMP
 * and TEST give what SUB and AND would. AF after logical operations, which the manual leaves
 * undefined, is cleared.
 */
u64 alu_compute(enum insn_kind kind, u32 size, u64 a, u64 b, u64 *rflags);

/* BT, BTS, BTR, BTC on bit number `bit` of a; CF is the old bit, the other flags stay. */
u64 alu_bit(enum insn_kind kind, u32 size, u64 a, u32 bit, u64 *rflags);

/* The conditions of Jcc, SETcc, CMOVcc by the low four bits of the opcode (SDM 1 B.1). */
bool alu_condition(u32 condition, u64 rflags);

#endif
