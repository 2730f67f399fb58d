// SPDX-License-Identifier: BSD-2-Clause
/*
 * MOVS, STOS and LODS with an operand in device memory. Called by mmio.c with the instruction
 * decoded. Registers advance with each iteration, so a fault or the end of a turn finds them right
 * (SDM 2B REP).
 */
#include "vmx/mmio.h"

/* One element's address, checked and translated. */
static bool string_operand(struct emulation *e, enum segment segment, u32 index, u32 kind,
	struct guest_operand *operand)
{
	u32 size = e->insn.operand_size;
	gva_t linear;

	return access_linear(&e->access, segment, string_register(e, index), size, kind, &linear) &&
	       access_translate(&e->access, linear, size, kind, operand);
}

static bool movs(struct emulation *e)
{
	struct guest_operand from, to;

	if (!string_operand(e, e->insn.segment, RSI, 0, &from) ||
		!string_operand(e, SEG_ES, RDI, WALK_WRITE, &to))
		return false;
	access_write(&e->access, &to, access_read(&e->access, &from));
	string_advance(e, RSI);
	string_advance(e, RDI);
	return true;
}

static bool stos(struct emulation *e)
{
	struct guest_operand to;

	if (!string_operand(e, SEG_ES, RDI, WALK_WRITE, &to))
		return false;
	access_write(&e->access, &to, e->access.vcpu->gpr[RAX]);
	string_advance(e, RDI);
	return true;
}

static bool lods(struct emulation *e)
{
	struct guest_operand from;

	if (!string_operand(e, e->insn.segment, RSI, 0, &from))
		return false;
	operand_set_register(e, RAX, e->insn.operand_size, access_read(&e->access, &from));
	string_advance(e, RSI);
	return true;
}

enum exit_action emulate_string(struct emulation *e)
{
	bool (*step)(struct emulation *) = e->insn.kind == INSN_MOVS   ? movs
					   : e->insn.kind == INSN_STOS ? stos
								       : lods;
	bool more;
	u64 count = string_iterations(e, &more);

	for (u64 i = 0; i < count; i++) {
		if (!step(e))
			return e->access.action;
		if (e->insn.repeat != REPEAT_NONE)
			string_set_register(e, RCX, e->access.vcpu->gpr[RCX] - 1);
	}
	return more ? emulation_suspend(e) : emulation_complete(e);
}
