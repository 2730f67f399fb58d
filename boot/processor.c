// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads CPUID, CR4 and the VMX capability MSRs. Called by boot/main.c and what it calls. An MSR is
 * read only where the registers before it say that it exists, since firmware does not survive a
 * #GP.
 */
#include "boot/processor.h"
#include "boot/lib/features.h"
#include "boot/report.h"

#define IA32_FEATURE_CONTROL	 0x3a
#define IA32_VMX_BASIC		 0x480
#define IA32_VMX_PINBASED_CTLS	 0x481
#define IA32_VMX_PROCBASED_CTLS	 0x482
#define IA32_VMX_EXIT_CTLS	 0x483
#define IA32_VMX_ENTRY_CTLS	 0x484
#define IA32_VMX_PROCBASED_CTLS2 0x48b
#define IA32_VMX_EPT_VPID_CAP	 0x48c

struct cpuid_result {
	u32 eax, ebx, ecx, edx;
};

/* All zero if the leaf is above the highest of its range. */
static struct cpuid_result cpuid(u32 leaf)
{
	struct cpuid_result result;
	u32 highest = leaf & 0x80000000;

	asm volatile("cpuid" : "+a"(highest), "=b"(result.ebx), "=c"(result.ecx), "=d"(result.edx));
	if (leaf > highest)
		return (struct cpuid_result){ 0 };
	asm volatile("cpuid"
		     : "=a"(result.eax), "=b"(result.ebx), "=c"(result.ecx), "=d"(result.edx)
		     : "a"(leaf), "c"(0));
	return result;
}

static u64 read_msr(u32 index)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(index));
	return (u64)high << 32 | low;
}

static u64 read_cr4(void)
{
	u64 value;

	asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

static void read_features(struct features *features)
{
	u64 *source = features->source;

	*features = (struct features){ 0 };
	source[FEATURES_CPUID_1_ECX] = cpuid(1).ecx;
	source[FEATURES_CPUID_80000001_EDX] = cpuid(0x80000001).edx;
	source[FEATURES_CR4] = read_cr4();
	if (!features_has_vmx(features))
		return;
	source[FEATURES_FEATURE_CONTROL] = read_msr(IA32_FEATURE_CONTROL);
	source[FEATURES_VMX_BASIC] = read_msr(IA32_VMX_BASIC);
	source[FEATURES_VMX_PINBASED] = read_msr(IA32_VMX_PINBASED_CTLS);
	source[FEATURES_VMX_PROCBASED] = read_msr(IA32_VMX_PROCBASED_CTLS);
	source[FEATURES_VMX_EXIT] = read_msr(IA32_VMX_EXIT_CTLS);
	source[FEATURES_VMX_ENTRY] = read_msr(IA32_VMX_ENTRY_CTLS);
	if (features_has_procbased2(features))
		source[FEATURES_VMX_PROCBASED2] = read_msr(IA32_VMX_PROCBASED_CTLS2);
	if (features_has_ept_vpid(features))
		source[FEATURES_VMX_EPT_VPID] = read_msr(IA32_VMX_EPT_VPID_CAP);
}

EFI_STATUS processor_check(void)
{
	struct features features;
	const char *refusal;

	read_features(&features);
	refusal = features_refusal(&features);
	if (refusal)
		return refuse(REFUSED_MACHINE, "%s", refusal);
	return EFI_SUCCESS;
}

/* SDM 2A, CPUID: leaf 0BH has all 32 bits where there is one, leaf 1 eight. */
u32 processor_apic_id(void)
{
	struct cpuid_result extended = cpuid(0xb);

	return extended.ebx ? extended.edx : cpuid(1).ebx >> 24;
}

u64 processor_address_limit(void)
{
	u32 bits = cpuid(0x80000008).eax & 0xff;

	return BIT(bits ? MIN(bits, 52u) : 36); /* SDM 3A 4.1.4 */
}

bool processor_large_1g(void)
{
	return cpuid(0x80000001).edx & BIT(26);
}
