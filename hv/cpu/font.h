/* SPDX-License-Identifier: BSD-2-Clause */
/* The letters of the frame buffer console: printable ASCII, eight by eight. */
#ifndef HV_CPU_FONT_H
#define HV_CPU_FONT_H

#include "hv/lib/types.h"

#define FONT_FIRST  ' '
#define FONT_GLYPHS ('~' - ' ' + 1)
#define FONT_LINES  8
#define FONT_WIDTH  8

extern const u8 font[FONT_GLYPHS][FONT_LINES]; /* bit 7: the leftmost pixel */

#endif
