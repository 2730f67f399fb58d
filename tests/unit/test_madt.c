// SPDX-License-Identifier: BSD-2-Clause
// The reader of the machine's MADT over good, odd and hostile tables (BUG-53). Each table lies in a
// block of exactly its size, so that AddressSanitizer sees a read beyond it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/acpi/madt.h"
#include "hv/mem/paging.h"

#define TABLES_MAX 8
#define RSDP	   0x1000ul
#define RSDT	   0x2000ul
#define XSDT	   0x140000000ul
#define MADT	   0x3000ul
#define OTHER	   0x4000ul

static struct {
	u64 address;
	u8 *bytes;
	u32 size;
} tables[TABLES_MAX];
static u32 table_count, maps;

/* The double of hv/mem/paging.c's: physical memory is what the test laid out. */
const void *firmware_map(hpa_t address, u64 size)
{
	maps++;
	for (u32 i = 0; i < table_count; i++)
		if (address.value >= tables[i].address &&
			address.value + size <= tables[i].address + tables[i].size)
			return tables[i].bytes + (address.value - tables[i].address);
	return NULL;
}

static void fix_checksum(u8 *bytes, u32 size, u32 at)
{
	u8 sum = 0;

	bytes[at] = 0;
	for (u32 i = 0; i < size; i++)
		sum += bytes[i];
	bytes[at] = -sum;
}

static u8 *add_table(u64 address, const void *bytes, u32 size)
{
	assert_true(table_count < TABLES_MAX);
	tables[table_count].address = address;
	tables[table_count].size = size;
	tables[table_count].bytes = malloc(size);
	memcpy(tables[table_count].bytes, bytes, size);
	return tables[table_count++].bytes;
}

static u8 *add_sdt(u64 address, const char *signature, const void *body, u32 size)
{
	u8 bytes[512] = { 0 };
	u32 length = 36 + size;

	memcpy(bytes, signature, 4);
	memcpy(bytes + 4, &length, 4);
	memcpy(bytes + 36, body, size);
	fix_checksum(bytes, length, 9);
	return add_table(address, bytes, length);
}

static u8 *add_rsdp(u8 revision, u32 rsdt, u64 xsdt)
{
	u8 bytes[36] = "RSD PTR ";
	u32 length = 36;

	bytes[15] = revision;
	memcpy(bytes + 16, &rsdt, 4);
	memcpy(bytes + 20, &length, 4);
	memcpy(bytes + 24, &xsdt, 8);
	fix_checksum(bytes, 20, 8);
	fix_checksum(bytes, 36, 32);
	return add_table(RSDP, bytes, 36);
}

/* LAPIC, two IOAPICs, overrides of IRQ 0, 4 and 9, an entry of an unknown kind. */
static const u8 entries[] = {
	0,
	0,
	0xe0,
	0xfe,
	1,
	0,
	0,
	0, /* local APIC address, flags */
	0,
	8,
	0,
	0,
	1,
	0,
	0,
	0, /* local APIC */
	1,
	12,
	3,
	0,
	0,
	0x10,
	0xc0,
	0xfe,
	24,
	0,
	0,
	0, /* IOAPIC with GSI 24 */
	1,
	12,
	2,
	0,
	0,
	0x20,
	0xc0,
	0xfe,
	0,
	0,
	0,
	0, /* IOAPIC with GSI 0 */
	2,
	10,
	0,
	0,
	2,
	0,
	0,
	0,
	0,
	0, /* IRQ 0 -> GSI 2, as the bus */
	2,
	10,
	0,
	4,
	20,
	0,
	0,
	0,
	0x0f,
	0, /* IRQ 4 -> GSI 20, low, level */
	2,
	10,
	0,
	9,
	9,
	0,
	0,
	0,
	0x0d,
	0, /* IRQ 9, high, level */
	0x7f,
	3,
	0,
};

static int begin(void **state)
{
	(void)state;
	while (table_count)
		free(tables[--table_count].bytes);
	maps = 0;
	return 0;
}

static void assert_default(const struct madt_info *info)
{
	assert_int_equal(info->ioapic_address, 0xfec00000);
	assert_int_equal(info->ioapic_gsi_base, 0);
	for (u32 i = 0; i < ISA_IRQS; i++)
		assert_true(
			info->isa[i].gsi == i && !info->isa[i].level && !info->isa[i].active_low);
}

static void assert_entries(const struct madt_info *info)
{
	assert_int_equal(info->ioapic_address, 0xfec02000);
	assert_int_equal(info->ioapic_gsi_base, 0);
	assert_int_equal(info->isa[0].gsi, 2);
	assert_int_equal(info->isa[3].gsi, 3);
	assert_true(info->isa[4].gsi == 20 && info->isa[4].level && info->isa[4].active_low);
	assert_true(info->isa[9].gsi == 9 && info->isa[9].level && !info->isa[9].active_low);
}

static void no_tables(void **state)
{
	struct madt_info info;

	(void)state;
	madt_read(0, &info);
	assert_default(&info);
	assert_int_equal(maps, 0);
	madt_read(RSDP, &info); /* nothing there */
	assert_default(&info);
}

static void by_rsdt_and_xsdt(void **state)
{
	const u32 roots32[] = { OTHER, 0, MADT };
	const u64 roots64[] = { OTHER, 0x123456789000, MADT };

	for (u32 revision = 0; revision < 3; revision++) {
		struct madt_info info;

		begin(state);
		add_rsdp(revision, revision < 2 ? RSDT : 0, revision < 2 ? 0 : XSDT);
		if (revision < 2)
			add_sdt(RSDT, "RSDT", roots32, sizeof(roots32));
		else
			add_sdt(XSDT, "XSDT", roots64, sizeof(roots64));
		add_sdt(OTHER, "FACP", entries, sizeof(entries));
		add_sdt(MADT, "APIC", entries, sizeof(entries));
		madt_read(RSDP, &info);
		assert_entries(&info);
	}
}

static u8 *good_tables(u8 **rsdp, u8 **root)
{
	const u64 roots[] = { OTHER, MADT };

	*rsdp = add_rsdp(2, 0, XSDT);
	*root = add_sdt(XSDT, "XSDT", roots, sizeof(roots));
	return add_sdt(MADT, "APIC", entries, sizeof(entries));
}

static void a_wrong_checksum_is_no_table(void **state)
{
	for (u32 which = 0; which < 3; which++) {
		u8 *parts[3];
		struct madt_info info;

		begin(state);
		parts[2] = good_tables(&parts[0], &parts[1]);
		parts[which][9]++;
		if (which == 0)
			parts[0][9]--, parts[0][8]++;
		madt_read(RSDP, &info);
		assert_default(&info);
	}
}

static void tables_that_name_themselves(void **state)
{
	const u64 roots[] = { XSDT, XSDT, RSDP };
	struct madt_info info;

	(void)state;
	add_rsdp(2, 0, XSDT);
	add_sdt(XSDT, "XSDT", roots, sizeof(roots));
	madt_read(RSDP, &info);
	assert_default(&info);
}

static void lengths_that_lie(void **state)
{
	static const u32 lengths[] = { 0, 8, 35, 36, 37, 43, 44, 45, 1u << 20, (1u << 20) + 1,
		~0u };
	struct madt_info info;

	for (u32 which = 1; which < 3; which++) {
		for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
			u8 *parts[3];

			begin(state);
			parts[2] = good_tables(&parts[0], &parts[1]);
			memcpy(parts[which] + 4, &lengths[i], 4);
			fix_checksum(parts[which], 36, 9);
			madt_read(RSDP, &info);
			assert_default(&info);
		}
	}
}

/* Every byte of every table at some wrong values, the checksum right: no crash, no endless loop. */
static void changed_bytes(void **state)
{
	static const u8 values[] = { 0, 1, 2, 0x7f, 0xff };

	for (u32 which = 0; which < 3; which++) {
		u32 sizes[] = { 36, 36 + 16, 36 + sizeof(entries) };

		for (u32 at = 0; at < sizes[which]; at++) {
			for (u32 v = 0; v < ARRAY_SIZE(values); v++) {
				u8 *parts[3];
				struct madt_info info;

				begin(state);
				parts[2] = good_tables(&parts[0], &parts[1]);
				parts[which][at] = values[v];
				if (which == 0) {
					fix_checksum(parts[0], 20, 8);
					fix_checksum(parts[0], 36, 32);
				} else {
					fix_checksum(parts[which], sizes[which], 9);
				}
				madt_read(RSDP, &info);
				assert_true(maps < 20);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_tables, begin),
		cmocka_unit_test_setup(by_rsdt_and_xsdt, begin),
		cmocka_unit_test_setup(a_wrong_checksum_is_no_table, begin),
		cmocka_unit_test_setup(tables_that_name_themselves, begin),
		cmocka_unit_test_setup(lengths_that_lie, begin),
		cmocka_unit_test_setup(changed_bytes, begin),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	begin(NULL);
	return failed;
}
