// SPDX-License-Identifier: BSD-2-Clause
/*
 * Firmware configuration. Every item fits a 64-bit number, little-endian; what lies beyond reads as
 * zero. Called by ports.c.
 */
#include "hv/dev/board.h"

enum {
	KEY_SIGNATURE = 0x00,
	KEY_ID = 0x01,
	KEY_RAM_SIZE = 0x03,
	KEY_CPUS = 0x05,
	KEY_CPUS_MAX = 0x0f,
	KEY_FILE_DIRECTORY = 0x19,
};

#define SELECTOR  0x510
#define SIGNATURE 0x554d4551 /* "QEMU" */
#define INTERFACE 1	     /* selector and data port, no DMA */
#define BYTES	  8

static u64 item(const struct platform *platform)
{
	switch (platform->fw_cfg.key) {
	case KEY_SIGNATURE:
		return SIGNATURE;
	case KEY_ID:
		return INTERFACE;
	case KEY_RAM_SIZE:
		return platform->config.memory_size;
	case KEY_CPUS:
	case KEY_CPUS_MAX:
		return platform->config.cpus;
	case KEY_FILE_DIRECTORY: /* the number of files */
	default:
		return 0;
	}
}

u32 fw_cfg_read(struct platform *platform, u16 port, u32 size)
{
	struct fw_cfg *fw_cfg = &platform->fw_cfg;

	if (port == SELECTOR || size != 1)
		return all_ones(size);
	if (fw_cfg->offset >= BYTES)
		return 0;
	return (u8)(item(platform) >> 8 * fw_cfg->offset++);
}

void fw_cfg_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	if (port == SELECTOR && size == 2)
		platform->fw_cfg = (struct fw_cfg){ .key = (u16)value };
}
