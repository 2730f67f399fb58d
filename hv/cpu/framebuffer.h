/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text console on the firmware's frame buffer, for machines without a serial port: the log is
 * mirrored there. Write only. It fills the screen from the top and begins again at the top when it
 * is full, since moving a screen of uncached pixels up a line would take longer than a log line
 * may.
 */
#ifndef HV_CPU_FRAMEBUFFER_H
#define HV_CPU_FRAMEBUFFER_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"

/* Pixels of a character's cell: each line of the font is shown twice. */
#define FRAMEBUFFER_CELL_WIDTH	8
#define FRAMEBUFFER_CELL_HEIGHT 16

/*
 * Takes a frame buffer whose memory the caller has mapped at `pixels`, and clears it.
 * ERR_NOT_FOUND: the firmware named none (base 0, size 0); ERR_INVALID: its geometry does not fit
 * its own size, or it has no room for one character. Nothing is ever written outside [pixels,
 * pixels + size).
 */
enum error __must_check framebuffer_init(const struct boot_framebuffer *described, void *pixels);

/* A log sink (hv/lib/log_sink.h): printable ASCII, CR and LF; other bytes are shown as '?'. */
void framebuffer_write(const char *text, size_t length);

#endif
