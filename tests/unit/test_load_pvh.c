// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PVH loader: notes of both alignments and classes, the start information field by field (with
 * the RSDP: BUG-53), modules, segments that lie where they must not, truncated and mutated files.
 */
#include "elf_fixture.h"

#define NOTES 0x1000 /* in the file */
#define ENTRY 0x200010

static const struct made_segment segments[] = {
	{ 1, 0x400, 0xffffffff80200000, 0x200000, 0x800, 0x1800, 0x1000 },
	{ 1, 0xc00, 0, 0x202000, 0x300, 0x300, 0x1000 }, /* as Linux's per-CPU segment */
	{ 4, NOTES, 0, 0, 0, 0, 4 },
};

/* Appends a note; returns its end. */
static u64 put_note(
	u64 at, u64 align, const char *name, u32 name_size, u32 type, u64 value, u32 value_size)
{
	memset(elf_file + at, 0, 64);
	put_value(elf_file, at, 4, name_size);
	put_value(elf_file, at + 4, 4, value_size);
	put_value(elf_file, at + 8, 4, type);
	memcpy(elf_file + at + 12, name, name_size);
	at = (at + 12 + name_size + align - 1) & ~(align - 1);
	put_value(elf_file, at, value_size < 8 ? value_size : 8, value);
	return (at + value_size + align - 1) & ~(align - 1);
}

/* The kernel above with other notes before and behind the one that counts. */
static void make_kernel(bool is64, u64 declared_align, u64 align, u64 entry_point, u32 entry_size)
{
	struct made_segment made[ARRAY_SIZE(segments)];
	u64 end;

	memcpy(made, segments, sizeof(made));
	made[2].file_size = 0x100;
	made[2].align = declared_align;
	make_elf(is64, 0x1234, made, ARRAY_SIZE(made));
	end = put_note(NOTES, align, "GNU", 4, 3, 0x1122334455667788, 8);
	end = put_note(end, align, "Xen", 4, 6, 0x0302312e34, 5);
	end = put_note(end, align, "Xen!!", 6, 18, 0xbad, 4);
	end = put_note(end, align, "Xen", 4, 18, entry_point, entry_size);
	memset(elf_file + end, 0, NOTES + 0x100 - end);
}

static int setup(void **state)
{
	(void)state;
	fixture_reset();
	return 0;
}

static void check_start_info(void)
{
	struct guest_map_entry map[GUEST_MAP_MAX];
	u64 info = entry.rbx, at = guest_value(info + 40, 8);
	u32 count = guest_map_build(&memory, map);

	assert_int_equal(guest_value(info, 4), 0x336ec578);
	assert_int_equal(guest_value(info + 4, 4), 1);
	assert_int_equal(guest_value(info + 8, 4), 0);
	guest_text(guest_value(info + 24, 8), config.cmdline);
	assert_int_equal(guest_value(info + 32, 8), FIXTURE_RSDP);
	assert_int_equal(guest_value(info + 48, 4), count);
	assert_int_equal(guest_value(info + 52, 4), 0);
	for (u32 i = 0; i < count; i++, at += 24) {
		assert_int_equal(guest_value(at, 8), map[i].start.value);
		assert_int_equal(guest_value(at + 8, 8), map[i].size);
		assert_int_equal(guest_value(at + 16, 4), map[i].type);
		assert_int_equal(guest_value(at + 20, 4), 0);
	}
}

static void test_notes(void **state)
{
	static const u64 aligns[] = { 4, 8 }, declared[] = { 0, 1, 4, 8 };

	(void)state;
	strcpy(config.cmdline, "console=ttyS0");
	for (u32 is64 = 0; is64 < 2; is64++)
		for (u32 a = 0; a < ARRAY_SIZE(aligns); a++)
			for (u32 d = 0; d < ARRAY_SIZE(declared); d++)
				for (u32 size = 4; size <= 8; size += 4) {
					make_kernel(is64, declared[d], aligns[a], ENTRY, size);
					fixture_accepted();
					check_flat32(ENTRY);
					check_segment(&segments[0]);
					check_segment(&segments[1]);
					check_start_info();
					assert_int_equal(guest_value(entry.rbx + 12, 4), 0);
				}
}

static void test_modules(void **state)
{
	static u8 initrd[10001], module[3];
	u64 list, first, second;

	(void)state;
	make_kernel(true, 4, 4, ENTRY, 4);
	memset(initrd, 0x77, sizeof(initrd));
	memset(module, 0x66, sizeof(module));
	files.initrd = (struct guest_file){ initrd, sizeof(initrd) };
	files.modules[0] = (struct guest_file){ module, sizeof(module) };
	config.module_count = 1;
	memset(config.modules[0].cmdline, 'm', CONFIG_CMDLINE_MAX - 1);
	memset(config.cmdline, 'c', CONFIG_CMDLINE_MAX - 1);
	fixture_accepted();
	check_start_info();
	assert_int_equal(guest_value(entry.rbx + 12, 4), 2);
	list = guest_value(entry.rbx + 16, 8);
	first = guest_value(list, 8);
	second = guest_value(list + 32, 8);
	assert_int_equal(guest_value(list + 8, 8), sizeof(initrd));
	assert_int_equal(guest_value(list + 40, 8), sizeof(module));
	assert_true(guest_has(first, initrd, sizeof(initrd)));
	assert_true(guest_has(second, module, sizeof(module)));
	/* At the top of RAM, page-aligned, clear of each other. */
	assert_int_equal(first, (128 << 20) - 0x3000);
	assert_int_equal(second, first - 0x1000);
	guest_text(guest_value(list + 16, 8), "");
	guest_text(guest_value(list + 48, 8), config.modules[0].cmdline);

	files.initrd.size = 127 << 20;
	strcpy(config.initrd.name, "initrd.img");
	fixture_refused(ERR_RANGE, "initrd.img");
	files.initrd.size = ~0ull;
	fixture_refused(ERR_RANGE, "initrd.img");
}

/* Every module there may be, each with the longest command line. */
static void test_most_modules(void **state)
{
	u8 byte = 0x42;

	(void)state;
	make_kernel(true, 4, 4, ENTRY, 4);
	files.initrd = (struct guest_file){ &byte, 1 };
	memset(config.cmdline, 'c', CONFIG_CMDLINE_MAX - 1);
	memset(config.initrd.cmdline, 'i', CONFIG_CMDLINE_MAX - 1);
	config.module_count = CONFIG_MODULES_MAX;
	for (u32 i = 0; i < CONFIG_MODULES_MAX; i++) {
		files.modules[i] = (struct guest_file){ &byte, i & 1 };
		memset(config.modules[i].cmdline, 'm', CONFIG_CMDLINE_MAX - 1);
	}
	fixture_accepted();
	assert_int_equal(guest_value(entry.rbx + 12, 4), CONFIG_MODULES_MAX + 1);
	check_start_info();
}

static void test_bad_segments(void **state)
{
	static const struct {
		u64 physical_address, file_size, memory_size;
		enum error error;
		const char *words;
	} rows[] = {
		{ 0x9f000, 0x800, 0x1000, ERR_FORMAT, "overlaps the firmware's area" },
		{ 0xe0000, 0x10, 0x10, ERR_FORMAT, "overlaps the firmware's area" },
		{ 0xfffff, 0x10, 0x10, ERR_FORMAT, "overlaps the firmware's area" },
		{ 0x400, 0x10, 0x10, ERR_FORMAT, "overlaps the BIOS data area" },
		{ 0x202100, 0x10, 0x10, ERR_FORMAT, "overlaps a segment" },
		{ 0x201000, 0x10, 0x1001, ERR_FORMAT, "overlaps a segment" },
		{ 0x200000, 0x10, 0x8, ERR_FORMAT, "damaged" },
		{ 127 << 20, 0x10, 0x100001, ERR_RANGE, "has RAM up to 0x8000000" },
		{ 128 << 20, 0x10, 0x10, ERR_RANGE, "has RAM" },
		{ 0x100000000, 0x10, 0x10, ERR_RANGE, "has RAM" },
		{ ~0ull, 0x10, 0x10, ERR_RANGE, "has RAM" },
		{ 0x200000, 0x10, ~0ull, ERR_RANGE, "has RAM" },
		{ 0x200000, ELF_FILE_MAX, ELF_FILE_MAX, ERR_TRUNCATED, "copy it again" },
		{ 0x200000, ~0ull, ~0ull, ERR_TRUNCATED, "copy it again" },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		make_kernel(true, 4, 4, ENTRY, 4);
		put_value(elf_file, 64 + 24, 8, rows[i].physical_address);
		put_value(elf_file, 64 + 32, 8, rows[i].file_size);
		put_value(elf_file, 64 + 40, 8, rows[i].memory_size);
		fixture_refused(rows[i].error, rows[i].words);
	}
}

static void test_bad_headers(void **state)
{
	static const struct {
		u32 offset, size;
		u64 value;
		enum error error;
		const char *words;
	} rows[] = {
		{ 4, 1, 1, ERR_UNSUPPORTED, "class 1 for machine 62" },
		{ 4, 1, 3, ERR_UNSUPPORTED, "class 3" },
		{ 5, 1, 2, ERR_UNSUPPORTED, "build it for x86" },
		{ 18, 2, 183, ERR_UNSUPPORTED, "machine 183" },
		{ 16, 2, 1, ERR_UNSUPPORTED, "type 1, not an executable" },
		{ 56, 2, 0, ERR_FORMAT, "0 program headers" },
		{ 56, 2, 0xffff, ERR_FORMAT, "65535 program headers" },
		{ 54, 2, 55, ERR_FORMAT, "of 55 bytes" },
		{ 32, 8, ~0ull, ERR_TRUNCATED, "copy it again" },
		{ 32, 8, ~0ull - 100, ERR_TRUNCATED, "copy it again" },
		{ 54, 2, 0xffff, ERR_TRUNCATED, "copy it again" },
		{ 64, 4, 2, ERR_FORMAT, "PVH entry 0x200010 lies in none" },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		make_kernel(true, 4, 4, ENTRY, 4);
		put_value(elf_file, rows[i].offset, rows[i].size, rows[i].value);
		fixture_refused(rows[i].error, rows[i].words);
	}
	make_kernel(true, 4, 4, 0x203000, 4);
	fixture_refused(ERR_FORMAT, "lies in none");
	make_kernel(true, 4, 4, 0x100200010, 8);
	fixture_refused(ERR_FORMAT, "lies in none");
	make_kernel(true, 4, 4, ENTRY, 5); /* not a description that the protocol has */
	fixture_refused(ERR_FORMAT, "without a PVH note");
	make_kernel(true, 4, 4, ENTRY, 4);
	put_value(elf_file, 64, 4, 0);
	put_value(elf_file, 64 + 56, 4, 0);
	fixture_refused(ERR_FORMAT, "no segment to load");
}

static void test_too_many_segments(void **state)
{
	struct made_segment many[40];

	(void)state;
	for (u32 count = 30; count <= ARRAY_SIZE(many); count++) {
		for (u32 i = 0; i < count - 1; i++)
			many[i] = (struct made_segment){ 1, 0x800, 0, 0x200000 + i * 0x1000ull,
				0x20, 0x1000, 1 };
		many[count - 1] = (struct made_segment){ 4, NOTES, 0, 0, 0x18, 0, 4 };
		make_elf(false, 0, many, count);
		put_note(NOTES, 4, "Xen", 4, 18, ENTRY, 4);
		if (count - 1 <= 32)
			fixture_accepted();
		else
			fixture_refused(ERR_UNSUPPORTED, "more than 32 segments");
	}
}

/* Boot data beside a kernel that fills all low memory goes above it. */
static void test_low_kernel(void **state)
{
	struct made_segment low[] = {
		{ 1, 0x400, 0, 0x1000, 0x20, 0x9fc00 - 0x1000, 1 },
		{ 1, 0x400, 0, 0x100000, 0x20, 0x100000, 1 },
		{ 4, NOTES, 0, 0, 0x18, 0, 4 },
	};

	(void)state;
	make_elf(true, 0, low, ARRAY_SIZE(low));
	put_note(NOTES, 4, "Xen", 4, 18, 0x1000, 4);
	fixture_accepted();
	check_flat32(0x1000);
	assert_in_range(entry.rbx, 0x200000, 0x220000);
	check_start_info();
	fixture_memory(2 << 20);
	fixture_refused(ERR_RANGE, "boot data");
}

static void test_truncation(void **state)
{
	(void)state;
	make_kernel(true, 4, 4, ENTRY, 4);
	check_truncation(NOTES + 0x40);
	make_kernel(false, 4, 4, ENTRY, 4);
	check_truncation(NOTES + 0x40);
}

static void test_mutations(void **state)
{
	(void)state;
	make_kernel(true, 4, 4, ENTRY, 4);
	check_mutations(3000, 64 + 3 * 56);
	make_kernel(false, 4, 4, ENTRY, 4);
	check_mutations(3000, 52 + 3 * 32);
	make_kernel(true, 8, 8, ENTRY, 8);
	check_mutations(2000, NOTES + 0x80);
}

/* Notes whose sizes are hostile end the search; thousands of them do not make it long. */
static void test_hostile_notes(void **state)
{
	static const u32 sizes[] = { 0xffffffff, 0x80000000, 0xfffffff4, 0x1000, 0 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++)
		for (u32 j = 0; j < ARRAY_SIZE(sizes); j++) {
			make_kernel(true, 4, 4, ENTRY, 4);
			put_value(elf_file, NOTES, 4, sizes[i]);
			put_value(elf_file, NOTES + 4, 4, sizes[j]);
			assert_true(fixture_load() == ERR_FORMAT || entry.rip == ENTRY);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_notes, setup),
		cmocka_unit_test_setup(test_modules, setup),
		cmocka_unit_test_setup(test_most_modules, setup),
		cmocka_unit_test_setup(test_bad_segments, setup),
		cmocka_unit_test_setup(test_bad_headers, setup),
		cmocka_unit_test_setup(test_too_many_segments, setup),
		cmocka_unit_test_setup(test_low_kernel, setup),
		cmocka_unit_test_setup(test_truncation, setup),
		cmocka_unit_test_setup(test_mutations, setup),
		cmocka_unit_test_setup(test_hostile_notes, setup),
	};

	return cmocka_run_group_tests_name("load_pvh", tests, NULL, NULL);
}
