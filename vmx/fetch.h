/* SPDX-License-Identifier: BSD-2-Clause */
/* Fetching the instruction that an exit is about, from the guest's memory. */
#ifndef VMX_FETCH_H
#define VMX_FETCH_H

#include "vmx/access.h"

/*
 * Fetches and decodes the instruction at RIP, anew from the guest's memory: the exit's instruction
 * length means nothing for EPT violations (SDM 3C 28.2.5). #PF, #GP, #UD as the processor would.
 * False: see access.h.
 */
bool __must_check fetch_instruction(struct guest_access *access, struct insn *insn);

/*
 * The answer to an instruction that is valid but not emulated: one line with its bytes, and #UD for
 * the guest, as if the processor did not have it.
 */
enum exit_action fetch_refuse(struct guest_access *access);

#endif
