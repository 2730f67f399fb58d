// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory types from MTRRs (BUG-29). The oracle asks for one page at a time, straight from SDM
 * 3A 12.11.4; runs, uniformity and EPT leaves are compared with it on random register sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "frames_double.h"
#include "hv/cpu/msr_index.h"
#include "mmu/mtrr.h"

#define ENABLED	 0x800
#define FIXED_ON 0x400
#define VALID	 0x800

static u64 random_state = 0x9e3779b97f4a7c15;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static u32 random_type(void)
{
	static const u8 types[] = { 0, 1, 4, 5, 6, 6, 6 };

	return types[random_u64() % sizeof(types)];
}

static enum memory_type oracle(const struct mtrr_state *s, u64 address)
{
	u32 seen = 0; /* one bit per type */

	if (!(s->default_type & ENABLED))
		return MEMORY_UC;
	if (address < 0x100000 && (s->default_type & FIXED_ON) && (s->capabilities & 0x100)) {
		u32 byte = address < 0x80000   ? address / 0x10000
			   : address < 0xc0000 ? 8 + (address - 0x80000) / 0x4000
					       : 24 + (address - 0xc0000) / 0x1000;

		return s->fixed[byte / 8] >> byte % 8 * 8 & 0xff;
	}
	for (u32 i = 0; i < s->variable_count; i++) {
		u64 mask = s->variable[i].mask & ((1ull << s->maxphyaddr) - 1) & ~0xfffull;

		if ((s->variable[i].mask & VALID) &&
			(address & mask) == (s->variable[i].base & mask))
			seen |= 1u << (s->variable[i].base & 0xff);
	}
	if (!seen)
		return s->default_type & 0xff;
	if (seen == (1u << MEMORY_WT | 1u << MEMORY_WB))
		return MEMORY_WT;
	if (seen & (seen - 1))
		return MEMORY_UC;
	return __builtin_ctz(seen);
}

/* Ranges within a few MiB and, now and then, enormous ones, or masks with holes. */
static void random_registers(struct mtrr_state *s)
{
	memset(s, 0, sizeof(*s));
	s->maxphyaddr = 36 + random_u64() % 17;
	s->capabilities = random_u64() % 4 ? 0x108 : 8;
	s->default_type = random_type() | (random_u64() % 8 ? ENABLED : 0) |
			  (random_u64() % 2 ? FIXED_ON : 0);
	s->variable_count = random_u64() % 9;
	for (u32 i = 0; i < MTRR_FIXED; i++) {
		for (u32 k = 0; k < 8; k++)
			s->fixed[i] |= (u64)random_type() << 8 * k;
	}
	for (u32 i = 0; i < s->variable_count; i++) {
		u32 shift = random_u64() % 16 ? 12 + random_u64() % 11 : random_u64() % 30 + 12;
		u64 all = (1ull << s->maxphyaddr) - 1;

		s->variable[i].base = ((random_u64() % 0x800000) & ~0xfffull) | random_type();
		if (random_u64() % 8 == 0)
			s->variable[i].base |= 0xfe0000000;
		s->variable[i].mask = all >> shift << shift;
		if (random_u64() % 16 == 0) /* a hole in the mask */
			s->variable[i].mask &= ~(1ull << (13 + random_u64() % 10));
		s->variable[i].mask |= random_u64() % 8 ? VALID : 0;
	}
}

static void check_window(const struct mtrr_state *s, u64 from, u64 size)
{
	u64 end = from + size, run;

	for (u64 at = from; at < end; at += MIN(run, end - at)) {
		enum memory_type type = mtrr_run(s, hpa(at), &run);

		assert_true(run >= PAGE_SIZE && run % PAGE_SIZE == 0);
		for (u64 page = at; page < MIN(at + run, end); page += PAGE_SIZE)
			assert_int_equal(type, oracle(s, page));
	}
	for (u32 i = 0; i < 16; i++) {
		u64 at = from + random_u64() % (size / 2 / PAGE_SIZE) * PAGE_SIZE;
		u64 length = (1 + random_u64() % 64) * PAGE_SIZE;
		bool uniform, expected = true;
		enum memory_type type = mtrr_type(s, hpa(at), length, &uniform);

		for (u64 page = at; page < at + length; page += PAGE_SIZE)
			expected = expected && oracle(s, page) == oracle(s, at);
		assert_int_equal(type, oracle(s, at));
		assert_int_equal(uniform, expected);
	}
}

static void test_random_registers(void **state)
{
	(void)state;
	for (u32 i = 0; i < 1500; i++) {
		struct mtrr_state s;

		random_registers(&s);
		check_window(&s, 0, 0xa00000);
		check_window(&s, 0xfe0000000, 0x400000);
		check_window(&s, (1ull << s.maxphyaddr) - 0x200000, 0x200000);
	}
}

/* No leaf of the EPT covers two types, whatever its size. */
static void test_leaves(void **state)
{
	static const struct ept_capabilities all = { true, true, true, true, true };

	(void)state;
	for (u32 i = 0; i < 60; i++) {
		const u64 size = 0xc00000;
		struct mtrr_state s;
		struct ept ept;

		random_registers(&s);
		assert_int_equal(ept_init(&ept, &all), ERR_OK);
		assert_int_equal(ept_map_memory(&ept, &s, gpa(0), hpa(0), size, EPT_RWX), ERR_OK);
		for (u64 page = 0; page < size; page += PAGE_SIZE) {
			hpa_t to;
			u64 leaf;
			enum ept_rights rights;
			enum memory_type type;
			bool uniform;

			assert_true(ept_lookup(&ept, gpa(page), &to, &leaf, &rights, &type));
			assert_int_equal(to.value, page);
			assert_int_equal(type, oracle(&s, page));
			(void)mtrr_type(&s, hpa(page & ~(leaf - 1)), leaf, &uniform);
			assert_true(uniform);
			/* And where the types allow it, pages are large. */
			(void)mtrr_type(&s, hpa(page & ~(SIZE_2M - 1)), SIZE_2M, &uniform);
			assert_int_equal(leaf == SIZE_2M, uniform);
		}
		ept_destroy(&ept);
	}
	assert_int_equal(frames_in_use(), 0);
}

static void test_range(void **state)
{
	static const struct ept_capabilities all = { true, true, true, true, true };
	struct mtrr_state s = { .maxphyaddr = 36, .default_type = ENABLED | 6 };
	struct ept ept;

	(void)state;
	assert_int_equal(ept_init(&ept, &all), ERR_OK);
	assert_int_equal(ept_map_memory(&ept, &s, gpa(0), hpa((1ull << 36) - PAGE_SIZE),
				 2 * PAGE_SIZE, EPT_RWX),
		ERR_RANGE);
	assert_int_equal(ept_map_memory(&ept, &s, gpa(0), hpa(1), PAGE_SIZE, EPT_RWX), ERR_INVALID);
	assert_int_equal(ept_map_memory(&ept, &s, gpa(0), hpa(0), 1ull << 36, EPT_RWX), ERR_OK);
	assert_int_equal(ept.table_pages, 2);
	ept_destroy(&ept);
}

/* The registers land where they belong; a CPU without fixed ranges is not asked for them. */
static void test_read(void **state)
{
	struct mtrr_state s;

	(void)state;
	fake_cpu_reset();
	fake_msr_set(MSR_MTRR_CAP, 0x50a, FAKE_MSR_READ_ONLY, 0);
	fake_msr_set(MSR_MTRR_DEF_TYPE, 0xc06, FAKE_MSR_ANY, 0);
	for (u32 i = 0; i < 20; i++)
		fake_msr_set(MSR_MTRR_PHYSBASE0 + i, 0x1000 * (i + 1), FAKE_MSR_ANY, 0);
	fake_msr_set(0x250, 1, FAKE_MSR_ANY, 0);
	fake_msr_set(0x258, 2, FAKE_MSR_ANY, 0);
	fake_msr_set(0x259, 3, FAKE_MSR_ANY, 0);
	for (u32 i = 0; i < 8; i++)
		fake_msr_set(0x268 + i, 4 + i, FAKE_MSR_ANY, 0);
	mtrr_read(&s);
	assert_int_equal(s.variable_count, 10);
	assert_int_equal(s.default_type, 0xc06);
	assert_int_equal(s.variable[9].base, 0x13000);
	assert_int_equal(s.variable[9].mask, 0x14000);
	for (u32 i = 0; i < MTRR_FIXED; i++)
		assert_int_equal(s.fixed[i], i + 1);

	fake_msr_set(MSR_MTRR_CAP, 0x402, FAKE_MSR_READ_ONLY, 0);
	for (u32 i = 0x250; i < 0x270; i++)
		fake_msr_remove(i);
	mtrr_read(&s);
	assert_int_equal(s.variable_count, 2);
	assert_int_equal(s.fixed[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_registers),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
