/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The VM-execution, exit and entry controls: which Torpor wants, needs, or switches while the guest
 * runs, and what a processor's capabilities make of that (SDM 3C 25.6 to 25.8, 3D A.2 to A.5).
 */
#ifndef VMX_CONTROLS_H
#define VMX_CONTROLS_H

#include "hv/lib/error.h"
#include "vmx/capabilities.h"

/* SDM 3C table 25-5 */
#define PIN_EXTERNAL_INTERRUPT_EXITING BIT(0)
#define PIN_NMI_EXITING		       BIT(3)
#define PIN_VIRTUAL_NMIS	       BIT(5)
#define PIN_PREEMPTION_TIMER	       BIT(6)

/* Table 25-6 */
#define PRIMARY_INTERRUPT_WINDOW   BIT(2)
#define PRIMARY_TSC_OFFSETTING	   BIT(3)
#define PRIMARY_HLT_EXITING	   BIT(7)
#define PRIMARY_MWAIT_EXITING	   BIT(10)
#define PRIMARY_RDPMC_EXITING	   BIT(11)
#define PRIMARY_CR3_LOAD_EXITING   BIT(15)
#define PRIMARY_CR3_STORE_EXITING  BIT(16)
#define PRIMARY_CR8_LOAD_EXITING   BIT(19)
#define PRIMARY_CR8_STORE_EXITING  BIT(20)
#define PRIMARY_TPR_SHADOW	   BIT(21)
#define PRIMARY_NMI_WINDOW	   BIT(22)
#define PRIMARY_MOV_DR_EXITING	   BIT(23)
#define PRIMARY_UNCONDITIONAL_IO   BIT(24)
#define PRIMARY_MSR_BITMAPS	   BIT(28)
#define PRIMARY_MONITOR_EXITING	   BIT(29)
#define PRIMARY_ACTIVATE_SECONDARY BIT(31)

/* Table 25-7 */
#define SECONDARY_EPT		     BIT(1)
#define SECONDARY_RDTSCP	     BIT(3)
#define SECONDARY_VPID		     BIT(5)
#define SECONDARY_WBINVD_EXITING     BIT(6)
#define SECONDARY_UNRESTRICTED_GUEST BIT(7)
#define SECONDARY_INVPCID	     BIT(12)
#define SECONDARY_ENCLS_EXITING	     BIT(15)
#define SECONDARY_XSAVES	     BIT(20)
#define SECONDARY_USER_WAIT	     BIT(26)

/* Table 25-13 */
#define EXIT_SAVE_DEBUG_CONTROLS   BIT(2)
#define EXIT_HOST_ADDRESS_SPACE_64 BIT(9)
#define EXIT_ACKNOWLEDGE_INTERRUPT BIT(15)
#define EXIT_SAVE_PAT		   BIT(18)
#define EXIT_LOAD_PAT		   BIT(19)
#define EXIT_SAVE_EFER		   BIT(20)
#define EXIT_LOAD_EFER		   BIT(21)
#define EXIT_SAVE_PREEMPTION_TIMER BIT(22)

/* Table 25-15 */
#define ENTRY_LOAD_DEBUG_CONTROLS BIT(2)
#define ENTRY_IA32E_GUEST	  BIT(9)
#define ENTRY_LOAD_PAT		  BIT(14)
#define ENTRY_LOAD_EFER		  BIT(15)

struct vmx_controls {
	u32 word[CONTROL_WORDS];
	/* Bits that the processor allows and that Torpor sets and clears while a guest runs. */
	u32 dynamic[CONTROL_WORDS];
};

/*
 * From capabilities to controls: what must be 1, and of what Torpor wants all that may be 1, less
 * what depends on a control that is missing. ERR_UNSUPPORTED: a control that Torpor cannot do
 * without is missing; *missing names it for the message.
 */
enum error __must_check vmx_controls_compute(const struct vmx_capabilities *capabilities,
	struct vmx_controls *controls, const char **missing);

/* "EPT, VPID, ...": the optional features in use, for the first line that the hypervisor prints. */
void vmx_controls_describe(const struct vmx_controls *controls, char *to, size_t size);

static inline bool vmx_control(
	const struct vmx_controls *controls, enum control_word word, u32 bits)
{
	return (controls->word[word] & bits) == bits;
}

#endif
