/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug registers. DR0 to DR3 and DR6 stay in the processor while their vCPU is loaded (an exit
 * leaves them alone), DR7 is in the VMCS; "MOV-DR exiting" can be off. Interrupts off.
 */
#ifndef VMX_DR_H
#define VMX_DR_H

#include "hv/lib/types.h"

struct vcpu;

#define DR6_RESET 0xffff0ff0ull
#define DR7_RESET 0x400
#define DR7_GD	  BIT(13)

/* The registers of a vCPU that is not loaded. */
struct dr_state {
	u64 address[4];
	u64 dr6;
};

void dr_init(struct vcpu *vcpu); /* SDM 3A table 9-1 */
/* Between the processor and vcpu->dr, when another vCPU or the host's debugger takes over. */
void dr_load(const struct vcpu *vcpu);
void dr_save(struct vcpu *vcpu);

#endif
