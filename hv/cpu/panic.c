// SPDX-License-Identifier: BSD-2-Clause
/*
 * The end of the hypervisor: what happened, where, the registers, and the names of the callers, on
 * every console; then the machine is switched off (status 70). Works from any context, on whatever
 * stack it is called.
 */
#include "hv/cpu/insn.h"
#include "hv/cpu/power.h"
#include "hv/cpu/serial.h"
#include "hv/cpu/status.h"
#include "hv/cpu/symbols.h"
#include "hv/cpu/traps.h"
#include "hv/lib/log.h"
#include "hv/lib/print.h"

#define BACKTRACE_MAX 16

static const char *const exception_names[] = { "#DE divide error", "#DB debug", "NMI",
	"#BP breakpoint", "#OF overflow", "#BR bound range", "#UD invalid opcode",
	"#NM device not available", "#DF double fault", "coprocessor segment overrun",
	"#TS invalid TSS", "#NP segment not present", "#SS stack fault", "#GP general protection",
	"#PF page fault", "vector 15", "#MF x87 error", "#AC alignment check", "#MC machine check",
	"#XM SIMD error", "#VE virtualization exception", "#CP control protection" };

static void print_address(const char *what, u64 address)
{
	u64 offset;
	const char *name = symbol_find(address, &offset);

	log_error("  %s %#018lx %s+%#lx", what, address, name ? name : "?", offset);
}

/* Frames are linked through RBP (-fno-omit-frame-pointer), each link above the one before. */
static void print_backtrace(u64 rbp)
{
	for (u32 i = 0; i < BACKTRACE_MAX; i++) {
		u64 caller, next;

		if (!read_word(rbp, &next) || !read_word(rbp + 8, &caller) ||
			caller < HV_IMAGE_BASE)
			return;
		print_address("from", caller);
		if (next <= rbp)
			return;
		rbp = next;
	}
}

static __noreturn void end(const char *reason)
{
	console_flush();
	status_panic(reason);
	machine_power_off();
}

/* A panic within a panic says what it is, one within that nothing. */
static void begin(const char *reason)
{
	static u32 depth;

	insn_cli();
	if (depth++ == 0) {
		log_error("panic: %s", reason);
		return;
	}
	if (depth == 2)
		end(reason);
	for (;;)
		insn_halt();
}

void panic(const char *format, ...)
{
	char reason[256];
	va_list args;

	va_start(args, format);
	fmt_vprint(reason, sizeof(reason), format, args);
	va_end(args);
	begin(reason);
	print_backtrace((u64)__builtin_frame_address(0));
	end(reason);
}

void panic_trap(const struct trap_frame *f)
{
	const char *name = f->vector < ARRAY_SIZE(exception_names) ? exception_names[f->vector]
								   : "reserved exception";
	char reason[128];

	fmt_print(reason, sizeof(reason), "%s, error code %#lx, at %#lx", name, f->error_code,
		f->rip);
	begin(reason);
	print_address("at  ", f->rip);
	log_error("  rax %016lx rbx %016lx rcx %016lx rdx %016lx", f->rax, f->rbx, f->rcx, f->rdx);
	log_error("  rsi %016lx rdi %016lx rbp %016lx rsp %016lx", f->rsi, f->rdi, f->rbp, f->rsp);
	log_error("  r8  %016lx r9  %016lx r10 %016lx r11 %016lx", f->r8, f->r9, f->r10, f->r11);
	log_error("  r12 %016lx r13 %016lx r14 %016lx r15 %016lx", f->r12, f->r13, f->r14, f->r15);
	log_error("  cr0 %08lx cr2 %016lx cr3 %016lx cr4 %08lx flags %08lx", insn_read_cr0(),
		insn_read_cr2(), insn_read_cr3(), insn_read_cr4(), f->rflags);
	print_backtrace(f->rbp);
	end(reason);
}
