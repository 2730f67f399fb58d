/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status channel: lines "@torpor {JSON}" on the engine's debug port 0xE9, which no guest
 * reaches. scripts/run reads them; on a real machine the port is unused.
 */
#ifndef HV_CPU_STATUS_H
#define HV_CPU_STATUS_H

#include "hv/lib/types.h"

/* One event. The format is the JSON object; strings in it must need no escaping. */
void status_event(const char *format, ...) __printf_like(1, 2);

/* {"event":"panic","reason":...}; any text. */
void status_panic(const char *reason);

#endif
