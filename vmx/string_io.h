/* SPDX-License-Identifier: BSD-2-Clause */
/* INS and OUTS (SDM 2A INS, 2B OUTS), for the handler of I/O exits. */
#ifndef VMX_STRING_IO_H
#define VMX_STRING_IO_H

#include "vmx/exit.h"

/*
 * An I/O exit whose qualification says "string". The processor has checked the port's permission,
 * not the memory. A long REP runs in turns: the vCPU resumes at the same instruction.
 */
enum exit_action emulate_string_io(struct vcpu *vcpu, u64 qualification);

#endif
