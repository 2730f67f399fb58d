// SPDX-License-Identifier: BSD-2-Clause
/*
 * The hypervisor's ELF file: a sound one, every single field made hostile, every length of
 * truncation.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/elf.h"

#define SEGMENTS 3
#define TEXT	 0x1000
#define FILE_END 0x3000

/* The oracle for the layout is the C library's elf.h. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS + BOOT_SEGMENTS_MAX];
	u8 rest[FILE_END - sizeof(Elf64_Ehdr) -
		(SEGMENTS + BOOT_SEGMENTS_MAX) * sizeof(Elf64_Phdr)];
};

static struct file sound_file(void)
{
	struct file file = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = HV_IMAGE_BASE + 0x10,
			.e_phoff = offsetof(struct file, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = SEGMENTS,
		},
		.segments = {
			{ PT_LOAD, PF_R | PF_X, TEXT, HV_IMAGE_BASE, 0, 0x800, 0x800, 0x1000 },
			{ PT_LOAD, PF_R, 0x1800, HV_IMAGE_BASE + 0x1000, 0, 0x100, 0x100, 0x1000 },
			{ PT_LOAD, PF_R | PF_W, 0x2000, HV_IMAGE_BASE + 0x3008, 0, 0x1000, 0x5000,
				0x1000 },
		},
	};

	return file;
}

static enum error parse(const void *file, size_t size, struct elf_image *image, const char **why)
{
	void *copy = malloc(size ? size : 1);
	enum error error;

	assert_non_null(copy);
	memcpy(copy, file, size);
	*why = NULL;
	error = elf_parse(copy, size, image, why);
	free(copy);
	return error;
}

static void test_sound(void **state)
{
	struct file file = sound_file();
	struct elf_image image;
	const char *why;

	(void)state;
	assert_int_equal(parse(&file, sizeof(file), &image, &why), ERR_OK);
	assert_int_equal(image.segment_count, 3);
	assert_true(image.entry == HV_IMAGE_BASE + 0x10);
	assert_true(image.segments[0].executable && !image.segments[0].writable);
	assert_true(!image.segments[1].executable && !image.segments[1].writable);
	assert_true(!image.segments[2].executable && image.segments[2].writable);
	assert_int_equal(image.segments[2].file_offset, 0x2000);
	assert_int_equal(image.segments[2].file_size, 0x1000);
	assert_int_equal(image.segments[2].memory_size, 0x5000);
	assert_true(elf_segment_base(&image.segments[2]) == HV_IMAGE_BASE + 0x3000);
	assert_int_equal(elf_segment_span(&image.segments[2]), 0x6000);
	assert_int_equal(elf_segment_span(&image.segments[0]), 0x1000);
}

/* One change each to the sound file, and the error that it must give. */
#define HEADER(field, value) \
	offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field), (u64)(value)
#define SEGMENT(n, field, value) \
	offsetof(struct file, segments[n].field), sizeof(((Elf64_Phdr *)0)->field), (u64)(value)

static const struct {
	size_t offset, size;
	u64 value;
	enum error error;
} changes[] = {
	{ 0, 1, 0, ERR_FORMAT },
	{ EI_CLASS, 1, ELFCLASS32, ERR_FORMAT },
	{ EI_DATA, 1, ELFDATA2MSB, ERR_FORMAT },
	{ HEADER(e_machine, EM_386), ERR_FORMAT },
	{ HEADER(e_type, ET_DYN), ERR_FORMAT },
	{ HEADER(e_phentsize, 0), ERR_FORMAT },
	{ HEADER(e_phentsize, 0xffff), ERR_FORMAT },
	{ HEADER(e_phoff, FILE_END), ERR_TRUNCATED },
	{ HEADER(e_phoff, FILE_END - 3 * sizeof(Elf64_Phdr) + 1), ERR_TRUNCATED },
	{ HEADER(e_phoff, ~0ull), ERR_TRUNCATED },
	{ HEADER(e_phnum, 0xffff), ERR_TRUNCATED },
	{ HEADER(e_phnum, 0), ERR_INVALID },
	{ HEADER(e_entry, 0), ERR_INVALID },
	{ HEADER(e_entry, HV_IMAGE_BASE - 1), ERR_INVALID },
	{ HEADER(e_entry, HV_IMAGE_BASE + 0x800), ERR_INVALID },
	{ HEADER(e_entry, HV_IMAGE_BASE + 0x1000), ERR_INVALID },
	{ SEGMENT(0, p_flags, PF_R | PF_W | PF_X), ERR_INVALID },
	{ SEGMENT(0, p_flags, PF_R), ERR_INVALID },
	{ SEGMENT(0, p_type, PT_NOTE), ERR_INVALID },
	{ SEGMENT(2, p_offset, FILE_END - 0xfff), ERR_TRUNCATED },
	{ SEGMENT(2, p_offset, ~0ull), ERR_TRUNCATED },
	{ SEGMENT(2, p_filesz, ~0ull), ERR_TRUNCATED },
	{ SEGMENT(2, p_memsz, 0xfff), ERR_INVALID },
	{ SEGMENT(2, p_memsz, ~0ull), ERR_RANGE },
	{ SEGMENT(2, p_memsz, 0ull - HV_IMAGE_BASE - 0x3008), ERR_RANGE },
	{ SEGMENT(2, p_vaddr, 0), ERR_RANGE },
	{ SEGMENT(0, p_vaddr, HV_IMAGE_BASE - 0x1000), ERR_RANGE },
	{ SEGMENT(2, p_vaddr, 0xfffffffffffff000), ERR_RANGE },
	{ SEGMENT(2, p_vaddr, 0xffffffffffffa001), ERR_RANGE },
	{ SEGMENT(2, p_vaddr, HV_IMAGE_BASE + 0x1800), ERR_CONFLICT },
	{ SEGMENT(2, p_vaddr, HV_IMAGE_BASE), ERR_CONFLICT },
	/* Accepted: what does not matter, and the very edges. */
	{ SEGMENT(0, p_paddr, ~0ull), ERR_OK },
	{ SEGMENT(0, p_align, 3), ERR_OK },
	{ SEGMENT(1, p_memsz, 0x2000), ERR_OK },
	{ SEGMENT(1, p_type, PT_NOTE), ERR_OK },
	{ SEGMENT(2, p_vaddr, 0xffffffffffffa000), ERR_OK },
	{ SEGMENT(2, p_offset, FILE_END - 0x1000), ERR_OK },
	{ HEADER(e_entry, HV_IMAGE_BASE + 0x7ff), ERR_OK },
};

static void test_hostile_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct file file = sound_file();
		struct elf_image image;
		const char *why;
		enum error error;

		memcpy((u8 *)&file + changes[i].offset, &changes[i].value, changes[i].size);
		error = parse(&file, sizeof(file), &image, &why);
		if (error != changes[i].error)
			fail_msg("row %zu: %s (%s)", i, error_text(error), why ? why : "");
		assert_true(!error == !why);
	}
}

static void test_truncated(void **state)
{
	struct file file = sound_file();
	struct elf_image image;
	const char *why;

	(void)state;
	for (size_t size = 0; size < sizeof(file); size += size < 0x400 ? 1 : 97) {
		assert_int_equal(parse(&file, size, &image, &why), ERR_TRUNCATED);
		assert_non_null(why);
	}
}

static void test_segment_count(void **state)
{
	struct file file = sound_file();
	struct elf_image image;
	const char *why;

	(void)state;
	for (u32 i = SEGMENTS; i <= BOOT_SEGMENTS_MAX; i++) {
		file.segments[i] = file.segments[1];
		file.segments[i].p_vaddr = HV_IMAGE_BASE + 0x100000 * i;
	}
	file.header.e_phnum = BOOT_SEGMENTS_MAX;
	assert_int_equal(parse(&file, sizeof(file), &image, &why), ERR_OK);
	assert_int_equal(image.segment_count, BOOT_SEGMENTS_MAX);
	file.header.e_phnum = BOOT_SEGMENTS_MAX + 1;
	assert_int_equal(parse(&file, sizeof(file), &image, &why), ERR_RANGE);
	/* Empty segments do not count. */
	file.segments[1].p_memsz = file.segments[1].p_filesz = 0;
	assert_int_equal(parse(&file, sizeof(file), &image, &why), ERR_OK);
}

/* Random bytes over the headers: whatever is accepted lies inside the file and in order. */
static void test_random_headers(void **state)
{
	u32 seed = 7;

	(void)state;
	for (u32 round = 0; round < 20000; round++) {
		struct file file = sound_file();
		struct elf_image image;
		const char *why;

		for (u32 i = 0; i < 3; i++) {
			seed = seed * 1664525 + 1013904223;
			((u8 *)&file)[(seed >> 8) % 232] = (u8)(seed >> 24);
		}
		if (parse(&file, sizeof(file), &image, &why))
			continue;
		for (u32 i = 0; i < image.segment_count; i++) {
			const struct elf_segment *segment = &image.segments[i];

			assert_true(segment->file_offset <= sizeof(file));
			assert_true(segment->file_size <= sizeof(file) - segment->file_offset);
			assert_true(segment->file_size <= segment->memory_size);
			assert_true(segment->virtual_address >= HV_IMAGE_BASE);
			assert_false(segment->writable && segment->executable);
			if (i)
				assert_true(elf_segment_base(segment) >=
					    elf_segment_base(segment - 1) +
						    elf_segment_span(segment - 1));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_hostile_fields),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_segment_count),
		cmocka_unit_test(test_random_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
