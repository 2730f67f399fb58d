/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers of devices: a queue ordered by deadline, in host TSC ticks. Arming and cancelling an armed
 * or idle timer is always legal, also from the timer's own function.
 */
#ifndef HV_DEV_TIMER_H
#define HV_DEV_TIMER_H

#include "hv/lib/types.h"

#define TIMER_NEVER (~0ull)

struct timer {
	struct timer *next;
	u64 deadline_tsc; /* valid while armed */
	bool armed;
	void (*fire)(void *context, u64 deadline_tsc);
	void *context;
};

struct timer_queue {
	struct timer *first;
	bool running;			/* inside timer_queue_run() */
	u64 run_until_tsc;		/* its now_tsc */
	void (*changed)(void *context); /* the earliest deadline changed; may be NULL */
	void *context;
};

void timer_init(struct timer *timer, void (*fire)(void *context, u64 deadline_tsc), void *context);
void timer_arm(struct timer_queue *queue, struct timer *timer, u64 deadline_tsc);
void timer_cancel(struct timer_queue *queue, struct timer *timer);
u64 timer_queue_next(const struct timer_queue *queue); /* TIMER_NEVER: none */
/*
 * Fires all whose deadline is at or before now, each once, in order. A timer armed meanwhile for a
 * moment that has passed waits for the next run (deadline now + 1), so a run always ends.
 */
void timer_queue_run(struct timer_queue *queue, u64 now_tsc);

#endif
