/* SPDX-License-Identifier: BSD-2-Clause */
/* From a UEFI graphics mode to a frame buffer that can be drawn into (UEFI 2.10, 12.9). */
#ifndef BOOT_LIB_GOP_H
#define BOOT_LIB_GOP_H

#include "boot/boot_info.h"

/* EFI_GRAPHICS_PIXEL_FORMAT. */
enum gop_format { GOP_RGB, GOP_BGR, GOP_BIT_MASK, GOP_BLT_ONLY };

struct gop_mode {
	u64 base, size; /* FrameBufferBase, FrameBufferSize */
	u32 width, height, stride;
	u32 format; /* enum gop_format, or whatever firmware says */
	u32 red_mask, green_mask, blue_mask, reserved_mask; /* GOP_BIT_MASK only */
};

/*
 * Whether the mode has a frame buffer of 4 bytes a pixel that holds the whole picture; all zero if
 * not.
 */
bool gop_framebuffer(const struct gop_mode *mode, struct boot_framebuffer *framebuffer);

#endif
