// SPDX-License-Identifier: BSD-2-Clause
/*
 * The queue of device timers: a list ordered by deadline. A platform has a timer per vCPU and a
 * handful of others, so a list walk is cheaper than anything cleverer. Called by the devices and by
 * the run loop (platform_run_timers), interrupts off, under the VM's device lock.
 */
#include "hv/dev/timer.h"

void timer_init(struct timer *timer, void (*fire)(void *context, u64 deadline_tsc), void *context)
{
	*timer = (struct timer){ .fire = fire, .context = context };
}

static void notify(struct timer_queue *queue)
{
	if (queue->changed && !queue->running)
		queue->changed(queue->context);
}

/* Unlinks an armed timer; true if it was the earliest. */
static bool unlink_timer(struct timer_queue *queue, struct timer *timer)
{
	struct timer **link = &queue->first;

	while (*link != timer)
		link = &(*link)->next;
	*link = timer->next;
	timer->next = NULL;
	timer->armed = false;
	return link == &queue->first;
}

void timer_arm(struct timer_queue *queue, struct timer *timer, u64 deadline_tsc)
{
	struct timer **link = &queue->first;
	bool was_first = false;

	if (timer->armed)
		was_first = unlink_timer(queue, timer);
	if (queue->running && deadline_tsc <= queue->run_until_tsc)
		deadline_tsc = queue->run_until_tsc + 1;
	while (*link && (*link)->deadline_tsc <= deadline_tsc)
		link = &(*link)->next;
	timer->deadline_tsc = deadline_tsc;
	timer->next = *link;
	timer->armed = true;
	*link = timer;
	if (was_first || queue->first == timer)
		notify(queue);
}

void timer_cancel(struct timer_queue *queue, struct timer *timer)
{
	if (timer->armed && unlink_timer(queue, timer))
		notify(queue);
}

u64 timer_queue_next(const struct timer_queue *queue)
{
	return queue->first ? queue->first->deadline_tsc : TIMER_NEVER;
}

void timer_queue_run(struct timer_queue *queue, u64 now_tsc)
{
	struct timer *timer;

	if (timer_queue_next(queue) > now_tsc)
		return;
	queue->running = true;
	queue->run_until_tsc = now_tsc;
	while ((timer = queue->first) && timer->deadline_tsc <= now_tsc) {
		unlink_timer(queue, timer);
		timer->fire(timer->context, timer->deadline_tsc);
	}
	queue->running = false;
	notify(queue);
}
