/* SPDX-License-Identifier: BSD-2-Clause */
/* VMX of this machine: capabilities and controls, the same for every CPU, and switching it on. */
#ifndef VMX_MACHINE_H
#define VMX_MACHINE_H

#include "hv/lib/error.h"
#include "mmu/ept.h"
#include "mmu/mtrr.h"
#include "vmx/capabilities.h"
#include "vmx/controls.h"

struct cpu;

struct vmx_machine {
	struct vmx_capabilities capabilities;
	struct vmx_controls controls;
	struct ept_capabilities ept;
	struct mtrr_state mtrrs;
	bool vpid;
	u32 preemption_shift; /* the timer counts TSC >> this */
};

extern struct vmx_machine vmx_machine;

/*
 * Reads the capabilities, computes the controls. ERR_UNSUPPORTED: *missing names the feature that
 * this processor lacks. Once, on the boot CPU.
 */
enum error __must_check vmx_machine_init(const char **missing);

/*
 * VMXON on this CPU: sets and locks IA32_FEATURE_CONTROL where firmware left it open, brings CR0
 * and CR4 into the state that VMX operation needs (SDM 3C 24.7, 24.8). *missing as above.
 */
enum error __must_check vmx_cpu_enable(struct cpu *cpu, const char **missing);

/*
 * One zeroed page with the VMCS revision in front, where the processor can reach it (SDM 3C 25.2,
 * 25.11.5).
 */
enum error __must_check vmx_alloc_region(hpa_t *region);

#endif
