// SPDX-License-Identifier: BSD-2-Clause
/*
 * Structure offsets and constants for the assembly: compiled to assembly text, from which the
 * Makefile takes the "->" lines into build/offsets.inc. Never linked.
 */
#include "hv/vm/vcpu.h"
#include "vmx/dispatch.h"
#include "vmx/exit.h"
#include "vmx/vmcs_fields.h"

#define DEFINE(name, value) __asm__ volatile("\n-> %%define " #name " %c0" ::"i"((u64)(value)))

void asm_offsets(void);
void asm_offsets(void)
{
	DEFINE(VCPU_RAX, offsetof(struct vcpu, gpr[RAX]));
	DEFINE(VCPU_RCX, offsetof(struct vcpu, gpr[RCX]));
	DEFINE(VCPU_RDX, offsetof(struct vcpu, gpr[RDX]));
	DEFINE(VCPU_RBX, offsetof(struct vcpu, gpr[RBX]));
	DEFINE(VCPU_RBP, offsetof(struct vcpu, gpr[RBP]));
	DEFINE(VCPU_RSI, offsetof(struct vcpu, gpr[RSI]));
	DEFINE(VCPU_RDI, offsetof(struct vcpu, gpr[RDI]));
	DEFINE(VCPU_R8, offsetof(struct vcpu, gpr[R8]));
	DEFINE(VCPU_R9, offsetof(struct vcpu, gpr[R9]));
	DEFINE(VCPU_R10, offsetof(struct vcpu, gpr[R10]));
	DEFINE(VCPU_R11, offsetof(struct vcpu, gpr[R11]));
	DEFINE(VCPU_R12, offsetof(struct vcpu, gpr[R12]));
	DEFINE(VCPU_R13, offsetof(struct vcpu, gpr[R13]));
	DEFINE(VCPU_R14, offsetof(struct vcpu, gpr[R14]));
	DEFINE(VCPU_R15, offsetof(struct vcpu, gpr[R15]));
	DEFINE(VCPU_HOST_RSP, offsetof(struct vcpu, host_rsp));
	DEFINE(VCPU_PENDING, offsetof(struct vcpu, pending));
	DEFINE(VCPU_LAUNCHED, offsetof(struct vcpu, launched));
	DEFINE(VCPU_EXITS, offsetof(struct vcpu, exits));
	DEFINE(VCPU_EXIT_TSC, offsetof(struct vcpu, exit_tsc));
	DEFINE(VCPU_HOST_TSC, offsetof(struct vcpu, host_tsc));
	DEFINE(EXIT_ROW_HANDLER, offsetof(struct exit_row, handler));
	DEFINE(EXIT_ROW_FLAGS, offsetof(struct exit_row, flags));
	DEFINE(EXIT_REASONS, EXIT_REASONS);
	DEFINE(EXIT_REASON, VMCS_EXIT_REASON);
	DEFINE(ACTION_RELOAD, EXIT_RELOAD);
	DEFINE(ACTION_FAILED_INVALID, EXIT_FAILED_INVALID);
	DEFINE(ACTION_FAILED_VALID, EXIT_FAILED_VALID);
	DEFINE(ACTION_ENTRY_FAILURE, EXIT_ENTRY_FAILURE);
}
