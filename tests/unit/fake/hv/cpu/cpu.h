/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The per-CPU block for hosted tests: the shipping header with this_cpu() answered by the fake
 * processor (fake_cpu->block) instead of GS base.
 */
#ifndef FAKE_HV_CPU_CPU_H
#define FAKE_HV_CPU_CPU_H

#define this_cpu this_cpu_of_gs_base
#include_next "hv/cpu/cpu.h"
#undef this_cpu

struct cpu *this_cpu(void);

#endif
