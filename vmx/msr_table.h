/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows behind vmx/msr.h: for msr.c and its tests. */
#ifndef VMX_MSR_TABLE_H
#define VMX_MSR_TABLE_H

#include "hv/lib/types.h"

/* Where the guest's value is. */
enum msr_store {
	STORE_CONSTANT, /* `reset` */
	STORE_STATE,	/* in struct msr_state at offset `where` */
	STORE_FIELD,	/* VMCS field `where` */
	STORE_LIVE,	/* the processor's own MSR */
	STORE_HANDLER,	/* functions of enum msr_handler `where` */
};

enum msr_handler { HANDLE_TSC, HANDLE_TSC_ADJUST, HANDLE_EFER, HANDLE_LAPIC, MSR_HANDLERS };

/* What a written value must be; otherwise #GP(0). */
enum msr_check {
	CHECK_READ_ONLY,
	CHECK_WRITE_ONLY, /* reads are #GP(0); writes as CHECK_BITS */
	CHECK_BITS,	  /* nothing outside `valid` */
	CHECK_CANONICAL,
	CHECK_PAT,	     /* SDM 3A 12.12.2 */
	CHECK_MTRR_FIXED,    /* eight memory types, SDM 3A 12.11.2.2 */
	CHECK_MTRR_VARIABLE, /* even: base and type, odd: mask, SDM 3A 12.11.2.3 */
	CHECK_MTRR_DEFAULT,  /* type and enables, SDM 3A 12.11.2.1 */
};

/* Accesses that need no exit: the MSR bitmap lets them through. */
enum { PASS_NONE, PASS_READ, PASS_WRITE, PASS_BOTH };

struct msr_row {
	u32 first, last;
	u8 store, check, pass;
	u16 where;
	u32 feature; /* enum cpuid_feature the MSR exists with; 0: always */
	u64 reset;
	u64 valid;    /* for CHECK_BITS and CHECK_WRITE_ONLY */
	u64 writable; /* STORE_STATE: bits a write changes; the others keep their value */
};

/* NULL: the guest has no such MSR. */
const struct msr_row *msr_row_find(u32 index);

/* All rows by ascending index. */
extern const struct msr_row msr_rows[];
extern const u32 msr_row_count;

#endif
