/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's screen. */
#ifndef BOOT_GRAPHICS_H
#define BOOT_GRAPHICS_H

#include "boot/boot_info.h"

/* The first screen with a frame buffer, in the mode it is in; all zero if there is none. */
void graphics_find(struct boot_framebuffer *framebuffer);

#endif
