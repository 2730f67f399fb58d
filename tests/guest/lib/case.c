// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs cases and prints their results (contract: case.h); called by the main function of a suite.
 * Everything a case may have changed is put back before the next one; a case that hangs with
 * interrupts on is ended by the watchdog.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define MESSAGE_MAX    256
#define CR4_INITIAL    (CR4_PAE | CR4_OSFXSR | BIT(10))
#define CR0_INITIAL    (CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_PE | CR0_ET)
#define WATCHDOG_TICKS 0x04000000 /* of the LAPIC timer, divided by 16: 1 to 10 seconds */

extern const struct test_case cases_start[], cases_end[];

static char message[MESSAGE_MAX];
static bool failed, skipped;

static void set_message(const char *prefix, const char *fmt, va_list args)
{
	size_t length = strlen(prefix);

	memcpy(message, prefix, length);
	format(message + length, sizeof(message) - length, fmt, args);
}

void case_fail(const char *fmt, ...)
{
	va_list args;

	if (failed)
		return;
	failed = true;
	va_start(args, fmt);
	set_message("", fmt, args);
	va_end(args);
}

bool case_failed(void)
{
	return failed;
}

const char *case_message(void)
{
	return failed ? message : "";
}

void __noreturn case_skip(const char *reason)
{
	if (!failed) {
		skipped = true;
		memcpy(message, reason, MIN(strlen(reason) + 1, sizeof(message) - 1));
	}
	case_abort();
}

bool expect_equal(u64 got, u64 expected, const char *what, ...)
{
	char text[MESSAGE_MAX];
	va_list args;

	if (got == expected)
		return true;
	va_start(args, what);
	format(text, sizeof(text), what, args);
	va_end(args);
	case_fail("%s: expected %lx got %lx", text, expected, got);
	return false;
}

bool expect(bool condition, const char *what, ...)
{
	va_list args;

	if (condition || failed)
		return condition;
	failed = true;
	va_start(args, what);
	set_message("not true: ", what, args);
	va_end(args);
	return false;
}

static bool watchdog(struct trap_frame *frame)
{
	lapic_eoi();
	case_fail("watchdog: hangs at rip %lx", frame->rip);
	case_abort();
}

void machine_reset(void)
{
	cli();
	__asm__ volatile("cld");
	write_dr7(0x400);
	write_dr6(DR6_FIXED);
	write_cr4((read_cr4() & CR4_PCIDE) | CR4_INITIAL);
	write_cr0(CR0_INITIAL);
	paging_reset();
	write_cr4(CR4_INITIAL);
	write_cr0(CR0_INITIAL);
	wrmsr(MSR_EFER, EFER_LME | EFER_LMA | EFER_NXE);
	segments_reset();
	trap_reset();
	interrupt_reset();
	print_init();
	write_cr8(0);
}

static bool selected(const struct test_case *c, const char *words)
{
	bool any = false;

	while (*words) {
		char word[64];
		size_t length = 0;

		while (*words == ' ')
			words++;
		for (; *words && *words != ' '; words++)
			if (length < sizeof(word) - 1)
				word[length++] = *words;
		word[length] = 0;
		if (!length)
			continue;
		for (size_t i = 0; i < length; i++)
			if (word[i] == '=') /* an option, not a selection */
				length = 0;
		if (!length)
			continue;
		any = true;
		if (!strcmp(word, c->id) || !strcmp(word, c->area) || !strcmp(word, c->name))
			return true;
	}
	return !any;
}

u32 case_run_all(const char *words)
{
	u32 passes = 0, failures = 0, skips = 0;

	for (const struct test_case *c = cases_start; c < cases_end; c++) {
		if (!selected(c, words))
			continue;
		failed = skipped = false;
		if (option_number("trace", 0))
			print("RUN  %s %s\n", c->id, c->name);
		machine_reset();
		trap_handle(VECTOR_WATCHDOG, watchdog);
		lapic_timer_start(VECTOR_WATCHDOG, WATCHDOG_TICKS);
		call_guarded(c->run);
		machine_reset();
		if (failed) {
			failures++;
			print("FAIL %s %s: %s\n", c->id, c->name, message);
		} else if (skipped) {
			skips++;
			print("SKIP %s %s: %s\n", c->id, c->name, message);
		} else {
			passes++;
			print("PASS %s %s\n", c->id, c->name);
		}
	}
	if (passes + failures + skips == 0) {
		failures = 1;
		print("FAIL RUNNER selection: no case matches%s\n", words);
	}
	print("DONE passed=%u failed=%u skipped=%u\n", passes, failures, skips);
	return failures;
}

const char *option_text(const char *name)
{
	const char *s = boot.cmdline;
	size_t length = strlen(name);

	for (; *s; s++)
		if ((s == boot.cmdline || s[-1] == ' ') && !memcmp(s, name, length) &&
			s[length] == '=')
			return s + length + 1;
	return NULL;
}

u64 option_number(const char *name, u64 otherwise)
{
	const char *text = option_text(name);

	return text ? parse_number(text) : otherwise;
}
