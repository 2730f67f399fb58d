; SPDX-License-Identifier: BSD-2-Clause
; Initial x87 and vector state; see fpu.h.

section .rodata

; An XSAVE area whose XSTATE_BV is 0: all components are "in their initial state" (SDM 1 13.8.1). MXCSR is
; loaded from the image all the same, so it holds the reset value; so does FCW for FXRSTOR.
align 64
empty_area:
	dw	0x037f			; FCW
	times 22 db 0
	dd	0x1f80			; MXCSR
	times 512 - 28 db 0
	times 64 db 0			; XSAVE header

section .text

global fpu_init_xsave
fpu_init_xsave:
	mov	eax, -1
	mov	edx, -1
	xrstor64 [rel empty_area]
	ret

global fpu_init_fxsave
fpu_init_fxsave:
	fxrstor64 [rel empty_area]
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
