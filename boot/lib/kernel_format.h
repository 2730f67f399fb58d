/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells by magic numbers alone whether a file may be a guest kernel; the guest loaders look deeper.
 */
#ifndef BOOT_LIB_KERNEL_FORMAT_H
#define BOOT_LIB_KERNEL_FORMAT_H

#include "hv/lib/types.h"

/* A Linux bzImage, an ELF file (multiboot or PVH) or a flat file with a multiboot 1 header. */
bool kernel_format_known(const void *file, u64 size);

#endif
