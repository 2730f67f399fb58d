; SPDX-License-Identifier: BSD-2-Clause
; The 256 entry points of the IDT, the way into another context (enter_frame) and out of it again. A
; frame is struct trap_frame of trap.h: what these stubs push is what that struct names.

bits 64
section .text
global trap_entries, enter_frame, enter_return, guarded_call, guarded_return
extern trap_dispatch

ENTRY_SIZE equ 16

; Vectors whose exceptions push an error code (SDM 3A 6.13; 21 is #CP).
%macro entry 1
	align ENTRY_SIZE
%if %1 = 8 || (%1 >= 10 && %1 <= 14) || %1 = 17 || %1 = 21
%else
	push	0
%endif
	push	%1
	jmp	trap_common
%endmacro

align ENTRY_SIZE
trap_entries:
%assign vector 0
%rep 256
	entry	vector
%assign vector vector + 1
%endrep

%macro save_registers 0
	push	rax
	push	rcx
	push	rdx
	push	rbx
	push	rbp
	push	rsi
	push	rdi
	push	r8
	push	r9
	push	r10
	push	r11
	push	r12
	push	r13
	push	r14
	push	r15
%endmacro

trap_common:
	save_registers
	mov	rdi, rsp
	mov	rbx, rsp
	cld
	and	rsp, ~15
	call	trap_dispatch
	mov	rsp, rbx
restore_frame:
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	r11
	pop	r10
	pop	r9
	pop	r8
	pop	rdi
	pop	rsi
	pop	rbp
	pop	rbx
	pop	rdx
	pop	rcx
	pop	rax
	add	rsp, 16			; vector, error code
	iretq

%macro push_callee_saved 0
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
%endmacro

%macro pop_callee_saved 0
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
%endmacro

; void enter_frame(struct trap_frame *frame, u64 *saved_rsp): IRET into the frame. Comes back through
; enter_return once trap_dispatch has pointed the trapping context there, RSP being *saved_rsp.
enter_frame:
	push_callee_saved
	mov	[rsi], rsp
	mov	rsp, rdi
	jmp	restore_frame
enter_return:
	pop_callee_saved
	cld
	ret

; bool guarded_call(void (*function)(void), u64 *saved_rsp): true if the function returned, false if
; trap_dispatch ended it through guarded_return.
guarded_call:
	push_callee_saved
	mov	[rsi], rsp
	sub	rsp, 8
	call	rdi
	add	rsp, 8
	mov	eax, 1
	pop_callee_saved
	ret
guarded_return:
	xor	eax, eax
	pop_callee_saved
	cld
	ret

section .note.GNU-stack
