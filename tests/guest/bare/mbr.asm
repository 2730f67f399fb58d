; SPDX-License-Identifier: BSD-2-Clause
; Boots one payload kernel from a disk on a bare PC with a BIOS, so that a case can be tried on Bochs without
; any hypervisor. Sector 1 describes what follows (tests/guest/bare/image writes it); the kernel's flat binary
; begins at sector 2. It is loaded to 1 MiB as a multiboot loader would, with command line and memory size.

INFO		equ 0x7e00		; sector 1
INFO_SECTORS	equ INFO		; dd: sectors of the binary
INFO_ENTRY	equ INFO + 4		; dd: entry point
INFO_BSS_END	equ INFO + 8		; dd: zeroed up to here
INFO_CMDLINE	equ INFO + 16
MULTIBOOT_INFO	equ 0x8000
MULTIBOOT_SIZE	equ 88
BUFFER		equ 0x10000
CHUNK_SECTORS	equ 64
SECTOR		equ 512
LOAD_ADDRESS	equ 0x100000
MEMORY_UPPER	equ 127 * 1024		; KiB above 1 MiB

bits 16
org 0x7c00
start:
	cli
	xor	ax, ax
	mov	ds, ax
	mov	es, ax
	mov	ss, ax
	mov	sp, 0x7c00
	mov	[drive], dl
	in	al, 0x92
	or	al, 2
	out	0x92, al
	mov	dword [packet.buffer], INFO	; segment 0
	mov	word [packet.count], 1
	call	read
	mov	dword [packet.lba], 2
	mov	edi, LOAD_ADDRESS
	mov	ebp, [INFO_SECTORS]
.next:
	mov	dword [packet.buffer], (BUFFER / 16) << 16
	mov	eax, CHUNK_SECTORS
	cmp	ebp, eax
	jae	.count
	mov	eax, ebp
.count:
	mov	[packet.count], ax
	push	eax
	call	read
	pop	eax
	add	[packet.lba], eax
	sub	ebp, eax
	shl	eax, 7				; dwords
	mov	ecx, eax
	mov	esi, BUFFER
	call	copy_high
	test	ebp, ebp
	jnz	.next

	lgdt	[gdt_pointer]
	mov	eax, cr0
	or	al, 1
	mov	cr0, eax
	jmp	8:protected

read:
	mov	ah, 0x42
	mov	dl, [drive]
	mov	si, packet
	int	0x13
	jc	fail
	ret

fail:
	mov	al, 'E'
	out	0xe9, al
	hlt
	jmp	fail

; ECX dwords from ESI to EDI in protected mode, back in real mode afterwards.
copy_high:
	lgdt	[gdt_pointer]
	mov	eax, cr0
	or	al, 1
	mov	cr0, eax
	mov	bx, 16
	mov	ds, bx
	mov	es, bx
	cld
	a32 rep movsd
	and	al, ~1
	mov	cr0, eax
	xor	bx, bx
	mov	ds, bx
	mov	es, bx
	ret

bits 32
protected:
	mov	eax, 16
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	ecx, [INFO_BSS_END]
	sub	ecx, edi
	jbe	.zeroed
	xor	eax, eax
	rep stosb
.zeroed:
	mov	edi, MULTIBOOT_INFO
	mov	ecx, MULTIBOOT_SIZE
	xor	eax, eax
	rep stosb
	mov	ebx, MULTIBOOT_INFO
	mov	dword [ebx], 5			; memory, command line
	mov	dword [ebx + 4], 639
	mov	dword [ebx + 8], MEMORY_UPPER
	mov	dword [ebx + 16], INFO_CMDLINE
	mov	eax, 0x2badb002
	jmp	[INFO_ENTRY]

align 8
gdt:	dq 0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	dw $ - gdt - 1
	dd gdt

drive:	db 0
align 4
packet:	db 16, 0
.count:	dw 0
.buffer: dd 0
.lba:	dd 1, 0

	times 510 - ($ - $$) db 0
	dw 0xaa55
