// SPDX-License-Identifier: BSD-2-Clause
/*
 * The timer queue against a plain array, the case of timers that arm themselves, and the clock
 * arithmetic against 128-bit division.
 */
#include "platform_fixture.h"

#define TIMERS 12

static struct timer timers[TIMERS];
static struct timer_queue queue;
static u64 oracle[TIMERS]; /* deadline, or TIMER_NEVER */
static u32 fired;
static u64 last_deadline;

static u64 earliest(void)
{
	u64 first = TIMER_NEVER;

	for (u32 i = 0; i < TIMERS; i++)
		first = MIN(first, oracle[i]);
	return first;
}

static void fire(void *context, u64 deadline)
{
	u32 i = (u32)((struct timer *)context - timers);

	assert_int_equal(deadline, oracle[i]);
	assert_int_equal(deadline, earliest());
	assert_false(timers[i].armed);
	oracle[i] = TIMER_NEVER;
	last_deadline = deadline;
	fired++;
}

static void test_random(void **state)
{
	u64 now = 0;

	(void)state;
	for (u32 i = 0; i < TIMERS; i++) {
		timer_init(&timers[i], fire, &timers[i]);
		oracle[i] = TIMER_NEVER;
	}
	for (u32 step = 0; step < 200000; step++) {
		u32 i = below(TIMERS);

		switch (below(3)) {
		case 0:
			oracle[i] = now + below(1000);
			timer_arm(&queue, &timers[i], oracle[i]);
			break;
		case 1:
			oracle[i] = TIMER_NEVER;
			timer_cancel(&queue, &timers[i]);
			break;
		case 2:
			now += below(100);
			timer_queue_run(&queue, now);
			assert_true(earliest() > now);
		}
		assert_int_equal(timer_queue_next(&queue), earliest());
	}
	assert_true(fired > 10000);
}

static void rearm(void *context, u64 deadline)
{
	fired++;
	/* For the past, and for others that are due in the same run. */
	timer_arm(&queue, context, deadline);
	timer_cancel(&queue, &timers[2]);
	timer_arm(&queue, &timers[3], 1);
}

static void count(void *context, u64 deadline)
{
	(void)deadline;
	*(u32 *)context += 1;
}

static void test_armed_while_running(void **state)
{
	u32 cancelled = 0, moved = 0;

	(void)state;
	queue = (struct timer_queue){ 0 };
	timer_init(&timers[0], rearm, &timers[0]);
	timer_init(&timers[2], count, &cancelled);
	timer_init(&timers[3], count, &moved);
	fired = 0;
	timer_arm(&queue, &timers[0], 10);
	timer_arm(&queue, &timers[2], 20);
	timer_arm(&queue, &timers[3], 30);
	timer_queue_run(&queue, 100);
	assert_int_equal(fired, 1);
	assert_int_equal(cancelled, 0);
	assert_int_equal(moved, 0);
	assert_int_equal(timer_queue_next(&queue), 101);
	timer_queue_run(&queue, 101);
	assert_int_equal(fired, 2);
}

static void test_clock(void **state)
{
	static const u64 clocks[] = { 1193182, 3579545, 32768, 1000000, 100000000, 2399999999ull,
		4294967295ull };

	(void)state;
	for (u32 step = 0; step < 200000; step++) {
		u64 from = clocks[below(ARRAY_SIZE(clocks))],
		    to = clocks[below(ARRAY_SIZE(clocks))];
		u64 value = random64() >> (12 + below(52));
		unsigned __int128 product = (unsigned __int128)value * to;

		if (product / from >> 63)
			continue;
		assert_int_equal(clock_scale(value, from, to), (u64)(product / from));
		assert_int_equal(
			clock_scale_up(value, from, to), (u64)((product + from - 1) / from));
	}
	for (u32 step = 0; step < 100000; step++) {
		u64 start = below(1000), period = 1 + below(50), limit = below(2000);
		u64 expected = start;

		while (expected < limit)
			expected += period;
		assert_int_equal(clock_next_period(start, period, limit), expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_armed_while_running),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
