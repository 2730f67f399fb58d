/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows behind vmx/entry_check.h, in groups, and what they may ask. */
#ifndef VMX_ENTRY_CHECK_ROWS_H
#define VMX_ENTRY_CHECK_ROWS_H

#include "hv/lib/types.h"

/* The control words and facts that many checks depend on, read once. */
struct entry_context {
	u32 pin, primary, secondary, exit, entry;
	bool ia32e;	   /* entry control "IA-32e mode guest" */
	bool unrestricted; /* and EPT */
	bool v86;	   /* guest RFLAGS.VM */
	bool protected_mode;
	bool pae_pdptes;  /* EPT and PAE paging: the PDPTEs are in the VMCS */
	u64 address_high; /* bits above the physical-address width */
	u32 linear_width;
};

enum entry_check_kind {
	CHECK_CLEAR,   /* all bits of `mask` are 0 */
	CHECK_SET,     /* all bits of `mask` are 1 */
	CHECK_LINEAR,  /* canonical */
	CHECK_ADDRESS, /* physical: bits of `mask` (alignment) and above the width are 0 */
	CHECK_FUNCTION,
};

struct entry_check {
	bool (*applies)(const struct entry_context *context); /* NULL: always */
	u32 field;
	u8 kind;
	u64 mask;
	bool (*holds)(const struct entry_context *context, u64 value);
	const char *rule;
};

/*
 * SDM 3C 27.2.1; 27.2.2 to 27.2.4; 27.3.1.1; 27.3.1.3 to 27.3.1.6. Each ends with a row whose rule
 * is NULL.
 */
extern const struct entry_check entry_checks_controls[];
extern const struct entry_check entry_checks_host[];
extern const struct entry_check entry_checks_guest_registers[];
extern const struct entry_check entry_checks_guest_rest[];

/*
 * SDM 3C 27.3.1.2: the first rule about segment registers that is broken, and the field it is
 * about; NULL: none is. entry_check_segment_rule() names them one by one (NULL: no more), for the
 * test.
 */
const char *entry_check_segments(const struct entry_context *context, u32 *field);
const char *entry_check_segment_rule(u32 number);

/* For checks of several files. */
bool entry_check_is_canonical(const struct entry_context *context, u64 address);
bool entry_check_is_pat(const struct entry_context *context, u64 value);
bool entry_check_is_cr4(const struct entry_context *context, u64 value);

#endif
