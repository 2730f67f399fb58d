/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processor state that is neither in the VMCS nor in struct vcpu: while a guest runs, and between
 * its exits, it simply stays in the processor. A VM starts with all of it at its reset values, so
 * that nothing of an earlier VM, of the firmware or of the host shows.
 */
#ifndef VMX_GUEST_STATE_H
#define VMX_GUEST_STATE_H

#include "hv/lib/types.h"

struct cpuid_policy;

/*
 * CR4.OSXSAVE for the host (it loads XCR0 for guests); once a CPU, before a VMCS takes CR4 from it.
 */
void guest_state_enable(void);

/*
 * x87, vector and all other XSAVE state, XCR0, XSS, DR0 to DR3, DR6, CR2, the MSRs that the policy
 * keeps in the processor. Interrupts off.
 */
void guest_state_reset(const struct cpuid_policy *policy);

#endif
