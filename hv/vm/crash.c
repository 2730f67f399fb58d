// SPDX-License-Identifier: BSD-2-Clause
/*
 * The post-mortem of a guest: what it was doing when it could not go on. Interrupts off, VMCS
 * current.
 */
#include "hv/lib/log.h"
#include "hv/vm/vm.h"
#include "vmx/exit.h"

static void log_segments(void)
{
	log_error("  cs %04lx:%08lx/%08lx ss %04lx rights %05lx ds %04lx es %04lx fs %lx gs %lx",
		vmcs_read(VMCS_GUEST_CS_SELECTOR), vmcs_read(VMCS_GUEST_CS_BASE),
		vmcs_read(VMCS_GUEST_CS_RIGHTS), vmcs_read(VMCS_GUEST_SS_SELECTOR),
		vmcs_read(VMCS_GUEST_SS_RIGHTS), vmcs_read(VMCS_GUEST_DS_SELECTOR),
		vmcs_read(VMCS_GUEST_ES_SELECTOR), vmcs_read(VMCS_GUEST_FS_BASE),
		vmcs_read(VMCS_GUEST_GS_BASE));
	log_error("  gdt %lx/%lx idt %lx/%lx tr %lx/%lx ldtr %lx", vmcs_read(VMCS_GUEST_GDTR_BASE),
		vmcs_read(VMCS_GUEST_GDTR_LIMIT), vmcs_read(VMCS_GUEST_IDTR_BASE),
		vmcs_read(VMCS_GUEST_IDTR_LIMIT), vmcs_read(VMCS_GUEST_TR_BASE),
		vmcs_read(VMCS_GUEST_TR_LIMIT), vmcs_read(VMCS_GUEST_LDTR_SELECTOR));
}

enum exit_action vcpu_crash(struct vcpu *vcpu)
{
	const u64 *r = vcpu->gpr;

	log_error("  vm %s, vCPU %u: rip %lx rsp %lx rflags %lx", vcpu->vm->config->name, vcpu->id,
		vmcs_read(VMCS_GUEST_RIP), vmcs_read(VMCS_GUEST_RSP), vmcs_read(VMCS_GUEST_RFLAGS));
	log_error("  rax %lx rbx %lx rcx %lx rdx %lx rsi %lx rdi %lx", r[RAX], r[RBX], r[RCX],
		r[RDX], r[RSI], r[RDI]);
	log_error("  r8 %lx r9 %lx r10 %lx r11 %lx", r[R8], r[R9], r[R10], r[R11]);
	log_error("  cr0 %lx cr2 %lx cr3 %lx cr4 %lx efer %lx", vmcs_read(VMCS_GUEST_CR0),
		insn_read_cr2(), vmcs_read(VMCS_GUEST_CR3), vmcs_read(VMCS_GUEST_CR4),
		vmcs_read(VMCS_GUEST_EFER));
	log_segments();
	log_error("  exit reason %lx qualification %lx gpa %lx idt-vectoring %lx interruptibility "
		  "%lx",
		vmcs_read(VMCS_EXIT_REASON), vmcs_read(VMCS_EXIT_QUALIFICATION),
		vmcs_read(VMCS_GUEST_PHYSICAL_ADDRESS), vmcs_read(VMCS_IDT_VECTORING_INFO),
		vmcs_read(VMCS_GUEST_INTERRUPTIBILITY));
	if (vcpu->vm->stop == STOP_NONE)
		vcpu->vm->stop = STOP_CRASH;
	vcpu->pending |= PENDING_STOP;
	return EXIT_STOP;
}
