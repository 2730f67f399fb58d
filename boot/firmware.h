/* SPDX-License-Identifier: BSD-2-Clause */
/* The loader's access to UEFI boot services. Everything allocated here is EfiLoaderData. */
#ifndef BOOT_FIRMWARE_H
#define BOOT_FIRMWARE_H

#include <efi.h>

#include "hv/lib/types.h"

/* Set by firmware_init(), valid until boot services end. */
extern EFI_SYSTEM_TABLE *firmware;
extern EFI_HANDLE firmware_image;

/* Also turns the boot manager's watchdog off and measures the TSC. */
void firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/*
 * Zeroed whole pages for `size` bytes; 0 if there are none. The address is physical and a pointer.
 */
u64 firmware_allocate(u64 size);
void firmware_free(u64 address);

/* Gives all that was allocated back: the loader refuses and returns to the firmware. */
void firmware_free_all(void);

/* Milliseconds since firmware_init(), from the TSC. */
u64 firmware_milliseconds(void);

#endif
