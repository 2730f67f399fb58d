/* SPDX-License-Identifier: BSD-2-Clause */
/* The run loop of a vCPU and what its devices call back. */
#ifndef HV_VM_RUN_H
#define HV_VM_RUN_H

#include "hv/vm/vm.h"

/* Runs vcpu on this CPU until its VM stops; vm->stop says why. Interrupts off, VMCS current. */
void vcpu_run(struct vcpu *vcpu);

/* The devices' door to the VM: platform_config.host of vm. */
struct platform_host vm_platform_host(struct vm *vm);

#endif
