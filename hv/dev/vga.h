/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VGA registers that do no harm: ports 0x3b0..0x3df. Nothing is displayed; what was written can be
 * read back, and the retrace bits move so that loops waiting for them end. Where a PC has video
 * memory a guest has RAM (hv/vm/guest_map.c).
 */
#ifndef HV_DEV_VGA_H
#define HV_DEV_VGA_H

#include "hv/lib/types.h"

struct platform;

struct vga {
	u8 ports[0x30]; /* last values written */
	u8 crtc[256], sequencer[256], graphics[256];
	u8 status; /* 0x3da: toggles with each read */
};

void vga_reset(struct platform *platform);
u32 vga_read(struct platform *platform, u16 port, u32 size);
void vga_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
