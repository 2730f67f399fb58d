; SPDX-License-Identifier: BSD-2-Clause
; One short stub for each vector: pushes an error code where the processor does not, the vector, and goes on
; to the common part. The host has one privilege level, so GS is always the host's here.

extern trap_handle

section .text

; Vectors with an error code: SDM 3A table 6-1.
%define HAS_ERROR_CODE(v) ((v) == 8 || ((v) >= 10 && (v) <= 14) || (v) == 17 || (v) == 21)

align 16
global trap_stubs
trap_stubs:
%assign vector 0
%rep 256
align 16
%if !HAS_ERROR_CODE(vector)
	push	0
%endif
	push	strict dword vector
	jmp	strict near trap_common
%assign vector vector + 1
%endrep

trap_common:
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
	cld
	mov	rdi, rsp
	; The processor aligned the stack to 16 before it pushed 5 words (SDM 3A 6.14.2); 17 followed.
	call	trap_handle
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
	add	rsp, 16
	iretq

; bool read_word(u64 address, u64 *value): see traps.h
global read_word
read_word:
.load:
	mov	rax, [rdi]
	mov	[rsi], rax
	mov	eax, 1
	ret
.refused:
	xor	eax, eax
	ret

section __fixup progbits alloc noexec nowrite align=8
	dq	read_word.load, read_word.refused
section .text

; void nmi_unblock(void)
global nmi_unblock
nmi_unblock:
	mov	rax, rsp
	mov	ecx, ss
	mov	edx, cs
	push	rcx
	push	rax
	pushfq
	push	rdx
	lea	rax, [rel .done]
	push	rax
	iretq
.done:
	ret

; void load_segments(u64 code, u64 data): CS and SS from the new GDT, the other segments null
global load_segments
load_segments:
	mov	ss, si
	xor	eax, eax
	mov	ds, ax
	mov	es, ax
	mov	fs, ax
	mov	gs, ax
	pop	rax
	movzx	edi, di
	push	rdi
	push	rax
	o64 retf

; void call_on_stack(u8 *top, void (*function)(void *), void *argument): does not return
global call_on_stack
call_on_stack:
	mov	rsp, rdi
	xor	ebp, ebp
	mov	rdi, rdx
	push	rbp			; the end of the back trace
	jmp	rsi

section .note.GNU-stack noalloc noexec nowrite progbits
