/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hypervisor's main line, called by host start-up (hv/cpu/boot.c) on the boot CPU's own stack.
 */
#ifndef HV_MAIN_H
#define HV_MAIN_H

#include "boot/boot_info.h"

#define TORPOR_VERSION "0.1"

__noreturn void hv_main(struct boot_info *boot);

#endif
