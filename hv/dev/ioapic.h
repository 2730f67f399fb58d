/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The I/O APIC (Intel 82093AA data sheet, with the EOI register of version 0x20): 24 pins at
 * IOAPIC_BASE.
 */
#ifndef HV_DEV_IOAPIC_H
#define HV_DEV_IOAPIC_H

#include "hv/dev/platform_map.h"
#include "hv/dev/timer.h"
#include "hv/lib/types.h"

struct platform;

struct ioapic {
	u8 select; /* IOREGSEL */
	u8 id;
	u32 lines;	       /* input levels, bit n is pin n */
	u32 asserted;	       /* what the pins mean: a line's level by the pin's polarity */
	u64 pins[IOAPIC_PINS]; /* the redirection table */
	u32 again; /* deliveries in a row that an EOI caused, the line still being asserted */
	struct timer pause; /* after too many of them */
};

void ioapic_init(struct platform *platform); /* once; then reset */
void ioapic_reset(struct platform *platform);
void ioapic_set_pin(struct platform *platform, u32 pin, bool level);
/* EOI of a level-triggered vector, broadcast by a local APIC. */
void ioapic_eoi(struct platform *platform, u8 vector);
/* True if pin 0 hands the 8259's INTR through to this vCPU (delivery mode ExtINT). */
bool ioapic_passes_extint(struct platform *platform, u32 vcpu);
/* offset within the page of IOAPIC_BASE */
u32 ioapic_read(struct platform *platform, u32 offset);
void ioapic_write(struct platform *platform, u32 offset, u32 value);

#endif
