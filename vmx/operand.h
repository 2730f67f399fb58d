/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operands of a decoded instruction in registers, and the address of the one in memory: shared by
 * the emulations of device memory and string I/O. Interrupts off, VMCS current.
 */
#ifndef VMX_OPERAND_H
#define VMX_OPERAND_H

#include "vmx/access.h"

/* An instruction on its way through emulation. */
struct emulation {
	struct guest_access access;
	struct insn insn;
	u64 rflags; /* as the instruction leaves them */
};

/* Loads the vCPU's state for the instruction at RIP; the caller fetches or fills in `insn`. */
static inline void emulation_begin(struct emulation *e, struct vcpu *vcpu)
{
	access_begin(&e->access, vcpu);
	e->rflags = e->access.rflags;
}

/* Register of 1, 2, 4 or 8 bytes; AH, CH, DH, BH where the encoding means them (SDM 2A 3.1.1.1). */
u64 operand_register(const struct emulation *e, u32 number, u32 size);
/* 1 and 2 bytes leave the rest of the register alone, 4 clear bits 63:32 (SDM 1 3.4.1.1). */
void operand_set_register(struct emulation *e, u32 number, u32 size, u64 value);

/* The offset in its segment of the memory operand, cut to the address size. */
u64 operand_offset(const struct emulation *e);

/* RSI, RDI, RCX as string instructions use them: as wide as the address size (SDM 1 7.3.9). */
u64 string_register(const struct emulation *e, u32 number);
void string_set_register(struct emulation *e, u32 number, u64 value);
/* Moves an index register past one element, downwards if DF is set. */
void string_advance(struct emulation *e, u32 number);

/*
 * How many iterations may run now: 1 without REP; bounded with it, so that interrupts get their
 * turn, and 1 when single-stepping. *more: the instruction is not done after those.
 */
u64 string_iterations(const struct emulation *e, bool *more);

/* The instruction is done: RFLAGS (RF drops), RIP, shadows, single-step trap. */
enum exit_action emulation_complete(struct emulation *e);
/* It goes on at the same RIP; what may come between two iterations may come now. */
enum exit_action emulation_suspend(struct emulation *e);

#endif
