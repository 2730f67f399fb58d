// SPDX-License-Identifier: BSD-2-Clause
/*
 * CPUID at run time: look-up in a VM's policy and the exit handler. Any leaf costs two table
 * accesses and four stores; the few leaves with dynamic bits take a branch out of line.
 */
#include "vmx/cpuid.h"

#include "hv/cpu/registers.h"
#include "hv/dev/lapic.h"
#include "vmx/cr.h"
#include "vmx/exit.h"

#define APIC_BASE_ENABLED     BIT(11)
#define TOPOLOGY_LEVEL_NUMBER 0xffu

/* SDM 2A CPUID: above the highest leaf, basic or extended, the highest basic leaf answers. */
static inline const struct cpuid_leaf *find_leaf(const struct cpuid_policy *policy, u32 leaf)
{
	const struct cpuid_range *range = &policy->ranges[leaf >> 28];
	u32 number = leaf & 0x0fffffff;

	return &policy->leaves[number < range->count ? range->first + number : range->otherwise];
}

static inline const struct cpuid_regs *find_row(
	const struct cpuid_policy *policy, const struct cpuid_leaf *leaf, u32 subleaf)
{
	subleaf &= leaf->subleaf_mask;
	return &policy->rows[subleaf < leaf->count ? leaf->first + subleaf : 0];
}

const struct cpuid_regs *cpuid_policy_row(const struct cpuid_policy *policy, u32 leaf, u32 subleaf)
{
	return find_row(policy, find_leaf(policy, leaf), subleaf);
}

bool cpuid_has(const struct cpuid_policy *policy, enum cpuid_feature feature)
{
	u32 leaf = (feature & 0x80000000u) | (feature >> 16 & 0xff);
	const struct cpuid_regs *row;
	const u32 *regs;

	if (!(leaf & 0x80000000u) && leaf > policy->highest_basic)
		return false;
	row = cpuid_policy_row(policy, leaf, feature >> 12 & 0xf);
	regs = (const u32 *)row;
	return regs[feature >> 8 & 3] >> (feature & 0x1f) & 1;
}

_Static_assert(offsetof(struct cpuid_regs, ecx) == ECX * sizeof(u32) &&
		       offsetof(struct cpuid_regs, edx) == EDX * sizeof(u32),
	"enum cpuid_register indexes struct cpuid_regs");

u32 cpuid_xsave_size(const struct cpuid_policy *policy, u64 components)
{
	u32 size = XSAVE_LEGACY_BYTES;

	for (u32 i = 2; i < XSTATE_COMPONENTS; i++) {
		const struct cpuid_regs *row = cpuid_policy_row(policy, 0xd, i);

		if (components & BIT(i))
			size = MAX(size, row->ebx + row->eax);
	}
	return size;
}

u32 cpuid_xsave_compact_size(const struct cpuid_policy *policy, u64 components)
{
	u32 size = XSAVE_LEGACY_BYTES;

	for (u32 i = 2; i < XSTATE_COMPONENTS; i++) {
		const struct cpuid_regs *row = cpuid_policy_row(policy, 0xd, i);

		if (!(components & BIT(i)))
			continue;
		if (row->ecx & XSTATE_ALIGN)
			size = ALIGN_UP(size, 64);
		size += row->eax;
	}
	return size;
}

/* The bits that follow the vCPU's state (BUG-38: never the host's). */
static struct cpuid_regs dynamic_bits(
	const struct vcpu *vcpu, enum cpuid_dynamic kind, u32 subleaf, struct cpuid_regs regs)
{
	switch (kind) {
	case CPUID_STATIC:
		break;
	case CPUID_LEAF_1:
		regs.ebx |= vcpu->id << 24;
		if (guest_cr4(vcpu) & CR4_OSXSAVE)
			regs.ecx |= 1u << (FEATURE_OSXSAVE & 0x1f);
		/* SDM 3A 11.4.3: a disabled APIC is not there. */
		if (lapic_base(vcpu->lapic) & APIC_BASE_ENABLED)
			regs.edx |= 1u << (FEATURE_APIC & 0x1f);
		break;
	case CPUID_LEAF_7:
		if (subleaf == 0 && (guest_cr4(vcpu) & CR4_PKE))
			regs.ecx |= 1u << (FEATURE_OSPKE & 0x1f);
		break;
	case CPUID_LEAF_D:
		if (subleaf == 0)
			regs.ebx = vcpu->msr.xsave_size;
		else if (subleaf == 1 && regs.eax)
			regs.ebx = vcpu->msr.xsave_compact_size;
		break;
	case CPUID_LEAF_TOPOLOGY:
		regs.ecx = (regs.ecx & ~TOPOLOGY_LEVEL_NUMBER) | (subleaf & TOPOLOGY_LEVEL_NUMBER);
		regs.edx = vcpu->id;
		break;
	}
	return regs;
}

struct cpuid_regs cpuid_execute(const struct vcpu *vcpu, u32 leaf, u32 subleaf)
{
	const struct cpuid_leaf *entry = find_leaf(vcpu->cpuid, leaf);

	return dynamic_bits(vcpu, entry->dynamic, subleaf, *find_row(vcpu->cpuid, entry, subleaf));
}

static void set_registers(struct vcpu *vcpu, const struct cpuid_regs *regs)
{
	vcpu->gpr[RAX] = regs->eax;
	vcpu->gpr[RBX] = regs->ebx;
	vcpu->gpr[RCX] = regs->ecx;
	vcpu->gpr[RDX] = regs->edx;
}

static __attribute__((noinline)) enum exit_action exit_cpuid_dynamic(
	struct vcpu *vcpu, u32 leaf, u32 subleaf)
{
	struct cpuid_regs regs = cpuid_execute(vcpu, leaf, subleaf);

	set_registers(vcpu, &regs);
	return complete_instruction(vcpu);
}

enum exit_action exit_cpuid(struct vcpu *vcpu)
{
	u32 leaf = vcpu->gpr[RAX], subleaf = vcpu->gpr[RCX];
	const struct cpuid_leaf *entry = find_leaf(vcpu->cpuid, leaf);

	if (unlikely(entry->dynamic))
		return exit_cpuid_dynamic(vcpu, leaf, subleaf);
	set_registers(vcpu, find_row(vcpu->cpuid, entry, subleaf));
	return complete_instruction(vcpu);
}
