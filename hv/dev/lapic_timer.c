// SPDX-License-Identifier: BSD-2-Clause
/*
 * The local APIC's timer (SDM 3A 11.5.4). Its clock is the TSC, so with the divider a power of two
 * every conversion is a shift; CPUID leaves that name the APIC timer's frequency must say tsc_hz.
 * Nothing ticks: the current count follows from when the count began. Called by lapic_registers.c
 * and the timer queue.
 */
#include "hv/dev/board.h"

#define TIMER_MODE(lvt) ((lvt) >> 17 & 3)
enum { ONE_SHOT, PERIODIC, TSC_DEADLINE, RESERVED };

static u32 timer_mode(const struct lapic *lapic)
{
	return TIMER_MODE(lapic_register(lapic, LAPIC_LVT_TIMER));
}

/*
 * Divide configuration (SDM 3A figure 11-10): bits 3, 1, 0 are log2 of the divider less 1, 111 is
 * by 1.
 */
static u32 divide_shift(u32 divide)
{
	return ((divide >> 1 & 4) + (divide & 3) + 1) & 7;
}

/* A full count in TSC ticks: below 2^39. */
static u64 period(const struct lapic *lapic)
{
	return (u64)lapic_register(lapic, LAPIC_INITIAL_COUNT)
	       << divide_shift(lapic_register(lapic, LAPIC_DIVIDE));
}

u32 lapic_timer_count(const struct lapic *lapic)
{
	u32 initial = lapic_register(lapic, LAPIC_INITIAL_COUNT);
	u64 ticks;

	if (!lapic->counting)
		return 0;
	ticks = (board_now(lapic->board) - lapic->count_start) >>
		divide_shift(lapic_register(lapic, LAPIC_DIVIDE));
	if (timer_mode(lapic) == PERIODIC)
		return initial - (u32)(ticks % initial);
	return ticks < initial ? initial - (u32)ticks : 0;
}

void lapic_timer_stop(struct lapic *lapic)
{
	lapic->counting = false;
	lapic->deadline = 0;
	timer_cancel(&lapic->board->timers, &lapic->timer);
}

/* Arms for the end of the running count, for a tick not before `earliest` if periodic. */
static void arm_count(struct lapic *lapic, u64 earliest)
{
	u64 end = lapic->count_start + period(lapic);

	if (timer_mode(lapic) == PERIODIC)
		end = clock_next_period(end, period(lapic), earliest);
	timer_arm(&lapic->board->timers, &lapic->timer, end);
}

static void fire(void *context, u64 deadline_tsc)
{
	struct lapic *lapic = context;

	if (timer_mode(lapic) == PERIODIC && lapic->counting) {
		u64 now = board_now(lapic->board);

		arm_count(lapic, MAX(now + 1, deadline_tsc + board_min_period(lapic->board)));
	} else {
		lapic->counting = false;
		lapic->deadline = 0;
	}
	lapic_local_interrupt(lapic, LAPIC_LVT_TIMER);
}

void lapic_timer_set_count(struct lapic *lapic, u32 count)
{
	if (timer_mode(lapic) == TSC_DEADLINE)
		return; /* SDM 3A 11.5.4.1: ignored */
	lapic_timer_stop(lapic);
	*lapic_slot(lapic, LAPIC_INITIAL_COUNT) = count;
	if (count == 0 || timer_mode(lapic) == RESERVED)
		return;
	lapic->counting = true;
	lapic->count_start = board_now(lapic->board);
	arm_count(lapic, 0);
}

/* Lets a running count go on from `count`, after the divider or the mode changed. */
static void resume(struct lapic *lapic, u32 count)
{
	u32 initial = lapic_register(lapic, LAPIC_INITIAL_COUNT);
	u64 gone = (u64)(initial - count) << divide_shift(lapic_register(lapic, LAPIC_DIVIDE));
	u64 now = board_now(lapic->board);

	lapic->counting = count != 0;
	if (count == 0)
		return;
	/* A TSC near 0 may make this wrap; all differences are taken modulo 2^64. */
	lapic->count_start = now - gone;
	timer_arm(&lapic->board->timers, &lapic->timer, now + period(lapic) - gone);
}

void lapic_timer_set_divide(struct lapic *lapic, u32 divide)
{
	u32 count = lapic_timer_count(lapic);

	*lapic_slot(lapic, LAPIC_DIVIDE) = divide;
	if (lapic->counting)
		resume(lapic, count);
}

void lapic_timer_set_lvt(struct lapic *lapic, u32 lvt)
{
	u32 from = timer_mode(lapic), to = TIMER_MODE(lvt);
	u32 count = lapic_timer_count(lapic);
	bool counting = lapic->counting;

	*lapic_slot(lapic, LAPIC_LVT_TIMER) = lvt;
	if (from == to)
		return;
	/*
	 * Between one-shot and periodic the count goes on; to or from TSC-deadline it is disarmed.
	 */
	if (from >= TSC_DEADLINE || to >= TSC_DEADLINE)
		lapic_timer_stop(lapic);
	else if (counting)
		resume(lapic, count);
}

u64 lapic_timer_deadline(const struct lapic *lapic)
{
	return timer_mode(lapic) == TSC_DEADLINE ? lapic->deadline : 0;
}

static void arm_deadline(struct lapic *lapic)
{
	u64 now = board_now(lapic->board);
	u64 guest_now = now + lapic->tsc_offset;
	u64 wait = lapic->deadline > guest_now ? lapic->deadline - guest_now : 0;

	/* A deadline beyond the counter's range is as good as none. */
	timer_arm(&lapic->board->timers, &lapic->timer,
		wait < TIMER_NEVER - now ? now + wait : TIMER_NEVER - 1);
}

void lapic_timer_set_deadline(struct lapic *lapic, u64 deadline)
{
	if (timer_mode(lapic) != TSC_DEADLINE)
		return; /* SDM 3A 11.5.4.1: ignored */
	lapic->deadline = deadline;
	if (deadline)
		arm_deadline(lapic);
	else
		timer_cancel(&lapic->board->timers, &lapic->timer);
}

void lapic_set_tsc_offset(struct lapic *lapic, u64 offset)
{
	lapic->tsc_offset = offset;
	if (lapic->deadline)
		arm_deadline(lapic);
}

void lapic_timer_init(struct lapic *lapic)
{
	timer_init(&lapic->timer, fire, lapic);
}
