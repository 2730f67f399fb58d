/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files of both classes, made for the tests of the PVH and multiboot loaders. */
#ifndef ELF_FIXTURE_H
#define ELF_FIXTURE_H

#include "loader_fixture.h"

#define ELF_FILE_MAX 0x6000

struct made_segment {
	u32 type; /* 1: PT_LOAD, 4: PT_NOTE */
	u64 offset, virtual_address, physical_address, file_size, memory_size, align;
};

static u8 elf_file[ELF_FILE_MAX];
static u64 elf_size;

/* Headers at the start, a pattern behind them; the file ends where the last segment does. */
static inline void make_elf(
	bool is64, u64 entry_point, const struct made_segment *segments, u32 count)
{
	u32 header = is64 ? 64 : 52, row = is64 ? 56 : 32;

	for (u32 i = 0; i < ELF_FILE_MAX; i++)
		elf_file[i] = (u8)(i * 5 + (i >> 8));
	memset(elf_file, 0, header + count * row);
	memcpy(elf_file,
		"\x7f"
		"ELF",
		4);
	elf_file[4] = is64 ? 2 : 1;
	elf_file[5] = 1;
	elf_file[6] = 1;
	put_value(elf_file, 16, 2, 2);
	put_value(elf_file, 18, 2, is64 ? 62 : 3);
	put_value(elf_file, 20, 4, 1);
	put_value(elf_file, 24, is64 ? 8 : 4, entry_point);
	put_value(elf_file, is64 ? 32 : 28, is64 ? 8 : 4, header);
	put_value(elf_file, is64 ? 54 : 42, 2, row);
	put_value(elf_file, is64 ? 56 : 44, 2, count);
	elf_size = header + count * row;
	for (u32 i = 0; i < count; i++) {
		const struct made_segment *s = &segments[i];
		u64 at = header + i * row;

		put_value(elf_file, at, 4, s->type);
		if (is64) {
			const u64 fields[] = { s->offset, s->virtual_address, s->physical_address,
				s->file_size, s->memory_size, s->align };

			for (u32 f = 0; f < 6; f++)
				put_value(elf_file, at + 8 + 8 * f, 8, fields[f]);
		} else {
			const u64 fields[] = { s->offset, s->virtual_address, s->physical_address,
				s->file_size, s->memory_size, 0, s->align };

			for (u32 f = 0; f < 7; f++)
				put_value(elf_file, at + 4 + 4 * f, 4, fields[f]);
		}
		if (s->offset + s->file_size > elf_size && s->offset + s->file_size < ELF_FILE_MAX)
			elf_size = s->offset + s->file_size;
	}
	fixture_kernel(elf_file, elf_size);
}

/* A segment is in guest memory as the file has it, cleared behind. */
static inline void check_segment(const struct made_segment *segment)
{
	u64 end = segment->physical_address + segment->memory_size;

	assert_true(guest_has(
		segment->physical_address, elf_file + segment->offset, segment->file_size));
	for (u64 at = segment->physical_address + segment->file_size; at < end; at++)
		assert_int_equal(guest_value(at, 1), 0);
}

/* 32-bit, flat, paging off: the state of PVH and of multiboot. */
static inline void check_flat32(u64 rip)
{
	assert_int_equal(entry.mode, ENTRY_PROTECTED32);
	assert_int_equal(entry.rip, rip);
	assert_int_equal(entry.cr3, 0);
	assert_int_equal(guest_value(entry.gdt_base + entry.cs, 8), 0x00cf9b000000ffff);
	assert_int_equal(guest_value(entry.gdt_base + entry.ds, 8), 0x00cf93000000ffff);
}

/*
 * Cut at every byte: never a crash, and refused as long as one of the first needed bytes is
 * missing.
 */
static inline void check_truncation(u64 needed)
{
	for (u64 size = 0; size < elf_size; size++) {
		u8 *cut = malloc(size ? size : 1);
		enum error error;

		memcpy(cut, elf_file, size);
		fixture_kernel(cut, size);
		error = fixture_load();
		if (size < needed)
			assert_true(error == ERR_TRUNCATED || error == ERR_FORMAT);
		if (error)
			assert_non_null(strstr(message, "kernel: "));
		free(cut);
	}
	fixture_kernel(elf_file, elf_size);
}

/* Random bytes over the first part of the file. */
static inline void check_mutations(u32 rounds, u32 range)
{
	u8 *copy = malloc(elf_size);
	u32 accepted = 0;

	for (u32 round = 0; round < rounds; round++) {
		memcpy(copy, elf_file, elf_size);
		for (u32 i = fixture_random() % 4; i < 4; i++)
			put_value(copy, fixture_random() % (range - 8), 1 + fixture_random() % 8,
				fixture_random() % 3 ? fixture_random() : ~0ull);
		fixture_kernel(copy, elf_size);
		if (fixture_load() == ERR_OK)
			accepted++;
	}
	assert_in_range(accepted, 1, rounds - 1);
	free(copy);
}

#endif
