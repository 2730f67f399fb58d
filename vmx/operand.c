// SPDX-License-Identifier: BSD-2-Clause
/*
 * Register operands, effective addresses and the end of an emulated instruction: see operand.h.
 * Called by mmio.c, mmio_string.c and string_io.c.
 */
#include "vmx/operand.h"

#include "hv/cpu/registers.h"
#include "vmx/alu.h"

/* At most a page of bytes, or so many wider elements, between two chances for an interrupt. */
#define ITERATIONS_MAX 1024

static bool is_high_byte(const struct emulation *e, u32 number, u32 size)
{
	return size == 1 && !e->insn.rex && number >= 4;
}

u64 operand_register(const struct emulation *e, u32 number, u32 size)
{
	if (unlikely(is_high_byte(e, number, size)))
		return e->access.vcpu->gpr[number - 4] >> 8 & 0xff;
	return vcpu_gpr(e->access.vcpu, number) & size_mask(size);
}

void operand_set_register(struct emulation *e, u32 number, u32 size, u64 value)
{
	struct vcpu *vcpu = e->access.vcpu;
	u64 old;

	if (size >= 4) {
		vcpu_set_gpr(vcpu, number, value & size_mask(size));
		return;
	}
	if (is_high_byte(e, number, size)) {
		old = vcpu->gpr[number - 4];
		vcpu->gpr[number - 4] = (old & ~0xff00ull) | (value & 0xff) << 8;
		return;
	}
	old = vcpu_gpr(vcpu, number);
	vcpu_set_gpr(vcpu, number, (old & ~size_mask(size)) | (value & size_mask(size)));
}

u64 operand_offset(const struct emulation *e)
{
	const struct insn *insn = &e->insn;
	u64 offset = insn->displacement;

	if (insn->base != NO_REGISTER)
		offset += vcpu_gpr(e->access.vcpu, insn->base);
	if (insn->index != NO_REGISTER)
		offset += vcpu_gpr(e->access.vcpu, insn->index) << insn->scale;
	if (insn->rip_relative)
		offset += e->access.rip + insn->length;
	return offset & size_mask(insn->address_size);
}

u64 string_register(const struct emulation *e, u32 number)
{
	return e->access.vcpu->gpr[number] & size_mask(e->insn.address_size);
}

void string_set_register(struct emulation *e, u32 number, u64 value)
{
	operand_set_register(e, number, e->insn.address_size, value);
}

void string_advance(struct emulation *e, u32 number)
{
	u64 size = e->insn.operand_size;

	string_set_register(e, number,
		e->access.vcpu->gpr[number] + (e->access.rflags & FLAG_DF ? -size : size));
}

u64 string_iterations(const struct emulation *e, bool *more)
{
	u64 count = string_register(e, RCX);
	u64 limit = e->access.rflags & RFLAGS_TF ? 1 : ITERATIONS_MAX;

	*more = false;
	if (e->insn.repeat == REPEAT_NONE)
		return 1;
	*more = count > limit;
	return MIN(count, limit);
}

static void write_flags(const struct emulation *e, u64 rflags)
{
	if (rflags != e->access.rflags)
		vmcs_write(VMCS_GUEST_RFLAGS, rflags);
}

enum exit_action emulation_complete(struct emulation *e)
{
	/* SDM 3B 18.3.1.1: RF ends with the instruction; the exit of a fault-like kind set it. */
	write_flags(e, e->rflags & ~RFLAGS_RF);
	return complete_instruction_length(e->access.vcpu, e->insn.length);
}

enum exit_action emulation_suspend(struct emulation *e)
{
	/* Its instruction breakpoint has been taken, if there was one. */
	write_flags(e, e->rflags | RFLAGS_RF);
	return complete_instruction_length(e->access.vcpu, 0);
}
