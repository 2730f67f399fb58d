/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical memory for tests of the allocator and the page tables: two windows of the test process
 * at addresses a machine has RAM at, since the fake frames.h makes physical and virtual addresses
 * the same. The high one lies above 4 GiB (and above AddressSanitizer's shadow).
 */
#ifndef MEMORY_WINDOWS_H
#define MEMORY_WINDOWS_H

#include <string.h>
#include <sys/mman.h>

#include "boot/boot_info.h"

#define LOW_WINDOW	0x2000000ul
#define LOW_SIZE	0x2000000ul
#define HIGH_WINDOW	0x200000000000ul
#define HIGH_SIZE	0x1000000ul
#define DESCRIPTORS_MAX 64

enum {
	EFI_RESERVED = 0,
	EFI_LOADER_DATA = 2,
	EFI_BOOT_SERVICES_DATA = 4,
	EFI_RUNTIME_CODE = 5,
	EFI_CONVENTIONAL = 7,
	EFI_ACPI_NVS = 10,
	EFI_MMIO = 11,
};

static inline bool map_window(u64 address, u64 size)
{
	return mmap((void *)address, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (void *)address;
}

static inline int map_windows(void **state)
{
	(void)state;
	return map_window(LOW_WINDOW, LOW_SIZE) && map_window(HIGH_WINDOW, HIGH_SIZE) ? 0 : -1;
}

/* A memory map under construction, with descriptors of any stride. */
struct map_builder {
	u8 bytes[DESCRIPTORS_MAX * 128];
	struct boot_memory_map map;
};

static inline void map_begin(struct map_builder *builder, u64 stride)
{
	memset(builder->bytes, 0xa5, sizeof(builder->bytes));
	builder->map = (struct boot_memory_map){
		.address = (u64)builder->bytes,
		.descriptor_size = stride,
		.descriptor_version = 1,
	};
}

/*
 * EFI_MEMORY_DESCRIPTOR (UEFI 2.10 7.2.3): type, padding, start, virtual start, pages, attributes.
 */
static inline void map_add(struct map_builder *builder, u32 type, u64 start, u64 pages)
{
	u8 *at = builder->bytes + builder->map.size;

	memcpy(at, &type, 4);
	memcpy(at + 8, &start, 8);
	memcpy(at + 24, &pages, 8);
	builder->map.size += builder->map.descriptor_size;
}

#endif
