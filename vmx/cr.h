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

#define CR0_PE BIT(0)
#define CR0_MP BIT(1)
#define CR0_EM BIT(2)
#define CR0_TS BIT(3)
#define CR0_ET BIT(4)
#define CR0_NE BIT(5)
#define CR0_WP BIT(16)
#define CR0_AM BIT(18)
#define CR0_NW BIT(29)
#define CR0_CD BIT(30)
#define CR0_PG BIT(31)

#define CR4_VME	       BIT(0)
#define CR4_PVI	       BIT(1)
#define CR4_TSD	       BIT(2)
#define CR4_DE	       BIT(3)
#define CR4_PSE	       BIT(4)
#define CR4_PAE	       BIT(5)
#define CR4_MCE	       BIT(6)
#define CR4_PGE	       BIT(7)
#define CR4_PCE	       BIT(8)
#define CR4_OSFXSR     BIT(9)
#define CR4_OSXMMEXCPT BIT(10)
#define CR4_UMIP       BIT(11)
#define CR4_LA57       BIT(12)
#define CR4_VMXE       BIT(13)
#define CR4_FSGSBASE   BIT(16)
#define CR4_PCIDE      BIT(17)
#define CR4_OSXSAVE    BIT(18)
#define CR4_SMEP       BIT(20)
#define CR4_SMAP       BIT(21)
#define CR4_PKE	       BIT(22)

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
