/* SPDX-License-Identifier: BSD-2-Clause */
/* The way out of the firmware. */
#ifndef BOOT_LEAVE_H
#define BOOT_LEAVE_H

#include <efi.h>

#include "boot/boot_info.h"
#include "boot/memory.h"

/*
 * Allocates the boot stack, builds the temporary page tables, ends boot services and jumps to
 * `entry` with the state that boot_info.h promises. The final memory map goes into `buffer`.
 * Returns only when that cannot be done, with a refusal that has been reported.
 */
EFI_STATUS leave(struct boot_info *info, const struct memory_buffer *buffer, u64 entry);

#endif
