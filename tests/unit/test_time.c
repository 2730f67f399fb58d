// SPDX-License-Identifier: BSD-2-Clause
// The TSC's frequency with timers that tick, are dead or disturbed (BUG-23), and the wall clock
// against the C library's calendar.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "hv/cpu/time.h"

#define PIT_HZ 1193182ul

static struct {
	u64 tsc_hz;
	bool dead, high; /* the output never rises; is always high */
	u32 disturbed;	 /* so many measurements from the first on take too long */
	u16 count;
	bool low_written;
	u64 started;
	u32 reads, runs;
	u8 cmos[64], index;
	u32 updating; /* so many reads of register A see an update in progress */
} machine;

static bool output(void)
{
	u64 tick = machine.tsc_hz / PIT_HZ, waits = machine.count * tick;

	if (machine.runs <= machine.disturbed)
		waits += waits / (1 + machine.runs);
	return machine.high || (!machine.dead && fake_cpu->tsc - machine.started >= waits);
}

static u32 port_read(struct fake_cpu *cpu, u16 port, u32 size)
{
	(void)size;
	machine.reads++;
	cpu->tsc += 50;
	switch (port) {
	case 0x61:
		return output() ? 0x20 : 0;
	case 0x71:
		if (machine.index == 10 && machine.updating) {
			machine.updating--;
			return machine.cmos[10] | 0x80;
		}
		return machine.cmos[machine.index & 63];
	default:
		return 0xff;
	}
}

static void port_write(struct fake_cpu *cpu, u16 port, u32 size, u32 value)
{
	static u8 low;

	(void)size;
	switch (port) {
	case 0x43:
		assert_int_equal(value & 0xfe, 0xb0); /* channel 2, both bytes, mode 0, binary */
		machine.low_written = false;
		break;
	case 0x42:
		if (!machine.low_written)
			low = value;
		else
			machine.count = value << 8 | low;
		machine.low_written = true;
		break;
	case 0x61:
		assert_int_equal(value & 2, 0); /* the speaker stays silent */
		if (value & 1) {
			machine.started = cpu->tsc;
			machine.runs++;
		}
		break;
	case 0x70:
		machine.index = value;
		break;
	}
}

static int begin(void **state)
{
	(void)state;
	fake_cpu_reset();
	fake_cpu->port_read = port_read;
	fake_cpu->port_write = port_write;
	fake_cpu->tsc_step = 1;
	memset(&machine, 0, sizeof(machine));
	machine.tsc_hz = 2600000000;
	return 0;
}

static void claim(u32 leaves, u32 denominator, u32 numerator, u32 crystal, u32 mhz)
{
	struct cpuid_regs zero = insn_cpuid(0, 0);

	zero.eax = leaves;
	fake_cpuid_set_any(0, zero);
	fake_cpuid_set_any(0x15, (struct cpuid_regs){ denominator, numerator, crystal, 0 });
	fake_cpuid_set_any(0x16, (struct cpuid_regs){ mhz, 0, 0, 0 });
}

static void assert_near(u64 value, u64 expected)
{
	assert_in_range(value, expected - expected / 1000, expected + expected / 1000);
}

static void measured(void **state)
{
	(void)state;
	claim(0xd, 0, 0, 0, 0);
	for (u64 hz = 100000000; hz < 6000000000; hz += 700000000) {
		machine.tsc_hz = hz;
		time_init();
		assert_near(tsc_hz(), hz / PIT_HZ * PIT_HZ);
	}
}

/* An emulator's CPUID says 3.5 GHz while the TSC runs at 100 MHz. */
static void a_false_claim_is_not_believed(void **state)
{
	(void)state;
	claim(0x16, 2, 292, 24000000, 3500);
	machine.tsc_hz = PIT_HZ * 84;
	time_init();
	assert_near(tsc_hz(), PIT_HZ * 84);
}

static void a_true_claim_is_taken_as_it_is(void **state)
{
	(void)state;
	claim(0x16, 2, 216, 24000000, 2600);
	machine.tsc_hz = 2592000000;
	time_init();
	assert_int_equal(tsc_hz(), 2592000000);
}

/* BUG-23: the PIT is clock-gated, or its output is stuck high. */
static void dead_pit(void **state)
{
	(void)state;
	for (u32 high = 0; high < 2; high++) {
		machine.dead = !high;
		machine.high = high;
		machine.reads = 0;
		claim(0x16, 2, 216, 24000000, 2600);
		time_init();
		assert_int_equal(tsc_hz(), 2592000000);
		claim(0x16, 2, 216, 0, 2600); /* no crystal: the base frequency */
		time_init();
		assert_int_equal(tsc_hz(), 2600000000);
		assert_true(machine.reads < 5000000);
		claim(0x14, 0, 0, 0, 0);
		time_init();
		assert_int_not_equal(tsc_hz(), 0);
		assert_non_null(strstr(fake_log_last, "unknown"));
	}
}

/* A measurement that was interrupted is long: the shortest counts. */
static void disturbed(void **state)
{
	(void)state;
	claim(0xd, 0, 0, 0, 0);
	for (machine.disturbed = 0; machine.disturbed < 6; machine.disturbed++) {
		machine.runs = 0;
		time_init();
		assert_near(tsc_hz(), machine.tsc_hz / PIT_HZ * PIT_HZ);
	}
}

static u8 to_bcd(u32 value)
{
	return value / 10 << 4 | value % 10;
}

/* Sets the CMOS clock to a time; returns it. */
static u64 set_clock(struct tm *tm, bool binary, bool hours_24)
{
	u64 seconds = timegm(tm);
	u32 hour = tm->tm_hour, fields[7];

	gmtime_r((const time_t *)&seconds, tm);
	hour = tm->tm_hour;
	if (!hours_24)
		hour = hour % 12 ? hour % 12 : 12;
	fields[0] = tm->tm_sec;
	fields[1] = tm->tm_min;
	fields[2] = hour;
	fields[4] = tm->tm_mday;
	fields[5] = tm->tm_mon + 1;
	fields[6] = tm->tm_year % 100;
	machine.cmos[0] = binary ? fields[0] : to_bcd(fields[0]);
	machine.cmos[2] = binary ? fields[1] : to_bcd(fields[1]);
	machine.cmos[4] = binary ? fields[2] : to_bcd(fields[2]);
	if (!hours_24 && tm->tm_hour >= 12)
		machine.cmos[4] |= 0x80;
	machine.cmos[7] = binary ? fields[4] : to_bcd(fields[4]);
	machine.cmos[8] = binary ? fields[5] : to_bcd(fields[5]);
	machine.cmos[9] = binary ? fields[6] : to_bcd(fields[6]);
	machine.cmos[11] = (binary ? 4 : 0) | (hours_24 ? 2 : 0);
	return seconds;
}

/* All four formats, each hour of days around the edges of months and leap years. */
static void calendar(void **state)
{
	static const struct {
		int year, month, day;
	} days[] = { { 2000, 1, 1 }, { 2000, 2, 29 }, { 2023, 2, 28 }, { 2024, 2, 29 },
		{ 2024, 3, 1 }, { 2026, 12, 31 }, { 2038, 1, 19 }, { 2099, 12, 31 } };

	(void)state;
	for (u32 format = 0; format < 4; format++) {
		for (u32 i = 0; i < ARRAY_SIZE(days); i++) {
			for (int hour = 0; hour < 24; hour++) {
				struct tm tm = {
					.tm_year = days[i].year - 1900,
					.tm_mon = days[i].month - 1,
					.tm_mday = days[i].day,
					.tm_hour = hour,
					.tm_min = 59 - hour,
					.tm_sec = 2 * hour,
				};
				u64 expected = set_clock(&tm, format & 1, format & 2);

				machine.updating = hour % 3;
				assert_int_equal(wall_clock(), expected);
			}
		}
	}
}

/* No clock there: whatever it says, it says so soon. */
static void no_clock(void **state)
{
	(void)state;
	memset(machine.cmos, 0xff, sizeof(machine.cmos));
	machine.updating = ~0u;
	(void)wall_clock();
	assert_true(machine.reads < 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(measured, begin),
		cmocka_unit_test_setup(a_false_claim_is_not_believed, begin),
		cmocka_unit_test_setup(a_true_claim_is_taken_as_it_is, begin),
		cmocka_unit_test_setup(dead_pit, begin),
		cmocka_unit_test_setup(disturbed, begin),
		cmocka_unit_test_setup(calendar, begin),
		cmocka_unit_test_setup(no_clock, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
