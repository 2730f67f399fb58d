/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms a value in torpor.conf may have. Each function returns false if the text is not of its
 * form.
 */
#ifndef BOOT_LIB_CONFIG_VALUE_H
#define BOOT_LIB_CONFIG_VALUE_H

#include "boot/lib/ini.h"

/* Decimal digits, nothing else. */
bool __must_check value_number(struct slice text, u64 *number);

/* Decimal digits with an optional suffix K, M or G (powers of 1024, either case); bytes. */
bool __must_check value_size(struct slice text, u64 *bytes);

/* yes, on; no, off. */
bool __must_check value_bool(struct slice text, bool *value);

/*
 * none, com1..com4 or a hexadecimal I/O port (0x3f8), then optionally a baud rate that divides
 * 115200.
 */
bool __must_check value_serial(struct slice text, u16 *port, u32 *baud);

/* CPU numbers and ranges with commas between: 0 or 1,4-7. Sets bit n for CPU n, 0 to 63. */
bool __must_check value_cpu_list(struct slice text, u64 *cpus);

/* Takes the first word off the text; the rest begins with its next word. */
struct slice value_word(struct slice *text);

/* Copies with a terminating 0; false if it does not fit into size bytes. */
bool __must_check value_copy(struct slice text, char *to, size_t size);

/*
 * A file's name: printable ASCII without the characters FAT forbids, not empty. Copies it with a
 * terminating 0 and returns NULL, or what is wrong with it.
 */
const char *__must_check value_path(struct slice path, char *to, size_t size);

#endif
