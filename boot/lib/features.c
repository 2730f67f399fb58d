// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processor features without which the hypervisor does not start. Called by boot/processor.c
 * while the firmware is still there to go back to.
 */
#include "boot/lib/features.h"

#define ALLOWED_1(bit) BIT(32 + (bit)) /* of a control, in its capability MSR (SDM 3D A.3.1) */

#define CPUID_VMX	   BIT(5)
#define CPUID_NX	   BIT(20)
#define CPUID_LONG_MODE	   BIT(29)
#define CR4_LA57	   BIT(12)
#define VMX_BASIC_TYPE	   (0xfull << 50)
#define VMX_BASIC_TYPE_WB  (6ull << 50)
#define SECONDARY_CONTROLS ALLOWED_1(31)
#define ENABLE_EPT	   ALLOWED_1(1)
#define ENABLE_VPID	   ALLOWED_1(5)
#define EPT_TYPE_UC	   BIT(8)
#define EPT_TYPE_WB	   BIT(14)
#define FEATURE_LOCKED	   BIT(0)
#define FEATURE_VMX	   BIT(2) /* VMXON outside SMX */

/* How the masked bits are compared. */
enum comparison {
	IS,	/* must be the value */
	IS_NOT, /* must be anything else */
};

struct requirement {
	enum feature_source source;
	u64 mask;
	enum comparison comparison;
	u64 value;
	const char *refusal;
};

#define NEEDS(source, bits, what)                               \
	{                                                       \
		source, bits, IS, bits, "this CPU has no " what \
	}

/* Order matters: what explains most comes first. */
static const struct requirement requirements[] = {
	NEEDS(FEATURES_CPUID_1_ECX, CPUID_VMX,
		"VMX (Intel VT-x); use an Intel machine, in a virtual machine switch nested "
		"virtualization on"),
	NEEDS(FEATURES_CPUID_80000001_EDX, CPUID_LONG_MODE, "64-bit mode; use a 64-bit machine"),
	NEEDS(FEATURES_CPUID_80000001_EDX, CPUID_NX,
		"NX (execute disable), or the firmware hides it; switch it on in the firmware's "
		"setup"),
	{ FEATURES_CR4, CR4_LA57, IS, 0,
		"the firmware runs with 5-level paging (CR4.LA57); switch that off in its setup" },
	/* SDM 3C 24.7: what is locked cannot be set; what is not, the hypervisor sets and locks. */
	{ FEATURES_FEATURE_CONTROL, FEATURE_LOCKED | FEATURE_VMX, IS_NOT, FEATURE_LOCKED,
		"VMX is locked off in IA32_FEATURE_CONTROL; switch virtualization (VT-x) on in the "
		"firmware's setup" },
	{ FEATURES_VMX_BASIC, VMX_BASIC_TYPE, IS, VMX_BASIC_TYPE_WB,
		"this CPU has no write-back VMCS memory (IA32_VMX_BASIC); use another machine" },
	NEEDS(FEATURES_VMX_PINBASED, ALLOWED_1(0),
		"external-interrupt exiting; use a newer machine"),
	NEEDS(FEATURES_VMX_PINBASED, ALLOWED_1(3), "NMI exiting; use a newer machine"),
	NEEDS(FEATURES_VMX_PROCBASED, ALLOWED_1(28), "MSR bitmaps; use a newer machine"),
	NEEDS(FEATURES_VMX_PROCBASED, SECONDARY_CONTROLS,
		"secondary processor-based VM-execution controls; use a newer machine"),
	NEEDS(FEATURES_VMX_PROCBASED2, ENABLE_EPT,
		"EPT (extended page tables); use a newer machine"),
	NEEDS(FEATURES_VMX_PROCBASED2, ALLOWED_1(7), "unrestricted guest; use a newer machine"),
	NEEDS(FEATURES_VMX_EPT_VPID, BIT(6), "EPT with 4 levels; use a newer machine"),
	{ FEATURES_VMX_EPT_VPID, EPT_TYPE_UC | EPT_TYPE_WB, IS_NOT, 0,
		"this CPU has no EPT in write-back or uncacheable memory; use a newer machine" },
	NEEDS(FEATURES_VMX_EXIT, ALLOWED_1(9), "64-bit host for VM exits; use a newer machine"),
	NEEDS(FEATURES_VMX_EXIT, ALLOWED_1(21),
		"\"load IA32_EFER\" VM-exit control; use a newer machine"),
	NEEDS(FEATURES_VMX_ENTRY, ALLOWED_1(9), "64-bit guests (IA-32e mode); use a newer machine"),
	NEEDS(FEATURES_VMX_ENTRY, ALLOWED_1(15),
		"\"load IA32_EFER\" VM-entry control; use a newer machine"),
};

bool features_has_vmx(const struct features *features)
{
	return features->source[FEATURES_CPUID_1_ECX] & CPUID_VMX;
}

bool features_has_procbased2(const struct features *features)
{
	return features->source[FEATURES_VMX_PROCBASED] & SECONDARY_CONTROLS;
}

bool features_has_ept_vpid(const struct features *features)
{
	return features->source[FEATURES_VMX_PROCBASED2] & (ENABLE_EPT | ENABLE_VPID);
}

const char *features_refusal(const struct features *features)
{
	for (size_t i = 0; i < ARRAY_SIZE(requirements); i++) {
		const struct requirement *need = &requirements[i];
		bool equal = (features->source[need->source] & need->mask) == need->value;

		if (equal != (need->comparison == IS))
			return need->refusal;
	}
	return NULL;
}
