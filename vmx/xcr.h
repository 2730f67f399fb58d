/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * XCR0: which states XSAVE manages. The guest's value stays in the processor while its vCPU is
 * loaded; the host has no vector code that would care. Interrupts off; host CR4.OSXSAVE set.
 */
#ifndef VMX_XCR_H
#define VMX_XCR_H

#include "hv/lib/types.h"

struct cpuid_policy;
struct vcpu;

/* SDM 2D XSETBV: whether XSETBV takes the value with the policy's CPUID.0DH. */
bool xcr0_valid(const struct cpuid_policy *policy, u64 value);

/* Notes the value and the sizes that CPUID.0DH reports for it. Does not load it. */
void xcr0_set(struct vcpu *vcpu, u64 value);
#endif
