/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's local APIC (SDM 3A chapter 11): xAPIC registers by MMIO, x2APIC by MSRs, timer in
 * one-shot, periodic and TSC-deadline mode. The registers live in one page laid out as the manual's
 * table 11-1, so that the page serves as the virtual-APIC page of a VMCS as it is.
 */
#ifndef HV_DEV_LAPIC_H
#define HV_DEV_LAPIC_H

#include "hv/lib/types.h"

struct lapic;

/* IA32_APIC_BASE (0x1b), IA32_TSC_DEADLINE (0x6e0), x2APIC (0x800..0x8ff). False: #GP(0). */
bool lapic_msr_read(struct lapic *lapic, u32 index, u64 *value);
bool lapic_msr_write(struct lapic *lapic, u32 index, u64 value);

u64 lapic_base(const struct lapic *lapic); /* IA32_APIC_BASE as the guest sees it */
u64 lapic_cr8_read(const struct lapic *lapic);
void lapic_cr8_write(struct lapic *lapic, u64 value); /* value <= 15, checked by the caller */

/* The register page, for VIRTUAL_APIC_ADDRESS. */
void *lapic_page(struct lapic *lapic);
/* TPR[7:4] may have been changed through the page (TPR shadow): recompute the priority. */
void lapic_tpr_changed(struct lapic *lapic);
/* The TPR threshold that makes the processor exit when the waiting vector becomes deliverable. */
u32 lapic_tpr_threshold(struct lapic *lapic);
/* guest TSC = host TSC + offset; set again when the guest writes its TSC. */
void lapic_set_tsc_offset(struct lapic *lapic, u64 offset);
/* INIT: registers as after INIT, APIC mode and base kept (SDM 3A 11.4.7.3). */
void lapic_init_reset(struct lapic *lapic);

#endif
