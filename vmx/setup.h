/* SPDX-License-Identifier: BSD-2-Clause */
/* A vCPU's VMCS: made once, written field by field. */
#ifndef VMX_SETUP_H
#define VMX_SETUP_H

#include "hv/lib/error.h"
#include "hv/vm/loader.h"
#include "hv/vm/vcpu.h"

/*
 * Allocates the VMCS and MSR bitmap of vcpu, makes the VMCS current on this CPU and writes
 * controls, host state and the guest state that entry describes. The VM's EPT, platform and
 * policies exist already. vcpu_vmcs_destroy() follows on an error too.
 */
enum error __must_check vcpu_vmcs_create(struct vcpu *vcpu, const struct guest_entry *entry);
void vcpu_vmcs_destroy(struct vcpu *vcpu);

#endif
