// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions and interrupts in payload kernels (contract: trap.h). trap_dispatch is called by
 * traps.asm on the stack of the trap, interrupts off.
 */
#include "tests/guest/lib/trap.h"
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define VECTORS	   256
#define ENTRY_SIZE 16
#define STACK_SIZE 16384
#define STACKS	   5 /* ring 0 from ring 3, IST 1 to 3, snippets in ring 0 */
#define STACK_RUN  4

struct gate {
	u16 offset_low, selector, attributes, offset_middle;
	u32 offset_high, reserved;
};

struct fixup {
	u64 at, resume;
};

extern const u8 trap_entries[], enter_return[], guarded_return[];
extern const struct fixup fixups_start[], fixups_end[];
void enter_frame(struct trap_frame *frame, u64 *saved_rsp);
bool guarded_call(void (*function)(void), u64 *saved_rsp);
void trap_dispatch(struct trap_frame *frame);

volatile struct fault last_fault;
volatile u64 trap_counts[VECTORS];
static struct gate idt[VECTORS] __aligned(4096);
static u8 stacks[STACKS][STACK_SIZE] __aligned(4096);
static trap_handler *handlers[VECTORS];
static struct trap_frame *run_target; /* NULL: run_frame() is not active */
static u64 run_rsp, guard_rsp;

u64 *frame_register(struct trap_frame *frame, u32 number)
{
	u64 *const registers[16] = { &frame->rax, &frame->rcx, &frame->rdx, &frame->rbx,
		&frame->rsp, &frame->rbp, &frame->rsi, &frame->rdi, &frame->r8, &frame->r9,
		&frame->r10, &frame->r11, &frame->r12, &frame->r13, &frame->r14, &frame->r15 };

	return registers[number & 15];
}

u64 trap_stack_top(u32 ist)
{
	return (u64)stacks[ist] + STACK_SIZE;
}

void trap_gate(u32 vector, u32 ist, u32 dpl)
{
	u64 entry = (u64)trap_entries + vector * ENTRY_SIZE;

	idt[vector] = (struct gate){ .offset_low = (u16)entry,
		.selector = SEL_CODE64,
		.attributes = (u16)(0x8e00 | dpl << 13 | ist),
		.offset_middle = (u16)(entry >> 16),
		.offset_high = (u32)(entry >> 32) };
}

void trap_move_idt(void *page)
{
	struct descriptor_pointer pointer = { sizeof(idt) - 1, (u64)idt };

	if (page) {
		memcpy(page, idt, sizeof(idt));
		pointer.base = (u64)page;
	}
	__asm__ volatile("lidt %0" ::"m"(pointer) : "memory");
}

void trap_handle(u32 vector, trap_handler *handler)
{
	handlers[vector] = handler;
	trap_counts[vector] = 0;
}

void trap_reset(void)
{
	for (u32 vector = 0; vector < VECTORS; vector++) {
		bool user = vector == VECTOR_DONE || vector == BP || vector == OF;

		trap_gate(vector, vector == DF ? 1 : 0, user ? 3 : 0);
		handlers[vector] = NULL;
		trap_counts[vector] = 0;
	}
	run_target = NULL;
	trap_move_idt(NULL);
}

static void record_fault(const struct trap_frame *frame)
{
	last_fault.vector = (int)frame->vector;
	last_fault.error = frame->error;
	last_fault.rip = frame->rip;
	last_fault.cr2 = frame->vector == PF ? read_cr2() : 0;
	last_fault.dr6 = frame->vector == DB ? read_dr6() : 0;
	if (frame->vector == DB)
		write_dr6(DR6_FIXED);
}

/* Makes the trapping context continue in 64-bit ring 0 at rip with this stack, flags clean. */
static void redirect(struct trap_frame *frame, const u8 *rip, u64 rsp)
{
	frame->rip = (u64)rip;
	frame->cs = SEL_CODE64;
	frame->ss = SEL_DATA;
	frame->rflags = RFLAGS_FIXED;
	frame->rsp = rsp;
}

static bool fix_up(struct trap_frame *frame)
{
	for (const struct fixup *f = fixups_start; f < fixups_end; f++) {
		if (f->at == frame->rip && frame->cs == SEL_CODE64) {
			record_fault(frame);
			frame->rip = f->resume;
			return true;
		}
	}
	return false;
}

void trap_dispatch(struct trap_frame *frame)
{
	trap_counts[frame->vector & 0xff]++;
	if (handlers[frame->vector] && handlers[frame->vector](frame))
		return;
	if (frame->vector == VECTOR_SPURIOUS)
		return;
	if (fix_up(frame))
		return;
	if (run_target) {
		struct trap_frame *target = run_target;

		run_target = NULL;
		record_fault(frame);
		*target = *frame;
		redirect(frame, enter_return, run_rsp);
		return;
	}
	case_fail("unexpected vector %lu error %lx rip %lx cr2 %lx", frame->vector, frame->error,
		frame->rip, read_cr2());
	redirect(frame, guarded_return, guard_rsp);
}

void run_frame(struct trap_frame *frame)
{
	static struct trap_frame entered; /* popped from: must not be what the trap writes */

	entered = *frame;
	fault_clear();
	run_target = frame;
	enter_frame(&entered, &run_rsp);
}

struct trap_frame frame_kernel(const void *code)
{
	return (struct trap_frame){ .rip = (u64)code,
		.cs = SEL_CODE64,
		.ss = SEL_DATA,
		.rflags = RFLAGS_FIXED,
		.rsp = trap_stack_top(STACK_RUN) };
}

struct trap_frame frame_user(const u8 *code, const u8 *end)
{
	memcpy(user_arena, code, (size_t)(end - code));
	return (struct trap_frame){ .rip = (u64)user_arena,
		.cs = SEL_USER_CODE64,
		.ss = SEL_USER_DATA,
		.rflags = RFLAGS_FIXED,
		.rsp = (u64)user_arena + USER_ARENA_SIZE };
}

u64 user_copy_address(const u8 *code, const u8 *place)
{
	return (u64)user_arena + (u64)(place - code);
}

void __noreturn case_abort(void)
{
	__asm__ volatile("mov %0, %%rsp\n\tjmp guarded_return" ::"r"(guard_rsp));
	__builtin_unreachable();
}

bool call_guarded(void (*function)(void))
{
	return guarded_call(function, &guard_rsp);
}
