/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the guest loaders: a VM's configuration and RAM of any size up to 16 GiB
 * (sparse, in extents that meet at awkward places), the call, and reading back what the guest would
 * see.
 */
#ifndef LOADER_FIXTURE_H
#define LOADER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "hv/vm/guest_map.h"
#include "hv/vm/loader.h"

#define FIXTURE_RAM_MAX (16ull << 30)
#define FIXTURE_RSDP	0xe0000ull

static struct vm_config config;
static struct guest_memory memory;
static struct guest_files files;
static struct guest_entry entry;
static char message[GUEST_MESSAGE_MAX];
static u8 *fixture_ram;

static inline void fixture_extent(u64 start, u64 size, u64 offset)
{
	memory.extents[memory.count++] =
		(struct guest_extent){ gpa(start), size, fixture_ram + offset, hpa(0) };
}

/* RAM of that size, all zero; page-aligned pieces that are not in order in the host. */
static inline void fixture_memory(u64 size)
{
	u64 low = size < GUEST_HOLE ? size : GUEST_HOLE, cut = 0x123000;

	if (!fixture_ram) {
		fixture_ram = mmap(NULL, FIXTURE_RAM_MAX, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		assert_ptr_not_equal(fixture_ram, MAP_FAILED);
	}
	assert_int_equal(madvise(fixture_ram, FIXTURE_RAM_MAX, MADV_DONTNEED), 0);
	memory = (struct guest_memory){ .size = size };
	fixture_extent(0, cut, low - cut);
	fixture_extent(cut, low - cut, 0);
	if (size > low)
		fixture_extent(SIZE_4G, size - low, low);
}

/* An empty configuration with a 128-MiB VM. */
static inline void fixture_reset(void)
{
	memset(&config, 0, sizeof(config));
	memset(&files, 0, sizeof(files));
	strcpy(config.name, "test");
	strcpy(config.kernel.name, "\\torpor\\kernel");
	fixture_memory(128u << 20);
	config.cpus = 1;
}

static inline void fixture_kernel(const void *data, u64 size)
{
	files.kernel = (struct guest_file){ data, size };
	config.kernel.size = size;
}

static inline enum error fixture_load(void)
{
	memset(message, 'x', sizeof(message) - 1);
	config.memory = memory.size;
	return guest_load(&config, &memory, &files, FIXTURE_RSDP, &entry, message, sizeof(message));
}

/* A refusal: that error, one line, with the file's name and these words in it. */
static inline void fixture_refused(enum error expected, const char *words)
{
	enum error error = fixture_load();

	if (error != expected || !strstr(message, words))
		fail_msg("%s: %s (wanted: %s, %s)", error_text(error), message,
			error_text(expected), words);
	assert_null(strchr(message, '\n'));
	assert_non_null(strstr(message, "vm test: "));
}

static inline void fixture_accepted(void)
{
	enum error error = fixture_load();

	if (error)
		fail_msg("%s: %s", error_text(error), message);
	assert_string_equal(message, "");
}

static inline u64 guest_value(u64 address, u32 size)
{
	u64 value = 0;

	assert_true(guest_read(&memory, gpa(address), &value, size));
	return value;
}

static inline void guest_text(u64 address, const char *expected)
{
	char text[CONFIG_CMDLINE_MAX + CONFIG_PATH_MAX];
	u64 length = strlen(expected) + 1;

	assert_true(length <= sizeof(text));
	assert_true(guest_read(&memory, gpa(address), text, length));
	assert_memory_equal(text, expected, length);
}

/* True if the guest's bytes there are those of the host. */
static inline bool guest_has(u64 address, const void *bytes, u64 size)
{
	u8 *copy = malloc(size ? size : 1);
	bool same = guest_read(&memory, gpa(address), copy, size) && !memcmp(copy, bytes, size);

	free(copy);
	return same;
}

/* Little-endian fields of a file being made. */
static inline void put_value(u8 *file, u64 offset, u32 size, u64 value)
{
	while (size--) {
		file[offset++] = (u8)value;
		value >>= 8;
	}
}

/* xorshift64: random enough, the same in each run. */
static inline u64 fixture_random(void)
{
	static u64 state = 0x9e3779b97f4a7c15ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#endif
