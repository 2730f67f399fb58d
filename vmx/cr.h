/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's CR0, CR4 and long mode. Bits that nothing here needs to know about belong to the
 * guest: it changes them without an exit. For the others the read shadow holds what the guest wrote
 * and the real register what the processor needs (SDM 3C 25.6.6, 24.8). All functions: interrupts
 * off, the vCPU's VMCS current.
 */
#ifndef VMX_CR_H
#define VMX_CR_H

#include "hv/lib/types.h"

struct vcpu;

/* What this processor and the VMCS's controls prescribe. */
struct cr_inputs {
	bool ept;
	bool unrestricted_guest;
	bool vpid;
	u64 cr0_fixed0, cr0_fixed1, cr4_fixed0, cr4_fixed1; /* SDM 3D A.7, A.8 */
};

/* A control register: who owns its bits, and what the processor insists on. */
struct cr_register {
	u64 mask;		 /* 1: the host's bit, as in the VMCS */
	u64 shadow;		 /* as in the VMCS */
	u64 valid;		 /* bits that the guest may set */
	u64 must_be_1, may_be_1; /* of the real register */
};

struct cr_state {
	struct cr_register cr0, cr4;
	bool ept;
	bool vpid; /* the TLB is tagged and has to be flushed by hand */
};

/*
 * Masks and limits from the vCPU's CPUID policy and the processor; then the registers of
 * cr_set_initial(). Once for each vCPU, before its first entry.
 */
void cr_init(struct vcpu *vcpu, const struct cr_inputs *inputs);

/*
 * CR0, CR3, CR4 and EFER of a vCPU that starts, as the guest will see them, without the checks that
 * the guest's own writes get. EFER.LMA and the entry control follow from LME and PG.
 */
void cr_set_initial(struct vcpu *vcpu, u64 cr0, u64 cr3, u64 cr4, u64 efer);

/* The architectural value: what the guest would read now. */
u64 guest_cr0(const struct vcpu *vcpu);
u64 guest_cr4(const struct vcpu *vcpu);

/*
 * MOV to CR0, CR3, CR4 with every rule of SDM 2B "MOV - Move to/from Control Registers". False:
 * #GP(0), and nothing has changed.
 */
bool __must_check cr0_write(struct vcpu *vcpu, u64 value);
bool __must_check cr3_write(struct vcpu *vcpu, u64 value);
bool __must_check cr4_write(struct vcpu *vcpu, u64 value);

/* WRMSR to EFER. False: #GP(0), nothing changed. Reading: vcpu->msr.efer. */
bool __must_check efer_write(struct vcpu *vcpu, u64 value);

#endif
