// SPDX-License-Identifier: BSD-2-Clause
/*
 * The real-time clock. Time and flags are computed when somebody looks: catch_up() puts into
 * register C whatever happened since the last look, and a timer waits for the first event whose
 * interrupt is enabled. Called by ports.c and the timer queue.
 */
#include "hv/dev/board.h"
#include "hv/dev/calendar.h"
#include "hv/lib/string.h"

enum {
	REG_SECOND = 0,
	REG_SECOND_ALARM = 1,
	REG_MINUTE = 2,
	REG_MINUTE_ALARM = 3,
	REG_HOUR = 4,
	REG_HOUR_ALARM = 5,
	REG_WEEKDAY = 6,
	REG_DAY = 7,
	REG_MONTH = 8,
	REG_YEAR = 9,
	REG_A = 10,
	REG_B = 11,
	REG_C = 12,
	REG_D = 13,
	REG_CENTURY = 0x32,
};

#define A_UIP	      0x80
#define A_DIVIDER     0x70
#define A_DIVIDER_32K 0x20
#define A_RATE	      0x0f
#define B_SET	      0x80
#define B_PERIODIC    0x40 /* the flags of register C have the places of their enables */
#define B_ALARM	      0x20
#define B_UPDATE      0x10
#define B_BINARY      0x04
#define B_24H	      0x02
#define B_ENABLES     (B_PERIODIC | B_ALARM | B_UPDATE)
#define C_IRQF	      0x80
#define D_VALID	      0x80 /* the battery is good */
#define HOUR_PM	      0x80
#define ALARM_ANY     0xc0 /* alarm fields with both bits set match everything */
#define CRYSTAL_HZ    32768u
/* UIP goes up 244 us before the update, which takes 1984 us (MC146818A "update cycle"). */
#define UIP_US	      2228u
#define DAY_SECONDS   86400u

static u64 second_now(const struct platform *platform)
{
	const struct rtc *rtc = &platform->rtc;

	if (rtc->stopped || (rtc->cmos[REG_B] & B_SET))
		return rtc->seconds;
	return rtc->seconds + (board_now(platform) - rtc->base_tsc) / platform->config.tsc_hz;
}

/* Frequency of the periodic interrupt; rates 1 and 2 repeat 8 and 9; 0: none. */
static u32 periodic_hz(const struct rtc *rtc)
{
	u32 rate = rtc->cmos[REG_A] & A_RATE;

	if (rate == 0 || rtc->stopped)
		return 0;
	return CRYSTAL_HZ >> ((rate < 3 ? rate + 7 : rate) - 1);
}

static u64 periodic_tick(const struct platform *platform)
{
	u32 hz = periodic_hz(&platform->rtc);

	return hz ? board_ticks(platform, hz) : 0;
}

static u8 encode(const struct rtc *rtc, u32 value)
{
	return (u8)(rtc->cmos[REG_B] & B_BINARY ? value : value / 10 << 4 | value % 10);
}

static u32 decode(const struct rtc *rtc, u8 value)
{
	return rtc->cmos[REG_B] & B_BINARY ? value : (value >> 4) * 10u + (value & 15);
}

static u8 encode_hour(const struct rtc *rtc, u32 hour)
{
	if (rtc->cmos[REG_B] & B_24H)
		return encode(rtc, hour);
	return encode(rtc, hour % 12 ? hour % 12 : 12) | (hour >= 12 ? HOUR_PM : 0);
}

static u32 decode_hour(const struct rtc *rtc, u8 value)
{
	if (rtc->cmos[REG_B] & B_24H)
		return decode(rtc, value);
	return decode(rtc, value & (u8)~HOUR_PM) % 12 + (value & HOUR_PM ? 12 : 0);
}

/* Writes the time into the registers, in their present format. */
static void store_time(struct rtc *rtc, u64 seconds)
{
	struct calendar now = calendar_from_seconds(seconds);

	rtc->cmos[REG_SECOND] = encode(rtc, now.second);
	rtc->cmos[REG_MINUTE] = encode(rtc, now.minute);
	rtc->cmos[REG_HOUR] = encode_hour(rtc, now.hour);
	rtc->cmos[REG_WEEKDAY] = encode(rtc, (now.weekday + rtc->weekday_shift) % 7 + 1);
	rtc->cmos[REG_DAY] = encode(rtc, now.day);
	rtc->cmos[REG_MONTH] = encode(rtc, now.month);
	rtc->cmos[REG_YEAR] = encode(rtc, now.year % 100);
	rtc->cmos[REG_CENTURY] = encode(rtc, now.year / 100 % 100);
}

/* The time that stands in the registers, whatever the guest put there. */
static u64 fetch_time(struct rtc *rtc)
{
	struct calendar set = {
		.second = decode(rtc, rtc->cmos[REG_SECOND]),
		.minute = decode(rtc, rtc->cmos[REG_MINUTE]),
		.hour = decode_hour(rtc, rtc->cmos[REG_HOUR]),
		.day = decode(rtc, rtc->cmos[REG_DAY]),
		.month = decode(rtc, rtc->cmos[REG_MONTH]),
		.year = decode(rtc, rtc->cmos[REG_CENTURY]) * 100 +
			decode(rtc, rtc->cmos[REG_YEAR]),
	};
	u64 seconds = calendar_to_seconds(&set);
	u32 weekday = decode(rtc, rtc->cmos[REG_WEEKDAY]) + 6; /* 1..7, Sunday is 1 */

	rtc->weekday_shift = (weekday + 7 - calendar_from_seconds(seconds).weekday) % 7;
	return seconds;
}

static bool alarm_field_matches(const struct rtc *rtc, u32 reg, u32 value)
{
	u8 alarm = rtc->cmos[reg];

	if ((alarm & ALARM_ANY) == ALARM_ANY)
		return true;
	return reg == REG_HOUR_ALARM ? decode_hour(rtc, alarm) == value
				     : decode(rtc, alarm) == value;
}

/* False for a field that no time of day has: a search for it would end nowhere. */
static bool alarm_field_possible(const struct rtc *rtc, u32 reg, u32 limit)
{
	u8 alarm = rtc->cmos[reg];

	if ((alarm & ALARM_ANY) == ALARM_ANY)
		return true;
	return (reg == REG_HOUR_ALARM ? decode_hour(rtc, alarm) : decode(rtc, alarm)) < limit;
}

/* The first second from `from` on that the alarm matches; TIMER_NEVER: none ever does. */
static u64 next_alarm(const struct rtc *rtc, u64 from)
{
	u64 at = from;

	if (!alarm_field_possible(rtc, REG_HOUR_ALARM, 24) ||
		!alarm_field_possible(rtc, REG_MINUTE_ALARM, 60) ||
		!alarm_field_possible(rtc, REG_SECOND_ALARM, 60))
		return TIMER_NEVER;
	/* Each step goes to the start of the next unit that may match; a day holds all of them. */
	while (at < from + 2 * DAY_SECONDS) {
		u32 second = (u32)(at % DAY_SECONDS);

		if (!alarm_field_matches(rtc, REG_HOUR_ALARM, second / 3600))
			at += 3600 - second % 3600;
		else if (!alarm_field_matches(rtc, REG_MINUTE_ALARM, second / 60 % 60))
			at += 60 - second % 60;
		else if (!alarm_field_matches(rtc, REG_SECOND_ALARM, second % 60))
			at++;
		else
			return at;
	}
	return TIMER_NEVER;
}

static void update_line(struct platform *platform)
{
	struct rtc *rtc = &platform->rtc;

	if (rtc->flags & rtc->cmos[REG_B] & B_ENABLES)
		rtc->flags |= C_IRQF;
	board_irq(platform, IRQ_RTC, rtc->flags & C_IRQF);
}

/* Notes in register C what happened since the last look. */
static void catch_up(struct platform *platform)
{
	struct rtc *rtc = &platform->rtc;
	u64 seconds = second_now(platform);
	u64 tick = periodic_tick(platform);

	if (seconds > rtc->seen_seconds) {
		rtc->flags |= B_UPDATE;
		if (!(rtc->flags & B_ALARM) && next_alarm(rtc, rtc->seen_seconds + 1) <= seconds)
			rtc->flags |= B_ALARM;
	}
	if (tick > rtc->seen_tick)
		rtc->flags |= B_PERIODIC;
	rtc->seen_seconds = seconds;
	rtc->seen_tick = tick;
	update_line(platform);
}

static u64 second_to_tsc(const struct platform *platform, u64 seconds)
{
	const struct rtc *rtc = &platform->rtc;

	return rtc->base_tsc + (seconds - rtc->seconds) * platform->config.tsc_hz;
}

/* Waits for the next event that interrupts. While IRQF is up nothing more can come of it. */
static void arm(struct platform *platform)
{
	struct rtc *rtc = &platform->rtc;
	u8 enables = rtc->cmos[REG_B];
	u64 deadline = TIMER_NEVER, alarm;

	if (!(rtc->flags & C_IRQF)) {
		if ((enables & B_PERIODIC) && periodic_hz(rtc))
			deadline =
				board_tick_to_tsc(platform, rtc->seen_tick + 1, periodic_hz(rtc));
		if (!rtc->stopped && !(enables & B_SET)) {
			if (enables & B_UPDATE)
				deadline = MIN(
					deadline, second_to_tsc(platform, rtc->seen_seconds + 1));
			alarm = enables & B_ALARM ? next_alarm(rtc, rtc->seen_seconds + 1)
						  : TIMER_NEVER;
			if (alarm != TIMER_NEVER)
				deadline = MIN(deadline, second_to_tsc(platform, alarm));
		}
	}
	if (deadline == TIMER_NEVER)
		timer_cancel(&platform->timers, &rtc->timer);
	else
		timer_arm(&platform->timers, &rtc->timer, deadline);
}

static void fire(void *context, u64 deadline_tsc)
{
	(void)deadline_tsc;
	catch_up(context);
	arm(context);
}

/* Makes `seconds` the time of the second that is running. */
static void set_time(struct platform *platform, u64 seconds)
{
	struct rtc *rtc = &platform->rtc;
	u64 now = board_now(platform);

	rtc->base_tsc = now - (now - rtc->base_tsc) % platform->config.tsc_hz;
	rtc->seconds = seconds;
	rtc->seen_seconds = seconds;
}

static void write_a(struct platform *platform, u8 value)
{
	struct rtc *rtc = &platform->rtc;
	bool stopped = (value & A_DIVIDER) != A_DIVIDER_32K;

	if (stopped && !rtc->stopped) {
		set_time(platform, second_now(platform));
	} else if (!stopped && rtc->stopped) {
		/* The first update comes half a second after the divider starts (MC146818A). */
		rtc->base_tsc = board_now(platform) - platform->config.tsc_hz / 2;
	}
	rtc->stopped = stopped;
	rtc->cmos[REG_A] = value & (u8)~A_UIP;
	rtc->seen_tick = periodic_tick(platform);
}

static void write_b(struct platform *platform, u8 value)
{
	struct rtc *rtc = &platform->rtc;
	u8 old = rtc->cmos[REG_B];

	if (value & B_SET) {
		value &= (u8)~B_UPDATE; /* SET clears UIE */
		if (!(old & B_SET)) {
			set_time(platform, second_now(platform));
			store_time(rtc, rtc->seconds);
		}
	}
	rtc->cmos[REG_B] = value;
	if ((old & B_SET) && !(value & B_SET))
		set_time(platform, fetch_time(rtc));
}

static bool is_time(u32 reg)
{
	return reg == REG_SECOND || reg == REG_MINUTE || reg == REG_HOUR ||
	       (reg >= REG_WEEKDAY && reg <= REG_YEAR) || reg == REG_CENTURY;
}

static void write_register(struct platform *platform, u32 reg, u8 value)
{
	struct rtc *rtc = &platform->rtc;

	if (reg == REG_C || reg == REG_D)
		return;
	catch_up(platform);
	if (reg == REG_A) {
		write_a(platform, value);
	} else if (reg == REG_B) {
		write_b(platform, value);
	} else if (is_time(reg) && !(rtc->cmos[REG_B] & B_SET)) {
		store_time(rtc, second_now(platform));
		rtc->cmos[reg] = value;
		set_time(platform, fetch_time(rtc));
	} else {
		rtc->cmos[reg] = value;
	}
	update_line(platform);
	arm(platform);
}

static u8 read_a(const struct platform *platform)
{
	const struct rtc *rtc = &platform->rtc;
	u64 hz = platform->config.tsc_hz;
	u64 phase = (board_now(platform) - rtc->base_tsc) % hz;
	bool updating =
		!rtc->stopped && !(rtc->cmos[REG_B] & B_SET) && phase >= hz - hz * UIP_US / 1000000;

	return rtc->cmos[REG_A] | (updating ? A_UIP : 0);
}

static u8 read_register(struct platform *platform, u32 reg)
{
	struct rtc *rtc = &platform->rtc;
	u8 flags;

	switch (reg) {
	case REG_A:
		return read_a(platform);
	case REG_C:
		catch_up(platform);
		flags = rtc->flags;
		rtc->flags = 0;
		update_line(platform);
		arm(platform);
		return flags;
	case REG_D:
		return D_VALID;
	default:
		if (is_time(reg) && !(rtc->cmos[REG_B] & B_SET))
			store_time(rtc, second_now(platform));
		return rtc->cmos[reg];
	}
}

u32 rtc_read(struct platform *platform, u16 port, u32 size)
{
	(void)size;
	if (port == 0x70)
		return 0xff; /* the index cannot be read */
	return read_register(platform, platform->rtc.index);
}

void rtc_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	(void)size;
	if (port == 0x70)
		platform->rtc.index = value & 0x7f;
	else
		write_register(platform, platform->rtc.index, (u8)value);
}

static void store16(u8 *cmos, u32 reg, u64 value)
{
	cmos[reg] = (u8)value;
	cmos[reg + 1] = (u8)(value >> 8);
}

/* What a PC's firmware leaves about memory and CPUs; old loaders and firmware look there. */
static void describe_machine(struct platform *platform)
{
	u8 *cmos = platform->rtc.cmos;
	u64 size = platform->config.memory_size;
	u64 low = MIN(size, PLATFORM_RAM_HOLE);
	u64 above_1m = low > 1u << 20 ? (low - (1u << 20)) >> 10 : 0;
	u64 above_16m = low > 16u << 20 ? (low - (16u << 20)) >> 16 : 0;

	store16(cmos, 0x15, 640);		     /* KiB of base memory */
	store16(cmos, 0x17, MIN(above_1m, 0xffffu)); /* KiB above 1 MiB, in two places */
	store16(cmos, 0x30, MIN(above_1m, 0xffffu));
	store16(cmos, 0x34, MIN(above_16m, 0xffffu)); /* 64 KiB units above 16 MiB */
	store16(cmos, 0x5b, (size - low) >> 16);      /* and above 4 GiB, three bytes */
	cmos[0x5d] = (u8)((size - low) >> 32);
	cmos[0x5f] = (u8)(platform->config.cpus - 1);
}

/* RESET clears the enables and the flags and leaves time and RAM alone (MC146818A "RESET"). */
void rtc_reset(struct platform *platform)
{
	struct rtc *rtc = &platform->rtc;

	if (rtc->cmos[REG_B] & B_SET)
		write_b(platform, rtc->cmos[REG_B] & (u8)~B_SET);
	write_a(platform, A_DIVIDER_32K | 6);
	rtc->cmos[REG_B] = B_24H;
	rtc->flags = 0;
	rtc->index = 0;
	update_line(platform);
	arm(platform);
}

void rtc_init(struct platform *platform)
{
	struct rtc *rtc = &platform->rtc;

	timer_init(&rtc->timer, fire, platform);
	memset(rtc->cmos, 0, sizeof(rtc->cmos));
	rtc->seconds = platform->config.unix_time;
	rtc->seen_seconds = rtc->seconds;
	rtc->base_tsc = board_now(platform);
	describe_machine(platform);
	rtc_reset(platform);
}
