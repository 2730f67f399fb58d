/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame allocator: physical memory in pages, from the firmware's memory map. Frames come zeroed
 * and are reachable through the direct map. Called with interrupts off (one lock later).
 */
#ifndef HV_MEM_FRAMES_H
#define HV_MEM_FRAMES_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"
#include "hv/lib/types.h"

/* Host-physical <-> where the hypervisor reaches it. virt must lie in the direct map. */
static inline void *phys_to_virt(hpa_t address)
{
	return (void *)(address.value + HV_DIRECT_MAP);
}

static inline hpa_t virt_to_phys(const void *virt)
{
	return hpa((u64)virt - HV_DIRECT_MAP);
}

/*
 * Takes EfiConventionalMemory and EfiBootServices* of the map. All other types and the first MiB
 * stay reserved. EfiLoaderData is in use until frames_donate().
 */
void frames_init(const struct boot_memory_map *map);

/*
 * A run of contiguous, zeroed frames; align in bytes, a power of two >= PAGE_SIZE. The run that
 * lies highest is taken, so that low memory stays for those who must have it.
 */
enum error __must_check frames_alloc(u64 pages, u64 align, hpa_t *address);
/* As above with the whole run below limit (for example SIZE_4G). */
enum error __must_check frames_alloc_below(u64 pages, u64 align, u64 limit, hpa_t *address);
void frames_free(hpa_t address, u64 pages);
/* Memory of the loader that is not needed any more: it joins what the allocator has. */
void frames_donate(hpa_t address, u64 pages);

/* The largest run that frames_alloc(.., align) could give now, in pages. */
u64 frames_largest(u64 align);
u64 frames_total(void);	 /* pages the allocator was given */
u64 frames_in_use(void); /* pages handed out and not freed */

#endif
