// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's ACPI tables, read back the way an operating system does: the RSDP found by the search
 * of the BIOS area (BUG-53), each table's length and checksum, the entries of the MADT, and iasl's
 * disassembly and recompilation of all of them (skipped if iasl is not installed).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/dev/acpi_tables.h"
#include "hv/dev/platform_map.h"

#define MEMORY (2u << 20)

struct fixture {
	struct guest_memory memory;
	u8 *ram;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->ram = malloc(MEMORY);
	memset(fixture->ram, 0xa5, MEMORY);
	/* Two extents that meet inside the ACPI area. */
	fixture->memory.extents[0] = (struct guest_extent){ gpa(0), 0xe1000, fixture->ram, hpa(0) };
	fixture->memory.extents[1] = (struct guest_extent){ gpa(0xe1000), MEMORY - 0xe1000,
		fixture->ram + 0xe1000, hpa(0) };
	fixture->memory.count = 2;
	fixture->memory.size = MEMORY;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	free(fixture->ram);
	free(fixture);
	return 0;
}

static u32 u32_at(const u8 *from)
{
	return from[0] | from[1] << 8 | from[2] << 16 | (u32)from[3] << 24;
}

static u64 u64_at(const u8 *from)
{
	return u32_at(from) | (u64)u32_at(from + 4) << 32;
}

static u8 sum(const u8 *from, u32 size)
{
	u8 total = 0;

	while (size--)
		total = (u8)(total + *from++);
	return total;
}

/* The search of ACPI 6.5 5.2.5.1. */
static const u8 *find_rsdp(const struct fixture *fixture)
{
	for (u32 at = 0xe0000; at < 0x100000; at += 16)
		if (!memcmp(fixture->ram + at, "RSD PTR ", 8) && !sum(fixture->ram + at, 20))
			return fixture->ram + at;
	return NULL;
}

/* A table inside the area, whole and with a right checksum. */
static const u8 *checked_table(const struct fixture *fixture, u64 at)
{
	u32 length;

	assert_in_range(at, GUEST_ACPI, GUEST_ACPI + GUEST_ACPI_SIZE - 36);
	length = u32_at(fixture->ram + at + 4);
	assert_in_range(length, 36, GUEST_ACPI + GUEST_ACPI_SIZE - at);
	assert_int_equal(sum(fixture->ram + at, length), 0);
	return fixture->ram + at;
}

static const u8 *xsdt_of(const struct fixture *fixture)
{
	const u8 *rsdp = find_rsdp(fixture);

	assert_non_null(rsdp);
	assert_int_equal(rsdp[15], 2);
	assert_int_equal(u32_at(rsdp + 20), 36);
	assert_int_equal(sum(rsdp, 36), 0);
	return checked_table(fixture, u64_at(rsdp + 24));
}

static const u8 *find_table(const struct fixture *fixture, const char *signature)
{
	const u8 *xsdt = xsdt_of(fixture);

	for (u32 i = 36; i + 8 <= u32_at(xsdt + 4); i += 8) {
		const u8 *table = checked_table(fixture, u64_at(xsdt + i));

		if (!memcmp(table, signature, 4))
			return table;
	}
	fail_msg("no %s", signature);
	return NULL;
}

static void build(struct fixture *fixture, u32 cpus)
{
	u64 rsdp = 0;

	assert_int_equal(acpi_tables_build(&fixture->memory, cpus, &rsdp), ERR_OK);
	assert_ptr_equal(fixture->ram + rsdp, find_rsdp(fixture));
}

static void test_roots_agree(void **state)
{
	struct fixture *fixture = *state;
	const u8 *rsdt, *xsdt;

	build(fixture, 4);
	xsdt = xsdt_of(fixture);
	rsdt = checked_table(fixture, u32_at(find_rsdp(fixture) + 16));
	assert_memory_equal(rsdt, "RSDT", 4);
	assert_memory_equal(xsdt, "XSDT", 4);
	assert_int_equal((u32_at(rsdt + 4) - 36) / 4, (u32_at(xsdt + 4) - 36) / 8);
	for (u32 i = 0; i < (u32_at(rsdt + 4) - 36) / 4; i++)
		assert_int_equal(u32_at(rsdt + 36 + 4 * i), u64_at(xsdt + 36 + 8 * i));
}

static void test_nothing_outside_the_area(void **state)
{
	struct fixture *fixture = *state;

	build(fixture, 8);
	for (u32 i = 0; i < MEMORY; i++)
		if (i < GUEST_ACPI || i >= GUEST_ACPI + GUEST_ACPI_SIZE)
			assert_int_equal(fixture->ram[i], 0xa5);
}

static void test_fadt(void **state)
{
	struct fixture *fixture = *state;
	const u8 *fadt, *facs;

	build(fixture, 1);
	fadt = find_table(fixture, "FACP");
	assert_int_equal(u32_at(fadt + 4), 268);
	assert_int_equal(fadt[46], 9);			      /* SCI_INT */
	assert_int_equal(u32_at(fadt + 48), 0);		      /* SMI_CMD */
	assert_int_equal(u32_at(fadt + 56), 0x600);	      /* PM1a_EVT_BLK */
	assert_int_equal(u32_at(fadt + 64), 0x604);	      /* PM1a_CNT_BLK */
	assert_int_equal(u32_at(fadt + 76), 0x608);	      /* PM_TMR_BLK */
	assert_int_equal(fadt[91], 4);			      /* PM_TMR_LEN */
	assert_int_equal(fadt[109] | fadt[110] << 8, 0x5);    /* IAPC_BOOT_ARCH */
	assert_int_equal(u32_at(fadt + 112) & (1u << 20), 0); /* not HW-reduced */
	assert_int_equal(u32_at(fadt + 112) & (1u << 10), 1u << 10);
	assert_int_equal(u64_at(fadt + 120), 0xcf9); /* RESET_REG */
	assert_int_equal(fadt[128], 6);
	assert_int_equal(u64_at(fadt + 140), u32_at(fadt + 40)); /* both DSDT pointers */
	assert_memory_equal(checked_table(fixture, u64_at(fadt + 140)), "DSDT", 4);
	facs = fixture->ram + u32_at(fadt + 36);
	assert_memory_equal(facs, "FACS", 4);
	assert_int_equal(u32_at(facs + 4), 64);
	assert_int_equal(u32_at(fadt + 36) % 64, 0);
}

/* One entry a processor by its id, the IOAPIC, two overrides and LINT1. */
static void test_madt(void **state)
{
	static const u32 counts[] = { 1, 2, 8, 255, 256, 300 };
	struct fixture *fixture = *state;

	for (u32 c = 0; c < ARRAY_SIZE(counts); c++) {
		u32 seen = 0, ioapics = 0, overrides = 0, nmis = 0;
		const u8 *madt;

		build(fixture, counts[c]);
		madt = find_table(fixture, "APIC");
		assert_int_equal(u32_at(madt + 36), 0xfee00000);
		assert_int_equal(u32_at(madt + 40), 1);
		for (u32 i = 44; i < u32_at(madt + 4); i += madt[i + 1]) {
			const u8 *entry = madt + i;

			assert_true(entry[1] >= 6 && i + entry[1] <= u32_at(madt + 4));
			switch (entry[0]) {
			case 0:
				assert_true(seen < 255);
				assert_int_equal(entry[2], seen);
				assert_int_equal(entry[3], seen++);
				assert_int_equal(u32_at(entry + 4), 1);
				break;
			case 9:
				assert_true(seen >= 255);
				assert_int_equal(u32_at(entry + 12), seen);
				assert_int_equal(u32_at(entry + 4), seen++);
				assert_int_equal(u32_at(entry + 8), 1);
				break;
			case 1:
				ioapics++;
				assert_int_equal(u32_at(entry + 4), 0xfec00000);
				break;
			case 2:
				overrides++;
				assert_true(
					(entry[3] == 0 && u32_at(entry + 4) == 2 && !entry[8]) ||
					(entry[3] == 9 && u32_at(entry + 4) == 9 &&
						entry[8] == 0xd));
				break;
			case 4:
				nmis++;
				assert_int_equal(entry[2], 0xff);
				assert_int_equal(entry[5], 1);
				break;
			case 10:
				assert_true(counts[c] > 255);
				break;
			default:
				fail_msg("entry of type %u", entry[0]);
			}
		}
		assert_int_equal(seen, counts[c]);
		assert_int_equal(ioapics, 1);
		assert_int_equal(overrides, 2);
		assert_int_equal(nmis, 1);
	}
}

/* PkgLength of ACPI 6.5 20.2.4; *at goes behind it. */
static u32 package_length(const u8 *aml, u32 *at)
{
	u32 more = aml[*at] >> 6, length = aml[*at] & (more ? 0xf : 0x3f);

	for (u32 i = 0; i < more; i++)
		length |= (u32)aml[*at + 1 + i] << (4 + 8 * i);
	*at += 1 + more;
	return length;
}

/* The SSDT is one scope up to its end, with one device a processor that names its number. */
static void test_ssdt(void **state)
{
	static const u32 counts[] = { 1, 2, 7, 8, 64, 255, 300 };
	struct fixture *fixture = *state;

	for (u32 c = 0; c < ARRAY_SIZE(counts); c++) {
		const u8 *ssdt;
		u32 at = 37, end;

		build(fixture, counts[c]);
		ssdt = find_table(fixture, "SSDT");
		end = u32_at(ssdt + 4);
		assert_int_equal(ssdt[36], 0x10);
		assert_int_equal(package_length(ssdt, &at), end - 37);
		assert_memory_equal(ssdt + at, "\\_SB_", 5);
		at += 5;
		for (u32 id = 0; id < counts[c]; id++) {
			char name[16];
			u32 start;

			assert_int_equal(ssdt[at] << 8 | ssdt[at + 1], 0x5b82);
			at += 2;
			start = at;
			end = package_length(ssdt, &at) + start;
			snprintf(name, sizeof(name), "C%03X", id);
			assert_memory_equal(ssdt + at, name, 4);
			assert_memory_equal(ssdt + at + 4,
				"\x08_HID\x0d"
				"ACPI0007\0\x08_UID\x0c",
				21);
			assert_int_equal(u32_at(ssdt + at + 25), id);
			at += 29;
			assert_int_equal(at, end);
		}
		assert_int_equal(at, u32_at(ssdt + 4));
	}
}

static void test_too_many_processors(void **state)
{
	static const u32 counts[] = { 0, 1400, 4096, 0x08000000, 0xffffffff };
	struct fixture *fixture = *state;
	u64 rsdp = 0;

	for (u32 i = 0; i < ARRAY_SIZE(counts); i++)
		assert_int_equal(acpi_tables_build(&fixture->memory, counts[i], &rsdp), ERR_RANGE);
	fixture->memory.count = 1; /* RAM ends within the area */
	assert_int_equal(acpi_tables_build(&fixture->memory, 1, &rsdp), ERR_RANGE);
}

static void save(const char *directory, const char *name, const u8 *table, u32 length)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.aml", directory, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(table, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/*
 * Runs a shell command in the directory; it must succeed and say nothing that matches the pattern.
 * What it says is shown only if not.
 */
static void run(const char *directory, const char *command, const char *forbidden)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"cd %s && { %s; } >log 2>&1 && ! grep -qiE '%s' log || { cat %s/log; false; }",
		directory, command, forbidden, directory);
	assert_int_equal(system(line), 0);
}

static void test_iasl_round_trip(void **state)
{
	static const char *const names[] = { "FACP", "APIC", "MCFG", "SSDT" };
	struct fixture *fixture = *state;
	char directory[] = "/tmp/torpor-acpi-XXXXXX", line[300];
	const u8 *dsdt;

	if (system("command -v iasl >/dev/null 2>&1")) {
		print_message("iasl is not installed (scripts/setup does): skipped\n");
		skip();
	}
	assert_non_null(mkdtemp(directory));
	build(fixture, 8);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		const u8 *table = find_table(fixture, names[i]);

		save(directory, names[i], table, u32_at(table + 4));
	}
	dsdt = fixture->ram + u32_at(find_table(fixture, "FACP") + 40);
	save(directory, "DSDT", dsdt, u32_at(dsdt + 4));
	save(directory, "XSDT", xsdt_of(fixture), u32_at(xsdt_of(fixture) + 4));
	save(directory, "FACS", fixture->ram + u32_at(find_table(fixture, "FACP") + 36), 64);
	run(directory, "iasl -d *.aml", "error|warning|invalid|unknown");
	/*
	 * What was disassembled compiles again without a word, to the same length (but for the
	 * SSDT, whose small numbers iasl writes shorter).
	 */
	run(directory,
		"for t in FACP APIC MCFG XSDT FACS DSDT SSDT; do iasl -we -p again-$t $t.dsl || "
		"exit 1; "
		"[ $t = SSDT ] || [ $(stat -c %s $t.aml) = $(stat -c %s again-$t.aml) ] || exit 1; "
		"done",
		"[1-9][0-9]* (errors|warnings)");
	run(directory,
		"grep -q ACPI0007 SSDT.dsl && grep -q 'Device (C007)' SSDT.dsl && grep -q PNP0A03 "
		"DSDT.dsl "
		"&& cat SSDT.dsl",
		"C008");
	snprintf(line, sizeof(line), "rm -r %s", directory);
	assert_int_equal(system(line), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_roots_agree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_outside_the_area, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fadt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_madt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ssdt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_processors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_iasl_round_trip, setup, teardown),
	};

	return cmocka_run_group_tests_name("acpi_tables", tests, NULL, NULL);
}
