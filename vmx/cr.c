// SPDX-License-Identifier: BSD-2-Clause
/*
 * CR0, CR3, CR4 and EFER of a guest: the bits by owner as a table, the checks of a write, and what
 * a write changes in the VMCS. Called by the exit handlers of CR accesses and WRMSR and when a vCPU
 * is made; interrupts off, VMCS current.
 */
#include "vmx/cr.h"

#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
#include "hv/vm/vm.h"
#include "mmu/invalidate.h"
#include "vmx/access_rights.h"
#include "vmx/controls.h"
#include "vmx/exit.h"

enum owner {
	GUEST,		    /* no exit: the real register has the guest's bit */
	GUEST_EPT,	    /* the guest's with EPT; shadow paging must see the change */
	GUEST_UNRESTRICTED, /* the guest's where VMX does not fix the bit */
	HOST_SHADOW,	    /* exits; the guest reads back what it wrote */
};

struct cr_bit {
	u64 bit;
	enum owner owner;
	u32 feature; /* enum cpuid_feature that the bit belongs to; 0: always there */
};

static const struct cr_bit cr0_bits[] = {
	/* Leaving protected mode is the processor's business with "unrestricted guest". */
	{ CR0_PE, GUEST_UNRESTRICTED, 0 },
	{ CR0_MP, GUEST, 0 },
	{ CR0_EM, GUEST, 0 },
	/* The FPU is the guest's while it runs, so #NM is its own. */
	{ CR0_TS, GUEST, 0 },
	/*
	 * Hard-wired to 1, so that nothing exits for it. Not the guest's: where KVM is the
	 * processor, a bit of the guest's that KVM itself fixes reads back as it was written.
	 */
	{ CR0_ET, HOST_SHADOW, 0 },
	/* Fixed to 1 by VMX (SDM 3C 24.8); legacy error reporting by IRQ 13 is not there. */
	{ CR0_NE, HOST_SHADOW, 0 },
	/* A toggle costs nothing: with EPT no table of ours depends on it. */
	{ CR0_WP, GUEST_EPT, 0 },
	{ CR0_AM, GUEST, 0 },
	/* Caches stay on: a guest must not slow the machine down. */
	{ CR0_NW, HOST_SHADOW, 0 },
	{ CR0_CD, HOST_SHADOW, 0 },
	/* EFER.LMA and the entry control follow it. */
	{ CR0_PG, HOST_SHADOW, 0 },
};

static const struct cr_bit cr4_bits[] = {
	{ CR4_VME, GUEST, FEATURE_VME }, { CR4_PVI, GUEST, FEATURE_VME },
	{ CR4_TSD, GUEST, FEATURE_TSC }, { CR4_DE, GUEST, FEATURE_DE },
	{ CR4_PSE, GUEST_EPT, FEATURE_PSE }, { CR4_PAE, GUEST_EPT, FEATURE_PAE },
	/* The real bit stays set: a machine check with MCE clear would shut the machine down. */
	{ CR4_MCE, HOST_SHADOW, FEATURE_MCE }, { CR4_PGE, GUEST_EPT, FEATURE_PGE },
	/* RDPMC exits whatever it says. */
	{ CR4_PCE, GUEST, 0 }, { CR4_OSFXSR, GUEST, FEATURE_FXSR },
	{ CR4_OSXMMEXCPT, GUEST, FEATURE_SSE }, { CR4_UMIP, GUEST, FEATURE_UMIP },
	/* Paging depth: seen when it changes, which is while paging is off. */
	{ CR4_LA57, HOST_SHADOW, FEATURE_LA57 },
	/* VMXE (13) and SMXE (14): VMX and SMX are hidden; they read 0 and setting them is #GP. */
	{ CR4_FSGSBASE, GUEST, FEATURE_FSGSBASE }, { CR4_PCIDE, GUEST_EPT, FEATURE_PCID },
	{ CR4_OSXSAVE, GUEST, FEATURE_XSAVE }, { CR4_SMEP, GUEST_EPT, FEATURE_SMEP },
	{ CR4_SMAP, GUEST_EPT, FEATURE_SMAP }, { CR4_PKE, GUEST_EPT, FEATURE_PKU },
	/* KL (19), CET (23), PKS (24), UINTR (25) and later: hidden with their features. */
};

#define CR3_NO_FLUSH	 BIT(63)
#define CR3_PCID	 0xfffull
#define TSS_TYPE_16_BUSY 3
#define PDPTE_PRESENT	 BIT(0)
#define PDPTE_RESERVED	 (0x6ull | 0x1e0ull)
#define CR4_PAGING \
	(CR4_PSE | CR4_PAE | CR4_PGE | CR4_PCIDE | CR4_SMEP | CR4_SMAP | CR4_PKE | CR4_LA57)
/* SDM 3A 4.4.1: changes that reload the PDPTEs with PAE paging. */
#define CR0_PDPTE_RELOAD (CR0_PG | CR0_CD | CR0_NW)
#define CR4_PDPTE_RELOAD (CR4_PAE | CR4_PGE | CR4_PSE | CR4_SMEP)

static void init_register(struct cr_register *r, const struct cr_bit *bits, u32 count,
	const struct vcpu *vcpu, const struct cr_inputs *in)
{
	u64 guest = 0;

	r->valid = 0;
	for (u32 i = 0; i < count; i++) {
		enum owner owner = bits[i].owner;

		if (bits[i].feature && !cpuid_has(vcpu->cpuid, bits[i].feature))
			continue;
		r->valid |= bits[i].bit;
		if (owner == GUEST || (owner == GUEST_EPT && in->ept) ||
			(owner == GUEST_UNRESTRICTED && in->unrestricted_guest))
			guest |= bits[i].bit;
	}
	/* A bit that the processor fixes is the host's whatever the table says. */
	r->mask = ~(guest & r->may_be_1 & ~r->must_be_1);
}

void cr_init(struct vcpu *vcpu, const struct cr_inputs *in)
{
	struct cr_state *cr = &vcpu->cr;

	/* SDM 3C 27.3.1.1: unrestricted guests may run without PE and PG. */
	cr->cr0.must_be_1 = in->cr0_fixed0 & ~(in->unrestricted_guest ? CR0_PE | CR0_PG : 0);
	cr->cr0.may_be_1 = in->cr0_fixed1 & ~(CR0_CD | CR0_NW);
	cr->cr4.must_be_1 = in->cr4_fixed0 | (CR4_MCE & in->cr4_fixed1);
	cr->cr4.may_be_1 = in->cr4_fixed1;
	init_register(&cr->cr0, cr0_bits, ARRAY_SIZE(cr0_bits), vcpu, in);
	init_register(&cr->cr4, cr4_bits, ARRAY_SIZE(cr4_bits), vcpu, in);
	/* What the processor refuses cannot be promised. */
	cr->cr4.valid &= in->cr4_fixed1;
	cr->ept = in->ept;
	/* Without VPID every entry flushes (SDM 3C 29.4.3.1). */
	cr->vpid = in->vpid;
	vmcs_write(VMCS_CR0_MASK, cr->cr0.mask);
	vmcs_write(VMCS_CR4_MASK, cr->cr4.mask);
	/* SDM 3A table 10-1: the state after a reset. */
	cr_set_initial(vcpu, CR0_CD | CR0_NW | CR0_ET, 0, 0, 0);
}

static u64 architectural(const struct cr_register *r, u64 real)
{
	return (r->shadow & r->mask) | (real & ~r->mask);
}

u64 guest_cr0(const struct vcpu *vcpu)
{
	return architectural(&vcpu->cr.cr0, vmcs_read(VMCS_GUEST_CR0));
}

u64 guest_cr4(const struct vcpu *vcpu)
{
	return architectural(&vcpu->cr.cr4, vmcs_read(VMCS_GUEST_CR4));
}

/* The guest's value into the shadow, and the value the processor accepts into the register. */
static void commit(struct cr_register *r, enum vmcs_field real, enum vmcs_field shadow, u64 value)
{
	r->shadow = value;
	vmcs_write(shadow, value);
	vmcs_write(real, (value | r->must_be_1) & r->may_be_1);
}

static void commit_efer(struct vcpu *vcpu, u64 efer)
{
	u32 controls = vcpu->entry_controls & ~(u32)ENTRY_IA32E_GUEST;

	/* SDM 3C 27.3.1.1: the control and EFER.LMA agree. */
	if (efer & EFER_LMA)
		controls |= ENTRY_IA32E_GUEST;
	vcpu->msr.efer = efer;
	vmcs_write(VMCS_GUEST_EFER, efer);
	if (controls != vcpu->entry_controls) {
		vcpu->entry_controls = controls;
		vmcs_write(VMCS_ENTRY_CONTROLS, controls);
	}
}

/* SDM 3A 2.2.1: LMA is LME and paging. */
static u64 with_lma(u64 efer, u64 cr0)
{
	bool active = (cr0 & CR0_PG) && (efer & EFER_LME);

	return (efer & ~EFER_LMA) | (active ? EFER_LMA : 0);
}

void cr_set_initial(struct vcpu *vcpu, u64 cr0, u64 cr3, u64 cr4, u64 efer)
{
	struct cr_state *cr = &vcpu->cr;

	commit(&cr->cr0, VMCS_GUEST_CR0, VMCS_CR0_SHADOW, (cr0 & cr->cr0.valid) | CR0_ET);
	commit(&cr->cr4, VMCS_GUEST_CR4, VMCS_CR4_SHADOW, cr4 & cr->cr4.valid);
	vmcs_write(VMCS_GUEST_CR3, cr3);
	commit_efer(vcpu, with_lma(efer, cr0));
}

/* SDM 3A 4.10.4.1: the instruction that exited would have flushed; its VPID's entries are stale. */
static void flush_tlb(const struct vcpu *vcpu)
{
	if (vcpu->cr.vpid)
		invalidate_vpid(vmcs_read(VMCS_VPID));
}

/* Reads the four PDPTEs as MOV to CR3 would (SDM 3A 4.4.1). False: one has a reserved bit set. */
static bool load_pdptes(struct vcpu *vcpu, u64 cr3)
{
	u64 high = ~0ull << vcpu->cpuid->physical_width;
	u64 pdptes[4];

	/* Where nothing answers, reads are all ones. */
	if (!guest_read(&vcpu->vm->memory, gpa(cr3 & 0xffffffe0), pdptes, sizeof(pdptes)))
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(pdptes); i++)
		if ((pdptes[i] & PDPTE_PRESENT) && (pdptes[i] & (PDPTE_RESERVED | high)))
			return false;
	if (vcpu->cr.ept)
		for (u32 i = 0; i < ARRAY_SIZE(pdptes); i++)
			vmcs_write(VMCS_GUEST_PDPTE0 + 2 * i, pdptes[i]);
	return true;
}

static bool uses_pdptes(u64 cr0, u64 cr4, u64 efer)
{
	return (cr0 & CR0_PG) && (cr4 & CR4_PAE) && !(efer & EFER_LMA);
}

static bool code_is_64_bit(void)
{
	return vmcs_read(VMCS_GUEST_CS_RIGHTS) & RIGHTS_L;
}

/* SDM 3A 10.8.5: what must hold for paging to be switched on with EFER.LME set. */
static bool may_activate_long_mode(u64 cr4)
{
	return (cr4 & CR4_PAE) && !code_is_64_bit() &&
	       RIGHTS_TYPE(vmcs_read(VMCS_GUEST_TR_RIGHTS)) != TSS_TYPE_16_BUSY;
}

bool cr0_write(struct vcpu *vcpu, u64 value)
{
	u64 old = guest_cr0(vcpu), cr4 = guest_cr4(vcpu), efer = vcpu->msr.efer;

	if (value >> 32)
		return false;
	/* Reserved bits below 32 are ignored; ET is 1. */
	value = (value & vcpu->cr.cr0.valid) | CR0_ET;
	if (((value & CR0_PG) && !(value & CR0_PE)) || ((value & CR0_NW) && !(value & CR0_CD)))
		return false;
	if (!(value & CR0_PG) && (cr4 & CR4_PCIDE))
		return false;
	if ((value & ~old & CR0_PG) && (efer & EFER_LME) && !may_activate_long_mode(cr4))
		return false;
	if ((old & ~value & CR0_PG) && (efer & EFER_LMA) && code_is_64_bit())
		return false;
	efer = with_lma(efer, value);
	if (uses_pdptes(value, cr4, efer) && ((old ^ value) & CR0_PDPTE_RELOAD) &&
		!load_pdptes(vcpu, vmcs_read(VMCS_GUEST_CR3)))
		return false;

	commit(&vcpu->cr.cr0, VMCS_GUEST_CR0, VMCS_CR0_SHADOW, value);
	if (efer != vcpu->msr.efer)
		commit_efer(vcpu, efer);
	if ((old ^ value) & CR0_PG)
		flush_tlb(vcpu);
	return true;
}

bool cr4_write(struct vcpu *vcpu, u64 value)
{
	u64 old = guest_cr4(vcpu), changed = old ^ value;
	bool long_mode = vcpu->msr.efer & EFER_LMA;

	if (value & ~vcpu->cr.cr4.valid)
		return false;
	if (long_mode && (!(value & CR4_PAE) || (changed & CR4_LA57)))
		return false;
	if ((value & ~old & CR4_PCIDE) && (!long_mode || (vmcs_read(VMCS_GUEST_CR3) & CR3_PCID)))
		return false;
	if (uses_pdptes(guest_cr0(vcpu), value, vcpu->msr.efer) && (changed & CR4_PDPTE_RELOAD) &&
		!load_pdptes(vcpu, vmcs_read(VMCS_GUEST_CR3)))
		return false;

	commit(&vcpu->cr.cr4, VMCS_GUEST_CR4, VMCS_CR4_SHADOW, value);
	if (changed & CR4_PAGING)
		flush_tlb(vcpu);
	return true;
}

bool cr3_write(struct vcpu *vcpu, u64 value)
{
	u64 cr4 = guest_cr4(vcpu);
	bool keep_tlb = (cr4 & CR4_PCIDE) && (value & CR3_NO_FLUSH);

	/* Bit 63 is a command, not a part of the register (BUG-12). */
	if (cr4 & CR4_PCIDE)
		value &= ~CR3_NO_FLUSH;
	if (value >> vcpu->cpuid->physical_width)
		return false;
	if (uses_pdptes(guest_cr0(vcpu), cr4, vcpu->msr.efer) && !load_pdptes(vcpu, value))
		return false;
	vmcs_write(VMCS_GUEST_CR3, value);
	if (!keep_tlb)
		flush_tlb(vcpu);
	return true;
}

bool efer_write(struct vcpu *vcpu, u64 value)
{
	static const struct {
		u64 bit;
		enum cpuid_feature feature;
	} needs[] = { { EFER_SCE, FEATURE_SYSCALL }, { EFER_LME, FEATURE_LM },
		{ EFER_NXE, FEATURE_NX } };
	u64 old = vcpu->msr.efer;

	if (value & ~EFER_DEFINED)
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(needs); i++)
		if ((value & needs[i].bit) && !cpuid_has(vcpu->cpuid, needs[i].feature))
			return false;
	/* SDM 3A 2.2.1: LME is fixed while paging is on; writes of LMA are ignored. */
	if (((old ^ value) & EFER_LME) && (guest_cr0(vcpu) & CR0_PG))
		return false;
	commit_efer(vcpu, (value & ~EFER_LMA) | (old & EFER_LMA));
	/* SDM 3A 4.10.4.1: NXE changes what cached translations allow. */
	if ((old ^ value) & EFER_NXE)
		flush_tlb(vcpu);
	return true;
}
