// SPDX-License-Identifier: BSD-2-Clause
// What the fake processor is after a reset: CPUID, MSRs and VMX capabilities of a Skylake-like
// server part. Tests that want another processor change rows after fake_cpu_reset().

#include <string.h>

#include "fake_cpu.h"

/* Allowed-0 settings in the low half, allowed-1 in the high half (SDM 3D A.2). */
#define CONTROLS(zero, one) ((u64)(one) << 32 | (zero))

static const struct {
	u32 index;
	enum fake_msr_rule rule;
	u64 valid, value;
} model_msrs[] = {
	{ 0x10, FAKE_MSR_ANY, 0, 0 },			       /* TSC: kept in fake_cpu->tsc */
	{ 0x1b, FAKE_MSR_MASK, 0x3ffffffffffd00, 0xfee00900 }, /* APIC_BASE */
	{ 0x3a, FAKE_MSR_READ_ONLY, 0, 5 },		       /* FEATURE_CONTROL, locked */
	{ 0x3b, FAKE_MSR_ANY, 0, 0 },			       /* TSC_ADJUST */
	{ 0x48, FAKE_MSR_MASK, 7, 0 },			       /* SPEC_CTRL */
	{ 0x49, FAKE_MSR_WRITE_ONLY, 1, 0 },		       /* PRED_CMD */
	{ 0xfe, FAKE_MSR_READ_ONLY, 0, 0x508 },		       /* MTRRCAP: 8 variable, fixed, WC */
	{ 0x10a, FAKE_MSR_READ_ONLY, 0, 0 },		       /* ARCH_CAPABILITIES */
	{ 0x10b, FAKE_MSR_WRITE_ONLY, 1, 0 },		       /* FLUSH_CMD */
	{ 0x174, FAKE_MSR_MASK, 0xffffffff, 0 },	       /* SYSENTER_CS */
	{ 0x175, FAKE_MSR_CANONICAL, 0, 0 }, { 0x176, FAKE_MSR_CANONICAL, 0, 0 },
	{ 0x1a0, FAKE_MSR_MASK, 0x400c51889, 0x850089 }, /* MISC_ENABLE */
	{ 0x1d9, FAKE_MSR_MASK, 0x7fc3, 0 },		 /* DEBUGCTL */
	{ 0x277, FAKE_MSR_PAT, 0, 0x0007040600070406 },
	{ 0x2ff, FAKE_MSR_MASK, 0xcff, 0xc06 },	     /* MTRR_DEF_TYPE */
	{ 0x6e0, FAKE_MSR_ANY, 0, 0 },		     /* TSC_DEADLINE */
	{ 0xda0, FAKE_MSR_MASK, 0x100, 0 },	     /* XSS */
	{ 0xc0000080, FAKE_MSR_MASK, 0xd01, 0xd01 }, /* EFER: SCE LME LMA NXE */
	{ 0xc0000081, FAKE_MSR_ANY, 0, 0 },	     /* STAR */
	{ 0xc0000082, FAKE_MSR_CANONICAL, 0, 0 }, { 0xc0000083, FAKE_MSR_CANONICAL, 0, 0 },
	{ 0xc0000084, FAKE_MSR_MASK, 0xffffffff, 0 }, /* FMASK */
	{ 0xc0000100, FAKE_MSR_CANONICAL, 0, 0 }, { 0xc0000101, FAKE_MSR_CANONICAL, 0, 0 },
	{ 0xc0000102, FAKE_MSR_CANONICAL, 0, 0 },
	{ 0xc0000103, FAKE_MSR_MASK, 0xffffffff, 0 }, /* TSC_AUX */
	/* VMX capabilities (SDM 3D appendix A) */
	{ 0x480, FAKE_MSR_READ_ONLY, 0, 0x00da040000000005 }, /* BASIC: TRUE controls, WB */
	{ 0x481, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x16, 0xff) },
	{ 0x482, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x0401e172, 0xfff9fffe) },
	{ 0x483, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x36dff, 0x1ffffff) },
	{ 0x484, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x11ff, 0x3ffff) },
	{ 0x485, FAKE_MSR_READ_ONLY, 0, 0x4004c1e7 }, /* MISC: exit information is read-only */
	{ 0x486, FAKE_MSR_READ_ONLY, 0, 0x80000021 }, { 0x487, FAKE_MSR_READ_ONLY, 0, 0xffffffff },
	{ 0x488, FAKE_MSR_READ_ONLY, 0, 0x2000 }, { 0x489, FAKE_MSR_READ_ONLY, 0, 0x776fff },
	{ 0x48a, FAKE_MSR_READ_ONLY, 0, 0x2e },
	{ 0x48b, FAKE_MSR_READ_ONLY, 0, CONTROLS(0, 0x2357cff) },
	{ 0x48c, FAKE_MSR_READ_ONLY, 0, 0xf0106334141 },
	{ 0x48d, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x16, 0xff) },
	{ 0x48e, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x04006172, 0xfff9fffe) },
	{ 0x48f, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x36dfb, 0x1ffffff) },
	{ 0x490, FAKE_MSR_READ_ONLY, 0, CONTROLS(0x11fb, 0x3ffff) },
	{ 0x491, FAKE_MSR_READ_ONLY, 0, 1 }, /* VMFUNC: EPTP switching */
};

static const struct {
	u32 leaf, subleaf;
	bool any;
	struct cpuid_regs regs;
} model_cpuid[] = {
	{ 0, 0, true, { 0x16, 0x756e6547, 0x6c65746e, 0x49656e69 } }, /* GenuineIntel */
	{ 1, 0, true, { 0x50654, 0x00200800, 0x7ffefbff, 0xbfebfbff } },
	{ 2, 0, true, { 0x76036301, 0x00f0b5ff, 0, 0x00c30000 } },
	{ 4, 0, false, { 0x3c004121, 0x01c0003f, 0x3f, 0 } },
	{ 4, 1, false, { 0x3c004122, 0x01c0003f, 0x3f, 0 } },
	{ 4, 2, false, { 0x3c004143, 0x03c0003f, 0x3ff, 0 } },
	{ 4, 3, false, { 0x3c07c163, 0x0280003f, 0x6fff, 4 } },
	{ 5, 0, true, { 0x40, 0x40, 3, 0x2020 } },
	{ 6, 0, true, { 0x77, 2, 9, 0 } },
	{ 7, 0, false, { 0, 0xd39ffffb, 0x1c, 0xbc000400 } },
	{ 0xa, 0, true, { 0x07300404, 0, 0, 0x603 } },
	{ 0xb, 0, false, { 1, 2, 0x100, 0 } },
	{ 0xb, 1, false, { 5, 0x20, 0x201, 0 } },
	{ 0xd, 0, false, { 0x2ff, 0xa80, 0xa88, 0 } },
	{ 0xd, 1, false, { 0xf, 0xa00, 0x100, 0 } },
	{ 0xd, 2, false, { 0x100, 0x240, 0, 0 } },
	{ 0xd, 3, false, { 0x40, 0x3c0, 0, 0 } },
	{ 0xd, 4, false, { 0x40, 0x400, 0, 0 } },
	{ 0xd, 5, false, { 0x40, 0x440, 0, 0 } },
	{ 0xd, 6, false, { 0x200, 0x480, 0, 0 } },
	{ 0xd, 7, false, { 0x400, 0x680, 0, 0 } },
	{ 0xd, 8, false, { 0x80, 0, 1, 0 } },
	{ 0xd, 9, false, { 8, 0xa80, 0, 0 } },
	{ 0x15, 0, true, { 2, 250, 0, 0 } },
	{ 0x16, 0, true, { 0xdac, 0x1004, 0x64, 0 } },
	{ 0x80000000, 0, true, { 0x80000008, 0, 0, 0 } },
	{ 0x80000001, 0, true, { 0, 0, 0x121, 0x2c100800 } },
	{ 0x80000002, 0, true, { 0x65746e49, 0x2952286c, 0x6f655820, 0x2952286e } },
	{ 0x80000003, 0, true, { 0x6b614620, 0x726f2065, 0x79206f66, 0x00756f } },
	{ 0x80000004, 0, true, { 0, 0, 0, 0 } },
	{ 0x80000006, 0, true, { 0, 0, 0x01006040, 0 } },
	{ 0x80000007, 0, true, { 0, 0, 0, 0x100 } },
	{ 0x80000008, 0, true, { 0x302e, 0, 0, 0 } },
};

static void reset_one(struct fake_cpu *cpu, u32 number)
{
	memset(cpu, 0, sizeof(*cpu));
	fake_cpu = cpu;
	for (u32 i = 0; i < ARRAY_SIZE(model_msrs); i++)
		fake_msr_set(model_msrs[i].index, model_msrs[i].value, model_msrs[i].rule,
			model_msrs[i].valid);
	/* The eight variable ranges and eleven fixed ones of MTRRCAP. */
	for (u32 i = 0; i < 16; i++)
		fake_msr_set(0x200 + i, 0, FAKE_MSR_MASK, i & 1 ? 0x3ffffffff800 : 0x3ffffffff0ff);
	static const u32 fixed[] = { 0x250, 0x258, 0x259, 0x268, 0x269, 0x26a, 0x26b, 0x26c, 0x26d,
		0x26e, 0x26f };
	for (u32 i = 0; i < ARRAY_SIZE(fixed); i++)
		fake_msr_set(fixed[i], 0x0606060606060606, FAKE_MSR_PAT, 0);
	for (u32 i = 0; i < ARRAY_SIZE(model_cpuid); i++) {
		if (model_cpuid[i].any)
			fake_cpuid_set_any(model_cpuid[i].leaf, model_cpuid[i].regs);
		else
			fake_cpuid_set(
				model_cpuid[i].leaf, model_cpuid[i].subleaf, model_cpuid[i].regs);
	}
	for (u32 i = 0; i < cpu->cpuid_count; i++) {
		if (cpu->cpuid[i].leaf == 1)
			cpu->cpuid[i].regs.ebx |= number << 24;
		if (cpu->cpuid[i].leaf == 0xb)
			cpu->cpuid[i].regs.edx = number;
	}
	cpu->cr0 = 0x80050033;
	cpu->cr3 = 0x100000;
	cpu->cr4 = 0x406a0; /* PAE PGE OSFXSR OSXMMEXCPT OSXSAVE */
	cpu->cr4_valid = 0x776fff;
	cpu->dr[6] = 0xffff0ff0;
	cpu->dr[7] = 0x400;
	cpu->xcr0 = 7;
	cpu->xcr0_valid = 0x2ff;
	cpu->tsc = 1000000;
}

void fake_cpu_reset(void)
{
	for (u32 i = FAKE_CPUS; i-- > 0;)
		reset_one(&fake_cpus[i], i);
}
