// SPDX-License-Identifier: BSD-2-Clause
/*
 * ACPI fixed hardware. Reading the PM timer is what guests do most often with any port, so it comes
 * first. Called by ports.c and the timer queue.
 */
#include "hv/dev/board.h"

#define TMR_STS			 BIT(0) /* toggles of the timer's bit 23; enable has the same place */
#define STATUS_BITS		 0xcf31 /* TMR, BM, GBL, PWRBTN, SLPBTN, RTC, PCIEXP_WAKE, WAK */
#define ENABLE_BITS		 0x4721
#define CONTROL_BITS		 0x1c06 /* SCI_EN is fixed, GBL_RLS and SLP_EN write only */
#define CONTROL_SCI_EN		 BIT(0)
#define CONTROL_SLP_EN		 BIT(13)
#define CONTROL_SLP_TYP(control) ((control) >> 10 & 7)
#define TIMER_MASK		 0xffffff
#define HALF_SHIFT		 23

static u64 half_periods(const struct platform *platform)
{
	return board_ticks(platform, PM_TIMER_HZ) >> HALF_SHIFT;
}

static void update(struct platform *platform)
{
	struct pm *pm = &platform->pm;
	u64 half = half_periods(platform);

	if (half != pm->seen_half)
		pm->status |= TMR_STS;
	pm->seen_half = half;
	board_irq(platform, IRQ_SCI, pm->status & pm->enable);
	/* While TMR_STS stands the next toggle says nothing new. */
	if ((pm->enable & TMR_STS) && !(pm->status & TMR_STS))
		timer_arm(&platform->timers, &pm->timer,
			board_tick_to_tsc(platform, (half + 1) << HALF_SHIFT, PM_TIMER_HZ));
	else
		timer_cancel(&platform->timers, &pm->timer);
}

static void fire(void *context, u64 deadline_tsc)
{
	(void)deadline_tsc;
	update(context);
}

static u32 timer(const struct platform *platform)
{
	return board_ticks(platform, PM_TIMER_HZ) & TIMER_MASK;
}

/* The 32-bit register that holds the port. */
static u32 read_block(struct platform *platform, u16 port)
{
	struct pm *pm = &platform->pm;

	if (port >= PORT_PM_TIMER)
		return timer(platform);
	if (port >= PORT_PM1_CONTROL)
		return pm->control | CONTROL_SCI_EN;
	update(platform);
	return (u32)pm->enable << 16 | pm->status;
}

u32 pm_read(struct platform *platform, u16 port, u32 size)
{
	if (likely(port == PORT_PM_TIMER && size == 4))
		return timer(platform);
	return read_block(platform, port) >> (port & 3) * 8 & all_ones(size);
}

static void write_control(struct platform *platform, u16 value)
{
	platform->pm.control = value & CONTROL_BITS;
	if ((value & CONTROL_SLP_EN) && CONTROL_SLP_TYP(value) == S5_SLEEP_TYPE)
		board_stop(platform, STOP_POWER_OFF, 0);
}

void pm_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	struct pm *pm = &platform->pm;
	u32 shift = (port & 3) * 8;
	u32 mask = all_ones(size) << shift;

	value = value << shift & mask;
	if (port >= PORT_PM_TIMER)
		return;
	if (port >= PORT_PM1_CONTROL) {
		write_control(platform, (u16)((pm->control & ~mask) | value));
		return;
	}
	update(platform);
	pm->status &= (u16)~value & STATUS_BITS; /* write 1 to clear */
	pm->enable = (u16)((pm->enable & ~(mask >> 16)) | value >> 16) & ENABLE_BITS;
	update(platform);
}

void pm_reset(struct platform *platform)
{
	struct pm *pm = &platform->pm;

	pm->status = 0;
	pm->enable = 0;
	pm->control = 0;
	pm->seen_half = half_periods(platform);
	update(platform);
}

void pm_init(struct platform *platform)
{
	timer_init(&platform->pm.timer, fire, platform);
	pm_reset(platform);
}
