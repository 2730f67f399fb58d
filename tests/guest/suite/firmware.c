// SPDX-License-Identifier: BSD-2-Clause
/* Areas ACPI and BOOT: the tables a guest finds, and what the multiboot loader handed over. */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/string.h"

#define BIOS_START   0xe0000u
#define BIOS_END     0x100000u
#define EBDA_POINTER 0x40e

extern const u8 image_end[];

struct table {
	char signature[4];
	u32 length;
	u8 revision, checksum;
	char oem[6], oem_table[8];
	u32 oem_revision, creator, creator_revision;
} __packed;

static bool sums_to_zero(const void *at, u32 length)
{
	const u8 *bytes = at;
	u8 sum = 0;

	for (u32 i = 0; i < length; i++)
		sum = (u8)(sum + bytes[i]);
	return !sum;
}

static const u8 *scan(u64 from, u64 to)
{
	for (; from < to; from += 16)
		if (!memcmp((void *)from, "RSD PTR ", 8) && sums_to_zero((void *)from, 20))
			return (const u8 *)from;
	return NULL;
}

static const u8 *find_rsdp(void)
{
	const volatile u16 *pointer;
	u64 address = EBDA_POINTER, ebda;
	const u8 *found = NULL;

	__asm__("" : "+r"(address)); /* the compiler warns of reading low memory */
	pointer = (const volatile u16 *)address;
	ebda = (u64)*pointer << 4;
	if (ebda >= 0x80000 && ebda < 0xa0000)
		found = scan(ebda, ebda + 1024);
	return found ? found : scan(BIOS_START, BIOS_END);
}

static const struct table *table_at(u64 address)
{
	const struct table *table = (const struct table *)address;

	if (!expect(address >= 0x1000 && address < SIZE_4G, "table address %lx", address))
		case_abort();
	if (!expect(table->length >= sizeof(*table) && table->length < 0x100000, "length %x",
		    table->length))
		case_abort();
	expect(sums_to_zero(table, table->length), "checksum of %c%c%c%c", table->signature[0],
		table->signature[1], table->signature[2], table->signature[3]);
	return table;
}

static const struct table *root(u32 *entry_size)
{
	const u8 *rsdp = find_rsdp();
	u64 xsdt = 0;

	if (!rsdp) {
		case_fail("no RSDP in EBDA or BIOS area");
		case_abort();
	}
	if (rsdp[15] >= 2) {
		expect(sums_to_zero(rsdp, 36), "extended checksum of the RSDP");
		memcpy(&xsdt, rsdp + 24, 8);
	}
	*entry_size = xsdt ? 8 : 4;
	if (!xsdt)
		memcpy(&xsdt, rsdp + 16, 4);
	return table_at(xsdt);
}

static const struct table *find_table(const char *signature)
{
	u32 size;
	const struct table *list = root(&size);

	for (u32 at = sizeof(*list); at + size <= list->length; at += size) {
		u64 address = 0;
		const struct table *table;

		memcpy(&address, (const u8 *)list + at, size);
		table = table_at(address);
		if (!memcmp(table->signature, signature, 4))
			return table;
	}
	return NULL;
}

static u32 field(const struct table *table, u32 offset, u32 size)
{
	u32 value = 0;

	if (expect(offset + size <= table->length, "table has a field at %u", offset))
		memcpy(&value, (const u8 *)table + offset, size);
	return value;
}

CASE("BUG-53", "ACPI", "tables", acpi_tables)
{
	u32 size;
	const struct table *list = root(&size);

	expect(!memcmp(list->signature, size == 8 ? "XSDT" : "RSDT", 4),
		"signature of the root table");
	expect(find_table("FACP") != NULL, "FADT");
	expect(find_table("APIC") != NULL, "MADT");
}

CASE("BUG-53", "ACPI", "fadt", acpi_fadt)
{
	const struct table *fadt = find_table("FACP");
	u32 control;

	if (!expect(fadt != NULL, "FADT"))
		return;
	expect(!memcmp(table_at(field(fadt, 40, 4))->signature, "DSDT", 4), "DSDT");
	control = field(fadt, 64, 4);
	expect(control != 0, "PM1a control block");
	if (!field(fadt, 48, 4)) /* no SMI command: there is no other mode than ACPI */
		expect_equal(inw((u16)control) & 1, 1, "SCI_EN: ACPI mode is on");
	if (field(fadt, 76, 4))
		expect(inl((u16)field(fadt, 76, 4)) != 0xffffffff, "PM timer of the FADT");
	expect(field(fadt, 46, 2) < 16, "SCI line %u", field(fadt, 46, 2));
	if (!under_torpor())
		return;
	expect_equal(field(fadt, 64, 4), 0x604, "PM1a control");
	expect_equal(field(fadt, 76, 4), 0x608, "PM timer");
	expect_equal(field(fadt, 112, 4) >> 10 & 1, 1, "reset register is supported");
}

CASE("BUG-53", "ACPI", "madt", acpi_madt)
{
	const struct table *madt = find_table("APIC");
	const u8 *bytes = (const u8 *)madt;
	u32 cpus = 0, ioapics = 0;
	bool own = false;

	if (!expect(madt != NULL, "MADT"))
		return;
	expect_equal(field(madt, 36, 4), LAPIC_BASE, "local APIC address");
	for (u32 at = 44; at < madt->length; at += bytes[at + 1]) {
		if (!expect(bytes[at + 1] >= 2 && at + bytes[at + 1] <= madt->length,
			    "entry length at %u", at))
			return;
		if (bytes[at] == 0 && (bytes[at + 4] & 1)) {
			cpus++;
			own |= bytes[at + 3] == lapic_read(LAPIC_ID) >> 24;
		} else if (bytes[at] == 1) {
			ioapics++;
			expect_equal(*(const u32 *)(bytes + at + 4), IOAPIC_BASE, "IOAPIC address");
		} else if (bytes[at] == 2 && bytes[at + 3] == 0) {
			expect_equal(*(const u32 *)(bytes + at + 4), 2, "IRQ 0 is on pin 2");
		}
	}
	expect(cpus >= 1 && own, "an enabled CPU with our APIC id (%u CPUs)", cpus);
	expect_equal(ioapics, 1, "IOAPICs");
}

CASE("BUG-24", "BOOT", "multiboot-info", boot_info)
{
	expect_equal(boot.magic, MULTIBOOT_BOOT_MAGIC, "EAX at entry");
	expect(boot.flags & MBI_MEMORY, "memory sizes");
	expect(boot.memory_lower_kib >= 512 && boot.memory_lower_kib <= 640, "lower memory %u KiB",
		boot.memory_lower_kib);
	expect(boot.memory_upper_kib >= 31 * 1024, "upper memory %u KiB", boot.memory_upper_kib);
	expect(boot.flags & MBI_CMDLINE, "command line");
	expect(boot.cmdline[0] && boot.cmdline[0] != ' ', "it begins with a program name: '%s'",
		boot.cmdline);
}

CASE("BUG-24", "BOOT", "memory-map", boot_mmap)
{
	u64 kernel_end = (u64)image_end, covered = 0;

	if (!(boot.flags & MBI_MMAP))
		case_skip("no memory map");
	for (u32 i = 0; i < boot.mmap_count; i++) {
		const struct boot_range *a = &boot.mmap[i];

		expect(a->base + a->length > a->base, "range %u is not empty", i);
		if (a->type == 1 && a->base <= 0x100000 && a->base + a->length >= kernel_end)
			covered++;
		for (u32 j = 0; j < i; j++)
			expect(a->type != 1 || boot.mmap[j].type != 1 ||
					a->base >= boot.mmap[j].base + boot.mmap[j].length ||
					boot.mmap[j].base >= a->base + a->length,
				"RAM ranges %u and %u overlap", i, j);
		if (a->type == 1)
			expect(a->base >= 0x100000 || a->base + a->length <= 0xa0000,
				"RAM range %lx+%lx in the BIOS hole", a->base, a->length);
	}
	expect_equal(covered, 1, "RAM ranges that hold this kernel");
}

CASE("BUG-24", "BOOT", "modules", boot_modules)
{
	if (!boot.module_count)
		case_skip("no module was given");
	for (u32 i = 0; i < boot.module_count; i++) {
		const struct boot_module *m = &boot.modules[i];
		const char *wanted = NULL;
		u32 sum = 0;

		expect_equal(m->start & PAGE_MASK, 0, "module %u is page-aligned", i);
		expect(m->start >= (u64)image_end || m->end <= 0x100000,
			"module %u overlaps the kernel", i);
		expect(m->end >= m->start, "module %u: start %x end %x", i, m->start, m->end);
		for (u32 j = 0; j < i; j++)
			expect(m->start >= boot.modules[j].end || m->end <= boot.modules[j].start,
				"modules %u and %u overlap", i, j);
		for (const char *s = m->cmdline; *s; s++)
			if (!memcmp(s, "sum=", 4))
				wanted = s + 4;
		if (!wanted)
			continue;
		for (u32 at = m->start; at < m->end; at++)
			sum += *(const u8 *)(u64)at;
		expect_equal(sum, parse_number(wanted), "byte sum of module %u", i);
	}
}
