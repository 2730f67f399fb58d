// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks on the guest-state area but for segments (SDM 3C 27.3.1), by the manual's order: data for
 * vmx/entry_check.c.
 */
#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
#include "vmx/access_rights.h"
#include "vmx/controls.h"
#include "vmx/cr.h"
#include "vmx/entry_check_rows.h"
#include "vmx/event.h"
#include "vmx/machine.h"
#include "vmx/vmcs.h"

#define DEBUGCTL_RESERVED (~0xffffull | 0x38)
#define DEBUGCTL_BTF	  BIT(1)
#define HIGH_HALF	  0xffffffff00000000ull
#define RFLAGS_RESERVED	  (~0x3fffffull | BIT(15) | BIT(5) | BIT(3))
#define NO_LINK		  (~0ull)
#define PDPTE_RESERVED	  0x1e6ull
#define BLOCKING_BY_SMI	  BIT(2)
#define ACTIVITY_HLT	  1
#define ACTIVITY_MAX	  3
#define PENDING_BS	  BIT(14)
/* 11:4, 13, 15 and 63:17; 12 is "enabled breakpoint", 14 BS, 16 RTM. */
#define PENDING_RESERVED  (0xff0ull | BIT(13) | BIT(15) | ~0x1ffffull)

typedef const struct entry_context context;

static bool if_ia32e(context *c)
{
	return c->ia32e;
}

static bool if_not_ia32e(context *c)
{
	return !c->ia32e;
}

static bool if_load_debug(context *c)
{
	return c->entry & ENTRY_LOAD_DEBUG_CONTROLS;
}

static bool if_load_pat(context *c)
{
	return c->entry & ENTRY_LOAD_PAT;
}

static bool if_load_efer(context *c)
{
	return c->entry & ENTRY_LOAD_EFER;
}

static bool if_pdptes(context *c)
{
	return c->pae_pdptes;
}

static bool if_no_v86_possible(context *c)
{
	return c->ia32e || !c->protected_mode;
}

static u32 event(void)
{
	u32 info = vmcs_read(VMCS_ENTRY_INTERRUPTION_INFO);

	return info & EVENT_VALID ? info : EVENT_OTHER << 8;
}

static bool if_external(context *c)
{
	(void)c;
	return EVENT_TYPE(event()) == EVENT_EXTERNAL;
}

static bool if_nmi(context *c)
{
	(void)c;
	return EVENT_TYPE(event()) == EVENT_NMI;
}

static bool if_nmi_and_virtual(context *c)
{
	return if_nmi(c) && (c->pin & PIN_VIRTUAL_NMIS);
}

static bool if_interrupts_off(context *c)
{
	(void)c;
	return !(vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_IF);
}

static bool if_shadow(context *c)
{
	(void)c;
	return vmcs_read(VMCS_GUEST_INTERRUPTIBILITY) & (BLOCKING_BY_STI | BLOCKING_BY_MOV_SS);
}

static bool if_trap_consistent(context *c)
{
	return if_shadow(c) || vmcs_read(VMCS_GUEST_ACTIVITY_STATE) == ACTIVITY_HLT;
}

static bool cr0_fixed(context *c, u64 value)
{
	const struct vmx_capabilities *cap = &vmx_machine.capabilities;
	u64 must = cap->cr0_fixed0, unchecked = CR0_NW | CR0_CD;

	if (c->unrestricted)
		must &= ~(CR0_PE | CR0_PG);
	return (value & must) == must && !(value & ~cap->cr0_fixed1 & ~unchecked);
}

static bool paging_protected(context *c, u64 value)
{
	(void)c;
	return !(value & CR0_PG) || (value & CR0_PE);
}

static bool lma_matches(context *c, u64 value)
{
	return !(value & EFER_LMA) == !c->ia32e;
}

static bool lme_matches(context *c, u64 value)
{
	(void)c;
	return !(vmcs_read(VMCS_GUEST_CR0) & CR0_PG) || !(value & EFER_LMA) == !(value & EFER_LME);
}

static bool rip_fits(context *c, u64 value)
{
	u32 shift = c->linear_width;
	u64 high = value >> shift;

	if (!c->ia32e || !(vmcs_read(VMCS_GUEST_CS_RIGHTS) & RIGHTS_L))
		return !(value & HIGH_HALF);
	/* One bit past the canonical edge is legal (BUG-63): the bit below is not compared. */
	return high == 0 || high == ~0ull >> shift;
}

static bool activity_supported(context *c, u64 value)
{
	(void)c;
	/* SDM 3D A.6: bits 8:6 of IA32_VMX_MISC */
	return value == 0 ||
	       (value <= ACTIVITY_MAX && (vmx_machine.capabilities.misc >> (5 + value) & 1));
}

static bool hlt_at_ring_0(context *c, u64 value)
{
	(void)c;
	return value != ACTIVITY_HLT || !RIGHTS_DPL(vmcs_read(VMCS_GUEST_SS_RIGHTS));
}

static bool active(context *c, u64 value)
{
	(void)c;
	return value == 0;
}

static bool one_shadow(context *c, u64 value)
{
	(void)c;
	return (value & (BLOCKING_BY_STI | BLOCKING_BY_MOV_SS)) !=
	       (BLOCKING_BY_STI | BLOCKING_BY_MOV_SS);
}

static bool bs_matches_tf(context *c, u64 value)
{
	bool step = (vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_TF) &&
		    !(vmcs_read(VMCS_GUEST_DEBUGCTL) & DEBUGCTL_BTF);

	(void)c;
	return !(value & PENDING_BS) == !step;
}

static bool link_fits(context *c, u64 value)
{
	return value == NO_LINK || !(value & (PAGE_MASK | c->address_high));
}

static bool pdpte_fits(context *c, u64 value)
{
	return !(value & 1) || !(value & (PDPTE_RESERVED | c->address_high));
}

#define PDPTE(n)                                                               \
	{                                                                      \
		if_pdptes, VMCS_GUEST_PDPTE##n, CHECK_FUNCTION, 0, pdpte_fits, \
			"reserved bits of a present PDPTE (SDM 3C 27.3.1.6)"   \
	}
#define LINEAR(field)                                                                           \
	{                                                                                       \
		NULL, VMCS_GUEST_##field, CHECK_LINEAR, 0, NULL, "a guest address is canonical" \
	}

const struct entry_check entry_checks_guest_registers[] = {
	/* SDM 3C 27.3.1.1 */
	{ NULL, VMCS_GUEST_CR0, CHECK_FUNCTION, 0, cr0_fixed,
		"guest CR0 against IA32_VMX_CR0_FIXED0/1" },
	{ NULL, VMCS_GUEST_CR0, CHECK_FUNCTION, 0, paging_protected, "CR0.PG without PE" },
	{ NULL, VMCS_GUEST_CR4, CHECK_FUNCTION, 0, entry_check_is_cr4,
		"guest CR4 against IA32_VMX_CR4_FIXED0/1" },
	{ if_load_debug, VMCS_GUEST_DEBUGCTL, CHECK_CLEAR, DEBUGCTL_RESERVED, NULL,
		"reserved bits of IA32_DEBUGCTL" },
	{ if_ia32e, VMCS_GUEST_CR0, CHECK_SET, CR0_PG, NULL, "IA-32e mode without CR0.PG" },
	{ if_ia32e, VMCS_GUEST_CR4, CHECK_SET, CR4_PAE, NULL, "IA-32e mode without CR4.PAE" },
	{ if_not_ia32e, VMCS_GUEST_CR4, CHECK_CLEAR, CR4_PCIDE, NULL,
		"CR4.PCIDE outside IA-32e mode" },
	{ NULL, VMCS_GUEST_CR3, CHECK_ADDRESS, 0, NULL,
		"guest CR3 is beyond the physical-address width" },
	{ if_load_debug, VMCS_GUEST_DR7, CHECK_CLEAR, HIGH_HALF, NULL, "DR7 has 32 bits" },
	LINEAR(SYSENTER_ESP),
	LINEAR(SYSENTER_EIP),
	{ if_load_pat, VMCS_GUEST_PAT, CHECK_FUNCTION, 0, entry_check_is_pat,
		"a memory type of the guest's PAT is reserved" },
	{ if_load_efer, VMCS_GUEST_EFER, CHECK_CLEAR, ~EFER_DEFINED, NULL,
		"reserved bits of the guest's EFER" },
	{ if_load_efer, VMCS_GUEST_EFER, CHECK_FUNCTION, 0, lma_matches,
		"EFER.LMA differs from the IA-32e mode guest control" },
	{ if_load_efer, VMCS_GUEST_EFER, CHECK_FUNCTION, 0, lme_matches,
		"EFER.LMA differs from LME with paging on" },
	{ 0 },
};

/* What the manual lists behind the segment registers. */
const struct entry_check entry_checks_guest_rest[] = {
	/* SDM 3C 27.3.1.3 */
	LINEAR(GDTR_BASE),
	LINEAR(IDTR_BASE),
	{ NULL, VMCS_GUEST_GDTR_LIMIT, CHECK_CLEAR, 0xffff0000, NULL, "the GDT limit has 16 bits" },
	{ NULL, VMCS_GUEST_IDTR_LIMIT, CHECK_CLEAR, 0xffff0000, NULL, "the IDT limit has 16 bits" },
	/* SDM 3C 27.3.1.4 */
	{ NULL, VMCS_GUEST_RIP, CHECK_FUNCTION, 0, rip_fits,
		"RIP does not fit the mode or is not canonical" },
	{ NULL, VMCS_GUEST_RFLAGS, CHECK_CLEAR, RFLAGS_RESERVED, NULL, "reserved bits of RFLAGS" },
	{ NULL, VMCS_GUEST_RFLAGS, CHECK_SET, BIT(1), NULL, "bit 1 of RFLAGS is 1" },
	{ if_no_v86_possible, VMCS_GUEST_RFLAGS, CHECK_CLEAR, RFLAGS_VM, NULL,
		"RFLAGS.VM in IA-32e or real-address mode" },
	{ if_external, VMCS_GUEST_RFLAGS, CHECK_SET, RFLAGS_IF, NULL,
		"an external interrupt is injected with RFLAGS.IF clear" },
	/* SDM 3C 27.3.1.5 */
	{ NULL, VMCS_GUEST_ACTIVITY_STATE, CHECK_FUNCTION, 0, activity_supported,
		"an activity state that the processor does not support" },
	{ NULL, VMCS_GUEST_ACTIVITY_STATE, CHECK_FUNCTION, 0, hlt_at_ring_0,
		"HLT activity state with SS.DPL above 0" },
	{ if_shadow, VMCS_GUEST_ACTIVITY_STATE, CHECK_FUNCTION, 0, active,
		"blocking by STI or MOV SS while not active" },
	{ NULL, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR, ~0x1full, NULL,
		"reserved bits of the interruptibility state" },
	{ NULL, VMCS_GUEST_INTERRUPTIBILITY, CHECK_FUNCTION, 0, one_shadow,
		"blocking by STI and by MOV SS at once" },
	{ if_interrupts_off, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR, BLOCKING_BY_STI, NULL,
		"blocking by STI with RFLAGS.IF clear" },
	{ if_external, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR,
		BLOCKING_BY_STI | BLOCKING_BY_MOV_SS, NULL,
		"an external interrupt is injected into a shadow" },
	{ if_nmi, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR, BLOCKING_BY_MOV_SS, NULL,
		"an NMI is injected into the shadow of MOV SS" },
	{ NULL, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR, BLOCKING_BY_SMI, NULL,
		"blocking by SMI outside SMM" },
	{ if_nmi, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR, BLOCKING_BY_STI, NULL,
		"an NMI is injected into the shadow of STI" },
	{ if_nmi_and_virtual, VMCS_GUEST_INTERRUPTIBILITY, CHECK_CLEAR, BLOCKING_BY_NMI, NULL,
		"an NMI is injected while virtual NMIs are blocked" },
	{ NULL, VMCS_GUEST_PENDING_DEBUG, CHECK_CLEAR, PENDING_RESERVED, NULL,
		"reserved bits of the pending debug exceptions" },
	{ if_trap_consistent, VMCS_GUEST_PENDING_DEBUG, CHECK_FUNCTION, 0, bs_matches_tf,
		"pending BS differs from RFLAGS.TF (without BTF) in a shadow or HLT" },
	{ NULL, VMCS_VMCS_LINK_POINTER, CHECK_FUNCTION, 0, link_fits,
		"the VMCS link pointer is neither ~0 nor an aligned address" },
	PDPTE(0),
	PDPTE(1),
	PDPTE(2),
	PDPTE(3),
	{ 0 },
};
