/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off: the table below is laid out by hand */
/*
 * \torpor\torpor.conf: what each key means and what holds without it.
 *
 *   [hypervisor]     default     values
 *   serial           com1        none, com1..com4 or a port (0x3f8), then optionally the baud rate
 *                                (115200)
 *   log-level        info        error, warning, info, debug
 *   eager            none        host state restored at every exit; not yet: anything but none
 *   mitigations      off         against speculative execution attacks; not yet: on
 *   profile          off         count the time spent in the hypervisor
 *
 *   [vm NAME]                    NAME: up to 31 of A-Z a-z 0-9 _ - .
 *   kernel           (needed)    PATH; a path without a leading \ or / starts at \torpor
 *   initrd           none        PATH
 *   module           none        PATH [command line]; up to 8 times
 *   cmdline          empty       the rest of the line, literally; up to 2047 bytes
 *   memory           256M        bytes, or with K, M or G; a multiple of 4K, at least 1M
 *   cpus             1           1 to 8; not yet: more than 1
 *   pin              0           CPU numbers (0-3,6); not yet: anything but 0
 *   weight           100         1 to 1000; not yet: anything but 100
 *   paging           auto        auto, ept; not yet: shadow
 *   console          yes         the VM's COM1 is the host's console
 *   test-device      no          exit port, port latch and MMIO scratch for test programs
 *   exit-port        no          the exit port 0xf4 alone
 *
 * Switches take yes, on, no or off. "Not yet" values are refused until what they ask for is there.
 */
/* clang-format on */
#ifndef BOOT_LIB_CONFIG_H
#define BOOT_LIB_CONFIG_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"

#define CONFIG_DIRECTORY      "\\torpor\\"
#define CONFIG_PATH	      "\\torpor\\torpor.conf"
#define CONFIG_FILE_NAME      "torpor.conf"
#define CONFIG_FILE_MAX	      (64u << 10)
#define CONFIG_MESSAGE_MAX    320
#define CONFIG_SERIAL_DEFAULT 0x3f8 /* COM1 */
#define CONFIG_BAUD_DEFAULT   115200
#define CONFIG_MEMORY_DEFAULT (256ull << 20)
#define CONFIG_WEIGHT_DEFAULT 100

/* Where in the file a VM's settings stand, for messages about them later on; 0: not given. */
struct config_vm_lines {
	u32 section, kernel, initrd, memory;
	u32 modules[CONFIG_MODULES_MAX];
};

struct config_lines {
	struct config_vm_lines vms[CONFIG_VMS_MAX];
};

/*
 * Parses and checks the whole file. On an error the message is one line
 * "torpor.conf:LINE: what is wrong; what to do", and *config is not to be used.
 */
enum error __must_check config_parse(const char *text, size_t size, struct torpor_config *config,
	struct config_lines *lines, char message[CONFIG_MESSAGE_MAX]);

#endif
