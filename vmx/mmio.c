// SPDX-License-Identifier: BSD-2-Clause
/*
 * EPT violations: a page that the test device took away comes back; everything else is an access to
 * a device or to nothing, and the instruction is emulated. Interrupts off, VMCS current. The
 * instruction is read anew from memory that the guest's other processors may change: whatever is
 * found there is executed with all its checks, and nothing is concluded from the exit but the
 * translation that the processor itself made.
 */
#include "vmx/mmio.h"

#include "hv/lib/log.h"
#include "hv/vm/vm.h"
#include "vmx/access_rights.h"
#include "vmx/alu.h"
#include "vmx/fetch.h"

/* Exit qualification for EPT violations: SDM 3C table 28-7. */
#define VIOLATION_WRITE		BIT(1)
#define VIOLATION_FETCH		BIT(2)
#define VIOLATION_LINEAR	BIT(7) /* the guest-linear address is valid */
#define VIOLATION_TRANSLATED	BIT(8) /* else the access was to a paging structure */
#define VIOLATION_NMI_UNBLOCKED BIT(12)

/* What a kind does with its destination; a source is always read. */
#define READS  1
#define WRITES 2

static const u8 destination_use[] = {
	[INSN_ADD] = READS | WRITES,
	[INSN_OR] = READS | WRITES,
	[INSN_ADC] = READS | WRITES,
	[INSN_SBB] = READS | WRITES,
	[INSN_AND] = READS | WRITES,
	[INSN_SUB] = READS | WRITES,
	[INSN_XOR] = READS | WRITES,
	[INSN_CMP] = READS,
	[INSN_TEST] = READS,
	[INSN_INC] = READS | WRITES,
	[INSN_DEC] = READS | WRITES,
	[INSN_NOT] = READS | WRITES,
	[INSN_NEG] = READS | WRITES,
	[INSN_BT] = READS,
	[INSN_BTS] = READS | WRITES,
	[INSN_BTR] = READS | WRITES,
	[INSN_BTC] = READS | WRITES,
	[INSN_XCHG] = READS | WRITES,
	[INSN_XADD] = READS | WRITES,
	[INSN_CMPXCHG] = READS | WRITES,
	[INSN_MOV] = WRITES,
	[INSN_MOVBE] = WRITES,
	[INSN_MOVZX] = WRITES,
	[INSN_MOVSX] = WRITES,
	[INSN_CMOV] = READS | WRITES,
	[INSN_SETCC] = WRITES,
};

static u64 swap_bytes(u32 size, u64 value)
{
	return __builtin_bswap64(value) >> (64 - 8 * size);
}

static u64 sign_extend(u32 size, u64 value)
{
	u32 shift = 64 - 8 * size;

	return (s64)(value << shift) >> shift;
}

/* SDM 2A CMPXCHG: the destination is written either way. */
static u64 compare_exchange(struct emulation *e, u64 destination, u64 source)
{
	u32 size = e->insn.operand_size;
	u64 accumulator = operand_register(e, RAX, size);

	alu_compute(INSN_CMP, size, accumulator, destination, &e->rflags);
	if (accumulator == destination)
		return source;
	operand_set_register(e, RAX, size, destination);
	return destination;
}

/* The new destination. Registers other than the destination change here, RFLAGS in e->rflags. */
static u64 operate(struct emulation *e, u64 destination, u64 source)
{
	const struct insn *insn = &e->insn;
	u32 size = insn->operand_size;
	u64 result;

	switch (insn->kind) {
	case INSN_MOV:
	case INSN_MOVZX:
		return source;
	case INSN_MOVSX:
		return sign_extend(insn->source_size, source);
	case INSN_MOVBE:
		return swap_bytes(size, source);
	case INSN_CMOV:
		return alu_condition(insn->opcode, e->rflags) ? source : destination;
	case INSN_SETCC:
		return alu_condition(insn->opcode, e->rflags);
	case INSN_BT:
	case INSN_BTS:
	case INSN_BTR:
	case INSN_BTC:
		return alu_bit(insn->kind, size, destination, source & (8 * size - 1), &e->rflags);
	case INSN_XCHG:
		operand_set_register(e, insn->reg, size, destination);
		return source;
	case INSN_XADD:
		result = alu_compute(INSN_ADD, size, destination, source, &e->rflags);
		operand_set_register(e, insn->reg, size, destination);
		return result;
	case INSN_CMPXCHG:
		return compare_exchange(e, destination, source);
	default:
		return alu_compute(insn->kind, size, destination, source, &e->rflags);
	}
}

/*
 * A bit offset in a register reaches beyond the operand: the memory operand is the unit that holds
 * the bit (SDM 2A BT).
 */
static u64 bit_string_displacement(const struct emulation *e)
{
	const struct insn *insn = &e->insn;
	u32 size = insn->operand_size;
	s64 bit;

	if (insn->kind < INSN_BT || insn->kind > INSN_BTC || insn->form != FORM_RM_REG)
		return 0;
	bit = sign_extend(size, operand_register(e, insn->reg, size));
	return (bit >> (3 + __builtin_ctz(size))) * size;
}

static u64 source_operand(const struct emulation *e)
{
	const struct insn *insn = &e->insn;

	switch (insn->form) {
	case FORM_RM_REG:
		return operand_register(e, insn->reg, insn->operand_size);
	case FORM_RM_IMMEDIATE:
		return insn->immediate & size_mask(insn->operand_size);
	default:
		return 0;
	}
}

static enum exit_action emulate_to_register(struct emulation *e)
{
	const struct insn *insn = &e->insn;
	struct guest_operand operand;
	u64 destination = 0, result;
	gva_t linear;

	if (!access_linear(
		    &e->access, insn->segment, operand_offset(e), insn->source_size, 0, &linear) ||
		!access_translate(&e->access, linear, insn->source_size, 0, &operand))
		return e->access.action;
	if (destination_use[insn->kind] & READS)
		destination = operand_register(e, insn->reg, insn->operand_size);
	result = operate(e, destination, access_read(&e->access, &operand));
	if (destination_use[insn->kind] & WRITES)
		operand_set_register(e, insn->reg, insn->operand_size, result);
	return emulation_complete(e);
}

static enum exit_action emulate_to_memory(struct emulation *e)
{
	const struct insn *insn = &e->insn;
	u32 size = insn->operand_size, use = destination_use[insn->kind];
	u32 kind = use & WRITES ? WALK_WRITE : 0;
	u64 offset = operand_offset(e), source = source_operand(e), destination = 0;
	struct guest_operand operand;
	gva_t linear;

	offset = (offset + bit_string_displacement(e)) & size_mask(insn->address_size);
	if (!access_linear(&e->access, insn->segment, offset, size, kind, &linear) ||
		!access_translate(&e->access, linear, size, kind, &operand))
		return e->access.action;
	if (use & READS)
		destination = access_read(&e->access, &operand);
	destination = operate(e, destination, source);
	if (use & WRITES)
		access_write(&e->access, &operand, destination);
	return emulation_complete(e);
}

/* SDM 1 6.2.3: how much of RSP the stack segment uses. */
static u32 stack_size(const struct emulation *e)
{
	if (e->access.mode == MODE_LONG64)
		return 8;
	return vmcs_read(VMCS_GUEST_SS_RIGHTS) & RIGHTS_DB ? 4 : 2;
}

/*
 * PUSH m and POP m. Of two operands in memory one is the stack. POP computes an address based on
 * RSP with RSP already moved (SDM 2B POP).
 */
static enum exit_action emulate_stack(struct emulation *e)
{
	const struct insn *insn = &e->insn;
	bool push = insn->kind == INSN_PUSH;
	u32 size = insn->operand_size, width = stack_size(e);
	u64 rsp = vcpu_gpr(e->access.vcpu, RSP), offset = operand_offset(e), value;
	u64 stack = (push ? rsp - size : rsp) & size_mask(width);
	struct guest_operand from, to;
	gva_t from_linear, to_linear;

	if (!push && insn->base == RSP)
		offset = (offset + size) & size_mask(insn->address_size);
	if (!access_linear(&e->access, push ? insn->segment : SEG_SS, push ? offset : stack, size,
		    0, &from_linear) ||
		!access_translate(&e->access, from_linear, size, 0, &from) ||
		!access_linear(&e->access, push ? SEG_SS : insn->segment, push ? stack : offset,
			size, WALK_WRITE, &to_linear) ||
		!access_translate(&e->access, to_linear, size, WALK_WRITE, &to))
		return e->access.action;
	value = access_read(&e->access, &from);
	access_write(&e->access, &to, value);
	operand_set_register(e, RSP, width, push ? rsp - size : rsp + size);
	return emulation_complete(e);
}

static enum exit_action emulate(struct emulation *e)
{
	switch (e->insn.kind) {
	case INSN_MOVS:
	case INSN_STOS:
	case INSN_LODS:
		return emulate_string(e);
	case INSN_INS: /* their exit comes before their access to memory: never here */
	case INSN_OUTS:
	case INSN_OTHER:
		return fetch_refuse(&e->access);
	default:
		break;
	}
	/* Changed since the exit, or not the culprit: the processor runs it without us. */
	if (!e->insn.memory)
		return EXIT_RESUME;
	if (e->insn.kind == INSN_PUSH || e->insn.kind == INSN_POP)
		return emulate_stack(e);
	return e->insn.form == FORM_REG_RM ? emulate_to_register(e) : emulate_to_memory(e);
}

/* The delivery of an event needed memory that is not there: there is no instruction to emulate. */
static enum exit_action delivery_failed(struct vcpu *vcpu, gpa_t address)
{
	log_error(
		"vm %s: vCPU %u: delivery of vector %u accesses guest-physical %#lx, where no RAM "
		"is; RIP %#lx",
		vcpu->vm->config->name, vcpu->id, vcpu->events.info & 0xff, address.value,
		vmcs_read(VMCS_GUEST_RIP));
	return vcpu_crash(vcpu);
}

/*
 * The processor found a paging structure outside RAM. The walk in software says what the guest's
 * access meets: reserved bits, hence #PF.
 */
static enum exit_action paging_structure_missing(struct emulation *e, u64 qualification)
{
	u32 kind = (qualification & VIOLATION_FETCH	     ? WALK_FETCH
			   : qualification & VIOLATION_WRITE ? WALK_WRITE
							     : 0) |
		   WALK_PROBE;
	struct walk_translation translation;
	gva_t linear = gva(vmcs_read(VMCS_GUEST_LINEAR_ADDRESS));

	if (walk_page_tables(access_walk_state(&e->access), &e->access.vcpu->vm->memory, linear,
		    kind, &translation) == WALK_FAULT)
		return raise_page_fault(e->access.vcpu, linear, translation.error_code);
	return EXIT_RESUME; /* the tables have changed meanwhile */
}

enum exit_action exit_ept_violation(struct vcpu *vcpu)
{
	u64 qualification = vmcs_read(VMCS_EXIT_QUALIFICATION);
	gpa_t address = gpa(vmcs_read(VMCS_GUEST_PHYSICAL_ADDRESS));
	bool delivery = vcpu->events.info & EVENT_VALID;
	struct emulation e;

	/* SDM 3C 28.2.3: an IRET that failed here has opened NMIs too early. */
	if (unlikely(qualification & VIOLATION_NMI_UNBLOCKED) && !delivery)
		event_restore_nmi_blocking();
	if (unlikely(vcpu->vm->page_unmapped) && vm_remap(vcpu->vm, address))
		return EXIT_RESUME;
	/* All RAM is mapped with all rights: another vCPU's violation has been dealt with. */
	if (unlikely(guest_pointer(&vcpu->vm->memory, address, 1)))
		return EXIT_RESUME;
	if (unlikely(delivery))
		return delivery_failed(vcpu, address);

	emulation_begin(&e, vcpu);
	if (qualification & VIOLATION_LINEAR) {
		if (unlikely(!(qualification & VIOLATION_TRANSLATED)))
			return paging_structure_missing(&e, qualification);
		e.access.known = !(qualification & VIOLATION_FETCH);
		e.access.known_write = qualification & VIOLATION_WRITE;
		e.access.known_linear = gva(vmcs_read(VMCS_GUEST_LINEAR_ADDRESS));
		e.access.known_physical = address;
	}
	if (!fetch_instruction(&e.access, &e.insn))
		return e.access.action;
	/* MOV to CR3: the PDPTEs that it loads read as all ones, so reserved bits are set. */
	if (unlikely(!(qualification & VIOLATION_LINEAR)) && e.insn.kind == INSN_OTHER)
		return raise_gp(vcpu);
	return emulate(&e);
}
