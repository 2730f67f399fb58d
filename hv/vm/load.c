// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the loaders of the boot protocols share: claims on guest memory, the area for small
 * structures, refusing, and the choice by the kind of file. Runs once per VM before its first
 * entry; the guest does not run yet, so its memory does not change by itself.
 */
#include "hv/vm/load.h"
#include "hv/dev/platform_map.h"
#include "hv/lib/log.h"
#include "hv/lib/print.h"

#define BIOS_DATA_AREA	   0x400ull /* the word at 0x40e leads to the EBDA */
#define BIOS_DATA_AREA_END 0x500ull

enum error load_refuse(struct load *load, enum error error, const char *format, ...)
{
	va_list args;
	int length = fmt_print(load->message, load->message_size, "vm %s: %s: ", load->config->name,
		load->config->kernel.name);

	if (length < 0 || (size_t)length >= load->message_size)
		return error;
	va_start(args, format);
	fmt_vprint(load->message + length, load->message_size - (size_t)length, format, args);
	va_end(args);
	return error;
}

static void add_claim(struct load *load, u64 start, u64 end, const char *what)
{
	ASSERT(load->claim_count < LOAD_CLAIMS_MAX);
	load->claims[load->claim_count++] = (struct load_claim){ start, end, what };
}

void load_claims_init(struct load *load)
{
	load->claim_count = 0;
	add_claim(load, BIOS_DATA_AREA, BIOS_DATA_AREA_END, "the BIOS data area");
	add_claim(load, GUEST_EBDA, GUEST_BIOS_END, "the firmware's area");
}

/* The first claim that [start, end) touches; NULL if it is free. */
static const struct load_claim *claim_at(const struct load *load, u64 start, u64 end)
{
	for (u32 i = 0; i < load->claim_count; i++)
		if (start < load->claims[i].end && load->claims[i].start < end)
			return &load->claims[i];
	return NULL;
}

static bool is_low_ram(const struct load *load, u64 start, u64 size)
{
	u64 limit = guest_low_memory(load->memory);

	return start <= limit && size <= limit - start;
}

enum error load_claim(struct load *load, u64 start, u64 size, const char *what)
{
	const struct load_claim *other;

	if (!is_low_ram(load, start, size))
		return load_refuse(load, ERR_RANGE,
			"%s needs %#lx bytes at %#lx, but the VM has RAM up to %#lx: give it more "
			"memory",
			what, size, start, guest_low_memory(load->memory));
	other = claim_at(load, start, start + size);
	if (other)
		return load_refuse(load, ERR_FORMAT,
			"%s at %#lx-%#lx overlaps %s at %#lx-%#lx: link it elsewhere", what, start,
			start + size - 1, other->what, other->start, other->end - 1);
	add_claim(load, start, start + size, what);
	return ERR_OK;
}

bool load_place_low(
	struct load *load, u64 size, u64 align, u64 from, u64 to, const char *what, u64 *start)
{
	u64 at = from;

	to = MIN(to, guest_low_memory(load->memory));
	for (;;) {
		const struct load_claim *claim;

		if (at > to) /* also keeps the next line from wrapping: to is below 4 GiB */
			return false;
		at = ALIGN_UP(at, align);
		if (at > to || size > to - at)
			return false;
		claim = claim_at(load, at, at + size);
		if (!claim)
			break;
		at = claim->end;
	}
	add_claim(load, at, at + size, what);
	*start = at;
	return true;
}

bool load_place_high(
	struct load *load, u64 size, u64 align, u64 from, u64 to, const char *what, u64 *start)
{
	u64 end = MIN(to, guest_low_memory(load->memory));

	for (;;) {
		const struct load_claim *claim;
		u64 at;

		if (end < from || size > end - from)
			return false;
		at = ALIGN_DOWN(end - size, align);
		if (at < from)
			return false;
		claim = claim_at(load, at, at + size);
		if (!claim) {
			add_claim(load, at, at + size, what);
			*start = at;
			return true;
		}
		end = claim->start;
	}
}

u64 load_highest_end(const struct load *load)
{
	u64 end = 0;

	for (u32 i = 0; i < load->claim_count; i++)
		end = MAX(end, load->claims[i].end);
	return end;
}

bool load_file_read(const struct guest_file *file, u64 offset, void *to, u64 size)
{
	if (offset > file->size || size > file->size - offset)
		return false;
	memcpy(to, file->data + offset, size);
	return true;
}

u32 load_modules(const struct load *load, struct load_module modules[LOAD_MODULES_MAX])
{
	const struct vm_config *config = load->config;
	u32 count = 0;

	if (load->files->initrd.size)
		modules[count++] = (struct load_module){ config->initrd.name,
			config->initrd.cmdline, &load->files->initrd };
	for (u32 i = 0; i < config->module_count && i < CONFIG_MODULES_MAX; i++)
		modules[count++] = (struct load_module){ config->modules[i].name,
			config->modules[i].cmdline, &load->files->modules[i] };
	return count;
}

enum error load_module(struct load *load, const struct load_module *module,
	enum load_direction direction, u64 *start)
{
	u64 file_size = module->file->size;
	/* A module of no bytes still has an address, and a page of its own. */
	u64 size = ALIGN_UP(MAX(file_size, 1), PAGE_SIZE);
	bool placed = false;

	if (file_size < SIZE_4G && direction == LOAD_UPWARDS)
		placed = load_place_low(
			load, size, PAGE_SIZE, load_highest_end(load), SIZE_4G, "a module", start);
	else if (file_size < SIZE_4G)
		placed = load_place_high(
			load, size, PAGE_SIZE, GUEST_BIOS_END, SIZE_4G, "a module", start);
	if (!placed)
		return load_refuse(load, ERR_RANGE,
			"no room for %s (%lu bytes) in the VM's %lu MiB: give it more memory",
			module->name, file_size, load->memory->size >> 20);
	if (!guest_write(load->memory, gpa(*start), module->file->data, file_size) ||
		!guest_fill(load->memory, gpa(*start + file_size), 0, size - file_size))
		return load_refuse(load, ERR_RANGE, "%s is not in RAM", module->name);
	log_info("vm %s: module %s at %#lx, %lu bytes", load->config->name, module->name, *start,
		file_size);
	return ERR_OK;
}

u64 load_cmdline_length(const struct load *load)
{
	return strnlen(load->config->cmdline, CONFIG_CMDLINE_MAX - 1);
}

struct kind {
	bool (*recognise)(const struct guest_file *kernel);
	enum error (*load)(struct load *load);
};

static const struct kind kinds[] = {
	{ load_is_bzimage, load_bzimage }, { load_is_elf, load_elf },
	{ load_is_multiboot, load_multiboot }, /* with addresses in its header, not ELF */
};

enum error guest_load(const struct vm_config *config, struct guest_memory *memory,
	const struct guest_files *files, u64 rsdp, struct guest_entry *entry, char *message,
	size_t message_size)
{
	struct load load = {
		.config = config,
		.files = files,
		.memory = memory,
		.rsdp = rsdp,
		.entry = entry,
		.message = message,
		.message_size = message_size,
	};

	memset(entry, 0, sizeof(*entry));
	if (message_size)
		message[0] = '\0';
	if (memory->size < GUEST_MEMORY_MIN)
		return load_refuse(&load, ERR_RANGE, "a VM needs at least %llu MiB of memory",
			GUEST_MEMORY_MIN >> 20);
	load_claims_init(&load);
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].recognise(&files->kernel))
			return kinds[i].load(&load);
	return load_refuse(&load, ERR_FORMAT,
		"not a kernel (%lu bytes): give a Linux bzImage, an ELF file with a PVH note, or a "
		"multiboot 1 image",
		files->kernel.size);
}
