/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exceptions and interrupts in payload kernels. What happens to a trap, in this order:
 *   1. a handler registered for the vector is called; if it says "handled" the context goes on;
 *   2. an instruction marked with TRY() is left at its end, last_fault telling what happened;
 *   3. a context started by run_frame() ends there, its frame holding the registers at the trap;
 *   4. the running case fails ("unexpected vector") and ends.
 * Interrupts are off in all of it.
 */
#ifndef TESTS_GUEST_LIB_TRAP_H
#define TESTS_GUEST_LIB_TRAP_H

#include "hv/lib/types.h"

enum {
	DE = 0,
	DB = 1,
	NMI = 2,
	BP = 3,
	OF = 4,
	BR = 5,
	UD = 6,
	NM = 7,
	DF = 8,
	TS = 10,
	NP = 11,
	SS = 12,
	GP = 13,
	PF = 14,
	MF = 16,
	AC = 17,
	XM = 19,
	VECTOR_DONE = 0x81,	/* INT 0x81 ends a snippet; callable from ring 3 */
	VECTOR_WATCHDOG = 0xfd, /* LAPIC timer: the running case takes too long */
	VECTOR_SPURIOUS = 0xff,
	NO_FAULT = -1,
};

/* As traps.asm and the processor push it (SDM 3A 6.14.2). */
struct trap_frame {
	u64 r15, r14, r13, r12, r11, r10, r9, r8;
	u64 rdi, rsi, rbp, rbx, rdx, rcx, rax;
	u64 vector, error;
	u64 rip, cs, rflags, rsp, ss;
};

/* General register by its number in instruction encodings (0: RAX, 4: RSP). */
u64 *frame_register(struct trap_frame *frame, u32 number);

#define RFLAGS_CF    BIT(0)
#define RFLAGS_FIXED BIT(1)
#define RFLAGS_ZF    BIT(6)
#define RFLAGS_TF    BIT(8)
#define RFLAGS_IF    BIT(9)
#define RFLAGS_DF    BIT(10)
#define RFLAGS_IOPL3 (3ull << 12)
#define RFLAGS_RF    BIT(16)
#define RFLAGS_VM    BIT(17)
#define RFLAGS_AC    BIT(18)

#define DR6_FIXED 0xffff0ff0ull
#define DR6_BD	  BIT(13)
#define DR6_BS	  BIT(14)

/* What the last trap taken by TRY() or run_frame() was. */
struct fault {
	int vector; /* NO_FAULT: none */
	u64 error, rip, cr2, dr6;
};
extern volatile struct fault last_fault;

typedef bool trap_handler(struct trap_frame *frame);

/* IDT, TSS stacks, handlers: all as at the start of a case. */
void trap_reset(void);
void trap_handle(u32 vector, trap_handler *handler); /* NULL: none */
/*
 * Gate of the vector uses the stack ist (0: none; 1 is taken for #DF); dpl 3: callable from ring 3.
 */
void trap_gate(u32 vector, u32 ist, u32 dpl);
/* Loads the IDT from a copy at another address; the argument is 4 KiB. NULL: the usual one. */
void trap_move_idt(void *page);
u64 trap_stack_top(u32 ist); /* 0: the ring-0 stack for traps from ring 3; 1..3: IST stacks */
extern volatile u64 trap_counts[256];

/* One instruction that may fault. After it, last_fault.vector is NO_FAULT or the exception. */
#define TRY(instruction)           \
	"1: " instruction "\n2:\n" \
	".pushsection .fixups, \"a\"\n.quad 1b, 2b\n.popsection\n"

static inline void fault_clear(void)
{
	last_fault.vector = NO_FAULT;
	__asm__ volatile("" ::: "memory");
}

/*
 * Runs a context until something traps that no handler takes: loads every register from the frame,
 * and leaves in it the registers at the trap, with last_fault. frame->vector: what ended it. Not
 * nestable.
 */
void run_frame(struct trap_frame *frame);

/*
 * A piece of machine code that ends with INT 0x81. It must be position independent if it is to be
 * copied (run_user). name_end is behind the INT.
 */
#define SNIPPET_MODE(name, mode, code)                                        \
	extern const u8 name[], name##_end[];                                 \
	__asm__(".pushsection .text\n.balign 16\n" mode "\n" #name ":\n" code \
		"\nint $0x81\n" #name "_end:\n.code64\n.popsection")
#define SNIPPET(name, code)   SNIPPET_MODE(name, ".code64", code)
#define SNIPPET32(name, code) SNIPPET_MODE(name, ".code32", code)

/* Frames ready for run_frame: ring 0 on a stack of its own, interrupts off, all registers 0. */
struct trap_frame frame_kernel(const void *code);
/* Ring 3, 64-bit: the code is copied into memory that ring 3 may use (see paging.h). */
struct trap_frame frame_user(const u8 *code, const u8 *end);
/* Address in the copy that belongs to an address within the original code. */
u64 user_copy_address(const u8 *code, const u8 *place);

/* Ends the running case at once (from a handler or the case itself). */
void __noreturn case_abort(void);
/* Runs function; false if case_abort() ended it. */
bool call_guarded(void (*function)(void));

#endif
