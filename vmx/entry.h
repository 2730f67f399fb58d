/* SPDX-License-Identifier: BSD-2-Clause */
/* The door between host and guest: entry.asm. */
#ifndef VMX_ENTRY_H
#define VMX_ENTRY_H

#include "vmx/exit.h"

/*
 * Enters the guest and comes back when a handler or vcpu->pending asks for the run loop, or when
 * the entry failed (EXIT_FAILED_*, EXIT_ENTRY_FAILURE). Exits that need neither are handled inside.
 * Interrupts off; vcpu's VMCS current; HOST_RSP is vcpu, HOST_RIP is vmx_exit_stub or
 * vmx_exit_stub_profile.
 */
enum exit_action vmx_enter(struct vcpu *vcpu);

/*
 * Exit stubs: labels for HOST_RIP, not functions. The second one adds up the time spent in the
 * host.
 */
extern const char vmx_exit_stub[], vmx_exit_stub_profile[];

#endif
