/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loader tells: lines for people on the UEFI console and a serial port, and one line for
 * programs on the debug port 0xE9 (Bochs, QEMU's isa-debugcon).
 */
#ifndef BOOT_REPORT_H
#define BOOT_REPORT_H

#include <efi.h>

#include "hv/lib/types.h"

/*
 * Says whether the firmware's own console is on a serial port: then nothing is written to it twice.
 */
void report_init(void);

/* The serial port for what follows; 0: none. */
void report_serial(u16 port, u32 baud);

/* One line; no newline in the format. */
void say(const char *format, ...) __printf_like(1, 2);

/* Whose fault it is: decides the "kind" that programs see and the status for the firmware. */
enum refusal { REFUSED_CONFIG, REFUSED_MACHINE };

/*
 * Says why the hypervisor is not started, to people and to programs. Returns the status that
 * efi_main() gives the firmware, an error always.
 */
EFI_STATUS refuse(enum refusal kind, const char *format, ...) __printf_like(2, 3);

/* The same when the firmware's console must not be used any more: a failed ExitBootServices. */
EFI_STATUS refuse_late(enum refusal kind, const char *format, ...) __printf_like(2, 3);

#endif
