// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest page walker. The oracle does not walk: it knows which entries the test wrote and
 * derives the outcome from the sentences of SDM 3A 4.6 and 4.7, so every combination of rights,
 * modes and accesses can be tried. BUG-32 (accessed and dirty flags), BUG-33 (reserved bits).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mmu/walk.h"

#define RAM_SIZE 0x100000ull
#define P	 1ull
#define RW	 2ull
#define US	 4ull
#define A	 0x20ull
#define D	 0x40ull
#define PS	 0x80ull
#define XD	 (1ull << 63)

static u8 ram[RAM_SIZE] __attribute__((aligned(4096)));
static struct guest_memory memory = {
	.count = 1, .size = RAM_SIZE, .extents = { { .size = RAM_SIZE, .host = ram } }
};

/* The kinds of translation: how many entries, and the size of what they lead to. */
static const struct kind {
	const char *name;
	u32 levels;  /* in memory, the leaf included */
	u32 missing; /* levels below the leaf that a large page saves */
	bool wide;   /* 8-byte entries */
	bool pae, long_mode, la57;
} kinds[] = {
	{ "32-bit 4K", 2, 0, false, false, false, false },
	{ "32-bit 4M", 1, 1, false, false, false, false },
	{ "PAE 4K", 2, 0, true, true, false, false },
	{ "PAE 2M", 1, 1, true, true, false, false },
	{ "4-level 4K", 4, 0, true, true, true, false },
	{ "4-level 2M", 3, 1, true, true, true, false },
	{ "4-level 1G", 2, 2, true, true, true, false },
	{ "5-level 4K", 5, 0, true, true, true, true },
	{ "5-level 1G", 3, 2, true, true, true, true },
};

struct path {
	struct walk_state state;
	u64 entries[5]; /* from the root down */
	u64 places[5];	/* where in RAM */
	u64 linear, page_address, page_size;
};

static void put(const struct kind *kind, u64 place, u64 value)
{
	memcpy(ram + place, &value, kind->wide ? 8 : 4);
}

static u64 get(const struct kind *kind, u64 place)
{
	u64 value = 0;

	memcpy(&value, ram + place, kind->wide ? 8 : 4);
	return value;
}

static u32 index_of(const struct kind *kind, u64 linear, u32 depth)
{
	u32 bits = kind->wide ? 9 : 10, from_bottom = kind->levels + kind->missing - 1 - depth;

	return linear >> (12 + bits * from_bottom) & ((1u << bits) - 1);
}

/* A path with all rights, to be spoilt. */
static void build(const struct kind *kind, struct path *path)
{
	u32 bits = kind->wide ? 9 : 10;

	memset(path, 0, sizeof(*path));
	path->linear = kind->la57	 ? 0x0012345678abcdefull
		       : kind->long_mode ? 0x12345678abcd
					 : 0x9abcdef4;
	path->page_size = 1ull << (12 + bits * kind->missing);
	path->page_address = 0x340000000ull & ~(path->page_size - 1);
	if (!kind->wide && !kind->missing)
		path->page_address = 0x76543000;
	path->state = (struct walk_state){
		.cr0 = 1ull << 31 | 1, .cr3 = 0x1000, .maxphyaddr = 39, .page_1g = true
	};
	path->state.cr4 = (kind->pae ? 1 << 5 : 0) | (kind->la57 ? 1 << 12 : 0) | 1 << 4;
	path->state.efer = kind->long_mode ? 0x500 : 0;
	for (u32 i = 0; i < kind->levels; i++) {
		bool leaf = i == kind->levels - 1;
		u64 address = leaf ? path->page_address : 0x2000 + i * 0x1000;

		if (!kind->wide && leaf && kind->missing) /* PSE-36: bits 39:32 in 20:13 */
			address = (address & 0xffc00000) | (address >> 32) << 13;
		path->entries[i] = address | P | RW | US | (leaf && kind->missing ? PS : 0);
		path->places[i] = 0x1000 + i * 0x1000 +
				  index_of(kind, path->linear, i) * (kind->wide ? 8 : 4);
	}
	if (kind->pae && !kind->long_mode) {
		path->state.cr3 = 0xdeadb000; /* not looked at */
		path->state.pdptes[path->linear >> 30 & 3] = 0x1000 | P;
	}
}

static void write_path(const struct kind *kind, const struct path *path)
{
	for (u32 i = 0; i < kind->levels; i++)
		put(kind, path->places[i], path->entries[i]);
}

struct outcome {
	bool fault;
	u32 error;
};

/* SDM 3A 4.6 sentence by sentence, for entries without reserved bits. */
static struct outcome expect(const struct kind *kind, const struct path *path, u32 access)
{
	const struct walk_state *s = &path->state;
	bool wp = s->cr0 >> 16 & 1, smep = s->cr4 >> 20 & 1, smap = s->cr4 >> 21 & 1,
	     pke = s->cr4 >> 22 & 1, nxe = s->efer >> 11 & 1, ac = s->rflags >> 18 & 1;
	bool write = access & WALK_WRITE, fetch = access & WALK_FETCH,
	     implicit = access & WALK_IMPLICIT;
	bool supervisor_mode = implicit || s->cpl < 3;
	bool present = true, user_address = true, all_writable = true, any_xd = false, allowed, key;
	u32 key_number = path->entries[kind->levels - 1] >> 59 & 15, error;

	for (u32 i = 0; i < kind->levels; i++) {
		present = present && (path->entries[i] & P);
		user_address = user_address && (path->entries[i] & US);
		all_writable = all_writable && (path->entries[i] & RW);
		any_xd = any_xd || (kind->wide && path->entries[i] >> 63);
	}
	if (supervisor_mode && fetch)
		allowed = user_address ? !smep && !(nxe && any_xd) : !(nxe && any_xd);
	else if (supervisor_mode && user_address && write)
		allowed = (!smap || (ac && !implicit)) && (!wp || all_writable);
	else if (supervisor_mode && user_address)
		allowed = !smap || (ac && !implicit);
	else if (supervisor_mode && write)
		allowed = !wp || all_writable;
	else if (supervisor_mode)
		allowed = true;
	else if (fetch)
		allowed = user_address && !(nxe && any_xd);
	else
		allowed = user_address && (!write || all_writable);
	key = pke && kind->long_mode && user_address && !fetch &&
	      ((s->pkru >> 2 * key_number & 1) ||
		      ((s->pkru >> (2 * key_number + 1) & 1) && write && (wp || !supervisor_mode)));
	error = (write ? 2 : 0) | (supervisor_mode ? 0 : 4) |
		(fetch && (smep || (kind->pae && nxe)) ? 16 : 0);
	if (!present)
		return (struct outcome){ true, error };
	if (allowed && !key)
		return (struct outcome){ false, 0 };
	return (struct outcome){ true, error | 1 | (key ? 32 : 0) };
}

static void check(const struct kind *kind, struct path *path, u32 access)
{
	struct outcome expected = expect(kind, path, access);
	struct walk_translation t;
	enum walk_result result;

	write_path(kind, path);
	result = walk_page_tables(&path->state, &memory, gva(path->linear), access, &t);
	if (result != (expected.fault ? WALK_FAULT : WALK_OK) ||
		(expected.fault && t.error_code != expected.error))
		fail_msg(
			"%s: access %u, leaf %#lx, cr0 %#lx, cr4 %#lx, efer %#lx, cpl %u: fault %d "
			"error %#x, expected %d %#x",
			kind->name, access, path->entries[kind->levels - 1], path->state.cr0,
			path->state.cr4, path->state.efer, path->state.cpl, result == WALK_FAULT,
			t.error_code, expected.fault, expected.error);
	for (u32 i = 0; i < kind->levels; i++) {
		u64 flags = 0;

		if (!expected.fault && !(access & WALK_PROBE))
			flags = A | (i == kind->levels - 1 && (access & WALK_WRITE) ? D : 0);
		assert_int_equal(get(kind, path->places[i]), path->entries[i] | flags);
	}
	if (expected.fault)
		return;
	assert_int_equal(
		t.address.value, path->page_address | (path->linear & (path->page_size - 1)));
	assert_int_equal(t.page_size, path->page_size);
}

static const u32 accesses[] = { 0, WALK_WRITE, WALK_FETCH, WALK_IMPLICIT,
	WALK_IMPLICIT | WALK_WRITE, WALK_WRITE | WALK_PROBE };

/* Everything that decides, in every combination, for each kind of translation. */
static void test_rights_matrix(void **state)
{
	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(kinds); k++) {
		const struct kind *kind = &kinds[k];
		struct path base;

		build(kind, &base);
		for (u32 i = 0; i < 1 << 15; i++) {
			struct path path = base;
			u32 leaf = kind->levels - 1, upper = i & 1 ? 0 : leaf ? leaf - 1 : 0;
			bool nxe = i >> 1 & 1;

			path.state.cpl = i >> 2 & 1 ? 3 : 0;
			path.state.cr0 |= (u64)(i >> 3 & 1) << 16;
			path.state.cr4 |= (u64)(i >> 4 & 1) << 20 | (u64)(i >> 5 & 1) << 21;
			path.state.rflags = (u64)(i >> 6 & 1) << 18;
			path.state.efer |= nxe ? 1 << 11 : 0;
			path.entries[leaf] &= ~(i >> 7 & 7ull); /* P, RW, US */
			path.entries[upper] &= ~(i >> 10 & 7ull);
			if (kind->wide && nxe) {
				path.entries[leaf] |= (u64)(i >> 13 & 1) << 63;
				path.entries[upper] |= (u64)(i >> 14 & 1) << 63;
			}
			for (u32 a = 0; a < ARRAY_SIZE(accesses); a++)
				check(kind, &path, accesses[a]);
		}
	}
}

static void test_protection_keys(void **state)
{
	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(kinds); k++) {
		const struct kind *kind = &kinds[k];

		for (u32 i = 0; i < 16 << 7; i++) {
			u32 key = i & 15, leaf = kind->levels - 1;
			struct path path;

			build(kind, &path);
			path.state.cr4 |= (u64)(i >> 4 & 1) << 22;
			path.state.cr0 |= (u64)(i >> 5 & 1) << 16;
			path.state.cpl = i >> 6 & 1 ? 3 : 0;
			path.state.pkru = (i >> 7 & 3) << 2 * key;
			path.entries[0] &= ~(i >> 9 & 1 ? US : 0);
			path.entries[leaf] &= ~(i >> 10 & 1 ? RW : 0);
			if (kind->long_mode)
				path.entries[leaf] |= (u64)key << 59;
			for (u32 a = 0; a < ARRAY_SIZE(accesses); a++)
				check(kind, &path, accesses[a]);
		}
	}
}

/* Is a bit reserved in an entry? From the tables of SDM 3A 4.3 to 4.5, for MAXPHYADDR 39. */
static bool is_reserved(const struct kind *kind, u32 depth, u32 bit, bool nxe)
{
	bool leaf = depth == kind->levels - 1;
	u32 level = kind->levels + kind->missing - depth;

	if (!kind->wide)
		return kind->missing && (bit == 20 || bit == 21);
	if (bit == 63)
		return !nxe;
	if (bit >= 52)
		return !kind->long_mode;
	if (bit >= 39)
		return true;
	if (bit == 7)
		return level >= 4;
	return leaf && kind->missing && bit >= 13 && bit < (kind->missing == 2 ? 30 : 21);
}

static void test_bug33_reserved_bits(void **state)
{
	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(kinds); k++) {
		const struct kind *kind = &kinds[k];
		u32 fixed_bits = 7; /* P, RW, US are the matrix's */

		for (u32 i = 0; i < kind->levels * 64 * 2; i++) {
			u32 depth = i / 128, bit = i / 2 % 64;
			bool nxe = i & 1, leaf = depth == kind->levels - 1, reserved;
			struct walk_translation t;
			enum walk_result result;
			struct path path;

			build(kind, &path);
			if (bit >= (kind->wide ? 64 : 32) || (1ull << bit) & fixed_bits)
				continue;
			reserved = is_reserved(kind, depth, bit, nxe);
			path.state.efer |= nxe ? 1 << 11 : 0;
			path.entries[depth] |= 1ull << bit;
			/* Bits of the address lead elsewhere, PS makes another kind. */
			if (!reserved && ((bit >= 12 && bit < 52) || (bit == 7 && !leaf)))
				continue;
			write_path(kind, &path);
			result = walk_page_tables(
				&path.state, &memory, gva(path.linear), WALK_WRITE, &t);
			if ((result == WALK_FAULT) != reserved)
				fail_msg("%s: depth %u bit %u nxe %u: result %u", kind->name, depth,
					bit, nxe, result);
			if (reserved)
				assert_int_equal(t.error_code, 1 | 2 | 8);
			/* Right bits missing or not: reserved bits win, absence wins over them. */
			path.entries[depth] &= ~US;
			path.state.cpl = 3;
			write_path(kind, &path);
			result = walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t);
			assert_int_equal(result, WALK_FAULT);
			assert_int_equal(t.error_code, reserved ? 1 | 4 | 8 : 1 | 4);
			path.entries[depth] &= ~P;
			write_path(kind, &path);
			result = walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t);
			assert_int_equal(result, WALK_FAULT);
			assert_int_equal(t.error_code, 4);
		}
	}
}

/* MAXPHYADDR from 32 to 52: address bits at and above it are reserved, those below are not. */
static void test_bug33_widths(void **state)
{
	(void)state;
	for (u32 width = 32; width <= 52; width++) {
		for (u32 bit = 32; bit < 52; bit++) {
			const struct kind *kind = &kinds[4];
			struct walk_translation t;
			struct path path;

			build(kind, &path);
			path.state.maxphyaddr = width;
			path.entries[3] = 0x5000 | 1ull << bit | P | RW | US;
			write_path(kind, &path);
			assert_int_equal(
				walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t),
				bit >= width ? WALK_FAULT : WALK_OK);
			if (bit < width)
				assert_int_equal(t.address.value & ~0xfffull, 0x5000 | 1ull << bit);
		}
		/* PSE-36: at most 40 bits, bit 21 always reserved. */
		for (u32 bit = 13; bit < 22; bit++) {
			const struct kind *kind = &kinds[1];
			struct walk_translation t;
			struct path path;
			u32 address_bit = bit + 19;

			build(kind, &path);
			path.state.maxphyaddr = width;
			path.entries[0] = 1ull << bit | P | RW | US | PS;
			write_path(kind, &path);
			assert_int_equal(
				walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t),
				address_bit >= MIN(width, 40) ? WALK_FAULT : WALK_OK);
		}
	}
}

static void test_mode_bits(void **state)
{
	struct walk_translation t;
	struct path path;

	(void)state;
	/* Without CR4.PSE a 32-bit PDE's bit 7 means nothing. */
	build(&kinds[0], &path);
	path.entries[0] |= PS;
	path.state.cr4 &= ~(1ull << 4);
	write_path(&kinds[0], &path);
	assert_int_equal(walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t), WALK_OK);
	assert_int_equal(t.page_size, 4096);
	/* 1 GiB pages that the processor does not have: a reserved bit. */
	build(&kinds[6], &path);
	path.state.page_1g = false;
	write_path(&kinds[6], &path);
	assert_int_equal(
		walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t), WALK_FAULT);
	assert_int_equal(t.error_code, 1 | 8);
	/* PAE: an absent PDPTE register, whatever memory says. */
	build(&kinds[2], &path);
	write_path(&kinds[2], &path);
	path.state.pdptes[path.linear >> 30 & 3] = 0x1000;
	assert_int_equal(
		walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t), WALK_FAULT);
	assert_int_equal(t.error_code, 0);
	/* Paging off: the address is the address. */
	path.state.cr0 = 1;
	assert_int_equal(
		walk_page_tables(&path.state, &memory, gva(0xfee00020), WALK_WRITE, &t), WALK_OK);
	assert_int_equal(t.address.value, 0xfee00020);
	/* Tables where no RAM is, at every level, and a root that wraps. */
	for (u32 depth = 0; depth < 5; depth++) {
		static const u64 nowhere[] = { RAM_SIZE, 0x3ffffff000, 0x7ffffff000 };

		build(&kinds[7], &path);
		if (depth)
			path.entries[depth - 1] = nowhere[depth % 3] | P | RW | US;
		else
			path.state.cr3 = ~0ull;
		write_path(&kinds[7], &path);
		assert_int_equal(walk_page_tables(&path.state, &memory, gva(path.linear), 0, &t),
			WALK_FAULT);
		assert_int_equal(t.error_code, 1 | 8);
	}
}

/* CR3's low bits are a PCID or cache control, not part of the address. */
static void test_cr3_low_bits(void **state)
{
	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct path path;

		build(&kinds[k], &path);
		path.state.cr3 |= 0xfff;
		check(&kinds[k], &path, WALK_WRITE);
	}
}

#define INCREMENTS 20000

/* A second processor that uses the ignored bits 58:52 of the leaf as a counter. */
static void *increment(void *leaf)
{
	for (u32 i = 0; i < INCREMENTS; i++)
		__atomic_fetch_add((u64 *)leaf, 1ull << 52, __ATOMIC_SEQ_CST);
	return NULL;
}

/* BUG-32: setting A and D loses no update that another processor makes. */
static void test_bug32_atomic_update(void **state)
{
	const struct kind *kind = &kinds[4];
	struct walk_translation t;
	struct path path;
	pthread_t thread;
	u64 *leaf;

	(void)state;
	build(kind, &path);
	path.state.efer |= 1 << 11;
	write_path(kind, &path);
	leaf = (u64 *)(ram + path.places[3]);
	assert_int_equal(pthread_create(&thread, NULL, increment, leaf), 0);
	for (u32 i = 0; i < INCREMENTS; i++) {
		enum walk_result result =
			walk_page_tables(&path.state, &memory, gva(path.linear), WALK_WRITE, &t);

		if (result == WALK_OK) /* only this thread clears them */
			assert_int_equal(
				__atomic_fetch_and(leaf, ~(A | D), __ATOMIC_SEQ_CST) & (A | D),
				A | D);
		else /* the counter runs over into XD or a key: neither matters here */
			assert_int_equal(result, WALK_RETRY);
	}
	pthread_join(thread, NULL);
	assert_int_equal(*leaf >> 52, (u64)INCREMENTS & 0xfff);
	assert_int_equal(*leaf & ~(A | D) & ~(0xfffull << 52), path.entries[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights_matrix),
		cmocka_unit_test(test_protection_keys),
		cmocka_unit_test(test_bug33_reserved_bits),
		cmocka_unit_test(test_bug33_widths),
		cmocka_unit_test(test_mode_bits),
		cmocka_unit_test(test_cr3_low_bits),
		cmocka_unit_test(test_bug32_atomic_update),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
