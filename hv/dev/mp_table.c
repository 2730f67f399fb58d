// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's MP tables, written into guest memory before the guest starts and again at its reset.
 * Section numbers are those of the MultiProcessor Specification 1.4. The addresses and lines are
 * the platform's.
 */
#include "hv/dev/mp_table.h"
#include "hv/dev/platform_map.h"
#include "hv/lib/string.h"

/* 4.1 */
struct floating_pointer {
	char signature[4];
	u32 table;
	u8 length, revision, checksum, features[5];
} __packed;
_Static_assert(sizeof(struct floating_pointer) == 16, "MP 1.4 4.1");
#define MP_REVISION 4

/* 4.2 */
struct table_header {
	char signature[4];
	u16 length;
	u8 revision, checksum;
	char oem_id[8], product_id[12];
	u32 oem_table;
	u16 oem_table_size, entries;
	u32 lapic;
	u16 extended_length;
	u8 extended_checksum, reserved;
} __packed;
_Static_assert(sizeof(struct table_header) == 44, "MP 1.4 4.2");

/* 4.3.1 to 4.3.5 */
struct processor {
	u8 type, apic_id, apic_version, flags;
	u32 signature, features, reserved[2];
} __packed;
_Static_assert(sizeof(struct processor) == 20, "MP 1.4 4.3.1");
struct bus {
	u8 type, id;
	char name[6];
} __packed;
struct ioapic {
	u8 type, id, version, flags;
	u32 address;
} __packed;
/* Of the IOAPIC and of the local APICs alike. */
struct interrupt {
	u8 type, kind;
	u16 flags;
	u8 bus, line, apic, pin;
} __packed;

enum { MP_PROCESSOR, MP_BUS, MP_IOAPIC, MP_INTERRUPT, MP_LOCAL_INTERRUPT };
enum { KIND_INT, KIND_NMI, KIND_SMI, KIND_EXTINT };

#define PROCESSOR_ENABLED BIT(0)
#define PROCESSOR_BSP	  BIT(1)
#define LAPIC_VERSION	  0x14
#define IOAPIC_VERSION	  0x20
#define FEATURE_FPU	  BIT(0)
#define FEATURE_APIC	  BIT(9)
#define ISA_BUS		  0
#define ISA_LINES	  16
#define CASCADE		  2
#define PIT_PIN		  2
#define AS_BUS		  0 /* ISA: edge, active high */
#define LEVEL_HIGH	  (1 | 3 << 2)
#define ALL_APICS	  0xff
#define PROCESSORS_MAX	  255

/* The BIOS data area, and where the table goes when the EBDA is too small. */
#define BDA_EBDA_SEGMENT 0x40e
#define BDA_MEMORY_KIB	 0x413
#define EBDA_SIZE_KIB	 1
#define EBDA_END	 (GUEST_EBDA + EBDA_SIZE_KIB * 1024)
#define FALLBACK	 (GUEST_ACPI + GUEST_ACPI_SIZE)
#define FALLBACK_SIZE	 0x10000

/* The table being written: where the next entry goes and the sum of the bytes so far. */
struct builder {
	struct guest_memory *memory;
	u64 next;
	u16 entries;
	u8 sum;
	bool failed;
};

static u8 sum_of(const void *from, u64 size)
{
	const u8 *bytes = from;
	u8 sum = 0;

	for (u64 i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static void put_entry(struct builder *builder, const void *entry, u64 size)
{
	if (!guest_write(builder->memory, gpa(builder->next), entry, size))
		builder->failed = true;
	builder->next += size;
	builder->sum += sum_of(entry, size);
	builder->entries++;
}

static void put_processors(struct builder *builder, u32 cpus)
{
	for (u32 id = 0; id < cpus; id++) {
		const struct processor processor = {
			.type = MP_PROCESSOR,
			.apic_id = (u8)id,
			.apic_version = LAPIC_VERSION,
			.flags = PROCESSOR_ENABLED | (id ? 0 : PROCESSOR_BSP),
			.features = FEATURE_FPU | FEATURE_APIC,
		};

		put_entry(builder, &processor, sizeof(processor));
	}
}

/* The ISA lines at the IOAPIC as in the MADT, and the 8259s behind its pin 0 (3.6.2.3). */
static void put_interrupts(struct builder *builder)
{
	const struct interrupt extint = { MP_INTERRUPT, KIND_EXTINT, AS_BUS, ISA_BUS, 0, IOAPIC_ID,
		0 };

	put_entry(builder, &extint, sizeof(extint));
	for (u8 line = 0; line < ISA_LINES; line++) {
		const struct interrupt interrupt = { MP_INTERRUPT, KIND_INT,
			line == IRQ_SCI ? LEVEL_HIGH : AS_BUS, ISA_BUS, line, IOAPIC_ID,
			line == IRQ_PIT ? PIT_PIN : line };

		if (line != CASCADE)
			put_entry(builder, &interrupt, sizeof(interrupt));
	}
}

static void put_local_interrupts(struct builder *builder)
{
	const struct interrupt lints[] = {
		{ MP_LOCAL_INTERRUPT, KIND_EXTINT, AS_BUS, ISA_BUS, 0, ALL_APICS, 0 },
		{ MP_LOCAL_INTERRUPT, KIND_NMI, AS_BUS, ISA_BUS, 0, ALL_APICS, 1 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(lints); i++)
		put_entry(builder, &lints[i], sizeof(lints[i]));
}

/* The configuration table at that address. */
static bool put_table(struct guest_memory *memory, u64 at, u32 cpus)
{
	static const struct bus bus = { MP_BUS, ISA_BUS, { 'I', 'S', 'A', ' ', ' ', ' ' } };
	static const struct ioapic ioapic = { MP_IOAPIC, IOAPIC_ID, IOAPIC_VERSION, 1,
		IOAPIC_BASE };
	struct builder builder = { .memory = memory, .next = at + sizeof(struct table_header) };
	struct table_header header = {
		.signature = { 'P', 'C', 'M', 'P' },
		.revision = MP_REVISION,
		.oem_id = { 'T', 'O', 'R', 'P', 'O', 'R', ' ', ' ' },
		.product_id = { 'V', 'M', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ' },
		.lapic = LAPIC_BASE,
	};

	put_processors(&builder, cpus);
	put_entry(&builder, &bus, sizeof(bus));
	put_entry(&builder, &ioapic, sizeof(ioapic));
	put_interrupts(&builder);
	put_local_interrupts(&builder);
	header.length = (u16)(builder.next - at);
	header.entries = builder.entries;
	header.checksum = (u8) - (builder.sum + sum_of(&header, sizeof(header)));
	return !builder.failed && guest_write(memory, gpa(at), &header, sizeof(header));
}

static bool put_floating_pointer(struct guest_memory *memory, u64 at)
{
	struct floating_pointer pointer = {
		.signature = { '_', 'M', 'P', '_' },
		.table = (u32)(at + sizeof(pointer)),
		.length = sizeof(pointer) / 16,
		.revision = MP_REVISION,
	};

	pointer.checksum = (u8)-sum_of(&pointer, sizeof(pointer));
	return guest_write(memory, gpa(at), &pointer, sizeof(pointer));
}

static u64 tables_size(u32 cpus)
{
	return sizeof(struct floating_pointer) + sizeof(struct table_header) +
	       cpus * sizeof(struct processor) + sizeof(struct bus) + sizeof(struct ioapic) +
	       (ISA_LINES + 2) * sizeof(struct interrupt);
}
_Static_assert(64 + PROCESSORS_MAX * sizeof(struct processor) + 256 < FALLBACK_SIZE, "room");

enum error mp_table_build(struct guest_memory *memory, u32 cpus)
{
	const u16 ebda_segment = GUEST_EBDA >> 4, memory_kib = GUEST_EBDA / 1024;
	const u8 ebda_size = EBDA_SIZE_KIB;
	u64 at = GUEST_MP_TABLE;

	cpus = MIN(cpus, PROCESSORS_MAX);
	if (tables_size(cpus) > EBDA_END - GUEST_MP_TABLE)
		at = FALLBACK;
	if (cpus && guest_fill(memory, gpa(GUEST_EBDA), 0, EBDA_END - GUEST_EBDA) &&
		guest_write(memory, gpa(GUEST_EBDA), &ebda_size, sizeof(ebda_size)) &&
		guest_write(memory, gpa(BDA_EBDA_SEGMENT), &ebda_segment, sizeof(ebda_segment)) &&
		guest_write(memory, gpa(BDA_MEMORY_KIB), &memory_kib, sizeof(memory_kib)) &&
		put_table(memory, at + sizeof(struct floating_pointer), cpus) &&
		put_floating_pointer(memory, at))
		return ERR_OK;
	return ERR_RANGE;
}
