/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the configured VMs fit into the machine. */
#ifndef BOOT_LIB_CONFIG_MEMORY_H
#define BOOT_LIB_CONFIG_MEMORY_H

#include "boot/lib/config.h"

/*
 * `free` is what the machine has left once the files are loaded. VMs run one after the other, so
 * each must fit by itself, with the hypervisor's own memory beside it. The message as in
 * config_parse().
 */
enum error __must_check config_check_memory(const struct torpor_config *config,
	const struct config_lines *lines, u64 free, char message[CONFIG_MESSAGE_MAX]);

#endif
