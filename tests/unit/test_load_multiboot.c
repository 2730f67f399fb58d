// SPDX-License-Identifier: BSD-2-Clause
/*
 * The multiboot 1 loader: ELF of both classes and addresses in the header, flags, entry points, the
 * boot information byte by byte (nothing may be left over in it), modules; hostile headers,
 * truncated and mutated files.
 */
#include "elf_fixture.h"

#define HEADER 0x800 /* in the file */
#define FLAT   0x400000

static const struct made_segment kernel[] = {
	{ 1, 0x400, 0xc0100000, 0x100000, 0x1000, 0x3000, 0x1000 },
	{ 1, 0x1400, 0xc0200000, 0x200000, 0x123, 0x123, 0x1000 },
};

static void put_header(u32 flags)
{
	put_value(elf_file, HEADER, 4, 0x1badb002);
	put_value(elf_file, HEADER + 4, 4, flags);
	put_value(elf_file, HEADER + 8, 4, 0u - 0x1badb002 - flags);
}

static void put_addresses(u32 header, u32 load, u32 load_end, u32 bss_end, u32 entry_point)
{
	put_header(0x10003);
	put_value(elf_file, HEADER + 12, 4, header);
	put_value(elf_file, HEADER + 16, 4, load);
	put_value(elf_file, HEADER + 20, 4, load_end);
	put_value(elf_file, HEADER + 24, 4, bss_end);
	put_value(elf_file, HEADER + 28, 4, entry_point);
}

static void make_kernel(bool is64, u64 entry_point, u32 flags)
{
	make_elf(is64, entry_point, kernel, ARRAY_SIZE(kernel));
	put_header(flags);
}

/* Not an ELF file: the header's addresses load all of it at FLAT. */
static void make_flat(void)
{
	make_kernel(false, 0, 0);
	memset(elf_file, 0x90, 64);
	put_addresses(FLAT + HEADER, FLAT, 0, 0, FLAT + 0x10);
}

static int setup(void **state)
{
	(void)state;
	fixture_reset();
	return 0;
}

/* Fields that the loader gives; all others of the 116 bytes are zero. */
static void check_information(const char *cmdline)
{
	static const struct {
		u8 offset, size;
	} given[] = { { 0, 4 }, { 4, 4 }, { 8, 4 }, { 16, 4 }, { 20, 4 }, { 24, 4 }, { 44, 4 },
		{ 48, 4 }, { 64, 4 } };
	u64 info = entry.rbx, at, total = 0;
	bool known[116] = { false };

	assert_int_equal(entry.rax, 0x2badb002);
	for (u32 i = 0; i < ARRAY_SIZE(given); i++)
		for (u32 k = 0; k < given[i].size; k++)
			known[given[i].offset + k] = true;
	for (u32 i = 0; i < sizeof(known); i++)
		if (!known[i])
			assert_int_equal(guest_value(info + i, 1), 0);
	assert_int_equal(guest_value(info, 4), 0x24d);
	assert_int_equal(guest_value(info + 4, 4), 639);
	assert_int_equal(guest_value(info + 8, 4),
		(memory.size < GUEST_HOLE ? memory.size : GUEST_HOLE) / 1024 - 1024);
	guest_text(guest_value(info + 16, 4), cmdline);
	guest_text(guest_value(info + 64, 4), "Torpor");
	assert_int_equal(guest_value(info + 44, 4) % 24, 0);
	for (at = guest_value(info + 48, 4); total < guest_value(info + 44, 4);
		at += 24, total += 24) {
		struct guest_map_entry map[GUEST_MAP_MAX];
		u32 i = (u32)(total / 24);

		assert_true(i < guest_map_build(&memory, map));
		assert_int_equal(guest_value(at, 4), 20);
		assert_int_equal(guest_value(at + 4, 8), map[i].start.value);
		assert_int_equal(guest_value(at + 12, 8), map[i].size);
		assert_int_equal(guest_value(at + 20, 4), map[i].type);
	}
}

static void test_elf(void **state)
{
	static const struct {
		u64 entry_point, rip;
	} rows[] = {
		{ 0xc0100010, 0x100010 }, /* virtual */
		{ 0x10000c, 0x10000c },	  /* physical, as xv6 has it */
		{ 0xc0200122, 0x200122 },
		{ 0xc0102fff, 0x102fff },
	};

	(void)state;
	strcpy(config.cmdline, "a b");
	for (u32 is64 = 0; is64 < 2; is64++)
		for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
			for (u32 flags = 0; flags < 4; flags++) {
				make_kernel(is64, rows[i].entry_point, flags);
				fixture_accepted();
				check_flat32(rows[i].rip);
				check_segment(&kernel[0]);
				check_segment(&kernel[1]);
				check_information("kernel a b");
			}
	fixture_memory(5ull << 30);
	fixture_accepted();
	check_information("kernel a b");
}

static void test_program_name(void **state)
{
	static const struct {
		const char *path, *cmdline;
	} rows[] = { { "xv6", "xv6 x" }, { "\\a\\b c", "b_c x" }, { "a/b\\c.elf", "c.elf x" },
		{ "", " x" }, { "a/", " x" } };

	(void)state;
	strcpy(config.cmdline, "x");
	make_kernel(false, 0x100000, 0);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(config.kernel.name, rows[i].path);
		fixture_accepted();
		check_information(rows[i].cmdline);
	}
	memset(config.kernel.name, 'n', CONFIG_PATH_MAX - 1);
	memset(config.cmdline, 'c', CONFIG_CMDLINE_MAX - 1);
	fixture_accepted();
}

static void test_modules(void **state)
{
	static u8 module[0x1c01];
	u64 list, end = 0x201000; /* the page behind the kernel */

	(void)state;
	make_kernel(false, 0x100000, 1);
	memset(module, 0x5a, sizeof(module));
	files.initrd = (struct guest_file){ module, 5 };
	config.module_count = CONFIG_MODULES_MAX;
	for (u32 i = 0; i < CONFIG_MODULES_MAX; i++) {
		files.modules[i] = (struct guest_file){ module, i * 0x400 };
		memset(config.modules[i].cmdline, 'a' + (int)i, CONFIG_CMDLINE_MAX - 1 - i);
	}
	fixture_accepted();
	check_flat32(0x100000);
	assert_int_equal(guest_value(entry.rbx + 20, 4), CONFIG_MODULES_MAX + 1);
	list = guest_value(entry.rbx + 24, 4);
	for (u32 i = 0; i <= CONFIG_MODULES_MAX; i++, list += 16) {
		u64 start = guest_value(list, 4), size = i ? files.modules[i - 1].size : 5;

		assert_int_equal(start, end);
		assert_int_equal(guest_value(list + 4, 4), start + size);
		assert_true(guest_has(start, module, size));
		guest_text(guest_value(list + 8, 4), i ? config.modules[i - 1].cmdline : "");
		assert_int_equal(guest_value(list + 12, 4), 0);
		end = (start + (size ? size : 1) + 0xfff) & ~0xfffull;
	}
	strcpy(config.modules[3].name, "third.bin");
	files.modules[3].size = 126 << 20;
	fixture_refused(ERR_RANGE, "third.bin");
}

static void test_addresses(void **state)
{
	static const struct {
		u32 header, load, load_end, bss_end, entry_point;
		u64 start, size; /* what is loaded: offset and bytes in the file, 0: to its end */
	} rows[] = {
		{ FLAT + HEADER, FLAT, 0, 0, FLAT, 0, 0 },
		{ FLAT, FLAT, 0, 0, FLAT, HEADER, 0 },
		{ FLAT + 0x10, FLAT, FLAT + 0x100, FLAT + 0x300, FLAT + 0x2ff, HEADER - 0x10,
			0x100 },
		{ FLAT + 0x10, FLAT, FLAT + 0x100, FLAT + 0x100, FLAT + 0xff, HEADER - 0x10,
			0x100 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 size = rows[i].size;

		make_flat();
		put_addresses(rows[i].header, rows[i].load, rows[i].load_end, rows[i].bss_end,
			rows[i].entry_point);
		size = size ? size : elf_size - rows[i].start;
		fixture_accepted();
		check_flat32(rows[i].entry_point);
		assert_true(guest_has(FLAT, elf_file + rows[i].start, size));
		for (u64 at = FLAT + size; at < rows[i].bss_end; at++)
			assert_int_equal(guest_value(at, 1), 0);
		check_information("kernel ");
	}
	/* Addresses go before the ELF headers of the same file. */
	make_kernel(false, 0x100000, 0);
	put_addresses(FLAT + HEADER, FLAT, 0, 0, FLAT + 4);
	fixture_accepted();
	check_flat32(FLAT + 4);
}

static void test_refusals(void **state)
{
	static const struct {
		u32 header, load, load_end, bss_end, entry_point;
		enum error error;
		const char *words;
	} rows[] = {
		{ FLAT - 4, FLAT, 0, 0, FLAT, ERR_FORMAT, "multiboot header at 0x800" },
		{ FLAT + HEADER + 4, FLAT, 0, 0, FLAT, ERR_FORMAT, "multiboot header at 0x800" },
		{ FLAT, FLAT, FLAT, 0, FLAT, ERR_FORMAT, "not in order" },
		{ FLAT, FLAT, FLAT - 1, 0, FLAT, ERR_FORMAT, "not in order" },
		{ FLAT, FLAT, FLAT + 16, FLAT + 15, FLAT, ERR_FORMAT, "not in order" },
		{ FLAT, FLAT, FLAT + 0x8000, 0, FLAT, ERR_TRUNCATED, "copy it again" },
		{ FLAT, FLAT, 0xffffffff, 0xffffffff, FLAT, ERR_TRUNCATED, "copy it again" },
		{ FLAT, FLAT, 0, 0, FLAT - 1, ERR_FORMAT, "outside of what is loaded" },
		{ FLAT, FLAT, 0, FLAT + 0x8000, FLAT + 0x8000, ERR_FORMAT, "outside" },
		{ FLAT, FLAT, 0, 0xfffffff0, FLAT, ERR_RANGE, "has RAM" },
		{ 0xfffffff0, 0xfffffff0, 0, 0, 0xfffffff0, ERR_RANGE, "has RAM" },
		{ 0x9fc00, 0x9fc00, 0, 0, 0x9fc00, ERR_FORMAT, "firmware" },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		make_flat();
		put_addresses(rows[i].header, rows[i].load, rows[i].load_end, rows[i].bss_end,
			rows[i].entry_point);
		fixture_refused(rows[i].error, rows[i].words);
	}
	make_kernel(true, 0x100000, 4);
	fixture_refused(ERR_UNSUPPORTED, "video mode");
	for (u32 bit = 3; bit < 16; bit++) {
		make_kernel(true, 0x100000, 1u << bit);
		fixture_refused(ERR_UNSUPPORTED, "unknown");
	}
	make_kernel(true, 0x100000, 0xfffe0003); /* bits above 16 are optional */
	fixture_accepted();
	make_kernel(true, 0x300000, 0);
	fixture_refused(ERR_FORMAT, "entry 0x300000 lies in none");
	make_flat();
	put_header(0);
	fixture_refused(ERR_FORMAT, "no ELF file");
	make_kernel(true, 0x100000, 0);
	elf_file[HEADER + 8]++;
	fixture_refused(ERR_FORMAT, "without a PVH note (Xen, type 18) or a multiboot 1 header");
}

/* The header is found at each multiple of 4 where it lies wholly in the first 8192 bytes. */
static void test_header_search(void **state)
{
	(void)state;
	for (u32 at = 0x400; at <= 8192; at++) {
		struct made_segment large = { 1, 0x400, 0, 0x100000, 0x4000, 0x4000, 1 };
		u8 header[12];
		bool found = at % 4 == 0 && at <= 8192 - 12;

		if (at > 0x420 && at < 8192 - 0x20)
			continue;
		make_elf(false, 0x100000, &large, 1);
		put_header(0);
		memcpy(header, elf_file + HEADER, sizeof(header));
		memset(elf_file + HEADER, 0, sizeof(header));
		memcpy(elf_file + at, header, sizeof(header));
		assert_int_equal(fixture_load(), found ? ERR_OK : ERR_FORMAT);
	}
}

/* A kernel that fills low memory up to the EBDA; one at 32 KiB; 17 MiB of bss at 4 MiB. */
static void test_places(void **state)
{
	static const struct made_segment rows[] = {
		{ 1, 0x400, 0, 0x1000, 0x1000, 0x9ec00, 1 },
		{ 1, 0x400, 0, 0x8000, 0x1000, 0x40000, 1 },
		{ 1, 0x400, 0, 0x400000, 0x1000, 17 << 20, 1 },
	};
	u8 byte = 1;

	(void)state;
	files.initrd = (struct guest_file){ &byte, 1 };
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 start = rows[i].physical_address, end = start + rows[i].memory_size, module;

		make_elf(false, start, &rows[i], 1);
		put_header(3);
		fixture_accepted();
		check_information("kernel ");
		module = guest_value(guest_value(entry.rbx + 24, 4), 4);
		assert_true(entry.rbx + 116 <= start || entry.rbx >= end);
		assert_true(module >= end && module >= 0x100000);
		assert_true(entry.rsp <= start || entry.rsp - 0x1000 >= end);
	}
}

static void test_truncation(void **state)
{
	(void)state;
	make_kernel(true, 0x100000, 0);
	check_truncation(elf_size);
	make_kernel(false, 0x100000, 0);
	check_truncation(elf_size);
	make_flat();
	put_addresses(FLAT + HEADER, FLAT, FLAT + (u32)elf_size, 0, FLAT);
	check_truncation(elf_size);
}

static void test_mutations(void **state)
{
	(void)state;
	make_kernel(true, 0x100000, 0);
	check_mutations(2000, 64 + 2 * 56);
	make_kernel(false, 0x100000, 0);
	check_mutations(2000, 52 + 2 * 32);
	for (u32 i = 0; i < 3000; i++) {
		make_flat();
		put_addresses(FLAT + (u32)fixture_random() % 0x1000,
			FLAT + (u32)fixture_random() % 0x1000,
			FLAT + (u32)(fixture_random() % 0x3000),
			i % 2 ? (u32)fixture_random() : FLAT + 0x3000, FLAT + 0x1000);
		assert_int_not_equal(fixture_load(), ERR_NOT_FOUND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_elf, setup),
		cmocka_unit_test_setup(test_program_name, setup),
		cmocka_unit_test_setup(test_modules, setup),
		cmocka_unit_test_setup(test_addresses, setup),
		cmocka_unit_test_setup(test_refusals, setup),
		cmocka_unit_test_setup(test_header_search, setup),
		cmocka_unit_test_setup(test_places, setup),
		cmocka_unit_test_setup(test_truncation, setup),
		cmocka_unit_test_setup(test_mutations, setup),
	};

	return cmocka_run_group_tests_name("load_multiboot", tests, NULL, NULL);
}
