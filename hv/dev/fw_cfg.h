/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The firmware configuration device known from QEMU: a selector at port 0x510 (16 bits), data at
 * 0x511. It has just the keys that test suites and firmware ask for; there is no DMA and no file.
 */
#ifndef HV_DEV_FW_CFG_H
#define HV_DEV_FW_CFG_H

#include "hv/lib/types.h"

struct platform;

struct fw_cfg {
	u16 key;
	u32 offset; /* of the next byte to be read */
};

u32 fw_cfg_read(struct platform *platform, u16 port, u32 size);
void fw_cfg_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
