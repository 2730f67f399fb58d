/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading segment registers from descriptors in the guest's memory, as a task switch does it (SDM
 * 3A 3.4.5, 8.3). Interrupts off, VMCS current.
 */
#ifndef VMX_SEGMENT_LOAD_H
#define VMX_SEGMENT_LOAD_H

#include "vmx/access.h"

/* A code, data or system descriptor, taken apart. */
struct descriptor {
	u64 raw;
	gva_t address; /* where it lies */
	u32 base;
	u32 limit;  /* bytes, scaled by G */
	u32 rights; /* in the layout of the VMCS (SDM 3C table 25-2) */
};

/* Types of system segments in protected mode: SDM 3A table 3-2. */
enum { TYPE_TSS16 = 1, TYPE_LDT = 2, TYPE_TSS16_BUSY = 3, TYPE_TSS32 = 9, TYPE_TSS32_BUSY = 11 };
#define TYPE_BUSY   BIT(1)
#define TYPE_32_BIT BIT(3)

enum descriptor_result {
	DESCRIPTOR_OK,
	DESCRIPTOR_OUTSIDE, /* null, or beyond the table's limit */
	DESCRIPTOR_STOPPED, /* reading it faulted: access->action */
};

/* The descriptor that selector names in the GDT or LDT. */
enum descriptor_result descriptor_read(
	struct guest_access *access, u16 selector, struct descriptor *d);

/* Memory that the processor itself reads and writes (WALK_IMPLICIT): false as in access.h. */
bool __must_check linear_read(struct guest_access *access, gva_t from, void *to, u32 size);
bool __must_check linear_write(struct guest_access *access, gva_t to, const void *from, u32 size);
/* Translates the range for writing, so that a linear_write() to it cannot fault afterwards. */
bool __must_check linear_probe_write(struct guest_access *access, gva_t to, u32 size);

/*
 * LDTR, then CS, SS, DS, ES, FS, GS from selectors[] (enum segment), with the checks of a task
 * switch: a bad one is #TS, #NP or #SS with the selector as error code, plus external (EXT, 0 or
 * 1). False: access->action.
 */
bool __must_check segments_load(
	struct guest_access *access, u16 ldt, const u16 selectors[6], u32 external);
/* The same for virtual-8086 mode: bases from the selectors, nothing to check. */
void segments_load_vm86(const u16 selectors[6]);

#endif
