/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hypervisor's own ELF file, checked and reduced to its segments. Source of the format: System
 * V ABI, "Object Files", and its AMD64 supplement.
 */
#ifndef BOOT_LIB_ELF_H
#define BOOT_LIB_ELF_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"

/* A PT_LOAD entry. The bytes from file_size up to memory_size are zero. */
struct elf_segment {
	u64 virtual_address;
	u64 memory_size; /* at least 1 */
	u64 file_offset;
	u64 file_size; /* at most memory_size */
	bool writable, executable;
};

struct elf_image {
	struct elf_segment segments[BOOT_SEGMENTS_MAX];
	u32 segment_count; /* at least 1; ascending, no two share a page */
	u64 entry;	   /* inside an executable segment */
};

/* The pages a segment covers: its first address and its size, both whole pages. */
u64 elf_segment_base(const struct elf_segment *segment);
u64 elf_segment_span(const struct elf_segment *segment);

/*
 * Checks every field that is used against the size of the file. Accepts a little-endian x86-64
 * executable linked between HV_IMAGE_BASE and the last page of the address space, without a segment
 * that is both writable and executable. On an error *why says in a phrase what is wrong.
 */
enum error __must_check elf_parse(
	const void *file, u64 size, struct elf_image *image, const char **why);

#endif
