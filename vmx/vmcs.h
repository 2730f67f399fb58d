/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed access to the current VMCS. Interrupts off; a VMCS must be current on this CPU. */
#ifndef VMX_VMCS_H
#define VMX_VMCS_H

#include "hv/cpu/insn.h"
#include "vmx/vmcs_fields.h"

static inline u64 vmcs_read(enum vmcs_field field)
{
	return insn_vmread(field);
}

static inline void vmcs_write(enum vmcs_field field, u64 value)
{
	insn_vmwrite(field, value);
}

#endif
