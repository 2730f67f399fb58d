/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's processors. */
#ifndef BOOT_CPUS_H
#define BOOT_CPUS_H

#include "boot/boot_info.h"

/*
 * Fills info->cpus, the BSP first: from EFI_MP_SERVICES_PROTOCOL, else the MADT, else the BSP
 * alone.
 */
void cpus_find(struct boot_info *info);

#endif
