/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a processor must have to run the hypervisor, decided from values that boot/processor.c
 * reads. A register that this processor does not have is given as 0.
 */
#ifndef BOOT_LIB_FEATURES_H
#define BOOT_LIB_FEATURES_H

#include "hv/lib/types.h"

enum feature_source {
	FEATURES_CPUID_1_ECX,
	FEATURES_CPUID_80000001_EDX,
	FEATURES_CR4,
	FEATURES_VMX_BASIC,	  /* IA32_VMX_BASIC */
	FEATURES_VMX_PINBASED,	  /* IA32_VMX_PINBASED_CTLS; bits 63:32: what may be 1 */
	FEATURES_VMX_PROCBASED,	  /* IA32_VMX_PROCBASED_CTLS */
	FEATURES_VMX_PROCBASED2,  /* IA32_VMX_PROCBASED_CTLS2 */
	FEATURES_VMX_EXIT,	  /* IA32_VMX_EXIT_CTLS */
	FEATURES_VMX_ENTRY,	  /* IA32_VMX_ENTRY_CTLS */
	FEATURES_VMX_EPT_VPID,	  /* IA32_VMX_EPT_VPID_CAP */
	FEATURES_FEATURE_CONTROL, /* IA32_FEATURE_CONTROL */
	FEATURES_COUNT,
};

struct features {
	u64 source[FEATURES_COUNT];
};

/* Which registers exist, from the values read before them (SDM 3D, appendix A). */
bool features_has_vmx(const struct features *features);
bool features_has_procbased2(const struct features *features);
bool features_has_ept_vpid(const struct features *features);

/* NULL, or one line that names the first thing that is missing or in the way, and what to do. */
const char *features_refusal(const struct features *features);

#endif
