// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks from the RSDP to the MADT. Called by boot/acpi_tables.c; follows one level of pointers
 * only, so tables that point at each other cannot make it run in circles.
 */
#include "boot/lib/acpi.h"
#include "hv/lib/string.h"

#define TABLE_MAX (1u << 20) /* bytes; the largest tables known have some 100 KiB */

struct rsdp {
	char signature[8];
	u8 checksum;
	char oem[6];
	u8 revision;
	u32 rsdt;
	/* Revision 2 and above. */
	u32 length;
	u64 xsdt;
	u8 extended_checksum;
	u8 reserved[3];
} __packed;

#define RSDP_SIZE_0 20

struct table_header {
	char signature[4];
	u32 length;
	u8 revision, checksum;
	char oem[6], oem_table[8];
	u32 oem_revision, creator, creator_revision;
} __packed;

_Static_assert(sizeof(struct rsdp) == 36, "ACPI 6.5, table 5.3");
_Static_assert(sizeof(struct table_header) == 36, "ACPI 6.5, table 5.4");

#define MADT_ENTRIES	  44 /* offset of the first */
#define MADT_LOCAL_APIC	  0
#define MADT_LOCAL_X2APIC 9
#define MADT_ENABLED	  BIT(0)

/* The parts of both entries that matter, as offsets into them. */
static const struct madt_form {
	u8 type, length, id, id_size, flags;
} madt_forms[] = {
	{ MADT_LOCAL_APIC, 8, 3, 1, 4 },
	{ MADT_LOCAL_X2APIC, 16, 4, 4, 8 },
};

static u64 read_little(const u8 *bytes, size_t size)
{
	u64 value = 0;

	memcpy(&value, bytes, size);
	return value;
}

static bool sum_is_zero(const void *bytes, u64 size)
{
	u8 sum = 0;

	for (u64 i = 0; i < size; i++)
		sum = (u8)(sum + ((const u8 *)bytes)[i]);
	return !sum;
}

/* Copies the RSDP; the fields that revision 0 lacks become 0. */
static bool read_rsdp(const struct acpi_memory *memory, u64 address, struct rsdp *rsdp)
{
	const void *bytes = memory->read(memory->context, address, RSDP_SIZE_0);

	memset(rsdp, 0, sizeof(*rsdp));
	if (!bytes || !sum_is_zero(bytes, RSDP_SIZE_0))
		return false;
	memcpy(rsdp, bytes, RSDP_SIZE_0);
	if (memcmp(rsdp->signature, "RSD PTR ", sizeof(rsdp->signature)))
		return false;
	if (rsdp->revision < 2)
		return rsdp->rsdt;

	bytes = memory->read(memory->context, address, sizeof(*rsdp));
	if (!bytes)
		return false;
	memcpy(rsdp, bytes, sizeof(*rsdp));
	if (rsdp->length < sizeof(*rsdp) || rsdp->length > PAGE_SIZE)
		return false;
	bytes = memory->read(memory->context, address, rsdp->length);
	return bytes && sum_is_zero(bytes, rsdp->length) && (rsdp->xsdt || rsdp->rsdt);
}

/* A whole table with a sound checksum, or NULL. */
static const u8 *read_table(
	const struct acpi_memory *memory, u64 address, const char *signature, u32 *length)
{
	struct table_header header;
	const void *bytes = memory->read(memory->context, address, sizeof(header));

	if (!bytes)
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.signature, signature, sizeof(header.signature)) ||
		header.length < sizeof(header) || header.length > TABLE_MAX)
		return NULL;
	bytes = memory->read(memory->context, address, header.length);
	if (!bytes || !sum_is_zero(bytes, header.length))
		return NULL;
	*length = header.length;
	return bytes;
}

static const u8 *find_madt(const struct acpi_memory *memory, const struct rsdp *rsdp, u32 *length)
{
	u32 pointer_size = rsdp->xsdt ? 8 : 4;
	u32 root_length;
	const u8 *root = read_table(memory, rsdp->xsdt ? rsdp->xsdt : rsdp->rsdt,
		rsdp->xsdt ? "XSDT" : "RSDT", &root_length);

	if (!root)
		return NULL;
	for (u32 at = sizeof(struct table_header); at + pointer_size <= root_length;
		at += pointer_size) {
		const u8 *madt =
			read_table(memory, read_little(root + at, pointer_size), "APIC", length);

		if (madt && *length >= MADT_ENTRIES)
			return madt;
	}
	return NULL;
}

static bool contains(const u32 *ids, u32 count, u32 id)
{
	for (u32 i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* The id of an enabled processor, if the entry is one. */
static bool madt_processor(const u8 *entry, u32 length, u32 *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(madt_forms); i++) {
		const struct madt_form *form = &madt_forms[i];

		if (entry[0] != form->type || length < form->length)
			continue;
		*id = (u32)read_little(entry + form->id, form->id_size);
		/* All ones is the broadcast id: no processor has it. */
		return (read_little(entry + form->flags, 4) & MADT_ENABLED) &&
		       *id != (form->id_size == 1 ? 0xff : 0xffffffff);
	}
	return false;
}

bool acpi_rsdp_valid(const struct acpi_memory *memory, u64 rsdp)
{
	struct rsdp copy;

	return rsdp && read_rsdp(memory, rsdp, &copy);
}

u32 acpi_processors(const struct acpi_memory *memory, u64 address, u32 *apic_ids, u32 max)
{
	struct rsdp rsdp;
	const u8 *madt;
	u32 length, count = 0;

	if (!address || !read_rsdp(memory, address, &rsdp))
		return 0;
	madt = find_madt(memory, &rsdp, &length);
	if (!madt)
		return 0;
	for (u32 at = MADT_ENTRIES; length - at >= 2 && count < max;) {
		u32 entry_length = madt[at + 1], id;

		if (entry_length < 2 || entry_length > length - at)
			break;
		if (madt_processor(madt + at, entry_length, &id) && !contains(apic_ids, count, id))
			apic_ids[count++] = id;
		at += entry_length;
	}
	return count;
}
