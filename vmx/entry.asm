; SPDX-License-Identifier: BSD-2-Clause
;
; The way into the guest and out of it. HOST_RSP is the address of struct vcpu, so the first instructions
; of an exit store registers into it without a look-up; nothing may be pushed until RSP is the run loop's
; stack again (all host exceptions run on IST stacks, so none pushes there either).
;
; Two stages: what the C ABI clobbers, and RBX, is saved for every exit; RBP and R12 to R15 stay in their
; registers (a C handler keeps them) and are stored only for handlers whose row says so, and on the way to
; the run loop.

%include "build/offsets.inc"

extern exit_table
extern exit_dispatch_extended

default rel
section .text

%macro SAVE_SECOND_STAGE 1 ; %1: register that holds the vCPU
	mov	[%1 + VCPU_RBP], rbp
	mov	[%1 + VCPU_R12], r12
	mov	[%1 + VCPU_R13], r13
	mov	[%1 + VCPU_R14], r14
	mov	[%1 + VCPU_R15], r15
%endmacro

%macro LOAD_SECOND_STAGE 1
	mov	rbp, [%1 + VCPU_RBP]
	mov	r12, [%1 + VCPU_R12]
	mov	r13, [%1 + VCPU_R13]
	mov	r14, [%1 + VCPU_R14]
	mov	r15, [%1 + VCPU_R15]
%endmacro

; Everything the C ABI clobbers, and RBX last: it holds the vCPU.
%macro LOAD_FIRST_STAGE 0
	mov	rax, [rbx + VCPU_RAX]
	mov	rcx, [rbx + VCPU_RCX]
	mov	rdx, [rbx + VCPU_RDX]
	mov	rsi, [rbx + VCPU_RSI]
	mov	rdi, [rbx + VCPU_RDI]
	mov	r8, [rbx + VCPU_R8]
	mov	r9, [rbx + VCPU_R9]
	mov	r10, [rbx + VCPU_R10]
	mov	r11, [rbx + VCPU_R11]
	mov	rbx, [rbx + VCPU_RBX]
%endmacro

; enum exit_action vmx_enter(struct vcpu *vcpu)
global vmx_enter
vmx_enter:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	sub	rsp, 8			; handlers are called with a 16-byte aligned stack
	mov	rbx, rdi
	mov	[rbx + VCPU_HOST_RSP], rsp
	LOAD_SECOND_STAGE rbx
	cmp	byte [rbx + VCPU_LAUNCHED], 0
	LOAD_FIRST_STAGE		; moves keep the flags
	jne	.resume
	vmlaunch
	jmp	entry_failed
.resume:
	vmresume
	; VMfailInvalid or VMfailValid: the host's state is untouched (SDM 3C 27.2, 31.2).
entry_failed:
	mov	eax, ACTION_FAILED_INVALID
	jc	return_to_run_loop
	mov	eax, ACTION_FAILED_VALID

; EAX: the action. The guest's registers have been saved (or never were loaded).
return_to_run_loop:
	add	rsp, 8
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret

%macro EXIT_STUB 2 ; %1: label, %2: 1 to add up the host's time
global %1
align 64
%1:
	mov	[rsp + VCPU_RAX], rax
	mov	[rsp + VCPU_RCX], rcx
	mov	[rsp + VCPU_RDX], rdx
	mov	[rsp + VCPU_RBX], rbx
	mov	[rsp + VCPU_RSI], rsi
	mov	[rsp + VCPU_RDI], rdi
	mov	[rsp + VCPU_R8], r8
	mov	[rsp + VCPU_R9], r9
	mov	[rsp + VCPU_R10], r10
	mov	[rsp + VCPU_R11], r11
%if %2
	rdtsc
	shl	rdx, 32
	or	rax, rdx
	mov	[rsp + VCPU_EXIT_TSC], rax
%endif
	mov	rbx, rsp		; kept by the handlers
	mov	rdi, rsp
	mov	rsp, [rbx + VCPU_HOST_RSP]
	mov	eax, EXIT_REASON
	vmread	rax, rax
	cmp	eax, EXIT_REASONS	; bit 31: the entry failed (SDM 3C 25.9.1)
	jae	%%entry_failure
	inc	qword [rbx + VCPU_EXITS + rax * 8]
	shl	eax, 4
	lea	rsi, [exit_table]
	add	rsi, rax
	cmp	qword [rsi + EXIT_ROW_FLAGS], 0
	jne	%%extended
	call	[rsi + EXIT_ROW_HANDLER]
	or	eax, [rbx + VCPU_PENDING] ; both 0: straight back
	jnz	%%run_loop
%%back:
%if %2
	rdtsc
	shl	rdx, 32
	or	rax, rdx
	sub	rax, [rbx + VCPU_EXIT_TSC]
	add	[rbx + VCPU_HOST_TSC], rax
%endif
	LOAD_FIRST_STAGE
	vmresume
	jmp	entry_failed

%%extended:
	SAVE_SECOND_STAGE rbx
	call	exit_dispatch_extended	; vcpu in RDI, row in RSI
	LOAD_SECOND_STAGE rbx
	or	eax, [rbx + VCPU_PENDING]
	jz	%%back

%%run_loop:
	; Which bits were set does not matter: the run loop looks at everything, and at vm->stop.
	mov	eax, ACTION_RELOAD
	SAVE_SECOND_STAGE rbx
	jmp	return_to_run_loop

%%entry_failure:
	mov	eax, ACTION_ENTRY_FAILURE
	SAVE_SECOND_STAGE rbx
	jmp	return_to_run_loop
%endmacro

EXIT_STUB vmx_exit_stub, 0
EXIT_STUB vmx_exit_stub_profile, 1

section .note.GNU-stack noalloc noexec nowrite progbits
