/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 64-bit TSS as the processor reads it (SDM 3A 8.7) and the I/O permission bitmap behind it. A
 * VM exit forces TR's hidden limit to TSS_LIMIT_AFTER_EXIT (SDM 3C 28.5.2): the fixed part exactly,
 * and nothing of the bitmap.
 */
#ifndef TSS_TSS_H
#define TSS_TSS_H

#include "hv/lib/types.h"

struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7]; /* IST1 is ist[0] */
	u64 reserved2;
	u16 reserved3;
	u16 io_bitmap_base; /* from the start of the TSS */
} __packed;

#define IO_BITMAP_BYTES	     8192
#define IO_BITMAP_TERMINATOR 8 /* all ones; the processor reads two bytes for each access */

struct tss_area {
	struct tss tss;
	u8 io_bitmap[IO_BITMAP_BYTES];
	u8 terminator[IO_BITMAP_TERMINATOR];
} __packed;

#define TSS_IO_BITMAP_OFFSET 104
#define TSS_LIMIT_AFTER_EXIT 0x67
/* A limit is the address of the last valid byte. */
#define TSS_LIMIT	     (TSS_IO_BITMAP_OFFSET + IO_BITMAP_BYTES + IO_BITMAP_TERMINATOR - 1)
/* A base beyond the limit: every port faults at CPL > IOPL. */
#define TSS_NO_IO_BITMAP     (TSS_LIMIT + 1)

_Static_assert(sizeof(struct tss) == 104, "SDM 3A 8.7: the fixed part of the TSS is 104 bytes");
_Static_assert(
	offsetof(struct tss_area, io_bitmap) == TSS_IO_BITMAP_OFFSET, "bitmap behind the TSS");
_Static_assert(offsetof(struct tss_area, io_bitmap) - 1 == TSS_LIMIT_AFTER_EXIT,
	"an exit leaves exactly the fixed part");

#endif
