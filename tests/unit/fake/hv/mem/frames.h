/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame allocator's header for hosted tests: the shipping one, but frames lie at identical
 * physical and virtual addresses, since a process has no direct map.
 */
#ifndef FAKE_HV_MEM_FRAMES_H
#define FAKE_HV_MEM_FRAMES_H

#define phys_to_virt phys_to_virt_of_direct_map
#define virt_to_phys virt_to_phys_of_direct_map
#include_next "hv/mem/frames.h"
#undef phys_to_virt
#undef virt_to_phys

static inline void *phys_to_virt(hpa_t address)
{
	return (void *)address.value;
}

static inline hpa_t virt_to_phys(const void *virt)
{
	return hpa((u64)virt);
}

#endif
