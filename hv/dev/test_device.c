// SPDX-License-Identifier: BSD-2-Clause
/*
 * The test device. Called by ports.c for every access to its ports; each function looks first
 * whether the port is switched on.
 */
#include "hv/dev/board.h"
#include "hv/lib/string.h"

static const char shutdown_word[] = "Shutdown";

static bool can_exit(const struct platform *platform)
{
	return platform->config.test_device || platform->config.exit_port;
}

u32 test_no_read(struct platform *platform, u16 port, u32 size)
{
	(void)platform;
	(void)port;
	return all_ones(size);
}

void test_exit_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	(void)port;
	(void)size;
	if (can_exit(platform))
		board_stop(platform, STOP_EXIT_PORT, (u8)value);
}

void test_shutdown_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	u32 *matched = &platform->test.shutdown_matched;

	(void)port;
	(void)size;
	if (!can_exit(platform))
		return;
	if ((u8)value != (u8)shutdown_word[*matched])
		*matched = 0;
	if ((u8)value == (u8)shutdown_word[*matched])
		++*matched;
	if (*matched == sizeof(shutdown_word) - 1) {
		*matched = 0;
		board_stop(platform, STOP_POWER_OFF, 0);
	}
}

u32 test_latch_read(struct platform *platform, u16 port, u32 size)
{
	u32 value = all_ones(size);

	if (platform->config.test_device)
		memcpy(&value, &platform->test.latch[port - PORT_TEST_LATCH], size);
	return value;
}

void test_latch_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	if (platform->config.test_device)
		memcpy(&platform->test.latch[port - PORT_TEST_LATCH], &value, size);
}

void test_unmap_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	const struct platform_host *host = &platform->config.host;

	(void)port;
	if (platform->config.test_device && size == 4)
		host->unmap_once(host->context, gpa(ALIGN_DOWN(value, PAGE_SIZE)));
}

void test_irq_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	(void)size;
	if (platform->config.test_device)
		board_test_irq(platform, port - PORT_TEST_IRQ, (u8)value != 0);
}

void test_device_reset(struct platform *platform)
{
	memset(&platform->test, 0, sizeof(platform->test));
	for (u32 line = 0; line < IOAPIC_PINS; line++)
		board_test_irq(platform, line, false);
}
