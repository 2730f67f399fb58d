/* SPDX-License-Identifier: BSD-2-Clause */
/* The processor the loader runs on. */
#ifndef BOOT_PROCESSOR_H
#define BOOT_PROCESSOR_H

#include <efi.h>

#include "hv/lib/types.h"

/*
 * EFI_SUCCESS, or a refusal that has been reported: a feature is missing that the hypervisor needs.
 */
EFI_STATUS processor_check(void);

u32 processor_apic_id(void);

/* 2^MAXPHYADDR. */
u64 processor_address_limit(void);

/* 1-GiB pages. */
bool processor_large_1g(void);

#endif
