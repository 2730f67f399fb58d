/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for addresses of the hypervisor's text, from the table that scripts/gen-symbols makes after
 * linking.
 */
#ifndef HV_CPU_SYMBOLS_H
#define HV_CPU_SYMBOLS_H

#include "hv/lib/types.h"

/* The function that contains address, or NULL; *offset is how far into it (0 if there is none). */
const char *symbol_find(u64 address, u64 *offset);

#endif
