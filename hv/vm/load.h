/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loaders of the boot protocols share: the load in progress with its claims on guest
 * memory, and refusing. Only the load_*.c files include it.
 *
 * Everything that goes into guest memory is claimed first. A claim must be RAM in one piece and
 * must not touch an earlier one; firmware data is claimed from the beginning. So two parts never
 * overlap, whatever the files say.
 */
#ifndef HV_VM_LOAD_H
#define HV_VM_LOAD_H

#include "hv/lib/string.h"
#include "hv/vm/guest_map.h"
#include "hv/vm/loader.h"

#define LOAD_SEGMENTS_MAX 32
#define LOAD_CLAIMS_MAX \
	(LOAD_SEGMENTS_MAX + CONFIG_MODULES_MAX + 8) /* firmware's, initrd, boot data */

/* Guest-physical [start, end). */
struct load_claim {
	u64 start, end;
	const char *what;
};

struct load {
	const struct vm_config *config;
	const struct guest_files *files;
	struct guest_memory *memory;
	u64 rsdp;
	struct guest_entry *entry;
	char *message;
	size_t message_size;
	struct load_claim claims[LOAD_CLAIMS_MAX];
	u32 claim_count;
};

/* Puts "vm NAME: FILE: ..." into the message and returns error. */
enum error __must_check load_refuse(struct load *load, enum error error, const char *format, ...)
	__printf_like(3, 4);

/* Empties the list and claims what belongs to the firmware. */
void load_claims_init(struct load *load);

/* Claims a fixed place for a part of the kernel; refuses with a message. size > 0. */
enum error __must_check load_claim(struct load *load, u64 start, u64 size, const char *what);

/*
 * Finds and claims the lowest (or highest) free place of that size and alignment (a power of two)
 * within [from, to) below the hole. False: there is none. size > 0.
 */
bool __must_check load_place_low(
	struct load *load, u64 size, u64 align, u64 from, u64 to, const char *what, u64 *start);
bool __must_check load_place_high(
	struct load *load, u64 size, u64 align, u64 from, u64 to, const char *what, u64 *start);

/* The end of the highest claim below the hole. */
u64 load_highest_end(const struct load *load);

/* Bytes of a file; false if they are not all there. */
bool __must_check load_file_read(const struct guest_file *file, u64 offset, void *to, u64 size);

/* Where modules go: from the end of the kernel upwards, or from the top of low RAM downwards. */
enum load_direction { LOAD_UPWARDS, LOAD_DOWNWARDS };

/*
 * The initrd and the modules as one list, the initrd first if there is one. load_module() copies a
 * file to a place of whole pages; refuses with a message that names the file.
 */
#define LOAD_MODULES_MAX (CONFIG_MODULES_MAX + 1)
struct load_module {
	const char *name;
	const char *cmdline;
	const struct guest_file *file;
};

u32 load_modules(const struct load *load, struct load_module modules[LOAD_MODULES_MAX]);
enum error __must_check load_module(struct load *load, const struct load_module *module,
	enum load_direction direction, u64 *start);

/*
 * A writer of the small structures that a boot protocol hands over. The area lies in low memory
 * below the EBDA if that is free, otherwise above the kernel, below 4 GiB. load_area_take() gives
 * zeroed room in it; to ask for more than load_area_init() was told is a bug of the loader.
 */
struct load_area {
	struct load *load;
	u64 next, end;
};

enum error __must_check load_area_init(struct load *load, u64 size, struct load_area *area);
u64 load_area_take(struct load_area *area, u64 size, u64 align);
/* Takes room for the bytes and writes them. */
u64 load_area_put(struct load_area *area, const void *from, u64 size);
/* A word, a blank and a text of at most CONFIG_CMDLINE_MAX - 1 characters, terminated. */
u64 load_area_put_words(struct load_area *area, const char *word, const char *text);
/* Text of at most CONFIG_CMDLINE_MAX - 1 characters, terminated. */
u64 load_area_put_string(struct load_area *area, const char *text);

/*
 * Room of the state that every entry needs: GDT, page tables (ENTRY_LONG64), a stack;
 * load_entry_init() takes it from the area and fills *load->entry except for the general registers.
 */
#define LOAD_ENTRY_ROOM (9 * PAGE_SIZE)
void load_entry_init(struct load_area *area, enum guest_entry_mode mode, u64 rip);

/* The length of the VM's command line. */
u64 load_cmdline_length(const struct load *load);

/*
 * The kinds of files: true if the file is one of theirs, and the loading. load_elf() chooses PVH or
 * multiboot.
 */
bool load_is_bzimage(const struct guest_file *kernel);
enum error __must_check load_bzimage(struct load *load);
bool load_is_elf(const struct guest_file *kernel);
enum error __must_check load_elf(struct load *load);
bool load_is_multiboot(const struct guest_file *kernel);
enum error __must_check load_multiboot(struct load *load);

#endif
