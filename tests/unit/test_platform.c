// SPDX-License-Identifier: BSD-2-Clause
/*
 * The platform as a whole: who answers at which port and address, the small devices, power-on state
 * after a reset, and a guest that does nothing but harm.
 */
#include "platform_fixture.h"

#define HZ 100000000ull

static bool claimed(u32 port)
{
	static const u16 ranges[][2] = {
		{ 0x20, 0x21 },
		{ 0x40, 0x43 },
		{ 0x60, 0x61 },
		{ 0x64, 0x64 },
		{ 0x70, 0x71 },
		{ 0x92, 0x92 },
		{ 0xa0, 0xa1 },
		{ 0xe0, 0xe4 },
		{ 0xf4, 0xf4 },
		{ 0x3b0, 0x3df },
		{ 0x3f8, 0x3ff },
		{ 0x4d0, 0x4d1 },
		{ 0x510, 0x511 },
		{ 0x600, 0x60b },
		{ 0xcf8, 0xcff },
		{ 0x2000, 0x2017 },
		{ 0x8900, 0x8900 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(ranges); i++)
		if (port >= ranges[i][0] && port <= ranges[i][1])
			return true;
	return false;
}

/* Every port, every width; COM2, 0xe9, 0x80, 0xed and all the rest swallow and read all ones. */
static void test_unclaimed_ports(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	for (u32 port = 0; port < 0x10000; port++) {
		for (u32 size = 1; size <= 4; size *= 2) {
			bool any = false;

			for (u32 i = 0; i < size; i++)
				any |= claimed(port + i);
			if (any)
				continue;
			platform_io_write(f->platform, (u16)port, size, 0);
			assert_int_equal(platform_io_read(f->platform, (u16)port, size),
				0xffffffffu >> (32 - 8 * size));
		}
	}
	assert_int_equal(f->stops, 0);
	assert_int_equal(f->console_count, 0);
	/* A wide access to byte-wide devices is cut up. */
	platform_io_write(f->platform, 0x3ff, 1, 0x12);
	assert_int_equal(platform_io_read(f->platform, 0x3ff, 2), 0xff12);
	assert_int_equal(platform_io_read(f->platform, 0x3fe, 4) >> 8, 0xffff12);
	out8(f, 0x21, 0x5a);
	assert_int_equal(platform_io_read(f->platform, 0x20, 2), 0x5a00);
	fixture_free(f);
}

static void test_keyboard_controller(void **state)
{
	struct fixture *f = fixture_new(1, HZ);

	(void)state;
	/* Nothing waits; i8042 probing gets each answer at once. */
	assert_int_equal(in8(f, 0x64) & 3, 0);
	out8(f, 0x64, 0xaa);
	assert_int_equal(in8(f, 0x64) & 1, 1);
	assert_int_equal(in8(f, 0x60), 0x55);
	assert_int_equal(in8(f, 0x64) & 1, 0);
	out8(f, 0x64, 0x60);
	out8(f, 0x60, 0x74);
	out8(f, 0x64, 0x20);
	assert_int_equal(in8(f, 0x60), 0x74);
	out8(f, 0x64, 0xd3);
	out8(f, 0x60, 0x5a);
	assert_int_equal(in8(f, 0x64) & 0x21, 1); /* not from a mouse: there is no such port */
	assert_int_equal(in8(f, 0x60), 0x5a);
	out8(f, 0x64, 0xa9);
	assert_int_equal(in8(f, 0x60), 1);
	out8(f, 0x60, 0xf2); /* identify: nobody there, the controller reports a time-out */
	assert_int_equal(in8(f, 0x64) & 0x41, 0x41);
	assert_int_equal(in8(f, 0x60), 0xfe);
	assert_int_equal(in8(f, 0x64) & 0x41, 0);
	assert_int_equal(in8(f, 0x92) & 3, 2);
	out8(f, 0x64, 0xd1); /* A20 off: no-op */
	out8(f, 0x60, 0xdd);
	assert_int_equal(f->stops, 0);
	out8(f, 0x64, 0xd1);
	out8(f, 0x60, 0xde);
	assert_int_equal(f->stops, 1);
	out8(f, 0x64, 0xfe);
	assert_int_equal(f->stops, 2);
	out8(f, 0x64, 0xff);
	out8(f, 0x92, 2);
	assert_int_equal(f->stops, 2);
	out8(f, 0x92, 3);
	assert_int_equal(f->stops, 3);
	assert_int_equal(f->reason, STOP_RESET);
	fixture_free(f);
}

static void test_fw_cfg(void **state)
{
	struct fixture *f = fixture_new(3, HZ);
	static const struct {
		u16 key;
		u64 value;
	} items[] = {
		{ 0x00, 0x554d4551 },
		{ 0x01, 1 },
		{ 0x03, 5ull << 30 },
		{ 0x05, 3 },
		{ 0x0f, 3 },
		{ 0x19, 0 },
		{ 0x02, 0 },
		{ 0xffff, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(items); i++) {
		u64 value = 0;

		platform_io_write(f->platform, 0x510, 2, items[i].key);
		for (u32 byte = 0; byte < 8; byte++)
			value |= (u64)in8(f, 0x511) << 8 * byte;
		assert_int_equal(value, items[i].value);
		for (u32 byte = 0; byte < 100; byte++)
			assert_int_equal(in8(f, 0x511), 0);
	}
	fixture_free(f);
}

static void test_vga(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u8 seen = 0;

	(void)state;
	out8(f, 0x3d4, 0x0e);
	out8(f, 0x3d5, 0x12);
	platform_io_write(f->platform, 0x3d4, 2, 0x340f);
	assert_int_equal(in8(f, 0x3d5), 0x34);
	out8(f, 0x3d4, 0x0e);
	assert_int_equal(in8(f, 0x3d5), 0x12);
	for (u32 i = 0; i < 4; i++)
		seen |= (u8)(1 << (in8(f, 0x3da) >> 3 & 1));
	assert_int_equal(seen, 3); /* a retrace begins and ends */
	fixture_free(f);
}

static void type(struct fixture *f, const char *text)
{
	while (*text)
		out8(f, PORT_SHUTDOWN, (u8)*text++);
}

static void test_test_device(void **state)
{
	struct fixture *f = fixture_new(1, HZ);
	u64 value;

	(void)state;
	platform_io_write(f->platform, 0xf4, 4, 0x12345642);
	assert_int_equal(f->reason, STOP_EXIT_PORT);
	assert_int_equal(f->value, 0x42);
	platform_io_write(f->platform, 0xe0, 4, 0xdeadbeef);
	assert_int_equal(platform_io_read(f->platform, 0xe0, 4), 0xdeadbeef);
	assert_int_equal(platform_io_read(f->platform, 0xe1, 2), 0xadbe);
	platform_io_write(f->platform, 0xe4, 4, 0x123456);
	assert_int_equal(f->unmapped, 0x123000);
	out8(f, 0x2000 + 23, 7);
	assert_int_equal(f->platform->ioapic.lines, 1u << 23);
	out8(f, 0x2000 + 23, 0);
	assert_int_equal(f->platform->ioapic.lines, 0);
	f->stops = 0;
	type(f, "ShutShutdow\n");
	assert_int_equal(f->stops, 0);
	type(f, "SShutdown");
	assert_int_equal(f->stops, 1);
	assert_int_equal(f->reason, STOP_POWER_OFF);
	for (u32 size = 1; size <= 8; size *= 2) {
		for (u64 at = MMIO_SCRATCH; at + size <= MMIO_SCRATCH + MMIO_SCRATCH_SIZE;
			at += 4093) {
			u64 sent = random64();

			assert_true(platform_mmio_write(f->platform, 0, gpa(at), size, sent));
			assert_true(platform_mmio_read(f->platform, 0, gpa(at), size, &value));
			assert_int_equal(value, size == 8 ? sent : sent & (BIT(8 * size) - 1));
		}
		assert_false(platform_mmio_read(f->platform, 0,
			gpa(MMIO_SCRATCH + MMIO_SCRATCH_SIZE - size + 1), size, &value));
	}
	/* Off unless asked for: the exit port alone, then nothing. */
	f->platform->config.test_device = false;
	f->platform->config.exit_port = true;
	f->stops = 0;
	out8(f, 0xf4, 1);
	type(f, "Shutdown");
	assert_int_equal(f->stops, 2);
	assert_int_equal(platform_io_read(f->platform, 0xe0, 4), 0xffffffff);
	out8(f, 0x2003, 1);
	assert_int_equal(f->platform->test_lines, 0);
	assert_false(platform_mmio_read(f->platform, 0, gpa(MMIO_SCRATCH), 4, &value));
	f->platform->config.exit_port = false;
	out8(f, 0xf4, 1);
	type(f, "Shutdown");
	assert_int_equal(f->stops, 2);
	fixture_free(f);
}

/* What a guest can see, at every port and register that reading does not change. */
static u64 fingerprint(struct fixture *f)
{
	u64 hash = 14695981039346656037ull, value;

	for (u32 port = 0; port < 0x3000; port++)
		hash = (hash ^ platform_io_read(f->platform, (u16)port, 1)) * 1099511628211ull;
	for (u32 vcpu = 0; vcpu < f->platform->config.cpus; vcpu++)
		for (u32 offset = 0; offset < 0x400; offset += 16) {
			assert_true(platform_mmio_read(
				f->platform, vcpu, gpa(LAPIC_BASE + offset), 4, &value));
			hash = (hash ^ value) * 1099511628211ull;
		}
	for (u32 reg = 0; reg < 0x40; reg++) {
		platform_mmio_write(f->platform, 0, gpa(IOAPIC_BASE), 4, reg);
		platform_mmio_read(f->platform, 0, gpa(IOAPIC_BASE + 16), 4, &value);
		hash = (hash ^ value) * 1099511628211ull;
	}
	return hash;
}

static void harm(struct fixture *f)
{
	static const u32 places[] = { 0x20, 0x40, 0x60, 0x70, 0x92, 0xa0, 0xe0, 0x3b0, 0x3d0, 0x3f8,
		0x4d0, 0x510, 0x600, 0xcf8, 0x2000, 0x8900 };
	u64 value;
	u32 size = 1u << below(3);
	u32 vcpu = below(f->platform->config.cpus);
	u16 port = (u16)(places[below(ARRAY_SIZE(places))] + below(24));

	switch (below(9)) {
	case 0:
	case 1:
	case 2:
		platform_io_write(f->platform, port, size, (u32)random64() & (u32)random64());
		break;
	case 3:
		platform_io_read(f->platform, port, size);
		break;
	case 4:
		platform_mmio_write(f->platform, vcpu, gpa(LAPIC_BASE + below(0x410)), 1 + below(8),
			random64() & random64());
		platform_mmio_write(f->platform, vcpu, gpa(LAPIC_BASE + below(64) * 16), 4,
			(u32)random64() & (u32)random64());
		break;
	case 5:
		platform_mmio_write(f->platform, vcpu, gpa(IOAPIC_BASE + below(6) * 16), 4,
			random64() & 0xff3f);
		platform_mmio_read(f->platform, vcpu, gpa(IOAPIC_BASE + below(4096)), size, &value);
		break;
	case 6:
		lapic_msr_write(platform_lapic(f->platform, vcpu),
			below(8)   ? 0x800 + below(0x40)
			: below(8) ? 0x6e0
				   : 0x1b,
			below(2) ? random64() & random64() : random64() & 0xfee00dffull);
		break;
	case 7:
		platform_interrupt_accept(f->platform, vcpu);
		platform_console_input(f->platform, (u8)random64());
		f->console_full = below(2);
		platform_console_ready(f->platform);
		break;
	case 8:
		f->now += random64() >> (24 + below(40));
		platform_run_timers(f->platform);
	}
}

/*
 * Whatever a guest does, nothing overflows or loops (sanitizers and the callbacks' checks judge),
 * the timers move on, and a reset gives the same machine as the first power-on.
 */
static void test_hostile_guest(void **state)
{
	struct fixture *f = fixture_new(4, HZ);
	struct fixture *fresh = fixture_new(4, HZ);

	(void)state;
	for (u32 step = 0; step < 300000; step++) {
		int pending = platform_interrupt_pending(f->platform, step % 4);

		assert_in_range(pending + 1, 0, 256);
		assert_true(lapic_tpr_threshold(platform_lapic(f->platform, step % 4)) <=
			    lapic_cr8_read(platform_lapic(f->platform, step % 4)));
		harm(f);
	}
	platform_reset(f->platform);
	assert_int_equal(f->platform->device_lines, 0);
	assert_int_equal(platform_interrupt_pending(f->platform, 0), -1);
	/* CMOS and time survive by design; put them side by side. */
	memcpy(f->platform->rtc.cmos, fresh->platform->rtc.cmos, sizeof(f->platform->rtc.cmos));
	f->platform->rtc.seconds = fresh->platform->rtc.seconds;
	f->platform->rtc.weekday_shift = 0;
	f->platform->rtc.base_tsc = fresh->platform->rtc.base_tsc = fresh->now = f->now;
	platform_reset(f->platform);
	platform_reset(fresh->platform);
	assert_int_equal(fingerprint(f), fingerprint(fresh));
	fixture_free(f);
	fixture_free(fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unclaimed_ports),
		cmocka_unit_test(test_keyboard_controller),
		cmocka_unit_test(test_fw_cfg),
		cmocka_unit_test(test_vga),
		cmocka_unit_test(test_test_device),
		cmocka_unit_test(test_hostile_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
