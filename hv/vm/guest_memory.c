// SPDX-License-Identifier: BSD-2-Clause
/*
 * A guest's RAM: from guest-physical ranges to the host's view of the bytes. Loaders, devices and
 * exit handlers call it, from any context, with addresses that a guest or a file chose: every range
 * is checked for wrap-around and for holes before a byte moves. The extents never change while the
 * VM lives, so nothing is locked.
 */
#include "hv/vm/guest_memory.h"
#include "hv/lib/string.h"

/* The extent that holds the address; NULL if none does. */
static const struct guest_extent *extent_of(const struct guest_memory *memory, u64 address)
{
	for (u32 i = 0; i < memory->count; i++) {
		const struct guest_extent *extent = &memory->extents[i];

		if (address >= extent->start.value && address - extent->start.value < extent->size)
			return extent;
	}
	return NULL;
}

/*
 * The longest run of host memory that begins at the address, at most *size bytes; *size becomes its
 * length. NULL if the address is not RAM. A run that ends at 2^64 does not wrap: sizes are
 * compared, not ends.
 */
static u8 *run_at(const struct guest_memory *memory, u64 address, u64 *size)
{
	const struct guest_extent *extent = extent_of(memory, address);
	u64 offset;

	if (!extent)
		return NULL;
	offset = address - extent->start.value;
	*size = MIN(*size, extent->size - offset);
	return extent->host + offset;
}

/* True if each byte of the range is RAM; extents may follow one another without a gap. */
static bool is_ram(const struct guest_memory *memory, u64 address, u64 size)
{
	if (size > ~address + 1 && address)
		return false;
	while (size) {
		u64 run = size;

		if (!run_at(memory, address, &run))
			return false;
		address += run;
		size -= run;
	}
	return true;
}

void *guest_pointer(const struct guest_memory *memory, gpa_t address, u64 size)
{
	u64 run = size;
	u8 *host = run_at(memory, address.value, &run);

	return host && run == size ? host : NULL;
}

bool guest_read(const struct guest_memory *memory, gpa_t from, void *to, u64 size)
{
	u64 address = from.value;
	u8 *at = to;

	if (!is_ram(memory, address, size))
		return false;
	while (size) {
		u64 run = size;
		const u8 *host = run_at(memory, address, &run);

		memcpy(at, host, run);
		address += run;
		at += run;
		size -= run;
	}
	return true;
}

bool guest_write(const struct guest_memory *memory, gpa_t to, const void *from, u64 size)
{
	u64 address = to.value;
	const u8 *at = from;

	if (!is_ram(memory, address, size))
		return false;
	while (size) {
		u64 run = size;
		u8 *host = run_at(memory, address, &run);

		memcpy(host, at, run);
		address += run;
		at += run;
		size -= run;
	}
	return true;
}

bool guest_fill(const struct guest_memory *memory, gpa_t to, u8 value, u64 size)
{
	u64 address = to.value;

	if (!is_ram(memory, address, size))
		return false;
	while (size) {
		u64 run = size;
		u8 *host = run_at(memory, address, &run);

		memset(host, value, run);
		address += run;
		size -= run;
	}
	return true;
}
