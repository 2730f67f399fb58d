// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks a graphics mode. Called by boot/graphics.c with what firmware says, which is known to be
 * wrong at times: no frame buffer at all, a size of 0, masks that overlap.
 */
#include "boot/lib/gop.h"

#define SIDE_MAX  32768 /* pixels; no product below overflows */
#define PIXEL	  4	/* bytes */
#define ADDRESSES BIT(52)

static bool masks_of(const struct gop_mode *mode, struct boot_framebuffer *framebuffer)
{
	static const u32 bytes[3] = { 0x0000ff, 0x00ff00, 0xff0000 };
	u32 all = mode->red_mask | mode->green_mask | mode->blue_mask | mode->reserved_mask;

	framebuffer->green_mask = bytes[1];
	switch (mode->format) {
	case GOP_RGB:
		framebuffer->red_mask = bytes[0];
		framebuffer->blue_mask = bytes[2];
		return true;
	case GOP_BGR:
		framebuffer->red_mask = bytes[2];
		framebuffer->blue_mask = bytes[0];
		return true;
	case GOP_BIT_MASK:
		framebuffer->red_mask = mode->red_mask;
		framebuffer->green_mask = mode->green_mask;
		framebuffer->blue_mask = mode->blue_mask;
		/*
		 * A mask below bit 23 means pixels of fewer bytes; the reserved one may be absent.
		 */
		return mode->red_mask && mode->green_mask && mode->blue_mask && all >> 23 &&
		       !(mode->red_mask & mode->green_mask) &&
		       !((mode->red_mask | mode->green_mask) & mode->blue_mask);
	default:
		return false;
	}
}

static bool geometry_is_sound(const struct gop_mode *mode)
{
	if (!mode->base || mode->base >= ADDRESSES || mode->size > ADDRESSES - mode->base)
		return false;
	if (!mode->width || !mode->height || mode->width > mode->stride ||
		mode->stride > SIDE_MAX || mode->height > SIDE_MAX)
		return false;
	return (u64)mode->stride * mode->height * PIXEL <= mode->size;
}

bool gop_framebuffer(const struct gop_mode *mode, struct boot_framebuffer *framebuffer)
{
	*framebuffer = (struct boot_framebuffer){ 0 };
	if (!geometry_is_sound(mode) || !masks_of(mode, framebuffer)) {
		*framebuffer = (struct boot_framebuffer){ 0 };
		return false;
	}
	framebuffer->base = mode->base;
	framebuffer->size = mode->size;
	framebuffer->width = mode->width;
	framebuffer->height = mode->height;
	framebuffer->stride = mode->stride;
	return true;
}
