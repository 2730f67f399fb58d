// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 8254. Nothing ticks: count and output are computed from the time at which the count was
 * loaded, in ticks of the chip's clock since TSC 0 (clock.h), and one timer waits for channel 0's
 * next rising edge. Called by ports.c and by the timer queue.
 */
#include "hv/dev/board.h"

#define MIN_PERIOD_TICKS (PIT_HZ / CLOCK_MAX_RATE_HZ)
#define NEVER		 (~0ull)
/* Port 0x61 (ISA system control port B). */
#define SPEAKER_GATE	 0x01
#define SPEAKER_WRITABLE 0x0f
#define REFRESH_TOGGLE	 0x10
#define SPEAKER_OUT	 0x20
#define REFRESH_TICKS	 18 /* channel 1 of a PC: a DRAM refresh each 15 us */

static u32 modulus(const struct pit_channel *channel)
{
	return channel->bcd ? 10000 : 65536;
}

static u64 elapsed(const struct pit_channel *channel, u64 now)
{
	if (channel->stopped)
		return channel->held;
	return now > channel->start ? now - channel->start : 0;
}

/* Mode 3: the first part of a period, in which the output is high (8254 "mode 3"). */
static u32 high_half(u32 count)
{
	return (count + 1) / 2;
}

/* Takes a waiting count into use when its time has come. */
static void settle(struct pit_channel *channel, u64 now)
{
	if (!channel->pending || channel->pending_tick > now)
		return;
	channel->reload = channel->pending;
	channel->start = channel->pending_start;
	channel->pending = 0;
}

static u32 counter(const struct pit_channel *channel, u64 now)
{
	u64 ticks = elapsed(channel, now);
	u32 n = channel->reload, m = modulus(channel);
	u32 position;

	if (!channel->counting)
		return n % m;
	if (now < channel->start)
		return channel->count_before_start;
	switch (channel->mode) {
	case 2:
		return (n - (u32)(ticks % n)) % m;
	case 3: /* by two; an odd count begins one lower */
		position = (u32)(ticks % n);
		if (position >= high_half(n))
			position -= high_half(n);
		return ((n & ~1u) - 2 * position) % m;
	default: /* goes on below zero */
		return (n + m - (u32)(ticks % m)) % m;
	}
}

static u16 visible_count(const struct pit_channel *channel, u64 now)
{
	u32 value = counter(channel, now);

	if (!channel->bcd)
		return (u16)value;
	return (u16)(value / 1000 << 12 | value / 100 % 10 << 8 | value / 10 % 10 << 4 |
		     value % 10);
}

static bool output(const struct pit_channel *channel, u64 now)
{
	u64 ticks = elapsed(channel, now);
	u32 n = channel->reload;

	if (!channel->counting)
		return channel->mode != 0;
	if (now < channel->start)
		return channel->out_before_start;
	switch (channel->mode) {
	case 0:
	case 1:
		return ticks >= n;
	case 2:
		return channel->stopped || ticks % n != n - 1;
	case 3:
		return channel->stopped || ticks % n < high_half(n);
	default:
		return ticks != n;
	}
}

/* The first tick from `earliest` on at which the output rises; NEVER: none. */
static u64 next_rise(const struct pit_channel *channel, u64 earliest)
{
	u64 first = channel->start + channel->reload;

	if (!channel->counting || channel->stopped)
		return NEVER;
	switch (channel->mode) {
	case 0:
		return first >= earliest ? first : NEVER;
	case 2:
	case 3:
		/* A waiting count begins with the new period; its own rises come after. */
		if (channel->pending && channel->pending_tick >= earliest)
			return MAX(channel->pending_tick, channel->pending_start);
		return clock_next_period(first, channel->reload, earliest);
	case 4:
		return first + 1 >= earliest ? first + 1 : NEVER;
	default:
		return NEVER; /* modes 1 and 5: channel 0 has no trigger */
	}
}

static void arm(struct platform *platform, u64 earliest)
{
	struct pit *pit = &platform->pit;
	u64 tick = next_rise(&pit->channels[0], earliest);

	if (tick == NEVER)
		timer_cancel(&platform->timers, &pit->timer);
	else
		timer_arm(
			&platform->timers, &pit->timer, board_tick_to_tsc(platform, tick, PIT_HZ));
}

static void fire(void *context, u64 deadline_tsc)
{
	struct platform *platform = context;
	u64 now = board_ticks(platform, PIT_HZ);
	u64 tick = clock_scale(deadline_tsc, platform->config.tsc_hz, PIT_HZ);

	settle(&platform->pit.channels[0], now);
	/*
	 * Only the rise is seen by an edge-triggered input, so the low part of the period is not
	 * played: the line falls and rises here.
	 */
	board_irq(platform, IRQ_PIT, false);
	board_irq(platform, IRQ_PIT, true);
	arm(platform, MAX(now + 1, tick + MIN_PERIOD_TICKS));
}

/*
 * The count goes into the counter with the clock after `now`. written: because a write put it
 * there.
 */
static void load(struct pit_channel *channel, u32 count, u64 now, bool written)
{
	/* A write in mode 0 takes the output down at once; all else waits for the clock. */
	channel->out_before_start = channel->mode != 0 && output(channel, now);
	channel->count_before_start = counter(channel, now);
	channel->null_before_start = written || channel->pending || !channel->counting;
	channel->reload = count;
	channel->start = now + 1;
	channel->held = 0;
	channel->pending = 0;
	channel->counting = true;
}

/* A whole count has been written (8254 "write operations" and each mode's "new count"). */
static void write_count(struct pit_channel *channel, u16 value, u64 now)
{
	u32 count = value;
	u32 position, high;

	if (channel->bcd)
		count = (value >> 12) * 1000 + (value >> 8 & 15) * 100 + (value >> 4 & 15) * 10 +
			(value & 15);
	if (count == 0)
		count = modulus(channel);
	channel->loaded = true;
	if ((channel->mode == 1 || channel->mode == 5) && !channel->counting) {
		channel->reload = count;
	} else if (channel->mode == 1 || channel->mode == 5) {
		channel->pending = count;
		channel->pending_tick = NEVER;
	} else if (channel->counting && !channel->stopped && now > channel->start &&
		   (channel->mode == 2 || channel->mode == 3)) {
		position = (u32)((now - channel->start) % channel->reload);
		high = high_half(channel->reload);
		channel->pending = count;
		if (channel->mode == 3 && position < high) {
			channel->pending_tick = now - position + high;
			channel->pending_start = channel->pending_tick - high_half(count);
		} else {
			channel->pending_tick = now - position + channel->reload;
			channel->pending_start = channel->pending_tick;
		}
	} else {
		load(channel, count, now, true);
		channel->stopped = !channel->gate;
	}
}

static void set_gate(struct pit_channel *channel, bool gate, u64 now)
{
	if (gate == channel->gate)
		return;
	channel->gate = gate;
	settle(channel, now);
	if (channel->mode == 1 || channel->mode == 5) {
		if (gate && channel->loaded)
			load(channel, channel->pending ? channel->pending : channel->reload, now,
				false);
	} else if (!gate) {
		channel->held = elapsed(channel, now);
		channel->stopped = true;
	} else if (channel->stopped) {
		if (channel->mode == 2 || channel->mode == 3)
			load(channel, channel->pending ? channel->pending : channel->reload, now,
				false);
		else
			channel->start = now - MIN(now, channel->held);
		channel->stopped = false;
		channel->counting = channel->loaded;
	}
}

static u8 status(const struct pit_channel *channel, u64 now)
{
	bool null_count = !channel->counting || channel->pending ||
			  (now < channel->start && channel->null_before_start);

	return (u8)(output(channel, now) << 7 | null_count << 6 | channel->access << 4 |
		    channel->mode << 1 | channel->bcd);
}

static void latch_count(struct pit_channel *channel, u64 now)
{
	if (channel->latched_bytes)
		return; /* a latched count stays until it was read */
	channel->latch = visible_count(channel, now);
	channel->latched_bytes = channel->access == 3 ? 2 : 1;
}

static void write_control(struct platform *platform, u8 value, u64 now)
{
	struct pit_channel *channels = platform->pit.channels;
	struct pit_channel *channel;
	u8 mode = value >> 1 & 7;

	if (value >> 6 == 3) { /* read-back command */
		for (u32 i = 0; i < 3; i++) {
			if (!(value & 2 << i))
				continue;
			if (!(value & 0x20))
				latch_count(&channels[i], now);
			if (!(value & 0x10) && !channels[i].status_latched) {
				channels[i].status = status(&channels[i], now);
				channels[i].status_latched = true;
			}
		}
		return;
	}
	channel = &channels[value >> 6];
	if ((value & 0x30) == 0) {
		latch_count(channel, now);
		return;
	}
	*channel = (struct pit_channel){
		.mode = mode > 5 ? mode & 3 : mode, /* M2 is "don't care" for modes 2 and 3 */
		.access = value >> 4 & 3,
		.bcd = value & 1,
		.gate = channel->gate,
		.reload = channel->reload,
	};
}

static void write_channel(struct platform *platform, u32 number, u8 value, u64 now)
{
	struct pit_channel *channel = &platform->pit.channels[number];

	if (channel->access == 1) {
		write_count(channel, value, now);
	} else if (channel->access == 2) {
		write_count(channel, (u16)(value << 8), now);
	} else if (!channel->write_high_next) {
		channel->low = value;
		channel->write_high_next = true;
		if (channel->mode == 0) /* the first byte stops the count */
			channel->counting = channel->loaded = false;
	} else {
		channel->write_high_next = false;
		write_count(channel, (u16)(value << 8 | channel->low), now);
	}
}

static u8 read_channel(struct pit_channel *channel, u64 now)
{
	u16 value;
	bool high;

	if (channel->status_latched) {
		channel->status_latched = false;
		return channel->status;
	}
	if (channel->latched_bytes) {
		value = channel->latch;
		channel->latched_bytes--;
		high = channel->access == 2 || (channel->access == 3 && !channel->latched_bytes);
	} else {
		value = visible_count(channel, now);
		high = channel->access == 2 || (channel->access == 3 && channel->read_high_next);
		channel->read_high_next = !channel->read_high_next;
	}
	return (u8)(high ? value >> 8 : value);
}

u32 pit_read(struct platform *platform, u16 port, u32 size)
{
	struct pit *pit = &platform->pit;
	u64 now = board_ticks(platform, PIT_HZ);
	u32 number = port & 3;

	(void)size;
	if (port == 0x61) {
		settle(&pit->channels[2], now);
		return pit->port61 | (now / REFRESH_TICKS & 1 ? REFRESH_TOGGLE : 0) |
		       (output(&pit->channels[2], now) ? SPEAKER_OUT : 0);
	}
	if (number == 3)
		return 0xff; /* the control register cannot be read */
	settle(&pit->channels[number], now);
	return read_channel(&pit->channels[number], now);
}

void pit_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	struct pit *pit = &platform->pit;
	struct pit_channel *channel0 = &pit->channels[0];
	u64 now = board_ticks(platform, PIT_HZ);

	(void)size;
	for (u32 i = 0; i < 3; i++)
		settle(&pit->channels[i], now);
	if (port == 0x61) {
		pit->port61 = value & SPEAKER_WRITABLE;
		set_gate(&pit->channels[2], value & SPEAKER_GATE, now);
		return;
	}
	if ((port & 3) == 3)
		write_control(platform, (u8)value, now);
	else
		write_channel(platform, port & 3, (u8)value, now);
	if (port == 0x40 || (port == 0x43 && value >> 6 == 0 && (value & 0x30))) {
		/* Mode 0 waits with its output low, all others with it high. */
		board_irq(platform, IRQ_PIT, channel0->mode != 0);
		arm(platform, now + 1);
	}
}

void pit_reset(struct platform *platform)
{
	struct pit *pit = &platform->pit;

	timer_cancel(&platform->timers, &pit->timer);
	pit->port61 = 0;
	for (u32 i = 0; i < 3; i++)
		pit->channels[i] = (struct pit_channel){
			.mode = 3, .access = 3, .gate = i != 2, .reload = 65536
		};
}

void pit_init(struct platform *platform)
{
	timer_init(&platform->pit.timer, fire, platform);
	pit_reset(platform);
}
