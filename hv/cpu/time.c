// SPDX-License-Identifier: BSD-2-Clause
/*
 * TSC frequency and wall clock. The frequency is measured against channel 2 of the PIT, because
 * CPUID's claim is wrong on emulators; CPUID serves where the PIT does not tick (it is clock-gated
 * on newer machines).
 */
#include "hv/cpu/time.h"

#include "hv/cpu/insn.h"
#include "hv/lib/log.h"

#define PORT_PIT_CHANNEL_2 0x42
#define PORT_PIT_COMMAND   0x43
#define PORT_SYSTEM_B	   0x61
#define PIT_COMMAND	   0xb0 /* channel 2, low then high byte, mode 0: output rises at the end */
#define SYSTEM_B_GATE	   BIT(0)
#define SYSTEM_B_SPEAKER   BIT(1)
#define SYSTEM_B_OUT2	   BIT(5)
#define PIT_TICKS_HZ	   1193182ull
#define MEASURE_TICKS	   11932    /* 10 ms */
#define MEASURE_POLLS_MAX  2000000u /* seconds, where a port access takes a microsecond */
#define MEASUREMENTS_MAX   8
#define AGREEMENT	   2000 /* 0.05 % */
#define CLAIM_TOLERANCE	   500	/* 0.2 % */
#define TSC_HZ_MIN	   1000000ull
#define TSC_HZ_FALLBACK	   1000000000ull

#define PORT_CMOS_INDEX 0x70
#define PORT_CMOS_DATA	0x71

static u64 hz;

/* 0: the PIT did not tick. */
static u64 measure_once(void)
{
	u8 system = insn_inb(PORT_SYSTEM_B) & ~(SYSTEM_B_GATE | SYSTEM_B_SPEAKER);
	u64 start, end;
	u32 polls;

	insn_outb(PORT_SYSTEM_B, system);
	insn_outb(PORT_PIT_COMMAND, PIT_COMMAND);
	insn_outb(PORT_PIT_CHANNEL_2, MEASURE_TICKS & 0xff);
	insn_outb(PORT_PIT_CHANNEL_2, MEASURE_TICKS >> 8);
	insn_outb(PORT_SYSTEM_B, system | SYSTEM_B_GATE);
	start = insn_rdtsc();
	for (polls = 0; polls < MEASURE_POLLS_MAX && !(insn_inb(PORT_SYSTEM_B) & SYSTEM_B_OUT2);
		polls++)
		;
	end = insn_rdtsc();
	insn_outb(PORT_SYSTEM_B, system);
	/* An output that is high at once, or never, is not counting. */
	if (polls < 2 || polls == MEASURE_POLLS_MAX)
		return 0;
	return (end - start) * PIT_TICKS_HZ / MEASURE_TICKS;
}

/*
 * What disturbs a measurement (SMIs, the hypervisor below) only makes it longer: the shortest is
 * right, and two that agree are enough.
 */
static u64 measure(void)
{
	u64 best = measure_once();

	for (u32 i = 1; i < MEASUREMENTS_MAX && best; i++) {
		u64 next = measure_once(), low = MIN(best, next), high = MAX(best, next);

		best = low;
		if (high - low <= low / AGREEMENT)
			break;
	}
	return best;
}

/* SDM 3B 20.7.3: leaf 0x15 has the crystal and the ratio, leaf 0x16 the base frequency in MHz. */
static u64 claimed(void)
{
	u32 leaves = insn_cpuid(0, 0).eax;

	if (leaves >= 0x15) {
		struct cpuid_regs r = insn_cpuid(0x15, 0);

		if (r.eax && r.ebx && r.ecx)
			return (u64)r.ecx * r.ebx / r.eax;
	}
	if (leaves >= 0x16)
		return insn_cpuid(0x16, 0).eax * 1000000ull;
	return 0;
}

/* What CPUID claims is exact where it is true, and a measurement tells whether it is. */
static u64 choose(u64 measured, u64 claim)
{
	u64 difference = measured > claim ? measured - claim : claim - measured;

	if (measured < TSC_HZ_MIN || (claim && difference < claim / CLAIM_TOLERANCE))
		return claim;
	return measured;
}

void time_init(void)
{
	hz = choose(measure(), claimed());
	if (hz < TSC_HZ_MIN) {
		log_warning("TSC frequency unknown (no PIT, nothing in CPUID): assuming %llu MHz",
			TSC_HZ_FALLBACK / 1000000);
		hz = TSC_HZ_FALLBACK;
	}
}

u64 tsc_hz(void)
{
	return hz;
}

static u8 cmos(u8 index)
{
	insn_outb(PORT_CMOS_INDEX, index);
	return insn_inb(PORT_CMOS_DATA);
}

enum {
	CMOS_SECOND,
	CMOS_MINUTE = 2,
	CMOS_HOUR = 4,
	CMOS_DAY = 7,
	CMOS_MONTH,
	CMOS_YEAR,
	CMOS_A,
	CMOS_B
};
#define CMOS_A_UPDATING BIT(7)
#define CMOS_B_BINARY	BIT(2)
#define CMOS_B_24_HOURS BIT(1)
#define HOUR_PM		BIT(7)

static u32 from_bcd(u8 value, bool binary)
{
	return binary ? value : (value >> 4) * 10 + (value & 15);
}

u64 wall_clock(void)
{
	u8 b = cmos(CMOS_B), hour = 0;
	bool binary = b & CMOS_B_BINARY;
	u32 second = 0, minute = 0, day = 1, month = 1, year = 70;

	/* Twice the same, and no update between: MC146818A data sheet. */
	for (u32 i = 0; i < 1000; i++) {
		u32 again = from_bcd(cmos(CMOS_SECOND), binary);

		if (!(cmos(CMOS_A) & CMOS_A_UPDATING) && i > 0 && again == second)
			break;
		second = again;
		minute = from_bcd(cmos(CMOS_MINUTE), binary);
		hour = cmos(CMOS_HOUR);
		day = from_bcd(cmos(CMOS_DAY), binary);
		month = from_bcd(cmos(CMOS_MONTH), binary);
		year = from_bcd(cmos(CMOS_YEAR), binary);
	}
	u32 hours = from_bcd(hour & ~HOUR_PM, binary);

	if (!(b & CMOS_B_24_HOURS))
		hours = hours % 12 + (hour & HOUR_PM ? 12 : 0);
	year += 2000;
	/* Days since 1970-01-01 in the proleptic Gregorian calendar, years counted from March. */
	u32 y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
	u64 days = 365ull * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;

	return ((days * 24 + hours) * 60 + minute) * 60 + second;
}
