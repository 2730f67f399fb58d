/* SPDX-License-Identifier: BSD-2-Clause */
/* The hypervisor's image, embedded in the loader. */
#ifndef BOOT_IMAGE_H
#define BOOT_IMAGE_H

#include <efi.h>

#include "boot/boot_info.h"

/*
 * Copies the hypervisor's segments to pages of their own, lists them in *info and tells the entry
 * point's linear address.
 */
EFI_STATUS image_load(struct boot_info *info, u64 *entry);

#endif
