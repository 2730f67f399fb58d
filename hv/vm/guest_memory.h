/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A guest's RAM: extents of guest-physical addresses, each backed by one run of host frames. RAM
 * fills guest-physical addresses from 0, leaves out GUEST_HOLE..4 GiB (devices, PCI) and goes on at
 * 4 GiB. All RAM of a VM exists from its creation to its end and starts zeroed, so the extents
 * never change while the VM runs and need no lock.
 */
#ifndef HV_VM_GUEST_MEMORY_H
#define HV_VM_GUEST_MEMORY_H

#include "hv/lib/error.h"
#include "hv/lib/types.h"

#define GUEST_HOLE	  0xc0000000ull
#define GUEST_EXTENTS_MAX 32
#define GUEST_MEMORY_MIN  (2ull << 20)

struct guest_extent {
	gpa_t start;
	u64 size;
	u8 *host; /* where the hypervisor reaches it */
	hpa_t address;
};

struct guest_memory {
	struct guest_extent extents[GUEST_EXTENTS_MAX]; /* by ascending start */
	u32 count;
	u64 size; /* bytes of RAM in all */
};

/*
 * The host pointer to [address, address + size) if that range is RAM and lies in one extent,
 * otherwise NULL. The guest may change the bytes at any time: read each once.
 */
void *guest_pointer(const struct guest_memory *memory, gpa_t address, u64 size);

/* Copies across extents. False, with nothing copied, if any byte is not RAM. */
bool __must_check guest_read(const struct guest_memory *memory, gpa_t from, void *to, u64 size);
bool __must_check guest_write(
	const struct guest_memory *memory, gpa_t to, const void *from, u64 size);
bool __must_check guest_fill(const struct guest_memory *memory, gpa_t to, u8 value, u64 size);

#endif
