/* SPDX-License-Identifier: BSD-2-Clause */
/* MSRs as the guest sees them. Owner of the policy: msr.c. */
#ifndef VMX_MSR_H
#define VMX_MSR_H
#include "hv/lib/types.h"
struct msr_state {
	u64 placeholder;
};
#endif
