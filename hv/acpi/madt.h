/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the host needs of the machine's MADT (ACPI 6.5 5.2.12): the IOAPIC and where ISA interrupts
 * arrive.
 */
#ifndef HV_ACPI_MADT_H
#define HV_ACPI_MADT_H

#include "hv/lib/types.h"

#define ISA_IRQS 16

struct madt_isa {
	u32 gsi;
	bool level, active_low;
};

struct madt_info {
	u64 ioapic_address; /* of the IOAPIC that has GSI 0 (or the first one) */
	u32 ioapic_gsi_base;
	struct madt_isa isa[ISA_IRQS];
};

/*
 * rsdp: host-physical, 0: the firmware published none. Without a valid table: the IOAPIC of every
 * PC, ISA interrupts one to one, edge, active high. Checksums and lengths are checked. Maps what it
 * reads.
 */
void madt_read(u64 rsdp, struct madt_info *info);

#endif
