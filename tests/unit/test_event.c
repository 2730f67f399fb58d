// SPDX-License-Identifier: BSD-2-Clause
/*
 * The decision what to inject, over all of its states (BUG-27, BUG-36): the oracle is the list of
 * conditions in SDM 3C 27.3.1.5 and 3A 6.7, 6.8, written as what must hold of every answer, not as
 * a second decision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vmx/event.h"

static void check(const struct event_inputs *in)
{
	struct event_decision out = event_decide(in);
	bool sti = in->interruptibility & 1, mov_ss = in->interruptibility & 2;
	bool nmi_blocked = in->interruptibility & 8;

	/* At most one event goes in (there is one field), and none that is not there. */
	assert_true(out.inject_event + out.inject_nmi + out.inject_interrupt <= 1);
	assert_true(out.inject_event == in->event_queued);
	if (out.inject_nmi)
		assert_true(
			in->nmi_pending && !nmi_blocked && !mov_ss && !sti && !in->debug_pending);
	if (out.inject_interrupt)
		assert_true(in->interrupt_pending && in->interrupt_flag && !sti && !mov_ss &&
			    !in->debug_pending);
	/* An NMI goes before an interrupt. */
	if (out.inject_interrupt)
		assert_false(in->nmi_pending && !nmi_blocked);
	/* Nothing is lost: what waits and does not go in now has a window. */
	assert_true(out.nmi_window == (in->nmi_pending && !out.inject_nmi));
	assert_true(out.interrupt_window == (in->interrupt_pending && !out.inject_interrupt));
	/* Nothing waits without need. */
	if (!in->debug_pending && !in->event_queued && in->interrupt_pending &&
		in->interrupt_flag && !sti && !mov_ss && !in->nmi_pending)
		assert_true(out.inject_interrupt);
	if (!in->debug_pending && !in->event_queued && in->nmi_pending && !nmi_blocked && !sti &&
		!mov_ss)
		assert_true(out.inject_nmi);
}

static void test_all_states(void **state)
{
	(void)state;
	for (u32 i = 0; i < 512; i++) {
		struct event_inputs in = {
			.event_queued = i & 1,
			.nmi_pending = i & 2,
			.interrupt_pending = i & 4,
			.interrupt_flag = i & 8,
			.interruptibility = i >> 4 & 15,
			.debug_pending = i & 256,
		};

		check(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_states) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
