// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a VM's CPUID policy: which leaves exist, where each takes its values from. Called when a VM
 * is created; executes CPUID. The feature bits themselves are the table in vmx/cpuid_features.h.
 */
#include "vmx/cpuid.h"

#include "hv/lib/string.h"

#define CACHE_TYPE(eax)	    ((eax)&0x1f)
#define CACHE_LEVEL(eax)    ((eax) >> 5 & 7)
#define CACHE_SUBLEAVES_MAX 8
#define TOPOLOGY_LEVEL_SMT  (1u << 8)
#define TOPOLOGY_LEVEL_CORE (2u << 8)
#define CPUID_HIGHEST_HV    (CPUID_HYPERVISOR_BASE + CPUID_HYPERVISOR_LEAVES - 1)

struct feature_row {
	u32 leaf;
	u8 subleaf, reg, bit, need;
};

static const struct feature_row features[] = {
#define FEATURE_ROW(name, leaf, subleaf, register, bit, need, reason) \
	{ leaf, subleaf, register, bit, need },
	CPUID_FEATURE_TABLE(FEATURE_ROW)
#undef FEATURE_ROW
};

/* What the builder carries from leaf to leaf. */
struct build {
	struct cpuid_policy *policy;
	const struct cpuid_inputs *inputs;
	u32 host_basic, host_extended; /* highest leaves */
};

/* The host's leaf, zero where the host has none: it would answer with another leaf's data. */
static struct cpuid_regs host(const struct build *b, u32 leaf, u32 subleaf)
{
	u32 highest = leaf & CPUID_EXTENDED_BASE ? b->host_extended : b->host_basic;

	return leaf <= highest ? insn_cpuid(leaf, subleaf) : (struct cpuid_regs){ 0 };
}

static u32 *reg_of(struct cpuid_regs *regs, u32 number)
{
	u32 *const all[] = { &regs->eax, &regs->ebx, &regs->ecx, &regs->edx };

	return all[number];
}

static bool host_has(const struct build *b, const struct feature_row *row)
{
	struct cpuid_regs regs = host(b, row->leaf, row->subleaf);

	return *reg_of(&regs, row->reg) >> row->bit & 1;
}

static bool need_met(const struct build *b, const struct feature_row *row)
{
	const struct cpuid_inputs *in = b->inputs;
	u64 xcr0 = b->policy->xcr0;
	const bool met[] = {
		[HOST] = true,
		[FORCED] = true,
		[SMP] = in->cpus > 1,
		[XSAVE] = xcr0 != 0,
		[YMM] = xcr0 & XCR0_AVX,
		[ZMM] = xcr0 & XCR0_AVX512,
		[PKRU] = xcr0 & XCR0_PKRU,
		[RDTSCP_ON] = in->rdtscp,
		[INVPCID_ON] = in->invpcid,
		[XSAVES_ON] = in->xsaves && xcr0 != 0,
		[USER_WAIT_ON] = in->user_wait,
		[SPECULATION] = in->speculation,
		[LA57_ON] = in->la57,
		[HIDDEN] = false,
	};

	if (!met[row->need])
		return false;
	return row->need == FORCED || row->need == SMP || host_has(b, row);
}

static void add_features(const struct build *b, u32 leaf, u32 subleaf, struct cpuid_regs *regs)
{
	for (const struct feature_row *row = features; row < features + ARRAY_SIZE(features); row++)
		if (row->leaf == leaf && row->subleaf == subleaf && need_met(b, row))
			*reg_of(regs, row->reg) |= 1u << row->bit;
}

/* ---------------------------------------------------------------- rows */

static struct cpuid_leaf *leaf_slot(struct cpuid_policy *policy, u32 leaf)
{
	return &policy->leaves[policy->ranges[leaf >> 28].first + (leaf & 0x0fffffff)];
}

static void init_ranges(struct cpuid_policy *policy)
{
	for (u32 i = 0; i < ARRAY_SIZE(policy->ranges); i++)
		policy->ranges[i].otherwise = policy->highest_basic;
	policy->ranges[0].count = policy->highest_basic + 1;
	/* The hypervisor's: unknown leaves read zero. */
	policy->ranges[CPUID_HYPERVISOR_BASE >> 28] = (struct cpuid_range){ CPUID_BASIC_LEAVES,
		CPUID_HYPERVISOR_LEAVES, CPUID_LEAF_ZERO };
	policy->ranges[CPUID_EXTENDED_BASE >> 28].first =
		CPUID_BASIC_LEAVES + CPUID_HYPERVISOR_LEAVES;
	policy->ranges[CPUID_EXTENDED_BASE >> 28].count = CPUID_EXTENDED_LEAVES;
}

/* Appends the next subleaf of a leaf; the calls for one leaf follow each other. */
static void add_row(const struct build *b, u32 leaf, struct cpuid_regs regs)
{
	struct cpuid_policy *policy = b->policy;
	struct cpuid_leaf *slot = leaf_slot(policy, leaf);

	/* The leaves below fill 60 rows at most; row 0 stays zero. */
	if (policy->row_count == CPUID_ROWS)
		return;
	if (!slot->count)
		slot->first = policy->row_count;
	slot->subleaf_mask = ~0u;
	slot->count++;
	policy->rows[policy->row_count++] = regs;
}

static void add_leaf(const struct build *b, u32 leaf, struct cpuid_regs regs)
{
	add_row(b, leaf, regs);
	leaf_slot(b->policy, leaf)->subleaf_mask = 0;
}

static u32 log2_up(u32 n)
{
	u32 shift = 0;

	while ((1u << shift) < n)
		shift++;
	return shift;
}

/* Leaf 1: APIC id, APIC bit and OSXSAVE are added when the guest executes CPUID. */
static void build_leaf_1(const struct build *b)
{
	struct cpuid_regs h = host(b, 1, 0);
	/* EBX: brand index and CLFLUSH line of the host, addressable ids of this VM. */
	struct cpuid_regs regs = { .eax = h.eax & 0x0fff3fff, .ebx = h.ebx & 0xffff };

	if (b->inputs->cpus > 1)
		regs.ebx |= 1u << log2_up(b->inputs->cpus) << 16;
	add_features(b, 1, 0, &regs);
	add_leaf(b, 1, regs);
	leaf_slot(b->policy, 1)->dynamic = CPUID_LEAF_1;
}

/* Leaf 4: the host's caches, shared as the VM's cores share them: L3 by all, the rest by none. */
static void build_caches(const struct build *b)
{
	u32 cores = (1u << log2_up(b->inputs->cpus)) - 1;

	for (u32 i = 0; i < CACHE_SUBLEAVES_MAX; i++) {
		struct cpuid_regs regs = host(b, 4, i);
		u32 sharing = CACHE_LEVEL(regs.eax) >= 3 ? cores : 0;

		if (!CACHE_TYPE(regs.eax))
			break;
		regs.eax = (regs.eax & 0x3fff) | sharing << 14 | cores << 26;
		add_row(b, 4, regs);
	}
}

static void build_leaf_7(const struct build *b)
{
	struct cpuid_regs zero = { 0 }, one = { 0 };

	/* EAX: the highest subleaf. */
	zero.eax = host(b, 7, 0).eax ? 1 : 0;
	add_features(b, 7, 0, &zero);
	add_row(b, 7, zero);
	if (zero.eax) {
		add_features(b, 7, 1, &one);
		add_row(b, 7, one);
	}
	leaf_slot(b->policy, 7)->dynamic = CPUID_LEAF_7;
}

/* Leaves 0xB and 0x1F: one package of single-threaded cores. EDX is added at execution. */
static void build_topology(const struct build *b, u32 leaf)
{
	add_row(b, leaf, (struct cpuid_regs){ .eax = 0, .ebx = 1, .ecx = TOPOLOGY_LEVEL_SMT });
	add_row(b, leaf,
		(struct cpuid_regs){ .eax = log2_up(b->inputs->cpus),
			.ebx = b->inputs->cpus,
			.ecx = TOPOLOGY_LEVEL_CORE | 1 });
	leaf_slot(b->policy, leaf)->dynamic = CPUID_LEAF_TOPOLOGY;
}

/*
 * XCR0 bits whose state is switched and whose area is consistent; the rest of the host's is hidden.
 */
static u64 usable_xcr0(const struct build *b)
{
	struct cpuid_regs d = host(b, 0xd, 0);
	u64 offered = (u64)d.edx << 32 | d.eax, usable = 0;

	if (!(host(b, 1, 0).ecx & 1u << (FEATURE_XSAVE & 0x1f)) ||
		(offered & (XCR0_X87 | XCR0_SSE)) != (XCR0_X87 | XCR0_SSE))
		return 0;
	usable = XCR0_X87 | XCR0_SSE | (offered & (XCR0_AVX | XCR0_PKRU));
	/* SDM 1 13.3: the three AVX-512 components go together and need AVX. */
	if ((offered & XCR0_AVX512) == XCR0_AVX512 && (usable & XCR0_AVX))
		usable |= XCR0_AVX512;
	for (u32 i = 2; i < XSTATE_COMPONENTS; i++) {
		struct cpuid_regs c = host(b, 0xd, i);

		if ((usable & BIT(i)) &&
			(!c.eax || c.ebx < XSAVE_LEGACY_BYTES || (c.ecx & XSTATE_SUPERVISOR)))
			usable &= i < 5 || i > 7 ? ~BIT(i) : ~XCR0_AVX512;
	}
	return usable & XCR0_AVX ? usable : usable & ~XCR0_AVX512;
}

/*
 * Leaf 0xD: sizes come from the components' own subleaves, not from the host's totals, which
 * include hidden components and on some emulators do not add up.
 */
static void build_xsave(const struct build *b)
{
	struct cpuid_policy *policy = b->policy;
	u64 xcr0 = policy->xcr0;
	struct cpuid_regs zero = { .eax = xcr0, .edx = xcr0 >> 32 }, one = { 0 };
	u8 first = policy->row_count;

	if (!xcr0)
		return;
	add_row(b, 0xd, zero);
	add_features(b, 0xd, 1, &one);
	add_row(b, 0xd, one);
	for (u32 i = 2; i < XSTATE_COMPONENTS; i++) {
		struct cpuid_regs regs = { 0 }, h = host(b, 0xd, i);

		if (xcr0 & BIT(i))
			regs = (struct cpuid_regs){
				.eax = h.eax, .ebx = h.ebx, .ecx = h.ecx & XSTATE_ALIGN
			};
		add_row(b, 0xd, regs);
	}
	policy->rows[first].ecx = cpuid_xsave_size(policy, xcr0);
	leaf_slot(policy, 0xd)->dynamic = CPUID_LEAF_D;
}

/*
 * Leaves 0x15 and 0x16 with the measured frequency: what a guest finds here it does not calibrate.
 * The emulated APIC timer counts TSC ticks, so the "crystal" is the TSC itself.
 */
static void build_frequencies(const struct build *b)
{
	u64 hz = b->inputs->tsc_hz;
	u32 mhz = (hz + 500000) / 1000000;

	if (hz && hz <= 0xffffffff)
		add_leaf(b, 0x15, (struct cpuid_regs){ .eax = 1, .ebx = 1, .ecx = hz });
	if (hz)
		add_leaf(b, 0x16, (struct cpuid_regs){ .eax = mhz, .ebx = mhz, .ecx = mhz });
}

/* The hypervisor's leaves: signature, and the TSC and APIC timer in kHz at 0x40000010. */
static void build_hypervisor(const struct build *b)
{
	u32 khz = b->inputs->tsc_hz / 1000;

	add_leaf(b, CPUID_HYPERVISOR_BASE,
		(struct cpuid_regs){ .eax = CPUID_HIGHEST_HV,
			.ebx = 0x70726f54, /* "Torp" */
			.ecx = 0x6f54726f, /* "orTo" */
			.edx = 0x726f7072 /* "rpor" */ });
	add_leaf(b, CPUID_HIGHEST_HV, (struct cpuid_regs){ .eax = khz, .ebx = khz });
}

static void build_extended(const struct build *b)
{
	struct cpuid_policy *policy = b->policy;
	u32 highest = MIN(b->host_extended, CPUID_EXTENDED_BASE + CPUID_EXTENDED_LEAVES - 1);
	struct cpuid_regs regs = { 0 };
	u32 widths = 48 << 8 | 36;

	add_leaf(b, CPUID_EXTENDED_BASE, (struct cpuid_regs){ .eax = highest });
	add_features(b, 0x80000001, 0, &regs);
	add_leaf(b, 0x80000001, regs);
	/* The processor's name, and its L2 cache. */
	for (u32 leaf = 0x80000002; leaf <= 0x80000004; leaf++)
		add_leaf(b, leaf, host(b, leaf, 0));
	add_leaf(b, 0x80000006, (struct cpuid_regs){ .ecx = host(b, 0x80000006, 0).ecx });
	regs = (struct cpuid_regs){ 0 };
	add_features(b, 0x80000007, 0, &regs);
	add_leaf(b, 0x80000007, regs);
	/* EPT maps guest-physical to physical addresses of the same width. */
	if (b->host_extended >= 0x80000008)
		widths = host(b, 0x80000008, 0).eax & 0xffff;
	if (!b->inputs->la57)
		widths = (widths & 0xff) | 48 << 8;
	add_leaf(b, 0x80000008, (struct cpuid_regs){ .eax = widths });
	policy->physical_width = widths & 0xff;
	policy->linear_width = widths >> 8;
}

void cpuid_policy_build(struct cpuid_policy *policy, const struct cpuid_inputs *inputs)
{
	struct build b = { .policy = policy, .inputs = inputs };
	struct cpuid_regs vendor = insn_cpuid(0, 0), regs = { 0 };

	memset(policy, 0, sizeof(*policy));
	policy->row_count = 1;
	b.host_basic = vendor.eax;
	b.host_extended = insn_cpuid(CPUID_EXTENDED_BASE, 0).eax;
	if (b.host_extended < CPUID_EXTENDED_BASE)
		b.host_extended = 0;
	policy->xcr0 = usable_xcr0(&b);

	/* The vendor is the machine's: guests choose their errata and idioms by it. */
	policy->highest_basic = MIN(vendor.eax, (u32)CPUID_BASIC_LEAVES - 1);
	vendor.eax = policy->highest_basic;
	init_ranges(policy);
	add_leaf(&b, 0, vendor);
	build_leaf_1(&b);
	add_leaf(&b, 2, host(&b, 2, 0));
	build_caches(&b);
	add_features(&b, 6, 0, &regs);
	add_leaf(&b, 6, regs);
	build_leaf_7(&b);
	build_topology(&b, 0xb);
	build_xsave(&b);
	build_frequencies(&b);
	if (policy->highest_basic >= 0x1f)
		build_topology(&b, 0x1f);
	build_hypervisor(&b);
	build_extended(&b);
}
