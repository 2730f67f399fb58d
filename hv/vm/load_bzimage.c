// SPDX-License-Identifier: BSD-2-Clause
/*
 * Linux's bzImage by its boot protocol, versions 2.04 and later (Documentation/arch/x86/boot.rst in
 * Linux). The protected-mode code is entered directly, in 64-bit mode at +0x200 where the image
 * says so, otherwise in 32-bit mode; the real-mode part never runs and only its header is read.
 * Called by guest_load() with a file that load_is_bzimage() knows; all of it is hostile.
 */
#include "hv/lib/log.h"
#include "hv/lib/print.h"
#include "hv/vm/load.h"

/* The setup header, at 0x1f1 both in the file and in boot_params. */
#define HEADER_START 0x1f1
#define HEADER_LIMIT 0x290 /* boot_params has other fields from here on */
#define HEADER_JUMP  0x201 /* the header ends this byte's value behind 0x202 */
#define BOOT_FLAG    0xaa55
#define HEADER_MAGIC 0x53726448 /* "HdrS" */

struct setup_header {
	u8 setup_sects;
	u16 root_flags;
	u32 syssize;
	u16 ram_size, vid_mode, root_dev, boot_flag;
	u8 jump[2];
	u32 header;
	u16 version;
	u32 realmode_swtch;
	u16 start_sys_seg, kernel_version;
	u8 type_of_loader, loadflags;
	u16 setup_move_size;
	u32 code32_start, ramdisk_image, ramdisk_size, bootsect_kludge;
	u16 heap_end_ptr;
	u8 ext_loader_ver, ext_loader_type;
	u32 cmd_line_ptr, initrd_addr_max, kernel_alignment;
	u8 relocatable_kernel, min_alignment;
	u16 xloadflags;
	u32 cmdline_size, hardware_subarch;
	u64 hardware_subarch_data;
	u32 payload_offset, payload_length;
	u64 setup_data, pref_address;
	u32 init_size, handover_offset, kernel_info_offset;
	u8 later[HEADER_LIMIT - 0x26c];
} __packed;
_Static_assert(offsetof(struct setup_header, header) == 0x202 - HEADER_START, "boot protocol");
_Static_assert(
	offsetof(struct setup_header, cmd_line_ptr) == 0x228 - HEADER_START, "boot protocol");
_Static_assert(
	offsetof(struct setup_header, pref_address) == 0x258 - HEADER_START, "boot protocol");
_Static_assert(sizeof(struct setup_header) == HEADER_LIMIT - HEADER_START, "boot protocol");

#define LOADFLAG_LOADED_HIGH BIT(0)
#define LOADFLAG_QUIET	     BIT(5)
#define XLOADFLAG_KERNEL_64  BIT(0)
#define VID_MODE_NORMAL	     0xffff
#define LOADER_UNASSIGNED    0xff

/* boot_params ("zero page") around the header. */
#define PARAMS_SIZE	    PAGE_SIZE
#define PARAMS_RSDP	    0x070
#define PARAMS_E820_ENTRIES 0x1e8
#define PARAMS_E820_TABLE   0x2d0

struct e820_entry {
	u64 start, size;
	u32 type;
} __packed;

#define SECTOR		    512
#define SETUP_SECTS_OLD	    4 /* what 0 means */
#define LOAD_ADDRESS	    0x100000ull
#define ENTRY64_OFFSET	    0x200
#define CMDLINE_SIZE_OLD    255 /* before 2.06 */
#define VERSION_MIN	    0x204
#define VERSION_RELOCATABLE 0x205
#define VERSION_CMDLINE	    0x206
#define VERSION_INIT_SIZE   0x20a
#define VERSION_XLOADFLAGS  0x20c

/* The fields that a version brought: where the header ends at least. */
static const struct {
	u16 version, end;
} header_ends[] = {
	{ 0x204, 0x230 }, /* initrd_addr_max (2.03) */
	{ 0x205, 0x235 }, /* kernel_alignment, relocatable_kernel */
	{ 0x206, 0x23c }, /* cmdline_size */
	{ 0x207, 0x248 }, /* hardware_subarch */
	{ 0x208, 0x250 }, /* payload */
	{ 0x209, 0x258 }, /* setup_data */
	{ 0x20a, 0x264 }, /* pref_address, init_size */
	{ 0x20b, 0x268 }, /* handover_offset */
	{ 0x20f, 0x26c }, /* kernel_info_offset */
};

/* An image: the header as far as the file declares it (zero behind), and what follows from it. */
struct image {
	struct setup_header header;
	u32 header_end;	 /* offset in the file */
	u64 code_offset; /* protected-mode code in the file */
	u64 code_size;
	u64 load;     /* where it goes */
	u64 run_size; /* what it needs from there on before it knows the memory map */
};

bool load_is_bzimage(const struct guest_file *kernel)
{
	u16 boot_flag;
	u32 magic;

	return load_file_read(kernel, 0x1fe, &boot_flag, sizeof(boot_flag)) &&
	       boot_flag == BOOT_FLAG && load_file_read(kernel, 0x202, &magic, sizeof(magic)) &&
	       magic == HEADER_MAGIC;
}

static u16 header_end_by_version(u16 version)
{
	u16 end = 0;

	for (u32 i = 0; i < ARRAY_SIZE(header_ends) && header_ends[i].version <= version; i++)
		end = header_ends[i].end;
	return end;
}

/* The header, nothing behind its declared end (BUG-37), and the two parts of the file. */
static enum error read_image(struct load *load, struct image *image)
{
	const struct guest_file *file = &load->files->kernel;
	struct setup_header *header = &image->header;
	u16 version;
	u32 end;
	u8 jump;

	memset(image, 0, sizeof(*image));
	if (!load_file_read(file, HEADER_JUMP, &jump, sizeof(jump)) ||
		!load_file_read(file, 0x206, &version, sizeof(version)))
		return load_refuse(
			load, ERR_TRUNCATED, "ends inside the setup header: copy it again");
	if (version < VERSION_MIN)
		return load_refuse(load, ERR_UNSUPPORTED,
			"boot protocol %u.%02u is older than 2.04: use Linux 2.6.14 or later",
			version >> 8, version & 0xff);
	end = 0x202 + jump;
	if (end < header_end_by_version(version))
		return load_refuse(load, ERR_FORMAT,
			"setup header ends at %#x, but boot protocol %u.%02u needs it up to %#x: "
			"the file is "
			"damaged",
			end, version >> 8, version & 0xff, header_end_by_version(version));
	end = MIN(end, HEADER_LIMIT);
	if (!load_file_read(file, HEADER_START, header, end - HEADER_START))
		return load_refuse(
			load, ERR_TRUNCATED, "ends inside the setup header: copy it again");
	image->header_end = end;
	if (!(header->loadflags & LOADFLAG_LOADED_HIGH))
		return load_refuse(load, ERR_UNSUPPORTED,
			"is a zImage, to be loaded low: build a bzImage of that kernel");

	image->code_offset =
		((header->setup_sects ? header->setup_sects : SETUP_SECTS_OLD) + 1u) * SECTOR;
	/* syssize counts paragraphs, the last one may be cut short. */
	if (file->size <= image->code_offset ||
		file->size - image->code_offset + 15 < (u64)header->syssize * 16)
		return load_refuse(load, ERR_TRUNCATED,
			"has %lu bytes, but its header says %lu: copy it again", file->size,
			image->code_offset + (u64)header->syssize * 16);
	image->code_size = file->size - image->code_offset;
	return ERR_OK;
}

/*
 * Where the code goes and which memory must be free for it. A relocatable kernel takes any aligned
 * place from pref_address on (Linux moves itself up to there when loaded lower); any other runs at
 * pref_address after it was loaded at 1 MiB, and both must be clear.
 */
static enum error place_image(struct load *load, struct image *image)
{
	const struct setup_header *header = &image->header;
	bool relocatable = header->version >= VERSION_RELOCATABLE && header->relocatable_kernel;
	bool sized = header->version >= VERSION_INIT_SIZE;
	u64 preferred = sized ? MAX(header->pref_address, LOAD_ADDRESS) : LOAD_ADDRESS;
	/* Before 2.10 a kernel does not say what it unpacks to: about three times its size. */
	u64 size = sized ? MAX(image->code_size, header->init_size) : image->code_size * 3;

	if (relocatable) {
		u64 align = header->kernel_alignment;

		if (!align || (align & (align - 1)))
			return load_refuse(load, ERR_FORMAT,
				"kernel_alignment %#lx is not a power of two: the file is damaged",
				align);
		if (!load_place_low(
			    load, size, align, preferred, SIZE_4G, "the kernel", &image->load))
			return load_refuse(load, ERR_RANGE,
				"needs memory from %#lx to %#lx, but the VM has %lu MiB: give it "
				"more",
				preferred, preferred + size, load->memory->size >> 20);
	} else {
		enum error error;

		image->load = LOAD_ADDRESS;
		if (preferred >= SIZE_4G)
			return load_refuse(load, ERR_UNSUPPORTED,
				"runs at %#lx only, above 4 GiB: build it relocatable", preferred);
		size = MAX(image->code_size, preferred - LOAD_ADDRESS + size);
		error = load_claim(load, image->load, size, "the kernel");
		if (error)
			return error;
	}
	image->run_size = size;
	if (!guest_write(load->memory, gpa(image->load),
		    load->files->kernel.data + image->code_offset, image->code_size))
		return load_refuse(
			load, ERR_RANGE, "does not fit into the RAM at %#lx", image->load);
	return ERR_OK;
}

/* The initrd at the top of the RAM that the kernel can reach early (BUG-24). */
static enum error place_initrd(struct load *load, struct image *image)
{
	const struct guest_file *initrd = &load->files->initrd;
	const char *name = load->config->initrd.name;
	u64 limit = (u64)image->header.initrd_addr_max + 1;
	u64 size, start;

	image->header.ramdisk_image = 0;
	image->header.ramdisk_size = 0;
	if (!initrd->size)
		return ERR_OK;
	size = ALIGN_UP(initrd->size, PAGE_SIZE);
	if (initrd->size > SIZE_4G || !load_place_high(load, size, PAGE_SIZE, GUEST_BIOS_END, limit,
					      "the initrd", &start))
		return load_refuse(load, ERR_RANGE,
			"no room for initrd %s (%lu bytes) below %#lx beside the kernel (%lu MiB): "
			"give "
			"the VM more memory",
			name, initrd->size, MIN(limit, guest_low_memory(load->memory)),
			image->run_size >> 20);
	if (!guest_write(load->memory, gpa(start), initrd->data, initrd->size) ||
		!guest_fill(load->memory, gpa(start + initrd->size), 0, size - initrd->size))
		return load_refuse(load, ERR_RANGE, "initrd %s is not in RAM", name);
	image->header.ramdisk_image = (u32)start;
	image->header.ramdisk_size = (u32)initrd->size;
	log_info("vm %s: initrd %s at %#lx, %lu bytes", load->config->name, name, start,
		initrd->size);
	return ERR_OK;
}

static enum error check_cmdline(struct load *load, const struct image *image)
{
	const struct setup_header *header = &image->header;
	u64 limit = header->version >= VERSION_CMDLINE ? header->cmdline_size : CMDLINE_SIZE_OLD;
	u64 length = load_cmdline_length(load);

	if (length <= limit)
		return ERR_OK;
	return load_refuse(load, ERR_RANGE,
		"cmdline has %lu characters, the kernel takes %lu: shorten it", length, limit);
}

/* The fields that the loader has to write, whatever the file holds there. */
static void fill_header(struct image *image, u64 cmdline)
{
	struct setup_header *header = &image->header;

	header->type_of_loader = LOADER_UNASSIGNED;
	header->ext_loader_type = 0;
	header->ext_loader_ver = 0;
	/* No heap, as no real-mode code runs; segments as the protocol has them. */
	header->loadflags &= LOADFLAG_LOADED_HIGH | LOADFLAG_QUIET;
	header->heap_end_ptr = 0;
	header->vid_mode = VID_MODE_NORMAL;
	header->code32_start = (u32)image->load;
	header->cmd_line_ptr = (u32)cmdline;
	header->setup_data = 0;
}

static void write_params(struct load *load, const struct image *image, u64 params)
{
	struct guest_map_entry map[GUEST_MAP_MAX];
	u8 count = (u8)guest_map_build(load->memory, map);
	u8 *page = guest_pointer(load->memory, gpa(params), PARAMS_SIZE);

	ASSERT(page); /* the area is RAM, and an extent has whole pages */
	memcpy(page + HEADER_START, &image->header, image->header_end - HEADER_START);
	/* ext_ramdisk_* and ext_cmd_line_ptr, the high halves, stay 0: all lies below 4 GiB. */
	memcpy(page + PARAMS_RSDP, &load->rsdp, sizeof(load->rsdp));
	page[PARAMS_E820_ENTRIES] = count;
	for (u32 i = 0; i < count; i++) {
		const struct e820_entry entry = { map[i].start.value, map[i].size, map[i].type };

		memcpy(page + PARAMS_E820_TABLE + i * sizeof(entry), &entry, sizeof(entry));
	}
}

/* The kernel's own version text, printable characters only; "" if there is none. */
static void version_text(const struct load *load, const struct image *image, char text[64])
{
	u64 offset = (u64)image->header.kernel_version + 0x200;
	u32 length = 0;
	char c;

	while (image->header.kernel_version && length < 63 &&
		offset + length < image->code_offset &&
		load_file_read(&load->files->kernel, offset + length, &c, 1) && c >= ' ' &&
		c <= '~')
		text[length++] = c;
	text[length] = '\0';
}

static void report(const struct load *load, const struct image *image, u64 params, u64 cmdline)
{
	char text[64];

	version_text(load, image, text);
	log_info("vm %s: kernel %s (bzImage %u.%02u %s) at %#lx, %lu bytes, works in %#lx-%#lx",
		load->config->name, load->config->kernel.name, image->header.version >> 8,
		image->header.version & 0xff, text, image->load, image->code_size, image->load,
		image->load + image->run_size - 1);
	log_info("vm %s: boot_params at %#lx, cmdline at %#lx, %s entry at %#lx",
		load->config->name, params, cmdline,
		load->entry->mode == ENTRY_LONG64 ? "64-bit" : "32-bit", load->entry->rip);
}

enum error load_bzimage(struct load *load)
{
	struct image image;
	struct load_area area;
	u64 params, cmdline;
	bool entry64;
	enum error error;

	if (load->config->module_count)
		return load_refuse(load, ERR_UNSUPPORTED,
			"is a bzImage, which takes no modules: use initrd instead of module");
	error = read_image(load, &image);
	if (!error)
		error = check_cmdline(load, &image);
	if (!error)
		error = place_image(load, &image);
	if (!error)
		error = load_area_init(
			load, LOAD_ENTRY_ROOM + PARAMS_SIZE + CONFIG_CMDLINE_MAX, &area);
	if (!error)
		error = place_initrd(load, &image);
	if (error)
		return error;

	entry64 = image.header.version >= VERSION_XLOADFLAGS &&
		  (image.header.xloadflags & XLOADFLAG_KERNEL_64) &&
		  image.code_size > ENTRY64_OFFSET && !load->files->entry32;
	if (entry64)
		load_entry_init(&area, ENTRY_LONG64, image.load + ENTRY64_OFFSET);
	else
		load_entry_init(&area, ENTRY_PROTECTED32, image.load);
	params = load_area_take(&area, PARAMS_SIZE, PAGE_SIZE);
	cmdline = load_area_put_string(&area, load->config->cmdline);
	fill_header(&image, cmdline);
	write_params(load, &image, params);
	load->entry->rsi = params; /* the protocol's only argument in both modes */
	report(load, &image, params, cmdline);
	return ERR_OK;
}
