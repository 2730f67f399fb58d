/* SPDX-License-Identifier: BSD-2-Clause */
/* Switching the machine off. */
#ifndef HV_CPU_POWER_H
#define HV_CPU_POWER_H

#include "boot/boot_info.h"

/* Keeps what the firmware call will need. */
void power_init(const struct boot_info *boot);

/*
 * Drains the console, then tries what works in this order: Bochs' shutdown port, EFI ResetSystem,
 * the reset register; halts if none did. Any context.
 */
__noreturn void machine_power_off(void);

#endif
