; SPDX-License-Identifier: BSD-2-Clause
; A 32-bit protected-mode machine for task_switch.c: no paging, GDT, IDT and TSSs of its own. Code runs there until
; something traps; the trap is logged and 64-bit mode comes back.

%include "tests/guest/suite/long_mode.inc"

STACK_SIZE	equ 4096
TASK_MAIN	equ 0x28		; selectors of task_switch.c
DONE_VECTORS	equ 0x82		; entries: enough to hold vector 0x81

section .text
global task_excursion, task_entries, task_main_stack
extern task_gdtr, task_idtr, task_log, gdt_pointer

; void task_excursion(u32 entry): runs it in TASK_MAIN with EBX, ESI and EDI holding patterns.
bits 64
task_excursion:
	sidt	[saved_idtr]
	leave_long_mode	.compat
bits 32
.compat:
	mov	esi, edi
	paging_off
	lgdt	[task_gdtr]
	lidt	[task_idtr]
	mov	eax, SEL_DATA
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	xor	eax, eax
	mov	fs, eax
	mov	gs, eax
	lldt	ax
	mov	esp, task_main_stack
	mov	eax, TASK_MAIN
	ltr	ax
	mov	eax, esi
	mov	ebx, 0x11111111
	mov	esi, 0x22222222
	mov	edi, 0x33333333
	jmp	eax

; struct task_log: vector, error, eip, eflags, tr, cr0, ebx, esi, edi
logged:
	cli
	cld
	push	eax			; stack: eax, vector, error, eip, cs, eflags
	mov	eax, SEL_DATA
	mov	ds, eax
	mov	es, eax
	pop	eax
	pop	dword [task_log]
	pop	dword [task_log + 4]
	pop	dword [task_log + 8]
	pop	dword [task_log + 12]	; cs
	pop	dword [task_log + 12]
	str	eax
	mov	[task_log + 16], eax
	mov	[task_log + 24], ebx
	mov	[task_log + 28], esi
	mov	[task_log + 32], edi
	mov	eax, cr0
	mov	[task_log + 20], eax
	and	eax, ~CR0_PG
	mov	cr0, eax
	clts
	mov	eax, SEL_DATA
	mov	ss, eax
	mov	esp, task_main_stack
	push	2			; NT clear: the IRETQ of 64-bit mode would fault
	popfd
	lgdt	[gdt_pointer]
	lidt	[saved_idtr]
	enter_long_mode

bits 32
align 16
task_entries:
%assign vector 0
%rep DONE_VECTORS
	align 16
%if vector = 8 || (vector >= 10 && vector <= 14) || vector = 17
%else
	push	dword 0
%endif
	push	dword vector
	jmp	logged
%assign vector vector + 1
%endrep

section .data
saved_idtr: dw 0
	dq 0

section .bss
alignb 16
	resb STACK_SIZE
task_main_stack:

section .note.GNU-stack
