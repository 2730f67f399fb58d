// SPDX-License-Identifier: BSD-2-Clause
/*
 * ELF kernels: reading the headers of both classes, loading the segments at their physical
 * addresses, and the choice of the boot protocol. Called by guest_load() with a file that begins
 * like ELF; every number in it is hostile. Reading a field never goes past the file; loading goes
 * through the claims of load.h.
 */
#include "hv/vm/load_elf.h"

static const u8 elf_magic[4] = { 0x7f, 'E', 'L', 'F' };

enum {
	ELFCLASS32 = 1,
	ELFCLASS64 = 2,
	ELFDATA2LSB = 1,
	ET_EXEC = 2,
	ET_DYN = 3,
	EM_386 = 3,
	EM_X86_64 = 62
};

#define COUNT_ELSEWHERE 0xffff /* PN_XNUM */

struct identification {
	u8 magic[4], class, data, version, padding[9];
	u16 type, machine;
	u32 version2;
} __packed;

struct header32 {
	struct identification identification;
	u32 entry, phoff, shoff, flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
} __packed;
_Static_assert(sizeof(struct header32) == 52, "System V ABI 4");

struct header64 {
	struct identification identification;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
} __packed;
_Static_assert(sizeof(struct header64) == 64, "System V ABI 4");

struct program32 {
	u32 type, offset, vaddr, paddr, filesz, memsz, flags, align;
} __packed;

struct program64 {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
} __packed;

bool load_is_elf(const struct guest_file *kernel)
{
	u8 magic[sizeof(elf_magic)];

	return load_file_read(kernel, 0, magic, sizeof(magic)) &&
	       !memcmp(magic, elf_magic, sizeof(magic));
}

static enum error truncated(struct load *load)
{
	return load_refuse(load, ERR_TRUNCATED,
		"ends at %lu bytes, before the end of its ELF headers: copy it again",
		load->files->kernel.size);
}

static enum error check_identification(struct load *load, const struct identification *id)
{
	if (id->data != ELFDATA2LSB ||
		!((id->class == ELFCLASS32 && id->machine == EM_386) ||
			(id->class == ELFCLASS64 && id->machine == EM_X86_64)))
		return load_refuse(load, ERR_UNSUPPORTED,
			"is an ELF file of class %u for machine %u: build it for x86 (32-bit) or "
			"x86-64",
			id->class, id->machine);
	if (id->type != ET_EXEC && id->type != ET_DYN)
		return load_refuse(load, ERR_UNSUPPORTED,
			"is an ELF file of type %u, not an executable: link it", id->type);
	return ERR_OK;
}

static enum error elf_open(struct load *load, struct elf *elf)
{
	const struct guest_file *file = &load->files->kernel;
	struct identification id;
	struct header32 header32;
	struct header64 header64;
	u32 entry_size_min;
	enum error error;

	if (!load_file_read(file, 0, &id, sizeof(id)))
		return truncated(load);
	error = check_identification(load, &id);
	if (error)
		return error;
	*elf = (struct elf){ .file = file, .is64 = id.class == ELFCLASS64 };
	if (elf->is64) {
		if (!load_file_read(file, 0, &header64, sizeof(header64)))
			return truncated(load);
		elf->entry = header64.entry;
		elf->table = header64.phoff;
		elf->entry_size = header64.phentsize;
		elf->count = header64.phnum;
		entry_size_min = sizeof(struct program64);
	} else {
		if (!load_file_read(file, 0, &header32, sizeof(header32)))
			return truncated(load);
		elf->entry = header32.entry;
		elf->table = header32.phoff;
		elf->entry_size = header32.phentsize;
		elf->count = header32.phnum;
		entry_size_min = sizeof(struct program32);
	}
	if (!elf->count || elf->count == COUNT_ELSEWHERE || elf->entry_size < entry_size_min)
		return load_refuse(load, ERR_FORMAT,
			"is an ELF file with %u program headers of %u bytes: not a kernel",
			elf->count, elf->entry_size);
	if (elf->table > file->size || (u64)elf->count * elf->entry_size > file->size - elf->table)
		return truncated(load);
	return ERR_OK;
}

struct elf_segment elf_segment(const struct elf *elf, u32 number)
{
	const u8 *from = elf->file->data + elf->table + (u64)number * elf->entry_size;
	struct program32 program32;
	struct program64 program64;

	if (elf->is64) {
		memcpy(&program64, from, sizeof(program64));
		return (struct elf_segment){ program64.type, program64.offset, program64.filesz,
			program64.vaddr, program64.paddr, program64.memsz, program64.align };
	}
	memcpy(&program32, from, sizeof(program32));
	return (struct elf_segment){ program32.type, program32.offset, program32.filesz,
		program32.vaddr, program32.paddr, program32.memsz, program32.align };
}

static bool is_loaded(const struct elf_segment *segment)
{
	return segment->type == PT_LOAD && segment->memory_size;
}

static enum error load_segment(struct load *load, const struct elf_segment *segment)
{
	const struct guest_file *file = &load->files->kernel;
	enum error error;

	if (segment->file_size > segment->memory_size)
		return load_refuse(load, ERR_FORMAT,
			"segment at %#lx has %#lx bytes in the file but %#lx in memory: the file "
			"is damaged",
			segment->physical_address, segment->file_size, segment->memory_size);
	if (segment->offset > file->size || segment->file_size > file->size - segment->offset)
		return load_refuse(load, ERR_TRUNCATED,
			"ends at %lu bytes, but the segment at %#lx goes on: copy it again",
			file->size, segment->physical_address);
	error = load_claim(load, segment->physical_address, segment->memory_size, "a segment");
	if (error)
		return error;
	if (!guest_write(load->memory, gpa(segment->physical_address), file->data + segment->offset,
		    segment->file_size) ||
		!guest_fill(load->memory, gpa(segment->physical_address + segment->file_size), 0,
			segment->memory_size - segment->file_size))
		return load_refuse(load, ERR_RANGE, "segment at %#lx is not in RAM",
			segment->physical_address);
	return ERR_OK;
}

enum error elf_load_segments(struct load *load, const struct elf *elf)
{
	u32 loaded = 0;

	for (u32 i = 0; i < elf->count; i++) {
		struct elf_segment segment = elf_segment(elf, i);
		enum error error;

		if (!is_loaded(&segment))
			continue;
		if (loaded++ == LOAD_SEGMENTS_MAX)
			return load_refuse(load, ERR_UNSUPPORTED,
				"has more than %u segments to load: link it with fewer",
				LOAD_SEGMENTS_MAX);
		error = load_segment(load, &segment);
		if (error)
			return error;
	}
	return loaded ? ERR_OK
		      : load_refuse(load, ERR_FORMAT, "has no segment to load: link it again");
}

bool elf_has_physical(const struct elf *elf, u64 address)
{
	for (u32 i = 0; i < elf->count; i++) {
		struct elf_segment segment = elf_segment(elf, i);

		if (is_loaded(&segment) && address >= segment.physical_address &&
			address - segment.physical_address < segment.memory_size)
			return true;
	}
	return false;
}

bool elf_physical_entry(const struct elf *elf, u64 *entry)
{
	for (u32 i = 0; i < elf->count; i++) {
		struct elf_segment segment = elf_segment(elf, i);

		if (is_loaded(&segment) && elf->entry >= segment.virtual_address &&
			elf->entry - segment.virtual_address < segment.memory_size) {
			*entry = elf->entry - segment.virtual_address + segment.physical_address;
			return true;
		}
	}
	*entry = elf->entry;
	return elf_has_physical(elf, elf->entry);
}

enum error load_elf(struct load *load)
{
	struct elf elf;
	u64 entry;
	enum error error = elf_open(load, &elf);

	if (error)
		return error;
	/* PVH first: a kernel with both gets its RSDP this way. */
	if (elf_pvh_entry(&elf, &entry))
		return load_pvh(load, &elf, entry);
	if (load_is_multiboot(&load->files->kernel))
		return load_multiboot_elf(load, &elf);
	return load_refuse(load, ERR_FORMAT,
		"is an ELF file without a PVH note (Xen, type 18) or a multiboot 1 header: build "
		"the kernel "
		"with one (Linux: CONFIG_PVH)");
}
