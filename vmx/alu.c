// SPDX-License-Identifier: BSD-2-Clause
/* Arithmetic for instruction emulation: see alu.h. Pure functions, callable from anywhere. */
#include "vmx/alu.h"

#define FLAGS_ARITHMETIC (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)

static u64 cut(u32 size, u64 value)
{
	return value & (~0ull >> (64 - 8 * size));
}

static u64 sign_bit(u32 size, u64 value)
{
	return value >> (8 * size - 1) & 1;
}

/* ZF, SF and PF, which follow from any result. */
static u64 result_flags(u32 size, u64 result)
{
	return (result == 0 ? FLAG_ZF : 0) | (sign_bit(size, result) ? FLAG_SF : 0) |
	       (__builtin_parity(result & 0xff) ? 0 : FLAG_PF);
}

/*
 * a + b + carry. Carries out of every bit: where both have it, or one has it and the sum does not.
 * Subtraction is the same with its own rule for borrows.
 */
static u64 add(u32 size, u64 a, u64 b, u64 carry, u64 *flags)
{
	u64 sum = cut(size, a + b + carry);
	u64 carries = (a & b) | ((a | b) & ~sum);

	*flags = result_flags(size, sum) | (sign_bit(size, carries) ? FLAG_CF : 0) |
		 (carries & 8 ? FLAG_AF : 0) |
		 (sign_bit(size, (a ^ sum) & (b ^ sum)) ? FLAG_OF : 0);
	return sum;
}

static u64 subtract(u32 size, u64 a, u64 b, u64 borrow, u64 *flags)
{
	u64 difference = cut(size, a - b - borrow);
	u64 borrows = (~a & b) | ((~a | b) & difference);

	*flags = result_flags(size, difference) | (sign_bit(size, borrows) ? FLAG_CF : 0) |
		 (borrows & 8 ? FLAG_AF : 0) |
		 (sign_bit(size, (a ^ b) & (a ^ difference)) ? FLAG_OF : 0);
	return difference;
}

static u64 logical(u32 size, u64 result, u64 *flags)
{
	*flags = result_flags(size, result);
	return result;
}

u64 alu_compute(enum insn_kind kind, u32 size, u64 a, u64 b, u64 *rflags)
{
	u64 carry = *rflags & FLAG_CF, changed = FLAGS_ARITHMETIC, flags, result;

	a = cut(size, a);
	b = cut(size, b);
	switch (kind) {
	case INSN_ADD:
		result = add(size, a, b, 0, &flags);
		break;
	case INSN_ADC:
		result = add(size, a, b, carry, &flags);
		break;
	case INSN_SUB:
	case INSN_CMP:
		result = subtract(size, a, b, 0, &flags);
		break;
	case INSN_SBB:
		result = subtract(size, a, b, carry, &flags);
		break;
	case INSN_NEG:
		result = subtract(size, 0, a, 0, &flags);
		break;
	case INSN_INC:
		result = add(size, a, 1, 0, &flags);
		changed &= ~FLAG_CF;
		break;
	case INSN_DEC:
		result = subtract(size, a, 1, 0, &flags);
		changed &= ~FLAG_CF;
		break;
	case INSN_OR:
		result = logical(size, a | b, &flags);
		break;
	case INSN_XOR:
		result = logical(size, a ^ b, &flags);
		break;
	case INSN_NOT:
		return cut(size, ~a);
	default: /* AND, TEST */
		result = logical(size, a & b, &flags);
	}
	*rflags = (*rflags & ~changed) | (flags & changed);
	return result;
}

u64 alu_bit(enum insn_kind kind, u32 size, u64 a, u32 bit, u64 *rflags)
{
	*rflags = (*rflags & ~FLAG_CF) | (a >> bit & 1 ? FLAG_CF : 0);
	switch (kind) {
	case INSN_BTS:
		return cut(size, a | BIT(bit));
	case INSN_BTR:
		return cut(size, a & ~BIT(bit));
	case INSN_BTC:
		return cut(size, a ^ BIT(bit));
	default:
		return cut(size, a);
	}
}

bool alu_condition(u32 condition, u64 rflags)
{
	bool less = !(rflags & FLAG_SF) != !(rflags & FLAG_OF), met;

	switch (condition >> 1 & 7) {
	case 0:
		met = rflags & FLAG_OF;
		break;
	case 1:
		met = rflags & FLAG_CF;
		break;
	case 2:
		met = rflags & FLAG_ZF;
		break;
	case 3:
		met = rflags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		met = rflags & FLAG_SF;
		break;
	case 5:
		met = rflags & FLAG_PF;
		break;
	case 6:
		met = less;
		break;
	default:
		met = less || (rflags & FLAG_ZF);
	}
	return met != (condition & 1);
}
