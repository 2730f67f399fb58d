; SPDX-License-Identifier: BSD-2-Clause
; A multiboot 1 kernel of a few instructions that ends its VM in the way of -DMODE: `port` writes -DVALUE
; to the exit port, `triple` faults with no interrupt table, `hang` never ends. It tells the console first.
; Flat binary with the address kludge: nasm -f bin.

LOAD	equ 0x100000
FLAGS	equ 1 << 16		; the header holds the addresses
COM1	equ 0x3f8
EXIT	equ 0xf4

	bits 32
	org LOAD

header:
	dd 0x1badb002, FLAGS, -(0x1badb002 + FLAGS)
	dd header, header, end, stack_top, start

start:
	mov esp, stack_top
	mov esi, text
.next:
	mov dx, COM1 + 5
	in al, dx
	test al, 1 << 5		; transmitter holding register empty
	jz .next
	mov dx, COM1
	lodsb
	test al, al
	jz .said
	out dx, al
	jmp .next
.said:
%ifidn MODE, port
	mov al, VALUE
	out EXIT, al
%elifidn MODE, triple
	lidt [no_table]
	int3
%endif
	jmp $

text:	db "exit-code kernel", 13, 10, 0
no_table:
	dw 0
	dd 0
end:
	section .bss
	resb 256
stack_top:
