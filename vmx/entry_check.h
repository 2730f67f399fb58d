/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a VM entry failed: the processor says only that some check did (VM-instruction error 7 or 8,
 * exit reason 33). This walks the checks of SDM 3C 27.2 and 27.3 over the current VMCS, in the
 * manual's order.
 */
#ifndef VMX_ENTRY_CHECK_H
#define VMX_ENTRY_CHECK_H

#include "hv/lib/types.h"

/*
 * Writes one line about the first check that fails, field, value and rule, or that none of those
 * known here does. Returns buffer. Interrupts off; the VMCS is current and as it was when the entry
 * failed.
 */
const char *entry_check_failed(char *buffer, size_t size);

#endif
