// SPDX-License-Identifier: BSD-2-Clause
/* Checks on the host-state area (SDM 3C 27.2.2 to 27.2.4): data for vmx/entry_check.c. */
#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
#include "vmx/controls.h"
#include "vmx/cr.h"
#include "vmx/entry_check_rows.h"
#include "vmx/machine.h"
#include "vmx/vmcs.h"

#define SELECTOR_LOW 7ull /* RPL and TI */

typedef const struct entry_context context;

static bool if_load_pat(context *c)
{
	return c->exit & EXIT_LOAD_PAT;
}

static bool if_load_efer(context *c)
{
	return c->exit & EXIT_LOAD_EFER;
}

static bool cr0_fixed(context *c, u64 value)
{
	const struct vmx_capabilities *cap = &vmx_machine.capabilities;
	/* Host CR0.NW and CD are not checked (SDM 3C 27.2.2). */
	u64 unchecked = CR0_NW | CR0_CD;

	(void)c;
	return (value & cap->cr0_fixed0) == cap->cr0_fixed0 &&
	       !(value & ~cap->cr0_fixed1 & ~unchecked);
}

static bool nonzero(context *c, u64 value)
{
	(void)c;
	return value != 0;
}

#define SELECTOR(name)                                                              \
	{                                                                           \
		NULL, VMCS_HOST_##name##_SELECTOR, CHECK_CLEAR, SELECTOR_LOW, NULL, \
			"RPL and TI of a host selector are 0"                       \
	}
#define LINEAR(name)                                                                         \
	{                                                                                    \
		NULL, VMCS_HOST_##name, CHECK_LINEAR, 0, NULL, "a host address is canonical" \
	}

const struct entry_check entry_checks_host[] = {
	{ NULL, VMCS_HOST_CR0, CHECK_FUNCTION, 0, cr0_fixed,
		"host CR0 against IA32_VMX_CR0_FIXED0/1" },
	{ NULL, VMCS_HOST_CR4, CHECK_FUNCTION, 0, entry_check_is_cr4,
		"host CR4 against IA32_VMX_CR4_FIXED0/1" },
	{ NULL, VMCS_HOST_CR3, CHECK_ADDRESS, 0, NULL,
		"host CR3 is beyond the physical-address width" },
	LINEAR(SYSENTER_ESP),
	LINEAR(SYSENTER_EIP),
	{ if_load_pat, VMCS_HOST_PAT, CHECK_FUNCTION, 0, entry_check_is_pat,
		"a memory type of the host's PAT is reserved" },
	{ if_load_efer, VMCS_HOST_EFER, CHECK_CLEAR, ~EFER_DEFINED, NULL,
		"reserved bits of the host's EFER" },
	{ if_load_efer, VMCS_HOST_EFER, CHECK_SET, EFER_LMA | EFER_LME, NULL,
		"the host's EFER.LMA and LME are set for a 64-bit host" },
	SELECTOR(CS),
	SELECTOR(SS),
	SELECTOR(DS),
	SELECTOR(ES),
	SELECTOR(FS),
	SELECTOR(GS),
	SELECTOR(TR),
	{ NULL, VMCS_HOST_CS_SELECTOR, CHECK_FUNCTION, 0, nonzero, "host CS is not null" },
	{ NULL, VMCS_HOST_TR_SELECTOR, CHECK_FUNCTION, 0, nonzero, "host TR is not null" },
	LINEAR(FS_BASE),
	LINEAR(GS_BASE),
	LINEAR(GDTR_BASE),
	LINEAR(IDTR_BASE),
	LINEAR(TR_BASE),
	/* SDM 3C 27.2.4, for a host in 64-bit mode */
	{ NULL, VMCS_EXIT_CONTROLS, CHECK_SET, EXIT_HOST_ADDRESS_SPACE_64, NULL,
		"a 64-bit host sets host address-space size" },
	{ NULL, VMCS_HOST_CR4, CHECK_SET, CR4_PAE, NULL, "a 64-bit host sets CR4.PAE" },
	LINEAR(RIP),
	{ 0 },
};
