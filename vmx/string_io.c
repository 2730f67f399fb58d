// SPDX-License-Identifier: BSD-2-Clause
/*
 * INS and OUTS. Called by exit_io(), interrupts off, VMCS current. The instruction's length is that
 * of the exit, which is defined for I/O exits. Address size and segment come from the
 * instruction-information field where the processor fills it in (IA32_VMX_BASIC bit 54), otherwise
 * from the instruction itself.
 */
#include "vmx/string_io.h"

#include "hv/dev/platform.h"
#include "hv/vm/vm.h"
#include "vmx/fetch.h"
#include "vmx/machine.h"
#include "vmx/operand.h"

/* Exit qualification for I/O instructions: SDM 3C table 28-5. */
#define IO_SIZE(q)		(((u32)(q)&7) + 1)
#define IO_IN			BIT(3)
#define IO_REPEAT		BIT(5)
#define IO_PORT(q)		((u16)((q) >> 16))
/* Instruction information for INS and OUTS: SDM 3C table 28-8. */
#define INFO_ADDRESS_SIZE(info) (2u << ((info) >> 7 & 3))
#define INFO_SEGMENT(info)	((info) >> 15 & 7)

/* Fills in what string_*() and the loop need. False: access.action is the answer. */
static bool describe(struct emulation *e, u64 qualification)
{
	struct insn *insn = &e->insn;

	if (vmx_machine.capabilities.basic & VMX_BASIC_INS_OUTS_INFO) {
		u32 info = vmcs_read(VMCS_EXIT_INSTRUCTION_INFO);

		*insn = (struct insn){ .address_size = INFO_ADDRESS_SIZE(info),
			.segment = qualification & IO_IN ? SEG_ES : INFO_SEGMENT(info) };
	} else {
		if (!fetch_instruction(&e->access, insn))
			return false;
		/* Changed since the exit: the processor runs what is there now. */
		e->access.action = EXIT_RESUME;
		if (insn->kind != INSN_INS && insn->kind != INSN_OUTS)
			return false;
	}
	insn->operand_size = IO_SIZE(qualification);
	insn->repeat = qualification & IO_REPEAT ? REPEAT_E : REPEAT_NONE;
	insn->length = vmcs_read(VMCS_EXIT_INSTRUCTION_LENGTH);
	return true;
}

/* INS writes ES:RDI whatever the prefixes; memory is checked before the port is touched. */
static bool input(struct emulation *e, u16 port)
{
	u32 size = e->insn.operand_size;
	struct guest_operand to;
	gva_t linear;

	if (!access_linear(
		    &e->access, SEG_ES, string_register(e, RDI), size, WALK_WRITE, &linear) ||
		!access_translate(&e->access, linear, size, WALK_WRITE, &to))
		return false;
	access_write(&e->access, &to, platform_io_read(e->access.vcpu->vm->platform, port, size));
	string_advance(e, RDI);
	return true;
}

static bool output(struct emulation *e, u16 port)
{
	u32 size = e->insn.operand_size;
	struct guest_operand from;
	gva_t linear;

	if (!access_linear(
		    &e->access, e->insn.segment, string_register(e, RSI), size, 0, &linear) ||
		!access_translate(&e->access, linear, size, 0, &from))
		return false;
	platform_io_write(e->access.vcpu->vm->platform, port, size, access_read(&e->access, &from));
	string_advance(e, RSI);
	return true;
}

enum exit_action emulate_string_io(struct vcpu *vcpu, u64 qualification)
{
	struct emulation e;
	bool more;
	u64 count;

	emulation_begin(&e, vcpu);
	if (!describe(&e, qualification))
		return e.access.action;
	count = string_iterations(&e, &more);
	for (u64 i = 0; i < count; i++) {
		if (!(qualification & IO_IN ? input : output)(&e, IO_PORT(qualification)))
			return e.access.action;
		if (e.insn.repeat != REPEAT_NONE)
			string_set_register(&e, RCX, vcpu->gpr[RCX] - 1);
	}
	return more ? emulation_suspend(&e) : emulation_complete(&e);
}
