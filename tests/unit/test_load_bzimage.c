// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bzImage loader. BUG-37: headers of protocol 2.04 to 2.15 made here, with 0xff wherever the
 * header is not; nothing but the header may reach boot_params. BUG-24: the place of the initrd
 * against an oracle of intervals, over sizes of RAM and initrd and limits of the header. Truncated
 * and mutated files.
 */
#include "loader_fixture.h"

#define SECTOR	  512
#define FILE_MAX  (256 * SECTOR)
#define CODE_SIZE 0x1234

/* An image to make; make_image() writes what the version knows. */
struct recipe {
	u16 version;
	u8 setup_sects;
	u8 loadflags;
	u32 code_size;
	u32 initrd_addr_max, alignment, cmdline_size, init_size;
	u64 pref_address;
	u8 relocatable;
	u16 xloadflags;
};

/* A usual kernel of today. */
static const struct recipe modern = { .version = 0x20f,
	.setup_sects = 3,
	.loadflags = 1,
	.code_size = CODE_SIZE,
	.initrd_addr_max = 0x7fffffff,
	.alignment = 0x200000,
	.cmdline_size = 2047,
	.init_size = 0x3000000,
	.pref_address = 0x1000000,
	.relocatable = 1,
	.xloadflags = 1 };

static u8 image[FILE_MAX];
static u32 image_size;

/* Where the header of a version ends, by the protocol's table of fields. */
static u32 header_end(u16 version)
{
	static const u32 ends[] = { 0x230, 0x238, 0x23c, 0x248, 0x250, 0x258, 0x264, 0x268, 0x268,
		0x268, 0x268, 0x26c };

	return ends[version - 0x204];
}

static void make_image(const struct recipe *r)
{
	u32 setup = ((r->setup_sects ? r->setup_sects : 4) + 1u) * SECTOR;
	u32 end = header_end(r->version);

	memset(image, 0xff, sizeof(image));
	memset(image + 0x1f1, 0, end - 0x1f1);
	put_value(image, 0x1f1, 1, r->setup_sects);
	put_value(image, 0x1f4, 4, (r->code_size + 15) / 16);
	put_value(image, 0x1fa, 2, 0x1234); /* vid_mode: the loader's to set */
	put_value(image, 0x1fe, 2, 0xaa55);
	put_value(image, 0x200, 2, 0xeb | (end - 0x202) << 8);
	put_value(image, 0x202, 4, 0x53726448);
	put_value(image, 0x206, 2, r->version);
	put_value(image, 0x20e, 2, 0x80); /* version text at 0x280 */
	put_value(image, 0x211, 1, r->loadflags);
	put_value(image, 0x214, 4, 0x100000);
	put_value(image, 0x22c, 4, r->initrd_addr_max);
	if (r->version >= 0x205) {
		put_value(image, 0x230, 4, r->alignment);
		put_value(image, 0x234, 1, r->relocatable);
	}
	if (r->version >= 0x206)
		put_value(image, 0x238, 4, r->cmdline_size);
	if (r->version >= 0x20a) {
		put_value(image, 0x258, 8, r->pref_address);
		put_value(image, 0x260, 4, r->init_size);
	}
	if (r->version >= 0x20c)
		put_value(image, 0x236, 2, r->xloadflags);
	for (u32 i = 0; i < r->code_size; i++)
		image[setup + i] = (u8)(i * 7 + 3);
	image_size = setup + r->code_size;
	fixture_kernel(image, image_size);
}

static int setup(void **state)
{
	(void)state;
	fixture_reset();
	return 0;
}

/* All of boot_params: the header's bytes, and zero wherever nobody has a word to say. */
static void check_params(const struct recipe *r, u64 load, u64 initrd, u64 initrd_size)
{
	u64 params = entry.rsi;
	u32 count = (u32)guest_value(params + 0x1e8, 1), end = header_end(r->version);
	struct guest_map_entry map[GUEST_MAP_MAX];

	assert_int_equal(params % 16, 0);
	assert_int_equal(count, guest_map_build(&memory, map));
	for (u32 i = 0; i < count; i++) {
		u64 at = params + 0x2d0 + i * 20;

		assert_int_equal(guest_value(at, 8), map[i].start.value);
		assert_int_equal(guest_value(at + 8, 8), map[i].size);
		assert_int_equal(guest_value(at + 16, 4), map[i].type);
	}
	assert_int_equal(guest_value(params + 0x70, 8), FIXTURE_RSDP);
	for (u32 i = 0; i < 4096; i++)
		if (!(i >= 0x1f1 && i < end) && !(i >= 0x70 && i < 0x78) && i != 0x1e8 &&
			!(i >= 0x2d0 && i < 0x2d0 + count * 20))
			assert_int_equal(guest_value(params + i, 1), 0);

	assert_int_equal(guest_value(params + 0x1fa, 2), 0xffff);
	assert_int_equal(guest_value(params + 0x202, 4), 0x53726448);
	assert_int_equal(guest_value(params + 0x206, 2), r->version);
	assert_int_equal(guest_value(params + 0x210, 1), 0xff);
	assert_int_equal(guest_value(params + 0x211, 1), r->loadflags & 0x21);
	assert_int_equal(guest_value(params + 0x214, 4), load);
	assert_int_equal(guest_value(params + 0x218, 4), initrd);
	assert_int_equal(guest_value(params + 0x21c, 4), initrd_size);
	guest_text(guest_value(params + 0x228, 4), config.cmdline);
	assert_int_equal(guest_value(params + 0x22c, 4), r->initrd_addr_max);
	if (r->version >= 0x20a)
		assert_int_equal(guest_value(params + 0x260, 4), r->init_size);
}

/* A walk of the tables by SDM 3A 4.5. */
static u64 translate(u64 address)
{
	u64 entry_at, table = entry.cr3;

	for (u32 shift = 39;; shift -= 9) {
		entry_at = guest_value((table & ~0xfffull) + (address >> shift & 0x1ff) * 8, 8);
		assert_int_equal(entry_at & 3, 3);
		table = entry_at & 0x000ffffffffff000ull;
		if (shift == 21 || (entry_at & 0x80)) {
			assert_true(entry_at & 0x80);
			return (entry_at & ~0x1fffull & ((1ull << 52) - 1)) +
			       (address & ((1ull << shift) - 1));
		}
	}
}

static void check_entry_state(bool long_mode)
{
	u64 code;

	assert_int_equal(entry.mode, long_mode ? ENTRY_LONG64 : ENTRY_PROTECTED32);
	assert_int_equal(entry.cs, 0x10);
	assert_int_equal(entry.ds, 0x18);
	assert_true(entry.gdt_limit >= 0x1f);
	code = guest_value(entry.gdt_base + 0x10, 8);
	assert_int_equal(code >> 32, long_mode ? 0x00af9b00 : 0x00cf9b00);
	assert_int_equal(code & 0xffffffff, 0xffff);
	assert_int_equal(guest_value(entry.gdt_base + 0x18, 8), 0x00cf93000000ffff);
	assert_int_equal(guest_value(entry.gdt_base, 8), 0);
	assert_true(guest_pointer(&memory, gpa(entry.rsp - 64), 64) != NULL);
	if (!long_mode) {
		assert_int_equal(entry.cr3, 0);
		return;
	}
	for (u64 address = 0; address < (4ull << 30); address += (2u << 20) - 0x1000)
		assert_int_equal(translate(address), address);
}

static void test_every_version(void **state)
{
	static const u8 sects[] = { 0, 1, 3, 39, 64 };

	(void)state;
	strcpy(config.cmdline, "console=ttyS0 quiet");
	for (u16 version = 0x204; version <= 0x20f; version++)
		for (u32 s = 0; s < ARRAY_SIZE(sects); s++)
			for (u32 entry32 = 0; entry32 < 2; entry32++) {
				struct recipe r = modern;
				bool long_mode = version >= 0x20c && !entry32;
				u64 load = version >= 0x20a   ? 0x1000000
					   : version >= 0x205 ? 0x200000
							      : 0x100000;

				r.version = version;
				r.setup_sects = sects[s];
				r.loadflags = 0xff;
				make_image(&r);
				files.entry32 = entry32;
				fixture_accepted();
				assert_true(
					guest_has(load, image + image_size - CODE_SIZE, CODE_SIZE));
				check_params(&r, load, 0, 0);
				check_entry_state(long_mode);
				assert_int_equal(entry.rip, load + (long_mode ? 0x200 : 0));
				assert_int_equal(entry.rbx, 0);
			}
}

/* A 64-bit entry only where the image has one. */
static void test_entry_by_xloadflags(void **state)
{
	struct recipe r = modern;

	(void)state;
	r.xloadflags = 0xfffe;
	make_image(&r);
	fixture_accepted();
	check_entry_state(false);
	assert_int_equal(entry.rip, 0x1000000);
	r.xloadflags = 0xffff;
	r.code_size = 0x200; /* ends where the 64-bit entry would begin */
	make_image(&r);
	fixture_accepted();
	check_entry_state(false);
}

static void test_load_address(void **state)
{
	static const struct {
		u8 relocatable;
		u32 alignment, init_size;
		u64 pref_address, load;
	} rows[] = {
		{ 1, 0x200000, 0x100000, 0x1000000, 0x1000000 },
		{ 1, 0x1000, 0x100000, 0, 0x100000 }, { 1, 0x1000, 0x100000, 0x9f000, 0x100000 },
		{ 1, 0x1000000, 0x100000, 0x1800000, 0x2000000 },
		{ 1, 1, 0x100000, 0x100001, 0x100001 },
		{ 0, 0x200000, 0x100000, 0x1000000, 0x100000 },
		{ 0, 0, 0x100000, 0x100000, 0x100000 }, /* memtest86+ */
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct recipe r = modern;

		r.relocatable = rows[i].relocatable;
		r.alignment = rows[i].alignment;
		r.init_size = rows[i].init_size;
		r.pref_address = rows[i].pref_address;
		make_image(&r);
		fixture_accepted();
		assert_int_equal(entry.rip, rows[i].load + 0x200);
		check_params(&r, rows[i].load, 0, 0);
	}
}

static void test_cmdline_limit(void **state)
{
	static const struct {
		u16 version;
		u32 field, limit;
	} rows[] = { { 0x204, 0, 255 }, { 0x205, 1000, 255 }, { 0x206, 300, 300 },
		{ 0x20f, 2047, 2047 }, { 0x20f, 0, 0 },
		{ 0x20f, 0xffffffff, CONFIG_CMDLINE_MAX - 1 } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct recipe r = modern;

		r.version = rows[i].version;
		r.cmdline_size = rows[i].field;
		make_image(&r);
		memset(config.cmdline, 0, sizeof(config.cmdline));
		memset(config.cmdline, 'c', rows[i].limit);
		fixture_accepted();
		guest_text(guest_value(entry.rsi + 0x228, 4), config.cmdline);
		if (rows[i].limit + 1 == CONFIG_CMDLINE_MAX)
			continue;
		config.cmdline[rows[i].limit] = 'c';
		fixture_refused(ERR_RANGE, "cmdline has");
	}
}

static bool overlap(u64 a, u64 a_size, u64 b, u64 b_size)
{
	return a < b + b_size && b < a + a_size;
}

/*
 * The highest place of whole pages in RAM below the limit that is clear of the kernel's memory and
 * of the first MiB; 0 if there is none. Page by page.
 */
static u64 oracle_initrd(u64 ram, u64 limit, u64 kernel, u64 kernel_size, u64 size)
{
	u64 top = ram < 0xc0000000 ? ram : 0xc0000000;

	top = limit < top ? limit : top;
	size = (size + 0xfff) & ~0xfffull;
	for (u64 at = top & ~0xfffull; at >= 0x100000; at -= 0x1000)
		if (at + size <= top && !overlap(at, size, kernel, kernel_size))
			return at;
	return 0;
}

#define INITRD_MAX (40ull << 20)

static const struct kernel_row {
	u16 version, xloadflags;
	u8 relocatable;
	u64 pref_address, load;
	u32 init_size;
	u64 kernel_size; /* expected to be kept clear from load on */
} kernel_rows[] = {
	{ 0x204, 0, 0, 0, 0x100000, 0, 3 * CODE_SIZE },
	{ 0x20f, 3, 1, 0x1000000, 0x1000000, 0x1800000, 0x1800000 },
	{ 0x20c, 1, 0, 0x1000000, 0x100000, 0x1000000, 0x1f00000 },
};

static u8 *initrd;

static void make_row(const struct kernel_row *row, u32 limit)
{
	struct recipe r = modern;

	r.version = row->version;
	r.relocatable = row->relocatable;
	r.pref_address = row->pref_address;
	r.init_size = row->init_size;
	r.xloadflags = row->xloadflags;
	r.initrd_addr_max = limit;
	make_image(&r);
}

/* One case; copying a large initrd is worth its time only if told so. True: it was placed. */
static bool check_initrd(
	const struct kernel_row *row, u32 limit, u64 ram, u64 size, bool copy_large)
{
	struct recipe r = modern;
	u64 expected = size > INITRD_MAX ? 0
					 : oracle_initrd(ram, limit + 1ull, row->load,
						   row->kernel_size, size);

	make_row(row, limit);
	fixture_memory(ram);
	files.initrd = (struct guest_file){ initrd, size };
	if (!expected) {
		fixture_refused(ERR_RANGE, "initrd.img");
		return false;
	}
	if (size > 2 << 20 && !copy_large)
		return false;
	fixture_accepted();
	r.version = row->version;
	r.init_size = row->init_size;
	r.initrd_addr_max = limit;
	check_params(&r, row->load, expected, size);
	assert_true(guest_has(expected, initrd, size));
	return true;
}

static void test_initrd_place(void **state)
{
	static const u64 rams[] = { 64ull << 20, 65ull << 20, 96ull << 20, 128ull << 20,
		512ull << 20, 880ull << 20, 1ull << 30, 2ull << 30, 3ull << 30, 4ull << 30,
		16ull << 30 };
	static const u64 sizes[] = { 1, 4095, 4096, 4097, 1 << 20, (13 << 20) + 5, INITRD_MAX,
		3ull << 30, (4ull << 30) + 1, ~0ull };
	static const u32 limits[] = { 0x37ffffff, 0x7fffffff, 0xffffffff, 0x5ffffff, 0x4fffffe,
		0x1ffffff, 0xfffff, 0 };
	u32 placed = 0, cases = 0;

	(void)state;
	strcpy(config.initrd.name, "initrd.img");
	initrd = malloc(INITRD_MAX);
	for (u64 i = 0; i < INITRD_MAX; i += 997)
		initrd[i] = (u8)i;
	for (u32 k = 0; k < ARRAY_SIZE(kernel_rows); k++)
		for (u32 l = 0; l < ARRAY_SIZE(limits); l++)
			for (u32 m = 0; m < ARRAY_SIZE(rams); m++)
				for (u32 s = 0; s < ARRAY_SIZE(sizes); s++, cases++)
					placed += check_initrd(&kernel_rows[k], limits[l], rams[m],
						sizes[s], l == 0 && m == 5);
	assert_true(placed > 500 && cases - placed > 500);
	free(initrd);
}

static void test_refusals(void **state)
{
	struct recipe r = modern;
	u32 at;

	(void)state;
	make_image(&r);
	put_value(image, 0x206, 2, 0x203);
	fixture_refused(ERR_UNSUPPORTED, "2.03 is older than 2.04");
	r.loadflags = 0xfe;
	make_image(&r);
	fixture_refused(ERR_UNSUPPORTED, "zImage");
	r = modern;
	make_image(&r);
	config.module_count = 1;
	fixture_refused(ERR_UNSUPPORTED, "modules");
	config.module_count = 0;
	for (at = 0; at < 0x26c - 0x202; at += 7) {
		make_image(&r);
		put_value(image, 0x201, 1, at);
		fixture_refused(ERR_FORMAT, "setup header ends at");
	}
	r.alignment = 0x300000;
	make_image(&r);
	fixture_refused(ERR_FORMAT, "power of two");
	r.alignment = 0;
	make_image(&r);
	fixture_refused(ERR_FORMAT, "power of two");
	r = modern;
	r.pref_address = ~0ull;
	make_image(&r);
	fixture_refused(ERR_RANGE, "memory");
	r.relocatable = 0;
	make_image(&r);
	fixture_refused(ERR_UNSUPPORTED, "above 4 GiB");
	r = modern;
	make_image(&r);
	fixture_memory(60 << 20);
	fixture_refused(ERR_RANGE, "memory");
	fixture_memory(2 << 20);
	fixture_refused(ERR_RANGE, "memory");
	memory.size = 1 << 20;
	fixture_refused(ERR_RANGE, "at least 2 MiB");
	fixture_reset();
	fixture_kernel(image, 0);
	fixture_refused(ERR_FORMAT, "not a kernel");
}

/* Each message is cut to the room it has. */
static void test_small_message(void **state)
{
	char small[16];

	(void)state;
	fixture_kernel("x", 1);
	for (size_t size = 0; size <= sizeof(small); size++) {
		memset(small, 'x', sizeof(small));
		assert_int_equal(
			guest_load(&config, &memory, &files, 0, &entry, small, size), ERR_FORMAT);
		for (size_t i = size; i < sizeof(small); i++)
			assert_int_equal(small[i], 'x');
		if (size)
			assert_true(strnlen(small, sizeof(small)) < size);
	}
}

/* The file cut at every byte; an exact allocation lets AddressSanitizer see a read beyond it. */
static void test_truncation(void **state)
{
	struct recipe r = modern;

	(void)state;
	r.setup_sects = 1;
	r.code_size = 0x250;
	make_image(&r);
	for (u32 size = 0; size < image_size; size++) {
		u8 *cut = malloc(size ? size : 1);
		enum error error;

		memcpy(cut, image, size);
		fixture_kernel(cut, size);
		error = fixture_load();
		/* syssize counts 16 bytes: the last ones cannot be missed. */
		if (size > image_size - 16)
			assert_true(error == ERR_OK || error == ERR_TRUNCATED);
		else
			assert_int_equal(error, size < 0x206 ? ERR_FORMAT : ERR_TRUNCATED);
		free(cut);
	}
}

static void test_mutations(void **state)
{
	struct recipe r = modern;
	u32 accepted = 0;

	(void)state;
	r.setup_sects = 1;
	for (u32 round = 0; round < 3000; round++) {
		u8 *copy;

		make_image(&r);
		for (u32 i = fixture_random() % 4; i < 4; i++) {
			u32 at = 0x1f1 + fixture_random() % 0x80;

			put_value(image, at, 1 + fixture_random() % 8,
				fixture_random() % 3 ? fixture_random() : ~0ull);
		}
		copy = malloc(image_size);
		memcpy(copy, image, image_size);
		fixture_kernel(copy, image_size);
		if (fixture_load() == ERR_OK)
			accepted++;
		free(copy);
	}
	assert_in_range(accepted, 1, 2999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_every_version, setup),
		cmocka_unit_test_setup(test_entry_by_xloadflags, setup),
		cmocka_unit_test_setup(test_load_address, setup),
		cmocka_unit_test_setup(test_cmdline_limit, setup),
		cmocka_unit_test_setup(test_initrd_place, setup),
		cmocka_unit_test_setup(test_refusals, setup),
		cmocka_unit_test_setup(test_small_message, setup),
		cmocka_unit_test_setup(test_truncation, setup),
		cmocka_unit_test_setup(test_mutations, setup),
	};

	return cmocka_run_group_tests_name("load_bzimage", tests, NULL, NULL);
}
