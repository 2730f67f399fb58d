; SPDX-License-Identifier: BSD-2-Clause
; The last instructions of the loader: void enter(u64 root, u64 stack_top, u64 entry, u64 info).
; Called by leave.c without boot services. leave.c maps the page of this code at its own address in
; the new tables, so it must lie within one page and touch no memory once CR3 is loaded, but the new
; stack.

bits 64
default rel
section .text

%define IA32_EFER	0xc0000080
%define EFER_NXE	(1 << 11)
%define CR0_WP		(1 << 16)
%define CR4_PAE		(1 << 5)
%define CR4_PGE		(1 << 7)
%define CR4_PCIDE	(1 << 17)
%define CR4_CET		(1 << 23)

global enter
align 128
enter:
	cli
	cld
	mov	r8, rdx			; RDMSR takes EDX and ECX
	mov	r9, rcx

	; The new tables have NX bits, reserved without NXE (SDM 3A 4.5).
	mov	ecx, IA32_EFER
	rdmsr
	or	eax, EFER_NXE
	wrmsr

	; CET goes before WP is touched, PGE so that global translations are flushed, PCIDE so that
	; CR3's low bits mean nothing (SDM 3A 2.5, 4.10.4.1).
	mov	rax, cr4
	and	rax, ~(CR4_PGE | CR4_PCIDE | CR4_CET)
	or	rax, CR4_PAE
	mov	cr4, rax
	mov	rax, cr0
	or	rax, CR0_WP
	mov	cr0, rax

	mov	cr3, rdi
	mov	rsp, rsi
	xor	ebp, ebp		; end of a chain of frames
	push	rbp			; as if called from address 0
	mov	rdi, r9
	jmp	r8
.end:

%if (.end - enter) > 128
%error "enter must not cross a page"
%endif

section .note.GNU-stack noalloc noexec nowrite progbits
