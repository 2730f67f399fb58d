/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's MP tables (MultiProcessor Specification 1.4) for kernels that know no ACPI, and the
 * words of the BIOS data area that lead to them.
 */
#ifndef HV_DEV_MP_TABLE_H
#define HV_DEV_MP_TABLE_H

#include "hv/lib/error.h"
#include "hv/vm/guest_memory.h"

/*
 * Writes the floating pointer and the configuration table to GUEST_MP_TABLE, in the EBDA, or behind
 * the ACPI tables in the BIOS area when the EBDA is too small for that many processors. Local APIC
 * ids are 0..cpus-1; an MP table has no room for ids above 254, so later processors are left out.
 * ERR_RANGE: the places are not RAM, or no processor.
 */
enum error __must_check mp_table_build(struct guest_memory *memory, u32 cpus);

#endif
