; SPDX-License-Identifier: BSD-2-Clause
; The excursions of mode.c: 64-bit mode -> compatibility mode -> paging off -> (32-bit PAE paging | real mode)
; and back the same way. Called with interrupts off; callee-saved registers and CR3 are kept. All addresses are
; below 4 GiB and identity-mapped. struct mode_log (mode.c) is written as dwords at EBP.

%include "tests/guest/suite/long_mode.inc"

LOW_CODE	equ 0x8000
REAL_STACK	equ 0x7c00
REAL_VECTOR	equ 0x61

LOG_EFER_UNPAGED equ 0
LOG_EFER_PAE	equ 4
LOG_CR0		equ 8
LOG_VALUE	equ 12
LOG_INTERRUPTS	equ 16
LOG_CPUID	equ 20

section .text
global mode_excursion_pae, mode_excursion_real, mode_low_start, mode_low_end

; void mode_excursion_pae(u32 pdpt, struct mode_log *log)
bits 64
mode_excursion_pae:
	leave_long_mode	.compat
bits 32
.compat:
	mov	ebp, esi
	paging_off
	rdmsr
	mov	[ebp + LOG_EFER_UNPAGED], eax
	mov	eax, cr0
	mov	[ebp + LOG_CR0], eax
	mov	cr3, edi
	mov	eax, cr4
	or	eax, CR4_PAE
	mov	cr4, eax
	mov	eax, cr0
	or	eax, CR0_PG
	mov	cr0, eax		; LME is 0: 32-bit PAE paging
	jmp	.paged
.paged:
	mov	ecx, MSR_EFER
	rdmsr
	mov	[ebp + LOG_EFER_PAE], eax
	mov	eax, [good_food]
	mov	[ebp + LOG_VALUE], eax
	paging_off
	jmp	return_to_long_mode

; void mode_excursion_real(struct mode_log *log)
bits 64
mode_excursion_real:
	leave_long_mode	.compat
bits 32
.compat:
	mov	ebp, edi
	paging_off
	sgdt	[saved_gdtr]
	sidt	[saved_idtr]
	mov	eax, SEL_DATA16
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	fs, eax
	mov	gs, eax
	jmp	SEL_CODE16:LOW_CODE
real_mode_done:				; 32-bit protected mode, paging off, log in EBP
	mov	eax, SEL_DATA
	mov	ds, eax
	mov	es, eax
	lidt	[saved_idtr]
	lgdt	[saved_gdtr]

return_to_long_mode:
	enter_long_mode

; Copied to LOW_CODE. Entered in 16-bit protected mode with paging off.
align 16
mode_low_start:
bits 16
	mov	eax, cr0
	and	eax, ~CR0_PE
	mov	cr0, eax
	jmp	0:LOW_CODE + (.real - mode_low_start)
.real:
	xor	ax, ax
	mov	ds, ax
	mov	es, ax
	mov	ss, ax
	mov	sp, REAL_STACK
	lidt	[cs:LOW_CODE + (.ivt - mode_low_start)]
	mov	word [REAL_VECTOR * 4], LOW_CODE + (.handler - mode_low_start)
	mov	word [REAL_VECTOR * 4 + 2], 0
	mov	eax, cr0
	mov	[LOW_CODE + (.cr0 - mode_low_start)], eax
	mov	bx, 0x1234
	xor	si, si
	mov	cx, 3
.again:
	int	REAL_VECTOR
	loop	.again
	mov	ax, 0x1111
	add	bx, ax
	mov	[LOW_CODE + (.value - mode_low_start)], bx
	mov	[LOW_CODE + (.count - mode_low_start)], si
	in	al, 0x21
	xor	eax, eax
	cpuid
	mov	[LOW_CODE + (.cpuid - mode_low_start)], eax
	lgdt	[LOW_CODE + (.gdt - mode_low_start)]
	mov	eax, cr0
	or	al, CR0_PE
	mov	cr0, eax
	jmp	dword SEL_CODE32:LOW_CODE + (.protected - mode_low_start)
.handler:
	inc	si
	iret
.protected:
bits 32
	mov	eax, SEL_DATA
	mov	ds, eax
	mov	ss, eax			; EBP addresses by way of SS
	mov	eax, [LOW_CODE + (.cr0 - mode_low_start)]
	mov	[ebp + LOG_CR0], eax
	movzx	eax, word [LOW_CODE + (.value - mode_low_start)]
	mov	[ebp + LOG_VALUE], eax
	movzx	eax, word [LOW_CODE + (.count - mode_low_start)]
	mov	[ebp + LOG_INTERRUPTS], eax
	mov	eax, [LOW_CODE + (.cpuid - mode_low_start)]
	mov	[ebp + LOG_CPUID], eax
	mov	eax, real_mode_done
	jmp	eax
align 4
.ivt:	dw 0x3ff
	dd 0
.gdt:	dw 0x7f				; this copy lies at LOW_CODE: reachable in 16-bit real mode
	dd LOW_CODE + (.low_gdt - mode_low_start)
.cr0:	dd 0
.value:	dd 0
.count:	dd 0
.cpuid:	dd 0
align 8
.low_gdt:
	dq 0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff
	times 12 dq 0
mode_low_end:

section .data
align 8
good_food: dd 0x600df00d
saved_gdtr: dw 0
	dq 0
saved_idtr: dw 0
	dq 0

section .note.GNU-stack
