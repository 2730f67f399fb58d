; SPDX-License-Identifier: BSD-2-Clause
; Entry of every payload kernel: multiboot 1 hands over in 32-bit flat mode without paging; this builds an
; identity map of 4 GiB in 2 MiB pages, enters 64-bit mode and calls guest_main(magic, info). The tables
; stay in use; paging.c edits them.

MULTIBOOT_MAGIC equ 0x1badb002
MULTIBOOT_FLAGS equ 3			; modules page-aligned, memory information
STACK_SIZE	equ 32768

PAGE_PRESENT_WRITABLE equ 3
PAGE_USER	equ 4			; on upper levels only: the leaves decide
PAGE_LARGE	equ 0x80

CR0_PG_WP_NE_MP_PE equ 0x80010023
CR4_PAE_OSFXSR	equ 0x620		; with OSXMMEXCPT
MSR_EFER	equ 0xc0000080
EFER_LME	equ 0x100
EFER_NXE	equ 0x800

section .multiboot align=4
	dd MULTIBOOT_MAGIC, MULTIBOOT_FLAGS, -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

section .text
bits 32
global _start
extern guest_main, gdt_pointer, paging_pml4, paging_pdpt, paging_pd

_start:
	cli
	cld
	mov	esp, main_stack_end
	mov	[boot_eax], eax
	mov	[boot_ebx], ebx

	mov	dword [paging_pml4], paging_pdpt + PAGE_PRESENT_WRITABLE + PAGE_USER
	xor	ecx, ecx
.directory_pointers:
	mov	eax, ecx
	shl	eax, 12
	add	eax, paging_pd + PAGE_PRESENT_WRITABLE + PAGE_USER
	mov	[paging_pdpt + ecx * 8], eax
	inc	ecx
	cmp	ecx, 4
	jb	.directory_pointers
	xor	ecx, ecx
.directories:
	mov	eax, ecx
	shl	eax, 21
	or	eax, PAGE_PRESENT_WRITABLE | PAGE_LARGE
	mov	[paging_pd + ecx * 8], eax
	inc	ecx
	cmp	ecx, 2048
	jb	.directories

	mov	eax, CR4_PAE_OSFXSR
	mov	cr4, eax
	mov	eax, paging_pml4
	mov	cr3, eax
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME | EFER_NXE
	wrmsr
	mov	eax, CR0_PG_WP_NE_MP_PE
	mov	cr0, eax
	lgdt	[gdt_pointer]
	jmp	8:long_mode

bits 64
long_mode:
	mov	eax, 0x10
	mov	ss, eax
	mov	ds, eax
	mov	es, eax
	xor	eax, eax
	mov	fs, eax
	mov	gs, eax
	mov	edi, [boot_eax]
	mov	esi, [boot_ebx]
	call	guest_main
.stop:
	cli
	hlt
	jmp	.stop

section .data
boot_eax: dd 0
boot_ebx: dd 0

section .bss
alignb 4096
main_stack: resb STACK_SIZE
main_stack_end:

section .note.GNU-stack
