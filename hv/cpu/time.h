/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks of the machine. */
#ifndef HV_CPU_TIME_H
#define HV_CPU_TIME_H

#include "hv/lib/types.h"

/* Measures the TSC; bounded, whatever timers are dead. Interrupts off. */
void time_init(void);
/* Ticks of the TSC in a second. */
u64 tsc_hz(void);
/* The machine's real-time clock: seconds since 1970-01-01 UTC. */
u64 wall_clock(void);

#endif
