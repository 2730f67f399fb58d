// SPDX-License-Identifier: BSD-2-Clause
/*
 * Task switches: VMX has none of its own, each one exits (SDM 3C 26.4.2) after the processor has
 * checked the gate and the descriptor's type, presence and limit. What is left is SDM 3A 8.3:
 * everything that can fault in the old task first, then the switch, then the loads that fault in
 * the new one.
 */
#include "hv/cpu/registers.h"
#include "vmx/access_rights.h"
#include "vmx/cr.h"
#include "vmx/segment_load.h"

#define QUALIFICATION_SELECTOR(q) ((u16)(q))
#define QUALIFICATION_SOURCE(q)	  ((q) >> 30 & 3)
enum source { SOURCE_CALL, SOURCE_IRET, SOURCE_JMP, SOURCE_GATE };

#define RFLAGS_WRITABLE	  0x3f7fd5
#define DR7_LOCAL_ENABLES 0x155 /* L0 to L3, LE (SDM 3B 18.2.4) */
#define TSS_TRAP	  BIT(0)

/* SDM 3A figure 8-2: the 32-bit TSS up to the I/O map base. */
struct tss32 {
	u16 link, reserved0;
	struct {
		u32 esp;
		u16 ss, reserved;
	} privileged[3];
	u32 cr3, eip, eflags;
	u32 gpr[8]; /* EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI: the numbers of the encoding */
	struct {
		u16 selector, reserved;
	} segment[6]; /* ES, CS, SS, DS, FS, GS: enum segment */
	u16 ldt, reserved1;
	u16 trap, io_map_base;
};
_Static_assert(sizeof(struct tss32) == 104, "SDM 3A figure 8-2");

/* SDM 3A figure 8-10. */
struct tss16 {
	u16 link;
	u16 privileged[6];
	u16 ip, flags;
	u16 gpr[8];
	u16 segment[4]; /* ES, CS, SS, DS */
	u16 ldt;
};
_Static_assert(sizeof(struct tss16) == 44, "SDM 3A figure 8-10");

/* Either kind, widened. */
struct task {
	bool wide; /* a 32-bit TSS */
	u16 link, ldt, selectors[6];
	u32 cr3, eip, eflags, gpr[8];
	bool trap;
};

struct switch_state {
	struct guest_access access;
	enum source source;
	u16 selector, old_selector;
	struct descriptor next;
	gva_t next_tss, old_tss;
	bool old_wide;
	struct task task;
	u32 event; /* IDT-vectoring information of a switch through a gate, else 0 */
};

static bool read_task(struct switch_state *s)
{
	struct task *t = &s->task;
	union {
		struct tss32 wide;
		struct tss16 narrow;
	} tss;

	t->wide = RIGHTS_TYPE(s->next.rights) & TYPE_32_BIT;
	if (!linear_read(
		    &s->access, s->next_tss, &tss, t->wide ? sizeof(tss.wide) : sizeof(tss.narrow)))
		return false;
	if (t->wide) {
		t->link = tss.wide.link;
		t->cr3 = tss.wide.cr3;
		t->eip = tss.wide.eip;
		t->eflags = tss.wide.eflags;
		t->ldt = tss.wide.ldt;
		t->trap = tss.wide.trap & TSS_TRAP;
		for (u32 i = 0; i < 8; i++)
			t->gpr[i] = tss.wide.gpr[i];
		for (u32 i = 0; i < 6; i++)
			t->selectors[i] = tss.wide.segment[i].selector;
		return true;
	}
	t->link = tss.narrow.link;
	t->eip = tss.narrow.ip;
	t->eflags = tss.narrow.flags;
	t->ldt = tss.narrow.ldt;
	for (u32 i = 0; i < 8; i++)
		t->gpr[i] = 0xffff0000 | tss.narrow.gpr[i];
	for (u32 i = 0; i < 4; i++)
		t->selectors[i] = tss.narrow.segment[i];
	return true;
}

/*
 * EIP of the old task: behind the instruction that switched, but at the one that an event
 * interrupted.
 */
static u32 old_eip(const struct switch_state *s)
{
	u32 eip = vmcs_read(VMCS_GUEST_RIP);
	enum event_type type = EVENT_TYPE(s->event);
	bool by_instruction = s->source != SOURCE_GATE || type == EVENT_SOFTWARE_INTERRUPT ||
			      type == EVENT_SOFTWARE_EXCEPTION ||
			      type == EVENT_PRIVILEGED_SOFTWARE_EXCEPTION;

	return by_instruction ? eip + (u32)vmcs_read(VMCS_EXIT_INSTRUCTION_LENGTH) : eip;
}

static bool save_old_task(struct switch_state *s)
{
	struct vcpu *vcpu = s->access.vcpu;
	u32 eflags = vmcs_read(VMCS_GUEST_RFLAGS);
	u32 eip = old_eip(s);

	if (s->source == SOURCE_IRET)
		eflags &= ~RFLAGS_NT;
	if (s->old_wide) {
		struct tss32 tss = { .eip = eip, .eflags = eflags };

		for (u32 i = 0; i < 8; i++)
			tss.gpr[i] = vcpu_gpr(vcpu, i);
		for (u32 i = 0; i < 6; i++)
			tss.segment[i].selector = vmcs_read(VMCS_GUEST_ES_SELECTOR + 2 * i);
		/*
		 * From EIP to GS: CR3, LDT, stacks of the old TSS are not written (SDM 3A 8.2.1).
		 */
		return linear_write(&s->access, gva(s->old_tss.value + offsetof(struct tss32, eip)),
			&tss.eip, offsetof(struct tss32, ldt) - offsetof(struct tss32, eip));
	}
	struct tss16 tss = { .ip = eip, .flags = eflags };

	for (u32 i = 0; i < 8; i++)
		tss.gpr[i] = vcpu_gpr(vcpu, i);
	for (u32 i = 0; i < 4; i++)
		tss.segment[i] = vmcs_read(VMCS_GUEST_ES_SELECTOR + 2 * i);
	return linear_write(&s->access, gva(s->old_tss.value + offsetof(struct tss16, ip)), &tss.ip,
		offsetof(struct tss16, ldt) - offsetof(struct tss16, ip));
}

static bool set_busy(struct switch_state *s, gva_t descriptor, u8 type_byte, bool busy)
{
	type_byte = busy ? type_byte | TYPE_BUSY : type_byte & ~TYPE_BUSY;
	return linear_write(&s->access, gva(descriptor.value + 5), &type_byte, 1);
}

/* Every access of the switch that may fault, tried while the old task can still take the fault. */
static bool probe(struct switch_state *s, const struct descriptor *old)
{
	struct guest_access *a = &s->access;
	u32 size = s->old_wide ? sizeof(struct tss32) : sizeof(struct tss16);

	return linear_probe_write(a, s->old_tss, size) && linear_probe_write(a, old->address, 8) &&
	       linear_probe_write(a, s->next.address, 8) &&
	       (s->source == SOURCE_IRET || s->source == SOURCE_JMP ||
		       linear_probe_write(a, s->next_tss, 2));
}

static bool stop_with(struct switch_state *s, enum vector vector)
{
	s->access.action = raise_exception(s->access.vcpu, vector, s->selector & ~3u);
	return false;
}

/* Everything up to the point of no return: SDM 3A 8.3 steps 1 to 5. */
static bool prepare(struct switch_state *s, struct descriptor *old)
{
	u32 type, minimum;

	switch (descriptor_read(&s->access, s->selector, &s->next)) {
	case DESCRIPTOR_OUTSIDE:
		return stop_with(s, VECTOR_TS);
	case DESCRIPTOR_STOPPED:
		return false;
	case DESCRIPTOR_OK:
		break;
	}
	/* The processor has checked these; another vCPU may have written since. */
	type = RIGHTS_TYPE(s->next.rights);
	if (s->next.rights & RIGHTS_S || (type & ~(TYPE_32_BIT | TYPE_BUSY)) != TYPE_TSS16 ||
		!(type & TYPE_BUSY) != (s->source != SOURCE_IRET))
		return stop_with(s, s->source == SOURCE_IRET ? VECTOR_TS : VECTOR_GP);
	if (!(s->next.rights & RIGHTS_P))
		return stop_with(s, VECTOR_NP);
	minimum = type & TYPE_32_BIT ? sizeof(struct tss32) : sizeof(struct tss16);
	if (s->next.limit < minimum - 1)
		return stop_with(s, VECTOR_TS);
	s->next_tss = gva(s->next.base);
	switch (descriptor_read(&s->access, s->old_selector, old)) {
	case DESCRIPTOR_OUTSIDE:
		return stop_with(s, VECTOR_TS);
	case DESCRIPTOR_STOPPED:
		return false;
	case DESCRIPTOR_OK:
		break;
	}
	return read_task(s) && probe(s, old);
}

/* Steps 6 to 12: after the probes nothing here faults. */
static bool commit(struct switch_state *s, const struct descriptor *old)
{
	bool nests = s->source == SOURCE_CALL || s->source == SOURCE_GATE;
	bool done = save_old_task(s);

	if (!nests)
		done = done && set_busy(s, old->address, old->raw >> 40, false);
	else
		done = done && linear_write(&s->access, s->next_tss, &s->old_selector, 2);
	if (s->source != SOURCE_IRET)
		done = done && set_busy(s, s->next.address, s->next.raw >> 40, true);
	if (nests)
		s->task.eflags |= RFLAGS_NT;

	vmcs_write(VMCS_GUEST_TR_SELECTOR, s->selector);
	vmcs_write(VMCS_GUEST_TR_BASE, s->next.base);
	vmcs_write(VMCS_GUEST_TR_LIMIT, s->next.limit);
	vmcs_write(VMCS_GUEST_TR_RIGHTS, s->next.rights | TYPE_BUSY);
	vmcs_write(VMCS_GUEST_CR0, vmcs_read(VMCS_GUEST_CR0) | CR0_TS);
	vmcs_write(VMCS_CR0_SHADOW, vmcs_read(VMCS_CR0_SHADOW) | CR0_TS);
	return done;
}

/* The error code of the exception that switched tasks goes onto the new stack (SDM 3A 6.13). */
static bool push_error_code(struct switch_state *s, u32 error_code)
{
	u32 size = s->task.wide ? 4 : 2;
	bool big = vmcs_read(VMCS_GUEST_SS_RIGHTS) & RIGHTS_DB;
	u64 esp = vmcs_read(VMCS_GUEST_RSP), mask = big ? 0xffffffff : 0xffff;
	u64 top = (esp - size) & mask;
	struct guest_operand operand;
	gva_t linear;

	if (!access_linear(&s->access, SEG_SS, top, size, WALK_WRITE, &linear) ||
		!access_translate(&s->access, linear, size, WALK_WRITE, &operand))
		return false;
	access_write(&s->access, &operand, error_code);
	vmcs_write(VMCS_GUEST_RSP, (esp & ~mask) | top);
	return true;
}

/* Steps 13 to 15: from here on the new task takes the faults. */
static bool load_new_task(struct switch_state *s)
{
	struct vcpu *vcpu = s->access.vcpu;
	const struct task *t = &s->task;
	u32 external = s->event && EVENT_TYPE(s->event) != EVENT_SOFTWARE_INTERRUPT &&
		       EVENT_TYPE(s->event) != EVENT_SOFTWARE_EXCEPTION;

	for (u32 i = 0; i < 8; i++)
		vcpu_set_gpr(vcpu, i, t->gpr[i]);
	vmcs_write(VMCS_GUEST_RIP, t->eip);
	vmcs_write(VMCS_GUEST_DR7, vmcs_read(VMCS_GUEST_DR7) & ~(u64)DR7_LOCAL_ENABLES);
	if (t->wide && (guest_cr0(vcpu) & CR0_PG) && !cr3_write(vcpu, t->cr3)) {
		s->access.action = raise_gp(vcpu);
		return false;
	}
	/* With VM set the segments are those of virtual-8086 mode: nothing may fault in between. */
	vmcs_write(VMCS_GUEST_RFLAGS, (t->eflags & RFLAGS_WRITABLE) | RFLAGS_FIXED);
	/* Paging is the new task's now. */
	access_begin(&s->access, vcpu);
	if (t->eflags & RFLAGS_VM)
		segments_load_vm86(t->selectors);
	else if (!segments_load(&s->access, t->ldt, t->selectors, external))
		return false;
	access_begin(&s->access, vcpu);
	return true;
}

enum exit_action exit_task_switch(struct vcpu *vcpu)
{
	u64 qualification = vmcs_read(VMCS_EXIT_QUALIFICATION);
	struct switch_state s = {
		.source = QUALIFICATION_SOURCE(qualification),
		.selector = QUALIFICATION_SELECTOR(qualification),
		.old_selector = vmcs_read(VMCS_GUEST_TR_SELECTOR),
		.old_tss = gva(vmcs_read(VMCS_GUEST_TR_BASE)),
		.old_wide = RIGHTS_TYPE(vmcs_read(VMCS_GUEST_TR_RIGHTS)) & TYPE_32_BIT,
	};
	struct descriptor old;
	u32 error_code = vcpu->events.error_code;

	if (s.source == SOURCE_GATE)
		s.event = vcpu->events.info;
	access_begin(&s.access, vcpu);
	if (!prepare(&s, &old) || !commit(&s, &old))
		return s.access.action;

	/* The switch is the instruction that ends a shadow, and IF or TF may be new. */
	event_clear_shadow();
	/* The event is delivered by the switch itself; an NMI blocks others until IRET. */
	vcpu->events.info = 0;
	if (s.event && EVENT_TYPE(s.event) == EVENT_NMI)
		event_restore_nmi_blocking();
	if (!load_new_task(&s))
		return s.access.action;
	if (s.event & EVENT_ERROR_CODE && !push_error_code(&s, error_code))
		return s.access.action;
	if (s.task.trap) {
		insn_write_dr6(insn_read_dr6() | DR6_BT);
		return raise_exception(vcpu, VECTOR_DB, NO_ERROR_CODE);
	}
	return EXIT_RESUME;
}
