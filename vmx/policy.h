/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies of a VM and its vCPUs (CPUID, MSRs, control registers, XCR0), made from what this
 * machine's VMX offers. Interrupts off.
 */
#ifndef VMX_POLICY_H
#define VMX_POLICY_H

#include "hv/lib/types.h"

struct vcpu;
struct vm;

/* The VM's CPUID. Before its vCPUs are made; vm->vcpu_count is set. */
void vm_policy_init(struct vm *vm, u64 tsc_hz);

/*
 * Reset values and limits of a vCPU, and its MSR bitmap (a page). vcpu->vm and cpuid are set, the
 * VMCS is current, its controls are written.
 */
void vcpu_policy_init(struct vcpu *vcpu, void *msr_bitmap, u64 tsc_hz);

#endif
