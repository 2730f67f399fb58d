// SPDX-License-Identifier: BSD-2-Clause
/*
 * VGA register file. Called by ports.c.
 */
#include "hv/dev/board.h"
#include "hv/lib/string.h"

#define FIRST_PORT    0x3b0
#define STATUS_MONO   0x3ba
#define STATUS_COLOUR 0x3da
#define RETRACE	      0x09 /* display disabled, vertical retrace */

/* The register behind an index/data pair's data port, or the port's own value. */
static u8 *place(struct vga *vga, u16 port)
{
	u8 *ports = vga->ports;

	switch (port) {
	case 0x3b5:
	case 0x3d5:
		return &vga->crtc[ports[port - 1 - FIRST_PORT]];
	case 0x3c5:
		return &vga->sequencer[ports[0x3c4 - FIRST_PORT]];
	case 0x3cf:
		return &vga->graphics[ports[0x3ce - FIRST_PORT]];
	default:
		return &ports[port - FIRST_PORT];
	}
}

u32 vga_read(struct platform *platform, u16 port, u32 size)
{
	struct vga *vga = &platform->vga;

	(void)size;
	if (port == STATUS_COLOUR || port == STATUS_MONO) {
		vga->status ^= RETRACE;
		return vga->status;
	}
	return *place(vga, port);
}

void vga_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	(void)size;
	*place(&platform->vga, port) = (u8)value;
}

void vga_reset(struct platform *platform)
{
	memset(&platform->vga, 0, sizeof(platform->vga));
}
