// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multiboot 1 kernels (Multiboot Specification 0.6.96): ELF of either class, or any file with
 * addresses in its header ("a.out kludge"). Entered in 32-bit flat protected mode without paging,
 * EAX with the magic, EBX leading to the boot information, of which every field is filled or zero.
 * Called by guest_load() and load_elf().
 */
#include "hv/dev/platform_map.h"
#include "hv/lib/log.h"
#include "hv/vm/load_elf.h"

/* 3.1: the header lies in the first 8192 bytes, at a multiple of 4. */
#define SEARCH_BYTES 8192
#define HEADER_MAGIC 0x1badb002
#define BOOT_MAGIC   0x2badb002

struct header {
	u32 magic, flags, checksum;
	/* With FLAG_ADDRESSES only. */
	u32 header_address, load_address, load_end, bss_end, entry;
} __packed;
#define HEADER_SHORT 12

#define FLAG_ALIGN_MODULES BIT(0) /* always done */
#define FLAG_MEMORY	   BIT(1) /* always given */
#define FLAG_VIDEO	   BIT(2)
#define FLAG_ADDRESSES	   BIT(16)
#define FLAGS_REQUIRED	   0xffffu /* a set bit that the loader cannot serve forbids to boot */

/* 3.3 */
struct information {
	u32 flags, memory_lower, memory_upper, boot_device, cmdline, module_count, modules;
	u32 symbols[4];
	u32 map_length, map, drives_length, drives, config_table, loader_name, apm_table;
	u32 vbe_control, vbe_mode_information;
	u16 vbe_mode, vbe_segment, vbe_offset, vbe_length;
	u64 framebuffer;
	u32 framebuffer_pitch, framebuffer_width, framebuffer_height;
	u8 framebuffer_bits, framebuffer_type, framebuffer_colors[6];
} __packed;
_Static_assert(offsetof(struct information, loader_name) == 64, "Multiboot 3.3");
_Static_assert(sizeof(struct information) == 116, "Multiboot 3.3");

#define INFORMATION_MEMORY  BIT(0)
#define INFORMATION_CMDLINE BIT(2)
#define INFORMATION_MODULES BIT(3)
#define INFORMATION_MAP	    BIT(6)
#define INFORMATION_LOADER  BIT(9)
#define LOADER_NAME	    "Torpor"

struct information_module {
	u32 start, end, string, reserved;
} __packed;

struct information_map {
	u32 size; /* of what follows */
	u64 address, length;
	u32 type;
} __packed;

/* The header, as much of it as the file has (zero behind), and its offset in the file. */
static bool find_header(const struct guest_file *kernel, struct header *header, u64 *offset)
{
	for (u64 at = 0; at + HEADER_SHORT <= MIN(kernel->size, SEARCH_BYTES); at += 4) {
		memset(header, 0, sizeof(*header));
		memcpy(header, kernel->data + at, HEADER_SHORT);
		if (header->magic != HEADER_MAGIC ||
			header->magic + header->flags + header->checksum != 0)
			continue;
		memcpy(header, kernel->data + at, MIN(sizeof(*header), kernel->size - at));
		*offset = at;
		return true;
	}
	return false;
}

bool load_is_multiboot(const struct guest_file *kernel)
{
	struct header header;
	u64 offset;

	return find_header(kernel, &header, &offset);
}

/* Loads by the addresses in the header (3.1.3). */
static enum error load_by_addresses(struct load *load, const struct header *header, u64 offset)
{
	const struct guest_file *file = &load->files->kernel;
	u64 before =
		(u64)header->header_address - header->load_address; /* wraps if below: too large */
	u64 start, size, memory;
	enum error error;

	if (offset + sizeof(*header) > file->size)
		return load_refuse(
			load, ERR_TRUNCATED, "ends inside its multiboot header: copy it again");
	if (before > offset)
		return load_refuse(load, ERR_FORMAT,
			"multiboot header at %#x of the file is said to be at %#x, load address "
			"%#x: the "
			"file is damaged",
			(u32)offset, header->header_address, header->load_address);
	start = offset - before;
	size = header->load_end ? (u64)header->load_end - header->load_address : file->size - start;
	memory = header->bss_end ? (u64)header->bss_end - header->load_address : size;
	if (size > UINT32_MAX || memory > UINT32_MAX || memory < size || !size)
		return load_refuse(load, ERR_FORMAT,
			"multiboot addresses load %#x, load end %#x, bss end %#x are not in order: "
			"the file "
			"is damaged",
			header->load_address, header->load_end, header->bss_end);
	if (size > file->size - start)
		return load_refuse(load, ERR_TRUNCATED,
			"has %lu bytes, but its multiboot header says %lu: copy it again",
			file->size, start + size);
	if (header->entry < header->load_address || header->entry - header->load_address >= memory)
		return load_refuse(load, ERR_FORMAT,
			"entry %#x lies outside of what is loaded, %#x-%#lx: the file is damaged",
			header->entry, header->load_address, header->load_address + memory - 1);
	error = load_claim(load, header->load_address, memory, "the kernel");
	if (error)
		return error;
	if (!guest_write(load->memory, gpa(header->load_address), file->data + start, size) ||
		!guest_fill(load->memory, gpa(header->load_address + size), 0, memory - size))
		return load_refuse(
			load, ERR_RANGE, "load address %#x is not in RAM", header->load_address);
	return ERR_OK;
}

/*
 * The program's name that a command line begins with: the last part of the kernel's path; a blank
 * in it would end the word.
 */
static void program_name(const struct load *load, char name[CONFIG_PATH_MAX])
{
	const char *path = load->config->kernel.name;
	u32 length = 0;

	for (u32 i = 0; i < CONFIG_PATH_MAX && path[i]; i++) {
		if (path[i] == '/' || path[i] == '\\')
			length = 0;
		else if (length < CONFIG_PATH_MAX - 1)
			name[length++] = path[i] == ' ' ? '_' : path[i];
	}
	name[length] = '\0';
}

static enum error put_modules(struct load_area *area, struct information *information)
{
	struct load_module modules[LOAD_MODULES_MAX];
	struct information_module entries[LOAD_MODULES_MAX];

	information->module_count = load_modules(area->load, modules);
	for (u32 i = 0; i < information->module_count; i++) {
		u64 start;
		enum error error = load_module(area->load, &modules[i], LOAD_UPWARDS, &start);

		if (error)
			return error;
		entries[i] = (struct information_module){ (u32)start,
			(u32)(start + modules[i].file->size),
			(u32)load_area_put_string(area, modules[i].cmdline), 0 };
	}
	information->modules =
		(u32)load_area_put(area, entries, information->module_count * sizeof(entries[0]));
	return ERR_OK;
}

static void put_map(struct load_area *area, struct information *information)
{
	struct guest_map_entry map[GUEST_MAP_MAX];
	struct information_map entries[GUEST_MAP_MAX];
	u32 count = guest_map_build(area->load->memory, map);

	for (u32 i = 0; i < count; i++)
		entries[i] = (struct information_map){ sizeof(entries[i]) - sizeof(entries[i].size),
			map[i].start.value, map[i].size, map[i].type };
	information->map_length = count * sizeof(entries[0]);
	information->map = (u32)load_area_put(area, entries, information->map_length);
}

/* What both kinds have in common once the kernel is in its place. */
static enum error finish(struct load *load, u64 entry)
{
	/* Tables of a page, and the command lines of the kernel and of the modules. */
	const u64 room = LOAD_ENTRY_ROOM + PAGE_SIZE + CONFIG_PATH_MAX +
			 (1 + LOAD_MODULES_MAX) * (CONFIG_CMDLINE_MAX + 16);
	struct information information = {
		.flags = INFORMATION_MEMORY | INFORMATION_CMDLINE | INFORMATION_MODULES |
			 INFORMATION_MAP | INFORMATION_LOADER,
		.memory_lower = GUEST_EBDA / 1024,
		.memory_upper = (u32)((guest_low_memory(load->memory) - GUEST_BIOS_END) / 1024),
	};
	char name[CONFIG_PATH_MAX];
	struct load_area area;
	enum error error = load_area_init(load, room, &area);

	if (error)
		return error;
	load_entry_init(&area, ENTRY_PROTECTED32, entry);
	error = put_modules(&area, &information);
	if (error)
		return error;
	program_name(load, name);
	information.cmdline = (u32)load_area_put_words(&area, name, load->config->cmdline);
	information.loader_name = (u32)load_area_put_string(&area, LOADER_NAME);
	put_map(&area, &information);
	load->entry->rax = BOOT_MAGIC;
	load->entry->rbx = load_area_put(&area, &information, sizeof(information));
	log_info("vm %s: kernel %s (multiboot), information at %#lx, cmdline at %#x, entry at %#lx",
		load->config->name, load->config->kernel.name, load->entry->rbx,
		information.cmdline, entry);
	return ERR_OK;
}

/* elf: NULL if the file is none. */
static enum error load_kernel(struct load *load, const struct elf *elf)
{
	struct header header;
	u64 offset, entry;
	enum error error;

	if (!find_header(&load->files->kernel, &header, &offset))
		return load_refuse(load, ERR_FORMAT, "has no multiboot header");
	if (header.flags & FLAG_VIDEO)
		return load_refuse(load, ERR_UNSUPPORTED,
			"asks for a video mode (multiboot flag 2), which a VM does not have: build "
			"it for "
			"the text or serial console");
	if (header.flags & FLAGS_REQUIRED & ~(FLAG_ALIGN_MODULES | FLAG_MEMORY))
		return load_refuse(load, ERR_UNSUPPORTED,
			"multiboot flags %#x ask for something unknown: only bits 0, 1 and 16 are "
			"served",
			header.flags);
	if (header.flags & FLAG_ADDRESSES) {
		entry = header.entry;
		error = load_by_addresses(load, &header, offset);
	} else if (elf) {
		error = elf_load_segments(load, elf);
		if (!error && !elf_physical_entry(elf, &entry))
			error = load_refuse(load, ERR_FORMAT,
				"entry %#lx lies in none of its segments: link it again",
				elf->entry);
	} else {
		error = load_refuse(load, ERR_FORMAT,
			"has a multiboot header without addresses (flag 16) but is no ELF file: "
			"link it as "
			"ELF");
	}
	return error ? error : finish(load, entry);
}

enum error load_multiboot(struct load *load)
{
	return load_kernel(load, NULL);
}

enum error load_multiboot_elf(struct load *load, const struct elf *elf)
{
	return load_kernel(load, elf);
}
