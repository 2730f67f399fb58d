/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files of either class (System V ABI chapters 4 and 5), for the loaders of PVH and multiboot
 * kernels.
 */
#ifndef HV_VM_LOAD_ELF_H
#define HV_VM_LOAD_ELF_H

#include "hv/vm/load.h"

struct elf {
	const struct guest_file *file;
	bool is64;
	u64 entry;
	u64 table; /* program headers: offset in the file, checked to be there */
	u32 entry_size, count;
};

enum { PT_LOAD = 1, PT_NOTE = 4 };

struct elf_segment {
	u32 type;
	u64 offset, file_size; /* in the file, not checked */
	u64 virtual_address, physical_address, memory_size;
	u64 align;
};

/* The program header with that number (< count). */
struct elf_segment elf_segment(const struct elf *elf, u32 number);

/*
 * Claims and loads all PT_LOAD segments at their physical addresses and clears what the file does
 * not fill. Refuses with a message.
 */
enum error __must_check elf_load_segments(struct load *load, const struct elf *elf);

/* True if the address lies in a segment's physical range. */
bool elf_has_physical(const struct elf *elf, u64 address);

/*
 * The physical address of the entry point: as the segment that holds it by its virtual address was
 * loaded, otherwise the entry point itself if a segment holds it by its physical address. False:
 * neither.
 */
bool __must_check elf_physical_entry(const struct elf *elf, u64 *entry);

/* The protocols of ELF kernels. entry: of the note, as it stands there. */
bool elf_pvh_entry(const struct elf *elf, u64 *entry);
enum error __must_check load_pvh(struct load *load, const struct elf *elf, u64 entry);
enum error __must_check load_multiboot_elf(struct load *load, const struct elf *elf);

#endif
