/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off: the list is laid out by hand */
/*
 * What an exit handler may do. It runs with interrupts off on the CPU whose VMCS is the vCPU's, and
 * ends in one of these:
 *
 *   return complete_instruction(vcpu);    emulated: RIP behind it, the STI and MOV-SS shadow
 *                                         dropped, a single step's trap pending (SDM 3B 18.3.1.4)
 *   return raise_exception(vcpu, ...);    a fault: RIP stays at the instruction
 *   return EXIT_RESUME;                   nothing to skip: the guest does it again, or never began
 *   return EXIT_RELOAD, EXIT_STOP;        see enum exit_action
 */
/* clang-format on */
#ifndef VMX_EXIT_H
#define VMX_EXIT_H

#include "hv/vm/vcpu.h"
#include "vmx/vmcs.h"

enum exit_action {
	EXIT_RESUME, /* back into the guest, by the stub itself if vcpu->pending is 0 */
	EXIT_RELOAD, /* through the run loop first */
	EXIT_STOP,   /* this VM ends; vm->stop says why */
	/* What only vmx_enter() itself returns. */
	EXIT_FAILED_INVALID, /* VMfailInvalid: no current VMCS */
	EXIT_FAILED_VALID,   /* VMfailValid: VMCS_INSTRUCTION_ERROR says why */
	EXIT_ENTRY_FAILURE,  /* exit reason with bit 31: 33, 34 or 41 */
};

typedef enum exit_action exit_handler(struct vcpu *vcpu);

/* Vectors of SDM 3A table 6-1. */
enum vector {
	VECTOR_DE = 0,
	VECTOR_DB = 1,
	VECTOR_NMI = 2,
	VECTOR_BP = 3,
	VECTOR_OF = 4,
	VECTOR_BR = 5,
	VECTOR_UD = 6,
	VECTOR_NM = 7,
	VECTOR_DF = 8,
	VECTOR_TS = 10,
	VECTOR_NP = 11,
	VECTOR_SS = 12,
	VECTOR_GP = 13,
	VECTOR_PF = 14,
	VECTOR_MF = 16,
	VECTOR_AC = 17,
	VECTOR_MC = 18,
	VECTOR_XM = 19,
	VECTOR_VE = 20,
	VECTOR_CP = 21,
};

#define NO_ERROR_CODE (-1)

/*
 * Queues a hardware exception for the next entry. error_code: NO_ERROR_CODE for vectors without
 * one. With one already queued or interrupted, the rules of SDM 3A table 6-5 make #DF or a triple
 * fault of it.
 */
enum exit_action raise_exception(struct vcpu *vcpu, enum vector vector, s64 error_code);
enum exit_action raise_page_fault(struct vcpu *vcpu, gva_t address, u32 error_code);

static inline enum exit_action raise_ud(struct vcpu *vcpu)
{
	return raise_exception(vcpu, VECTOR_UD, NO_ERROR_CODE);
}

static inline enum exit_action raise_gp(struct vcpu *vcpu)
{
	return raise_exception(vcpu, VECTOR_GP, 0);
}

/* See above. Uses the exit's instruction length: only for exits that define it (SDM 3C 28.2.5). */
enum exit_action complete_instruction(struct vcpu *vcpu);
/* The same for instructions whose length came from the decoder. */
enum exit_action complete_instruction_length(struct vcpu *vcpu, u32 length);

/* A fault of this VM that it cannot go on from: logs its registers, stops it with STOP_CRASH. */
enum exit_action vcpu_crash(struct vcpu *vcpu);

/* Hypercalls: VMCALL with the number in EAX; RAX gets the result. */
#define HYPERCALL_NOP	  0
#define HYPERCALL_UNKNOWN (~0ull)

/* The handlers, one for each kind; vmx/dispatch.c maps reasons to them. */
exit_handler exit_cpuid, exit_rdmsr, exit_wrmsr, exit_cr_access, exit_dr_access, exit_xsetbv;
exit_handler exit_io, exit_hlt, exit_vmcall, exit_ept_violation, exit_task_switch;
exit_handler exit_exception, exit_external_interrupt, exit_rdpmc, exit_triple_fault;
exit_handler exit_preemption_timer;

#endif
