/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VGA registers that do no harm: ports 0x3b0..0x3df. Nothing is displayed; what was written can be
 * read back, and the retrace bits move so that loops waiting for them end. The memory at VGA_MEMORY
 * reads all ones.
 */
#ifndef HV_DEV_VGA_H
#define HV_DEV_VGA_H

#include "hv/lib/types.h"

struct platform;

#define VGA_MEMORY	0xa0000ull
#define VGA_MEMORY_SIZE 0x20000ull

struct vga {
	u8 ports[0x30]; /* last values written */
	u8 crtc[256], sequencer[256], graphics[256];
	u8 status; /* 0x3da: toggles with each read */
};

void vga_reset(struct platform *platform);
u32 vga_read(struct platform *platform, u16 port, u32 size);
void vga_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
