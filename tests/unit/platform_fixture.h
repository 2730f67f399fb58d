/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A platform on a hand-turned clock for the tests of its devices: time moves when a test says so,
 * and everything the devices ask of the VM is counted.
 */
#ifndef TESTS_UNIT_PLATFORM_FIXTURE_H
#define TESTS_UNIT_PLATFORM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/dev/board.h"
#include "hv/lib/log.h"
#include "hv/lib/string.h"

#define CPUS_MAX 8

struct fixture {
	struct platform *platform;
	u64 now;
	u32 interrupt_changed, nmi[CPUS_MAX], init[CPUS_MAX], sipi[CPUS_MAX];
	u8 sipi_vector;
	u32 timer_changed, stops;
	enum stop_reason reason;
	u8 value;
	u64 unmapped;
	bool console_full;
	u8 console[65536];
	u32 console_count;
};

__attribute__((weak)) void log_line(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

__attribute__((weak)) void panic(const char *format, ...)
{
	print_error("panic: %s\n", format);
	abort();
}

static u64 fixture_now(void *context)
{
	return ((struct fixture *)context)->now;
}

static void fixture_interrupt(void *context, u32 vcpu)
{
	struct fixture *f = context;

	assert_true(vcpu < f->platform->config.cpus);
	f->interrupt_changed++;
}

static void fixture_nmi(void *context, u32 vcpu)
{
	((struct fixture *)context)->nmi[vcpu]++;
}

static void fixture_init(void *context, u32 vcpu)
{
	((struct fixture *)context)->init[vcpu]++;
}

static void fixture_sipi(void *context, u32 vcpu, u8 vector)
{
	((struct fixture *)context)->sipi[vcpu]++;
	((struct fixture *)context)->sipi_vector = vector;
}

static void fixture_timer(void *context)
{
	((struct fixture *)context)->timer_changed++;
}

static void fixture_stop(void *context, enum stop_reason reason, u8 value)
{
	struct fixture *f = context;

	f->stops++;
	f->reason = reason;
	f->value = value;
}

static void fixture_unmap(void *context, gpa_t page)
{
	((struct fixture *)context)->unmapped = page.value;
}

static bool fixture_console(void *context, u8 byte)
{
	struct fixture *f = context;

	if (f->console_full)
		return false;
	f->console[f->console_count++ % sizeof(f->console)] = byte;
	return true;
}

static inline struct fixture *fixture_new(u32 cpus, u64 tsc_hz)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct platform_config config = {
		.host = { f, fixture_now, fixture_interrupt, fixture_nmi, fixture_init,
			fixture_sipi, fixture_timer, fixture_stop, fixture_unmap, fixture_console },
		.tsc_hz = tsc_hz,
		.memory_size = 5ull << 30,
		.unix_time = 1709164799, /* 2024-02-28 23:59:59 */
		.cpus = cpus,
		.test_device = true,
	};

	f->now = 12345678901ull;
	f->platform = aligned_alloc(PAGE_SIZE, platform_size(cpus));
	memset(f->platform, 0, platform_size(cpus));
	platform_init(f->platform, &config);
	return f;
}

static inline void fixture_free(struct fixture *f)
{
	free(f->platform);
	free(f);
}

static inline u8 in8(struct fixture *f, u16 port)
{
	return (u8)platform_io_read(f->platform, port, 1);
}

static inline void out8(struct fixture *f, u16 port, u8 value)
{
	platform_io_write(f->platform, port, 1, value);
}

/* Time goes on; timers fire at their deadlines, as the run loop sees to it. */
static inline void advance(struct fixture *f, u64 ticks)
{
	u64 end = f->now + ticks;

	while (platform_next_deadline(f->platform) <= end) {
		u64 deadline = platform_next_deadline(f->platform);

		f->now = f->now > deadline ? f->now : deadline;
		platform_run_timers(f->platform);
	}
	f->now = end;
}

/* A host that was away: all at once. */
static inline void jump(struct fixture *f, u64 ticks)
{
	f->now += ticks;
	platform_run_timers(f->platform);
}

/* xorshift64: repeatable, independent of the C library. */
static inline u64 random64(void)
{
	static u64 state = 0x9e3779b97f4a7c15ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static inline u32 below(u32 limit)
{
	return (u32)(random64() >> 33) % limit;
}

#endif
