// SPDX-License-Identifier: BSD-2-Clause
/*
 * The I/O port bus. Each port is a device's by two constant tables: one by the high byte of the
 * port, and for the pages that have devices one by the low byte. Called by the exit handler of IN
 * and OUT, once an access.
 *
 * Not here on purpose: COM2 and the DMA controllers are absent, port 0x80 and 0xed (delays, POST
 * codes) and 0xe9 (the debug port of emulators) swallow writes and read all ones like every
 * unclaimed port.
 */
#include "hv/dev/board.h"

enum {
	DEV_NONE,
	DEV_PIC,
	DEV_PIT,
	DEV_KEYBOARD,
	DEV_RTC,
	DEV_UART,
	DEV_PM,
	DEV_PCI,
	DEV_FW_CFG,
	DEV_VGA,
	DEV_TEST_EXIT,
	DEV_TEST_LATCH,
	DEV_TEST_UNMAP,
	DEV_TEST_IRQ,
	DEV_SHUTDOWN,
};

static u32 pic_port_read(struct platform *platform, u16 port, u32 size)
{
	bool intr = platform->pic.intr;
	u8 value = pic_read(&platform->pic, port);

	(void)size;
	if (platform->pic.intr != intr) /* a poll takes an interrupt */
		board_pic_changed(platform);
	return value;
}

static void pic_port_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	bool intr = platform->pic.intr;

	(void)size;
	pic_write(&platform->pic, port, (u8)value);
	if (platform->pic.intr != intr)
		board_pic_changed(platform);
}

/*
 * wide: the device takes every width within one aligned dword of its ports as it is; the others are
 * 8 bits wide, and the ISA bus cuts a wider access to them into bytes. What is read fits the size;
 * what is written may have anything above it.
 */
static const struct port_device {
	u32 (*read)(struct platform *platform, u16 port, u32 size);
	void (*write)(struct platform *platform, u16 port, u32 size, u32 value);
	bool wide;
} devices[] = {
	[DEV_PIC] = { pic_port_read, pic_port_write, false },
	[DEV_PIT] = { pit_read, pit_write, false },
	[DEV_KEYBOARD] = { keyboard_read, keyboard_write, false },
	[DEV_RTC] = { rtc_read, rtc_write, false },
	[DEV_UART] = { uart_read, uart_write, false },
	[DEV_PM] = { pm_read, pm_write, true },
	[DEV_PCI] = { pci_read, pci_write, true },
	[DEV_FW_CFG] = { fw_cfg_read, fw_cfg_write, true },
	[DEV_VGA] = { vga_read, vga_write, false },
	[DEV_TEST_EXIT] = { test_no_read, test_exit_write, true },
	[DEV_TEST_LATCH] = { test_latch_read, test_latch_write, true },
	[DEV_TEST_UNMAP] = { test_no_read, test_unmap_write, true },
	[DEV_TEST_IRQ] = { test_no_read, test_irq_write, false },
	[DEV_SHUTDOWN] = { test_no_read, test_shutdown_write, false },
};

static const u8 page_00[256] = {
	[0x20 ... 0x21] = DEV_PIC,
	[0x40 ... 0x43] = DEV_PIT,
	[0x60] = DEV_KEYBOARD,
	[0x61] = DEV_PIT,
	[0x64] = DEV_KEYBOARD,
	[0x70 ... 0x71] = DEV_RTC,
	[0x92] = DEV_KEYBOARD,
	[0xa0 ... 0xa1] = DEV_PIC,
	[PORT_TEST_LATCH... PORT_TEST_LATCH + 3] = DEV_TEST_LATCH,
	[PORT_TEST_UNMAP] = DEV_TEST_UNMAP,
	[PORT_TEST_EXIT] = DEV_TEST_EXIT,
};
static const u8 page_03[256] = {
	[0xb0 ... 0xdf] = DEV_VGA,
	[0xf8 ... 0xff] = DEV_UART,
};
static const u8 page_04[256] = { [0xd0 ... 0xd1] = DEV_PIC };
static const u8 page_05[256] = { [0x10 ... 0x11] = DEV_FW_CFG };
static const u8 page_06[256] = {
	[PORT_PM1_EVENT - 0x600 ... PORT_PM_TIMER + 3 - 0x600] = DEV_PM,
};
static const u8 page_0c[256] = { [0xf8 ... 0xff] = DEV_PCI };
static const u8 page_20[256] = {
	[PORT_TEST_IRQ - 0x2000 ... PORT_TEST_IRQ - 0x2000 + IOAPIC_PINS - 1] = DEV_TEST_IRQ,
};
static const u8 page_89[256] = { [PORT_SHUTDOWN - 0x8900] = DEV_SHUTDOWN };

static const u8 *const pages[256] = {
	[0x00] = page_00,
	[0x03] = page_03,
	[0x04] = page_04,
	[0x05] = page_05,
	[0x06] = page_06,
	[0x0c] = page_0c,
	[0x20] = page_20,
	[0x89] = page_89,
};

static inline u32 device_at(u16 port)
{
	const u8 *page = pages[port >> 8];

	return page ? page[port & 0xff] : DEV_NONE;
}

static inline bool within_dword(u16 port, u32 size)
{
	return (port & 3) + size <= 4;
}

/* A device takes the access whole. Its dword need not be all its own: the test ports are single. */
static inline bool takes_whole(const struct port_device *device, u16 port, u32 size)
{
	return size == 1 || (device->wide && within_dword(port, size));
}

/* No device has a port of this access: not in its page, and it stays within it. */
static inline bool nobody(u16 port, u32 size)
{
	return !pages[port >> 8] && (port & 0xff) + size <= 0x100;
}

/* Out of line: what all but a few guests do is one access of the right width. */
static __attribute__((noinline)) u32 read_bytes(struct platform *platform, u16 port, u32 size)
{
	u32 value = 0;

	if (size == 1 || nobody(port, size))
		return all_ones(size);
	for (u32 i = 0; i < size; i++) {
		/* Beyond port 0xffff there is nothing. */
		u32 at = port + i;
		u32 byte = at > 0xffff ? 0xff : platform_io_read(platform, (u16)at, 1);

		value |= byte << 8 * i;
	}
	return value;
}

u32 platform_io_read(struct platform *platform, u16 port, u32 size)
{
	u32 number = device_at(port);
	const struct port_device *device = &devices[number];

	if (likely(number != DEV_NONE && takes_whole(device, port, size)))
		return device->read(platform, port, size);
	return read_bytes(platform, port, size);
}

static __attribute__((noinline)) void write_bytes(
	struct platform *platform, u16 port, u32 size, u32 value)
{
	if (size == 1 || nobody(port, size))
		return;
	for (u32 i = 0; i < size && port + i <= 0xffff; i++)
		platform_io_write(platform, (u16)(port + i), 1, value >> 8 * i & 0xff);
}

void platform_io_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	u32 number = device_at(port);
	const struct port_device *device = &devices[number];

	if (likely(number != DEV_NONE && takes_whole(device, port, size)))
		device->write(platform, port, size, value);
	else
		write_bytes(platform, port, size, value);
}
