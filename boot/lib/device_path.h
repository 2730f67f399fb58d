/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks into a UEFI device path (UEFI 2.10, 10.3). */
#ifndef BOOT_LIB_DEVICE_PATH_H
#define BOOT_LIB_DEVICE_PATH_H

#include "hv/lib/types.h"

/*
 * Whether one of the paths in the `size` bytes leads through a UART. Stops at a node that is
 * malformed.
 */
bool device_path_has_uart(const void *path, size_t size);

#endif
