/* SPDX-License-Identifier: BSD-2-Clause */
/* GDT and TSS of payload kernels. */
#ifndef TESTS_GUEST_LIB_SEGMENTS_H
#define TESTS_GUEST_LIB_SEGMENTS_H

#include "hv/lib/types.h"

enum {
	SEL_CODE64 = 0x08,
	SEL_DATA = 0x10,
	SEL_CODE32 = 0x18,
	SEL_USER_CODE32 = 0x20 | 3,
	SEL_USER_DATA = 0x28 | 3, /* the order that SYSRET and SYSEXIT want */
	SEL_USER_CODE64 = 0x30 | 3,
	SEL_CODE16 = 0x38,
	SEL_DATA16 = 0x40,
	SEL_TSS = 0x48,	    /* 16 bytes */
	SEL_SCRATCH = 0x58, /* two slots for a case's own descriptors */
	GDT_ENTRIES = 16,
};

/* SDM 3A 8.7: 104 bytes, then the I/O permission bitmap and its terminator. */
struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3;
	u16 io_bitmap_base;
	u8 io_bitmap[8192 + 1];
} __packed;

#define TSS_FIXED_SIZE 104u
_Static_assert(offsetof(struct tss, io_bitmap) == TSS_FIXED_SIZE, "hardware TSS is 104 bytes");

extern u64 gdt[GDT_ENTRIES];
extern struct tss tss;

struct descriptor_pointer {
	u16 limit;
	u64 base;
} __packed;

/*
 * GDT as at start, TSS without I/O bitmap (base beyond the limit), TR and segment registers loaded.
 */
void segments_reset(void);
/* TSS descriptor with this limit, made available and loaded into TR. */
void segments_load_tss(u32 limit);

#endif
