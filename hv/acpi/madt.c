// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the MADT from the RSDP and reads it. Firmware tables are checked, never trusted. Boot CPU,
 * once.
 */
#include "hv/acpi/madt.h"

#include "hv/lib/string.h"
#include "hv/mem/frames.h"
#include "hv/mem/paging.h"

#define IOAPIC_DEFAULT 0xfec00000
#define TABLE_MAX      (1u << 20)
#define SDT_HEADER     36
#define MADT_ENTRIES   44

enum { MADT_IOAPIC = 1, MADT_OVERRIDE = 2 };

struct rsdp {
	char signature[8];
	u8 checksum;
	char oem[6];
	u8 revision;
	u32 rsdt;
	u32 length;
	u64 xsdt;
	u8 extended_checksum;
	u8 reserved[3];
} __packed;

static u32 read32(const u8 *p)
{
	u32 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static bool checksum_ok(const u8 *p, u64 size)
{
	u8 sum = 0;

	for (u64 i = 0; i < size; i++)
		sum += p[i];
	return sum == 0;
}

/* A whole, valid table, or NULL. */
static const u8 *table_at(u64 address, u32 *length)
{
	const u8 *table = address ? firmware_map(hpa(address), SDT_HEADER) : NULL;

	if (!table)
		return NULL;
	*length = read32(table + 4);
	if (*length < SDT_HEADER || *length > TABLE_MAX)
		return NULL;
	table = firmware_map(hpa(address), *length);
	return table && checksum_ok(table, *length) ? table : NULL;
}

static const u8 *find_madt(u64 address, u32 *length)
{
	const struct rsdp *rsdp = firmware_map(hpa(address), sizeof(*rsdp));
	bool extended = rsdp && rsdp->revision >= 2 && rsdp->xsdt &&
			rsdp->length >= sizeof(*rsdp) && rsdp->length <= PAGE_SIZE &&
			checksum_ok((const u8 *)rsdp, sizeof(*rsdp));
	u32 root_length, width = extended ? 8 : 4;
	const u8 *root;

	if (!rsdp || memcmp(rsdp->signature, "RSD PTR ", 8) || !checksum_ok((const u8 *)rsdp, 20))
		return NULL;
	root = table_at(extended ? rsdp->xsdt : rsdp->rsdt, &root_length);
	for (u32 at = SDT_HEADER; root && at + width <= root_length; at += width) {
		u64 entry = 0;
		const u8 *table;

		memcpy(&entry, root + at, width);
		table = table_at(entry, length);
		if (table && !memcmp(table, "APIC", 4))
			return table;
	}
	return NULL;
}

static void read_entry(const u8 *e, struct madt_info *info, bool *have_ioapic)
{
	if (e[0] == MADT_IOAPIC && e[1] >= 12 && (!*have_ioapic || read32(e + 8) == 0)) {
		info->ioapic_address = read32(e + 4);
		info->ioapic_gsi_base = read32(e + 8);
		*have_ioapic = true;
	} else if (e[0] == MADT_OVERRIDE && e[1] >= 10 && e[2] == 0 && e[3] < ISA_IRQS) {
		/* MPS INTI flags: polarity in bits 1:0, trigger in bits 3:2; 3 is low, level. */
		info->isa[e[3]] = (struct madt_isa){ .gsi = read32(e + 4),
			.active_low = (e[8] & 3) == 3,
			.level = (e[8] >> 2 & 3) == 3 };
	}
}

void madt_read(u64 rsdp, struct madt_info *info)
{
	bool have_ioapic = false;
	const u8 *table;
	u32 length = 0;

	*info = (struct madt_info){ .ioapic_address = IOAPIC_DEFAULT };
	for (u32 irq = 0; irq < ISA_IRQS; irq++)
		info->isa[irq].gsi = irq;
	table = rsdp ? find_madt(rsdp, &length) : NULL;
	for (u32 at = MADT_ENTRIES; table && at + 2 <= length; at += table[at + 1]) {
		if (table[at + 1] < 2 || table[at + 1] > length - at)
			return;
		read_entry(table + at, info, &have_ioapic);
	}
}
