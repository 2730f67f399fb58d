// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the ELF file of the hypervisor that is embedded in the loader. Called once by boot/image.c;
 * may assume nothing about the bytes: every offset is checked before it is followed.
 */
#include "boot/lib/elf.h"
#include "hv/lib/string.h"

#define ELF_MAGIC	0x464c457f /* 0x7f 'E' 'L' 'F' */
#define ELF_CLASS_64	2
#define ELF_DATA_LSB	1
#define ELF_TYPE_EXEC	2
#define ELF_MACHINE_X86 62
#define ELF_PT_LOAD	1
#define ELF_PF_X	1
#define ELF_PF_W	2

/* The last page stays free, so that the end of a segment never wraps to 0. */
#define IMAGE_END 0xfffffffffffff000ull

struct elf_header {
	u32 magic;
	u8 class, data, ident_version, os_abi;
	u8 padding[8];
	u16 type, machine;
	u32 version;
	u64 entry, program_headers, section_headers;
	u32 flags;
	u16 header_size, program_header_size, program_header_count;
	u16 section_header_size, section_header_count, section_names;
};

struct elf_program_header {
	u32 type, flags;
	u64 offset, virtual_address, physical_address, file_size, memory_size, alignment;
};

_Static_assert(sizeof(struct elf_header) == 64, "ELF64 header");
_Static_assert(sizeof(struct elf_program_header) == 56, "ELF64 program header");

static enum error fail(const char **why, enum error error, const char *text)
{
	*why = text;
	return error;
}

u64 elf_segment_base(const struct elf_segment *segment)
{
	return ALIGN_DOWN(segment->virtual_address, PAGE_SIZE);
}

u64 elf_segment_span(const struct elf_segment *segment)
{
	return ALIGN_UP(segment->virtual_address + segment->memory_size, PAGE_SIZE) -
	       elf_segment_base(segment);
}

static enum error check_header(const struct elf_header *header, u64 size, const char **why)
{
	if (header->magic != ELF_MAGIC)
		return fail(why, ERR_FORMAT, "is not an ELF file");
	if (header->class != ELF_CLASS_64 || header->data != ELF_DATA_LSB ||
		header->machine != ELF_MACHINE_X86 || header->type != ELF_TYPE_EXEC)
		return fail(why, ERR_FORMAT, "is not an x86-64 executable");
	if (header->program_header_size != sizeof(struct elf_program_header))
		return fail(why, ERR_FORMAT, "has program headers of an unknown size");
	if (header->program_headers > size ||
		(u64)header->program_header_count * sizeof(struct elf_program_header) >
			size - header->program_headers)
		return fail(why, ERR_TRUNCATED, "has program headers beyond its end");
	return ERR_OK;
}

static enum error add_segment(struct elf_image *image, const struct elf_program_header *header,
	u64 size, const char **why)
{
	struct elf_segment *segment = &image->segments[image->segment_count];

	if (image->segment_count == BOOT_SEGMENTS_MAX)
		return fail(why, ERR_RANGE, "has too many segments");
	if (header->offset > size || header->file_size > size - header->offset)
		return fail(why, ERR_TRUNCATED, "has a segment beyond its end");
	if (header->file_size > header->memory_size)
		return fail(why, ERR_INVALID, "has a segment larger in the file than in memory");
	if (header->virtual_address < HV_IMAGE_BASE || header->virtual_address >= IMAGE_END ||
		header->memory_size > IMAGE_END - header->virtual_address)
		return fail(why, ERR_RANGE, "has a segment outside the hypervisor's addresses");
	if ((header->flags & ELF_PF_W) && (header->flags & ELF_PF_X))
		return fail(why, ERR_INVALID, "has a segment both writable and executable");

	*segment = (struct elf_segment){
		.virtual_address = header->virtual_address,
		.memory_size = header->memory_size,
		.file_offset = header->offset,
		.file_size = header->file_size,
		.writable = header->flags & ELF_PF_W,
		.executable = header->flags & ELF_PF_X,
	};
	if (image->segment_count) {
		const struct elf_segment *last = segment - 1;

		/* The ABI demands ascending order; rights are per page, so pages are not shared. */
		if (elf_segment_base(segment) < elf_segment_base(last) + elf_segment_span(last))
			return fail(why, ERR_CONFLICT, "has segments that share a page");
	}
	image->segment_count++;
	return ERR_OK;
}

static bool entry_is_executable(const struct elf_image *image)
{
	for (u32 i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (segment->executable && image->entry >= segment->virtual_address &&
			image->entry - segment->virtual_address < segment->file_size)
			return true;
	}
	return false;
}

enum error elf_parse(const void *file, u64 size, struct elf_image *image, const char **why)
{
	struct elf_header header;
	enum error error;

	*image = (struct elf_image){ 0 };
	if (size < sizeof(header))
		return fail(why, ERR_TRUNCATED, "is shorter than an ELF header");
	memcpy(&header, file, sizeof(header));
	error = check_header(&header, size, why);
	if (error)
		return error;

	for (u32 i = 0; i < header.program_header_count; i++) {
		struct elf_program_header program_header;

		memcpy(&program_header,
			(const u8 *)file + header.program_headers + i * sizeof(program_header),
			sizeof(program_header));
		if (program_header.type != ELF_PT_LOAD || !program_header.memory_size)
			continue;
		error = add_segment(image, &program_header, size, why);
		if (error)
			return error;
	}

	image->entry = header.entry;
	if (!entry_is_executable(image))
		return fail(why, ERR_INVALID, "has an entry point outside its code");
	return ERR_OK;
}
