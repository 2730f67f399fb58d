/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUID as the guest sees it. Owner of the policy: cpuid.c. */
#ifndef VMX_CPUID_H
#define VMX_CPUID_H
#include "hv/lib/types.h"
struct cpuid_policy;
#endif
