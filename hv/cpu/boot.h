/* SPDX-License-Identifier: BSD-2-Clause */
/* Start-up of the host and what it took. */
#ifndef HV_CPU_BOOT_H
#define HV_CPU_BOOT_H

#include "boot/boot_info.h"

/* The entry point of the image: boot_info.h has the state it is entered in. */
__noreturn void hv_start(struct boot_info *boot);

/*
 * Bytes of the image as it lies in memory, and of all that the hypervisor took besides it (tables
 * excluded).
 */
u64 host_image_size(void);
u64 host_memory_in_use(void);

#endif
