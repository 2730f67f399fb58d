/* SPDX-License-Identifier: BSD-2-Clause */
/* Files on the volume that the loader was started from. */
#ifndef BOOT_FILES_H
#define BOOT_FILES_H

#include <efi.h>

#include "boot/boot_info.h"
#include "boot/lib/config.h"

/*
 * Reads the configuration and the files it names into memory, tells their sizes and times, and
 * checks that each kernel has a known format. EFI_SUCCESS, or a refusal that has been reported
 * already.
 */
EFI_STATUS files_load(struct torpor_config *config, struct config_lines *lines);

#endif
