/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions, NMIs and interrupts of the host: the frame that traps.asm pushes and who takes it. */
#ifndef HV_CPU_TRAPS_H
#define HV_CPU_TRAPS_H

#include "hv/cpu/cpu.h"
#include "hv/lib/types.h"

struct trap_frame {
	u64 r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	u64 vector, error_code;
	u64 rip, cs, rflags, rsp, ss; /* pushed by the processor (SDM 3A 6.14.2) */
};
_Static_assert(sizeof(struct trap_frame) % 16 == 0, "an IST stack's top is where its frame ends");

/* Fills the IDT and loads it. The selectors and IST stacks it names must be in place. */
void traps_init(void);

/* Called by traps.asm for every vector. */
void trap_handle(struct trap_frame *frame);

/* The top of the interrupt stack that the frame of an exception was pushed on. */
static inline struct ist_top *trap_ist_top(struct trap_frame *frame)
{
	return (struct ist_top *)(frame + 1);
}

/* Reads 8 bytes that may not be mapped. False: they are not. Not on the stack of an exception. */
bool __must_check read_word(u64 address, u64 *value);

/* Prints the frame, the back trace and stops the machine. */
__noreturn void panic_trap(const struct trap_frame *frame);

#endif
