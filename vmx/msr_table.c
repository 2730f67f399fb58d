// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which MSRs a guest has, and how: the policy of vmx/msr.c as data, by ascending index (a binary
 * search finds the row). Everything else is #GP(0), among it by intention: performance counters (no
 * PMU: CPUID leaf 0xA is zero), machine-check banks (MCG_CAP counts none), VMX capabilities,
 * thermal and power management, LBR stacks, RAPL, debug store, PT, SGX, RDT, TSX_CTRL, MPERF/APERF,
 * AMD's ranges.
 */
#include "vmx/msr_table.h"

#include "hv/cpu/msr_index.h"
#include "vmx/cpuid.h"
#include "vmx/msr.h"
#include "vmx/vmcs_fields.h"

#define STATE(member) offsetof(struct msr_state, member)
#define ANY	      (~0ull)
#define LOW_HALF      0xffffffffull

/* SDM 4 table 2-2 */
#define FEATURE_CONTROL_LOCKED BIT(0)
#define MTRR_CAP_FIXED	       BIT(8)
#define MTRR_CAP_WC	       BIT(10)
#define MISC_FAST_STRINGS      BIT(0)
#define MISC_PERFMON	       BIT(7)
#define MISC_BTS_UNAVAILABLE   BIT(11)
#define MISC_PEBS_UNAVAILABLE  BIT(12)
#define DEBUGCTL_LBR	       BIT(0)
#define DEBUGCTL_BTF	       BIT(1)
#define MCG_STATUS_BITS	       7ull
#define MTRR_ENABLED	       BIT(11)
#define MTRR_FIXED_ENABLED     BIT(10)
#define MTRR_WB		       6ull
#define MTRR_ALL_WB	       0x0606060606060606ull
#define MTRR_ALL_UC	       0ull
#define MTRR_ALL_WP	       0x0505050505050505ull

#define ROW(index, ...) ROWS(index, index, __VA_ARGS__)
#define ROWS(first_, last_, store_, check_, ...)                                                \
	{                                                                                       \
		.first = first_, .last = last_, .store = store_, .check = check_, ##__VA_ARGS__ \
	}

const struct msr_row msr_rows[] = {
	/* Reads take the TSC offset into account by themselves (SDM 3C 26.3). */
	ROW(MSR_TSC, STORE_HANDLER, CHECK_BITS, .pass = PASS_READ, .where = HANDLE_TSC,
		.valid = ANY),
	/* Microcode loaders read it. */
	ROW(MSR_PLATFORM_ID, STORE_STATE, CHECK_READ_ONLY, .where = STATE(platform_id)),
	/* Virtual: the host's APIC must not move or be disabled. */
	ROW(MSR_APIC_BASE, STORE_HANDLER, CHECK_BITS, .where = HANDLE_LAPIC, .valid = ANY),
	/* No SMI is ever delivered to the guest. */
	ROW(MSR_SMI_COUNT, STORE_CONSTANT, CHECK_READ_ONLY),
	/* Locked with VMX off (BUG-28). */
	ROW(MSR_FEATURE_CONTROL, STORE_CONSTANT, CHECK_READ_ONLY, .reset = FEATURE_CONTROL_LOCKED),
	/* Part of the TSC offset (SDM 3B 18.17.3). */
	ROW(MSR_TSC_ADJUST, STORE_HANDLER, CHECK_BITS, .where = HANDLE_TSC_ADJUST, .valid = ANY),
	/*
	 * Stays in force while the host runs, which it can only slow down; switched with the vCPU.
	 */
	ROW(MSR_SPEC_CTRL, STORE_LIVE, CHECK_BITS, .pass = PASS_BOTH, .feature = FEATURE_IBRS_IBPB,
		.valid = ANY),
	/* A command without state; reading it is the processor's #GP. */
	ROW(MSR_PRED_CMD, STORE_LIVE, CHECK_WRITE_ONLY, .pass = PASS_WRITE,
		.feature = FEATURE_IBRS_IBPB, .valid = BIT(0)),
	/* A guest's microcode update is accepted and not loaded: the revision stays. */
	ROW(MSR_BIOS_UPDT_TRIG, STORE_CONSTANT, CHECK_WRITE_ONLY, .valid = ANY),
	/* The host's revision: guests look errata up by it. They write 0 before they read. */
	ROW(MSR_BIOS_SIGN_ID, STORE_STATE, CHECK_BITS, .where = STATE(microcode), .valid = ANY),
	/* The TSC's ratio; no CPUID faulting. */
	ROW(MSR_PLATFORM_INFO, STORE_STATE, CHECK_READ_ONLY, .where = STATE(platform_info)),
	ROW(MSR_UMWAIT_CONTROL, STORE_LIVE, CHECK_BITS, .pass = PASS_BOTH,
		.feature = FEATURE_WAITPKG, .valid = LOW_HALF & ~BIT(1)),
	/* Fixed ranges, write combining; no SMRR. */
	ROW(MSR_MTRR_CAP, STORE_CONSTANT, CHECK_READ_ONLY,
		.reset = MSR_MTRR_VARIABLE | MTRR_CAP_FIXED | MTRR_CAP_WC),
	ROW(MSR_ARCH_CAPABILITIES, STORE_STATE, CHECK_READ_ONLY, .where = STATE(arch_capabilities),
		.feature = FEATURE_ARCH_CAPABILITIES),
	/* CPUID faulting and ring-3 MWAIT are not offered; writing 0 is how kernels clear them. */
	ROW(MSR_MISC_FEATURES, STORE_CONSTANT, CHECK_BITS),
	ROW(MSR_SYSENTER_CS, STORE_FIELD, CHECK_BITS, .pass = PASS_BOTH,
		.where = VMCS_GUEST_SYSENTER_CS, .valid = LOW_HALF),
	ROW(MSR_SYSENTER_ESP, STORE_FIELD, CHECK_CANONICAL, .pass = PASS_BOTH,
		.where = VMCS_GUEST_SYSENTER_ESP),
	ROW(MSR_SYSENTER_EIP, STORE_FIELD, CHECK_CANONICAL, .pass = PASS_BOTH,
		.where = VMCS_GUEST_SYSENTER_EIP),
	/* Machine check: there, with no bank and no MCG_CTL. */
	ROW(MSR_MCG_CAP, STORE_CONSTANT, CHECK_READ_ONLY),
	ROW(MSR_MCG_STATUS, STORE_STATE, CHECK_BITS, .where = STATE(mcg_status),
		.valid = MCG_STATUS_BITS, .writable = MCG_STATUS_BITS),
	/*
	 * Fast strings is all that changes. EIST, MONITOR, CPUID limit and XD disable: not offered.
	 */
	ROW(MSR_MISC_ENABLE, STORE_STATE, CHECK_BITS, .where = STATE(misc_enable),
		.reset = MISC_FAST_STRINGS | MISC_BTS_UNAVAILABLE | MISC_PEBS_UNAVAILABLE,
		.valid = MISC_FAST_STRINGS | MISC_PERFMON | MISC_BTS_UNAVAILABLE |
			 MISC_PEBS_UNAVAILABLE,
		.writable = MISC_FAST_STRINGS),
	/* In the VMCS: the exit clears the register. BTS, TR and freezing need what is hidden. */
	ROW(MSR_DEBUGCTL, STORE_FIELD, CHECK_BITS, .where = VMCS_GUEST_DEBUGCTL,
		.valid = DEBUGCTL_LBR | DEBUGCTL_BTF),
	/* MTRRs are kept for the guest's own look-ups; EPT leaves and PAT decide. */
	ROWS(MSR_MTRR_PHYSBASE0, MSR_MTRR_PHYSBASE0 + 2 * MSR_MTRR_VARIABLE - 1, STORE_STATE,
		CHECK_MTRR_VARIABLE, .where = STATE(mtrr_variable), .writable = ANY),
	ROW(MSR_MTRR_FIX64K_00000, STORE_STATE, CHECK_MTRR_FIXED, .where = STATE(mtrr_fixed[0]),
		.reset = MTRR_ALL_WB, .writable = ANY),
	ROW(MSR_MTRR_FIX16K_80000, STORE_STATE, CHECK_MTRR_FIXED, .where = STATE(mtrr_fixed[1]),
		.reset = MTRR_ALL_WB, .writable = ANY),
	/* VGA memory */
	ROW(MSR_MTRR_FIX16K_A0000, STORE_STATE, CHECK_MTRR_FIXED, .where = STATE(mtrr_fixed[2]),
		.reset = MTRR_ALL_UC, .writable = ANY),
	/* Option ROMs and firmware */
	ROWS(MSR_MTRR_FIX4K_C0000, MSR_MTRR_FIX4K_C0000 + 7, STORE_STATE, CHECK_MTRR_FIXED,
		.where = STATE(mtrr_fixed[3]), .reset = MTRR_ALL_WP, .writable = ANY),
	/* In the VMCS; entry loads it without saving it, so reads are true and writes exit. */
	ROW(MSR_PAT, STORE_FIELD, CHECK_PAT, .pass = PASS_READ, .where = VMCS_GUEST_PAT),
	ROW(MSR_MTRR_DEF_TYPE, STORE_STATE, CHECK_MTRR_DEFAULT, .where = STATE(mtrr_def_type),
		.reset = MTRR_ENABLED | MTRR_FIXED_ENABLED | MTRR_WB, .writable = ANY),
	ROW(MSR_TSC_DEADLINE, STORE_HANDLER, CHECK_BITS, .where = HANDLE_LAPIC, .valid = ANY),
	ROWS(MSR_X2APIC_FIRST, MSR_X2APIC_LAST, STORE_HANDLER, CHECK_BITS, .where = HANDLE_LAPIC,
		.valid = ANY),
	/* No supervisor state is offered, so only 0 is legal. */
	ROW(MSR_XSS, STORE_CONSTANT, CHECK_BITS, .feature = FEATURE_XSAVES),
	/* As IA32_PAT; CR0.PG and the entry control depend on it. */
	ROW(MSR_EFER, STORE_HANDLER, CHECK_BITS, .pass = PASS_READ, .where = HANDLE_EFER,
		.valid = ANY),
	ROW(MSR_STAR, STORE_LIVE, CHECK_BITS, .pass = PASS_BOTH, .feature = FEATURE_LM,
		.valid = ANY),
	/* The processor checks these when the guest writes them. */
	ROW(MSR_LSTAR, STORE_LIVE, CHECK_CANONICAL, .pass = PASS_BOTH, .feature = FEATURE_LM),
	ROW(MSR_CSTAR, STORE_LIVE, CHECK_CANONICAL, .pass = PASS_BOTH, .feature = FEATURE_LM),
	ROW(MSR_FMASK, STORE_LIVE, CHECK_BITS, .pass = PASS_BOTH, .feature = FEATURE_LM,
		.valid = LOW_HALF),
	ROW(MSR_FS_BASE, STORE_FIELD, CHECK_CANONICAL, .pass = PASS_BOTH,
		.where = VMCS_GUEST_FS_BASE, .feature = FEATURE_LM),
	ROW(MSR_GS_BASE, STORE_FIELD, CHECK_CANONICAL, .pass = PASS_BOTH,
		.where = VMCS_GUEST_GS_BASE, .feature = FEATURE_LM),
	/* SWAPGS changes it without an exit: it is read back, never assumed. */
	ROW(MSR_KERNEL_GS_BASE, STORE_LIVE, CHECK_CANONICAL, .pass = PASS_BOTH,
		.feature = FEATURE_LM),
	/* Hidden with RDTSCP and RDPID: then not even a stale value shows (BUG-65). */
	ROW(MSR_TSC_AUX, STORE_LIVE, CHECK_BITS, .pass = PASS_BOTH, .feature = FEATURE_RDTSCP,
		.valid = LOW_HALF),
};

const u32 msr_row_count = ARRAY_SIZE(msr_rows);

const struct msr_row *msr_row_find(u32 index)
{
	u32 low = 0, high = ARRAY_SIZE(msr_rows);

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (index > msr_rows[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == ARRAY_SIZE(msr_rows) || index < msr_rows[low].first)
		return NULL;
	return &msr_rows[low];
}
