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
#define IMAGE_TOP     0xfffffffffffff000ull

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

/* Frames are linked through RBP (-fno-omit-frame-pointer); a link must lead upwards on the same
 * stack. */
static void print_backtrace(u64 rbp)
{
	for (u32 i = 0; i < BACKTRACE_MAX && rbp && IS_ALIGNED(rbp, 8); i++) {
		const u64 *frame = (const u64 *)rbp;

		if (rbp < HV_DIRECT_MAP || rbp > IMAGE_TOP || frame[1] < HV_IMAGE_BASE)
			return;
		print_address("from", frame[1]);
		if (frame[0] <= rbp || frame[0] - rbp > 16 * PAGE_SIZE)
			return;
		rbp = frame[0];
	}
}

static __noreturn void end(const char *reason)
{
	console_flush();
	status_panic(reason);
	machine_power_off();
}

void panic(const char *format, ...)
{
	char reason[256];
	va_list args;

	insn_cli();
	va_start(args, format);
	fmt_vprint(reason, sizeof(reason), format, args);
	va_end(args);
	log_error("panic: %s", reason);
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
	log_error("panic: %s", reason);
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
