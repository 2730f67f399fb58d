; SPDX-License-Identifier: BSD-2-Clause
; The hypervisor's ELF file as it was built; PAYLOAD names it. Read by image.c.

section .rodata
global payload_start, payload_end
align 16
payload_start:
	incbin PAYLOAD
payload_end:

section .note.GNU-stack noalloc noexec nowrite progbits
