// SPDX-License-Identifier: BSD-2-Clause
/*
 * ELF kernels with a PVH entry (Xen's "x86/HVM direct boot ABI", docs/misc/pvh.pandoc and
 * public/arch-x86/hvm/start_info.h there): entered in 32-bit flat protected mode without paging,
 * EBX leads to the start information. Called by load_elf().
 */
#include "hv/lib/log.h"
#include "hv/vm/load_elf.h"

#define NOTE_NAME	  "Xen"
#define NOTE_PHYS32_ENTRY 18 /* XEN_ELFNOTE_PHYS32_ENTRY */

/*
 * Bounds on the search of a hostile file; a kernel has a note segment or two of some hundred bytes.
 */
#define NOTE_SEGMENTS_MAX 16
#define NOTE_BYTES_MAX	  0x10000

struct note_header {
	u32 name_size, description_size, type;
} __packed;

#define START_INFO_MAGIC 0x336ec578

struct start_info {
	u32 magic, version, flags, module_count;
	u64 modules, cmdline, rsdp, map;
	u32 map_count, reserved;
} __packed;
_Static_assert(sizeof(struct start_info) == 56, "start_info.h");

struct start_module {
	u64 address, size, cmdline, reserved;
} __packed;

struct start_map {
	u64 address, size;
	u32 type, reserved;
} __packed;

/* The entry in the notes at [offset, offset + size) of the file, each padded to align (4 or 8). */
static bool find_in_notes(
	const struct guest_file *file, u64 offset, u64 size, u64 align, u64 *entry)
{
	u64 at = 0;

	while (at < size) {
		struct note_header note;
		char name[sizeof(NOTE_NAME)];
		u64 name_at = at + sizeof(note), description_at, value = 0;

		if (name_at > size || !load_file_read(file, offset + at, &note, sizeof(note)))
			return false;
		description_at = ALIGN_UP(name_at + note.name_size, align);
		if (description_at + note.description_size > size)
			return false;
		if (note.type == NOTE_PHYS32_ENTRY && note.name_size == sizeof(name) &&
			(note.description_size == 4 || note.description_size == 8) &&
			load_file_read(file, offset + name_at, name, sizeof(name)) &&
			!memcmp(name, NOTE_NAME, sizeof(name)) &&
			load_file_read(
				file, offset + description_at, &value, note.description_size)) {
			*entry = value;
			return true;
		}
		at = ALIGN_UP(description_at + note.description_size, align);
	}
	return false;
}

bool elf_pvh_entry(const struct elf *elf, u64 *entry)
{
	u32 searched = 0;

	for (u32 i = 0; i < elf->count && searched < NOTE_SEGMENTS_MAX; i++) {
		struct elf_segment segment = elf_segment(elf, i);
		u64 size = MIN(segment.file_size, NOTE_BYTES_MAX);

		if (segment.type != PT_NOTE || segment.offset > elf->file->size)
			continue;
		searched++;
		/* Linkers are not of one mind whether 8-byte alignment pads the fields as well. */
		if (find_in_notes(
			    elf->file, segment.offset, size, segment.align == 8 ? 8 : 4, entry) ||
			find_in_notes(
				elf->file, segment.offset, size, segment.align == 8 ? 4 : 8, entry))
			return true;
	}
	return false;
}

static void put_map(struct load_area *area, struct start_info *info)
{
	struct guest_map_entry map[GUEST_MAP_MAX];
	struct start_map entries[GUEST_MAP_MAX];

	info->map_count = guest_map_build(area->load->memory, map);
	for (u32 i = 0; i < info->map_count; i++)
		entries[i] = (struct start_map){ map[i].start.value, map[i].size, map[i].type, 0 };
	info->map = load_area_put(area, entries, info->map_count * sizeof(entries[0]));
}

static enum error put_modules(struct load_area *area, struct start_info *info)
{
	struct load_module modules[LOAD_MODULES_MAX];
	struct start_module entries[LOAD_MODULES_MAX];

	info->module_count = load_modules(area->load, modules);
	for (u32 i = 0; i < info->module_count; i++) {
		u64 start;
		enum error error = load_module(area->load, &modules[i], LOAD_DOWNWARDS, &start);

		if (error)
			return error;
		entries[i] = (struct start_module){ start, modules[i].file->size,
			load_area_put_string(area, modules[i].cmdline), 0 };
	}
	if (info->module_count)
		info->modules =
			load_area_put(area, entries, info->module_count * sizeof(entries[0]));
	return ERR_OK;
}

enum error load_pvh(struct load *load, const struct elf *elf, u64 entry)
{
	/* Tables of a page, and the command lines of the kernel and of the modules. */
	const u64 room =
		LOAD_ENTRY_ROOM + PAGE_SIZE + (1 + LOAD_MODULES_MAX) * (CONFIG_CMDLINE_MAX + 16);
	struct start_info info = { .magic = START_INFO_MAGIC, .version = 1, .rsdp = load->rsdp };
	struct load_area area;
	enum error error = elf_load_segments(load, elf);

	if (error)
		return error;
	if (!elf_has_physical(elf, entry))
		return load_refuse(load, ERR_FORMAT,
			"PVH entry %#lx lies in none of its segments: the note wants a physical "
			"address",
			entry);
	error = load_area_init(load, room, &area);
	if (error)
		return error;
	load_entry_init(&area, ENTRY_PROTECTED32, entry);
	error = put_modules(&area, &info);
	if (error)
		return error;
	info.cmdline = load_area_put_string(&area, load->config->cmdline);
	put_map(&area, &info);
	load->entry->rbx = load_area_put(&area, &info, sizeof(info));
	log_info("vm %s: kernel %s (PVH), start_info at %#lx, cmdline at %#lx, entry at %#lx",
		load->config->name, load->config->kernel.name, load->entry->rbx, info.cmdline,
		entry);
	return ERR_OK;
}
