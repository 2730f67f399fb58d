// SPDX-License-Identifier: BSD-2-Clause
/*
 * BUG-53: RSDP and MADT of made-up firmware; bad lengths, checksums, revisions, addresses, random
 * damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/acpi.h"

/* A machine whose only memory is this, from `base` on. The tables' places in it: */
#define RAM_SIZE 4096
#define RSDP	 0x010
#define RSDT	 0x100
#define XSDT	 0x200
#define OTHER	 0x300
#define MADT	 0x400

#define COPIES_MAX 64

struct machine {
	u8 ram[RAM_SIZE];
	u64 base;
	void *copies[COPIES_MAX]; /* what was handed out */
	u32 copy_count;
};

/* Hands out copies of the very size that was asked for: the sanitizer sees a byte read beyond. */
static const void *machine_read(void *context, u64 address, u64 size)
{
	struct machine *machine = context;
	void *copy;

	if (address < machine->base || address - machine->base > RAM_SIZE ||
		size > RAM_SIZE - (address - machine->base))
		return NULL;
	assert_true(machine->copy_count < COPIES_MAX);
	copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, machine->ram + (address - machine->base), size);
	machine->copies[machine->copy_count++] = copy;
	return copy;
}

static void release(struct machine *machine)
{
	while (machine->copy_count)
		free(machine->copies[--machine->copy_count]);
}

static bool rsdp_valid(struct machine *machine)
{
	const struct acpi_memory memory = { machine, machine_read };
	bool valid = acpi_rsdp_valid(&memory, machine->base + RSDP);

	release(machine);
	return valid;
}

static u32 processors(struct machine *machine, u32 *ids, u32 max)
{
	const struct acpi_memory memory = { machine, machine_read };
	u32 count = acpi_processors(&memory, machine->base + RSDP, ids, max);

	release(machine);
	return count;
}

static void put(struct machine *machine, u32 at, u64 value, u32 size)
{
	memcpy(machine->ram + at, &value, size);
}

/* Makes the bytes sum up to 0 by the one at `checksum`. */
static void seal(struct machine *machine, u32 at, u32 length, u32 checksum)
{
	u8 sum = 0;

	machine->ram[at + checksum] = 0;
	for (u32 i = 0; i < length; i++)
		sum = (u8)(sum + machine->ram[at + i]);
	machine->ram[at + checksum] = (u8)-sum;
}

static void put_table(struct machine *machine, u32 at, const char *signature, u32 length)
{
	memcpy(machine->ram + at, signature, 4);
	put(machine, at + 4, length, 4);
	seal(machine, at, length, 9);
}

static void seal_rsdp(struct machine *machine)
{
	seal(machine, RSDP, 20, 8);
	seal(machine, RSDP, 36, 32);
}

/* Enabled: 3, 0, 0x110 and 5; then 5 again, and ones that are off, unknown or nobody's. */
static const u8 madt_entries[] = {
	0, 8, 0, 3, 1, 0, 0, 0,				    /* APIC 3 */
	0, 8, 1, 0, 1, 0, 0, 0,				    /* APIC 0 */
	1, 12, 2, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0,	    /* IOAPIC */
	0, 8, 2, 7, 0, 0, 0, 0,				    /* APIC 7, off */
	0, 8, 2, 8, 2, 0, 0, 0,				    /* APIC 8, may come later */
	9, 16, 0, 0, 0x10, 1, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, /* x2APIC 0x110 */
	0, 8, 3, 5, 1, 0, 0, 0,				    /* APIC 5 */
	9, 16, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0,    /* x2APIC 5 */
	0, 8, 4, 0xff, 1, 0, 0, 0,			    /* broadcast */
	9, 16, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 9,
	9,	 /* too short for what it is */
	0x7f, 2, /* of no known type */
};
static const u32 madt_ids[] = { 3, 0, 0x110, 5 };

#define MADT_LENGTH (44 + sizeof(madt_entries))

static struct machine sound_machine(u8 revision, u64 base)
{
	struct machine machine = { .base = base };

	memcpy(machine.ram + RSDP, "RSD PTR ", 8);
	machine.ram[RSDP + 15] = revision;
	put(&machine, RSDP + 16, (u32)base + RSDT, 4);
	if (revision >= 2) {
		put(&machine, RSDP + 20, 36, 4);
		put(&machine, RSDP + 24, base + XSDT, 8);
	}
	seal_rsdp(&machine);
	put(&machine, RSDT + 36, (u32)base + OTHER, 4);
	put(&machine, RSDT + 40, (u32)base + MADT, 4);
	put_table(&machine, RSDT, "RSDT", 44);
	put(&machine, XSDT + 36, base + OTHER, 8);
	put(&machine, XSDT + 44, base + MADT, 8);
	put_table(&machine, XSDT, "XSDT", 52);
	put_table(&machine, OTHER, "FACP", 244);
	memcpy(machine.ram + MADT + 44, madt_entries, sizeof(madt_entries));
	put_table(&machine, MADT, "APIC", MADT_LENGTH);
	return machine;
}

static void expect_all(struct machine *machine)
{
	u32 ids[16];

	assert_true(rsdp_valid(machine));
	assert_int_equal(processors(machine, ids, ARRAY_SIZE(ids)), ARRAY_SIZE(madt_ids));
	assert_memory_equal(ids, madt_ids, sizeof(madt_ids));
}

static void expect_none(struct machine *machine)
{
	u32 ids[16];

	assert_int_equal(processors(machine, ids, ARRAY_SIZE(ids)), 0);
}

static void test_sound(void **state)
{
	struct machine machine;

	(void)state;
	machine = sound_machine(0, 0x7fe0000);
	expect_all(&machine);
	machine = sound_machine(2, 0x7fe0000);
	expect_all(&machine);
	/* XSDT and all above 4 GiB. */
	machine = sound_machine(2, 0x1234567000);
	expect_all(&machine);
	/* Revision 2 without an XSDT. */
	machine = sound_machine(2, 0x7fe0000);
	put(&machine, RSDP + 24, 0, 8);
	seal_rsdp(&machine);
	expect_all(&machine);
}

static void test_limit(void **state)
{
	struct machine machine = sound_machine(2, 0x7fe0000);

	(void)state;
	for (u32 max = 0; max <= 5; max++) {
		u32 ids[6] = { [5] = 77 };
		u32 count = processors(&machine, ids, max);

		assert_int_equal(count, MIN(max, ARRAY_SIZE(madt_ids)));
		assert_memory_equal(ids, madt_ids, count * sizeof(*ids));
		assert_int_equal(ids[5], 77);
	}
}

static void test_bad_rsdp(void **state)
{
	(void)state;
	/* Any single bit wrong, in what the checksums cover. */
	for (u32 revision = 0; revision <= 2; revision += 2) {
		for (u32 bit = 0; bit < (revision ? 36u : 20u) * 8; bit++) {
			struct machine machine = sound_machine((u8)revision, 0x7fe0000);

			machine.ram[RSDP + bit / 8] ^= (u8)(1u << bit % 8);
			assert_false(rsdp_valid(&machine));
			expect_none(&machine);
		}
	}
	/* Lengths that cannot be, with sound sums. */
	for (u32 i = 0; i < 4; i++) {
		static const u32 lengths[] = { 0, 35, 4097, 0xffffffff };
		struct machine machine = sound_machine(2, 0x7fe0000);

		put(&machine, RSDP + 20, lengths[i], 4);
		seal_rsdp(&machine);
		assert_false(rsdp_valid(&machine));
		expect_none(&machine);
	}
	/* At the end of memory, and nowhere. */
	for (u32 room = 0; room < 36; room++) {
		struct machine machine = sound_machine(2, 0x7fe0000), moved = machine;
		const struct acpi_memory memory = { &moved, machine_read };

		memcpy(moved.ram + RAM_SIZE - room, machine.ram + RSDP, room);
		assert_false(acpi_rsdp_valid(&memory, moved.base + RAM_SIZE - room));
		release(&moved);
		assert_false(acpi_rsdp_valid(&memory, 0));
		assert_false(acpi_rsdp_valid(&memory, ~0ull));
		release(&moved);
	}
}

static void test_bad_tables(void **state)
{
	static const struct {
		u32 at;
		const char *signature;
		u32 length;
	} tables[] = { { XSDT, "XSDT", 52 }, { MADT, "APIC", MADT_LENGTH } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(tables); i++) {
		static const u32 lengths[] = { 0, 35, RAM_SIZE + 1, 1 << 20, ~0u };
		struct machine machine = sound_machine(2, 0x7fe0000);

		machine.ram[tables[i].at + 9]++;
		expect_none(&machine);
		machine = sound_machine(2, 0x7fe0000);
		put_table(&machine, tables[i].at, "XXXX", tables[i].length);
		expect_none(&machine);
		for (u32 j = 0; j < ARRAY_SIZE(lengths); j++) {
			machine = sound_machine(2, 0x7fe0000);
			put(&machine, tables[i].at + 4, lengths[j], 4);
			expect_none(&machine);
		}
		/* As short as a header, and every length up to the whole: never read beyond. */
		for (u32 length = 36; length < tables[i].length; length++) {
			u32 ids[16];

			machine = sound_machine(2, 0x7fe0000);
			put_table(&machine, tables[i].at, tables[i].signature, length);
			assert_true(processors(&machine, ids, 16) <= ARRAY_SIZE(madt_ids));
		}
	}
}

static void test_circles(void **state)
{
	struct machine machine = sound_machine(2, 0x7fe0000);

	(void)state;
	/* An XSDT that lists itself and the RSDP. */
	put(&machine, XSDT + 36, machine.base + XSDT, 8);
	put(&machine, XSDT + 44, machine.base + RSDP, 8);
	put_table(&machine, XSDT, "XSDT", 52);
	expect_none(&machine);
	/* An entry of length 0, then of length 1, would be read for ever. */
	for (u32 length = 0; length < 2; length++) {
		u32 ids[16];

		machine = sound_machine(2, 0x7fe0000);
		machine.ram[MADT + 44 + 8 + 1] = (u8)length;
		put_table(&machine, MADT, "APIC", MADT_LENGTH);
		assert_int_equal(processors(&machine, ids, 16), 1);
		assert_int_equal(ids[0], 3);
	}
}

/* Random damage below sound checksums. */
static void test_damage(void **state)
{
	u32 seed = 3;

	(void)state;
	for (u32 round = 0; round < 20000; round++) {
		struct machine machine = sound_machine(round & 2, 0x7fe0000);
		u32 ids[8];

		for (u32 i = 0; i < 3; i++) {
			static const u32 places[][2] = {
				{ RSDP, 36 },
				{ RSDT, 44 },
				{ XSDT, 52 },
				{ MADT, MADT_LENGTH },
			};
			const u32 *place = places[seed >> 29 & 3];

			seed = seed * 1664525 + 1013904223;
			machine.ram[place[0] + (seed >> 8) % place[1]] = (u8)(seed >> 16);
		}
		seal_rsdp(&machine);
		seal(&machine, RSDT, 44, 9);
		seal(&machine, XSDT, 52, 9);
		seal(&machine, MADT, MADT_LENGTH, 9);
		rsdp_valid(&machine);
		assert_true(processors(&machine, ids, ARRAY_SIZE(ids)) <= ARRAY_SIZE(ids));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_bad_rsdp),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
