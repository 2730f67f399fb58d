/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MSRs as a guest sees them: a table (vmx/msr_table.c), one row an MSR or a run of them. An MSR
 * without a row is #GP(0), whatever the machine has. Values are checked when the guest writes them,
 * so that neither a VM entry nor a later WRMSR of the host can fail on them.
 */
#ifndef VMX_MSR_H
#define VMX_MSR_H

#include "hv/lib/types.h"

struct cpuid_policy;
struct vcpu;

#define MSR_MTRR_VARIABLE 8 /* ranges; each has a base and a mask */
#define MSR_MTRR_FIXED	  11

struct msr_state {
	u64 efer; /* always the guest's value; cr.c writes it */
	u64 tsc_adjust;
	u64 misc_enable;
	u64 mcg_status;
	u64 mtrr_def_type;
	u64 mtrr_variable[2 * MSR_MTRR_VARIABLE];
	u64 mtrr_fixed[MSR_MTRR_FIXED];
	/* Constants of the VM. */
	u64 platform_id, platform_info, microcode, arch_capabilities;
	/* Not MSRs, but the rest of the state that XSAVE's CPUID leaf depends on (xcr.c). */
	u64 xcr0;
	u32 xsave_size, xsave_compact_size;
};

struct msr_inputs {
	u64 tsc_hz; /* as measured; 0: not known */
};

/*
 * Reset values of all MSRs and XCR0 (SDM 3A table 10-1) and the VM's constants. vcpu->cpuid must be
 * built. Reads MSRs of this machine with faults caught. EFER, PAT, SYSENTER and DEBUGCTL are fields
 * of the VMCS and are written with it.
 */
void msr_init(struct vcpu *vcpu, const struct msr_inputs *inputs);

/* RDMSR and WRMSR for the guest. False: #GP(0), nothing changed. vCPU loaded, VMCS current. */
bool __must_check msr_read(struct vcpu *vcpu, u32 index, u64 *value);
bool __must_check msr_write(struct vcpu *vcpu, u32 index, u64 value);

/*
 * Reset values of the MSRs that stay in the processor, with the guest's value, while its vCPU is
 * loaded: before a VM's first entry, so that nothing of an earlier one shows.
 */
void msr_reset_live(const struct cpuid_policy *policy);

/* Bits of the MSR bitmap (a page) as the rows say for this VM. */
void msr_bitmap_fill(void *bitmap, const struct cpuid_policy *policy);

#endif
