/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases and their results. A case is a function with an id (of the list of known faults, or an
 * area's own), an area and a name. It starts on a machine in its initial state (case_run does that)
 * and reports by expect...(), the first failure of which is printed; no report at all means PASS.
 */
#ifndef TESTS_GUEST_LIB_CASE_H
#define TESTS_GUEST_LIB_CASE_H

#include "hv/lib/types.h"

struct test_case {
	const char *id, *area, *name;
	void (*run)(void);
} __aligned(32); /* the linker script lays them side by side */

#define CASE(id, area, name, function)                                                 \
	static void function(void);                                                    \
	static const struct test_case function##_case __attribute__((                  \
		used, section(".cases." area "." id))) = { id, area, name, function }; \
	static void function(void)

/* Reports a failure of the running case; goes on. Only the first one is printed. */
void case_fail(const char *fmt, ...) __printf_like(1, 2);
/* The case cannot run here. Does not return. */
void __noreturn case_skip(const char *reason);
bool case_failed(void);
const char *case_message(void); /* of the first failure, or "" */

/* Fails with "what: expected X got Y" (hexadecimal); true if equal. */
bool expect_equal(u64 got, u64 expected, const char *what, ...) __printf_like(3, 4);
bool expect(bool condition, const char *what, ...) __printf_like(2, 3);

/*
 * Runs the cases that the words select (an area, an id or a name each; no word: all), prints
 * a line for each and "DONE passed=N failed=N skipped=N". Returns the number of failures.
 */
u32 case_run_all(const char *words);
/* The machine as a case finds it: tables, control registers, interrupts off and masked. */
void machine_reset(void);

/* The kernel's command line: the value of NAME=..., or NULL; a number with a default. */
const char *option_text(const char *name);
u64 option_number(const char *name, u64 otherwise);

#endif
