/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's interrupt controllers: local APIC with its timer, IOAPIC for the console's UART. */
#ifndef HV_CPU_HOSTAPIC_H
#define HV_CPU_HOSTAPIC_H

#include "boot/boot_info.h"

/*
 * Masks the 8259 pair, enables the local APIC (x2APIC where there is one), finds and masks the
 * IOAPIC.
 */
void hostapic_init(const struct boot_info *boot);
void hostapic_eoi(void);
u32 hostapic_id(void);

/* Routes an ISA interrupt to a vector on this CPU. False: there is no IOAPIC for it. */
bool hostapic_route_isa(u32 irq, u32 vector);

/*
 * One interrupt at that time of the TSC (in the past: at once); ~0: none. Replaces the one before.
 */
void host_timer_set(u64 deadline_tsc);
/*
 * Waits for any host interrupt, at most until deadline_tsc. Interrupts are on inside, off on
 * return.
 */
void host_idle(u64 deadline_tsc);

#endif
