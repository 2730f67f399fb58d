// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's ACPI tables, written into guest memory before the guest starts and again at its
 * reset. Tables are put one behind the other; length and checksum follow when a table is complete.
 * Section numbers are those of ACPI 6.5. The DSDT comes from dsdt.asl through iasl (targets.mk).
 */
#include "hv/dev/acpi_tables.h"
#include "hv/dev/platform_map.h"
#include "hv/lib/string.h"

static const u8 dsdt[] = {
#include "hv/dev/dsdt.aml.h"
};

#define OEM_ID	     "TORPOR"
#define OEM_TABLE_ID "TORPOR  "
#define CREATOR_ID   "TRPR"

/* 5.2.6 */
struct table_header {
	char signature[4];
	u32 length;
	u8 revision, checksum;
	char oem_id[6], oem_table_id[8];
	u32 oem_revision;
	char creator_id[4];
	u32 creator_revision;
} __packed;
_Static_assert(sizeof(struct table_header) == 36, "ACPI 6.5 5.2.6");

/* 5.2.5.3 */
struct rsdp {
	char signature[8];
	u8 checksum; /* of the first 20 bytes */
	char oem_id[6];
	u8 revision;
	u32 rsdt, length;
	u64 xsdt;
	u8 extended_checksum, reserved[3];
} __packed;
_Static_assert(sizeof(struct rsdp) == 36, "ACPI 6.5 5.2.5.3");
#define RSDP_V1_SIZE 20

/* 5.2.3.2: Generic Address Structure */
struct address {
	u8 space, bits, offset, access;
	u64 address;
} __packed;
#define SPACE_IO 1
enum { ACCESS_BYTE = 1, ACCESS_WORD = 2, ACCESS_DWORD = 3 };

/* 5.2.9, FADT 5.1, behind the header */
struct fadt {
	u32 facs, dsdt;
	u8 reserved0, preferred_pm_profile;
	u16 sci_interrupt;
	u32 smi_command;
	u8 acpi_enable, acpi_disable, s4bios_request, pstate_control;
	u32 pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control, pm_timer, gpe0, gpe1;
	u8 pm1_event_length, pm1_control_length, pm2_control_length, pm_timer_length;
	u8 gpe0_length, gpe1_length, gpe1_base, cst_control;
	u16 c2_latency, c3_latency, flush_size, flush_stride;
	u8 duty_offset, duty_width, day_alarm, month_alarm, century;
	u16 boot_architecture;
	u8 reserved1;
	u32 flags;
	struct address reset_register;
	u8 reset_value;
	u16 arm_boot_architecture;
	u8 minor_version;
	u64 x_facs, x_dsdt;
	struct address x_pm1a_event, x_pm1b_event, x_pm1a_control, x_pm1b_control, x_pm2_control;
	struct address x_pm_timer, x_gpe0, x_gpe1, sleep_control, sleep_status;
} __packed;
_Static_assert(sizeof(struct table_header) + sizeof(struct fadt) == 268, "FADT of ACPI 5.1");
_Static_assert(offsetof(struct fadt, flags) + sizeof(struct table_header) == 112, "FADT");
_Static_assert(offsetof(struct fadt, x_dsdt) + sizeof(struct table_header) == 140, "FADT");

#define LATENCY_NO_C2 101  /* above 100: not supported */
#define LATENCY_NO_C3 1001 /* above 1000: not supported */

/* 5.2.9.3. The 8042 bit stays 0: the controller is there for its reset pulse, no keyboard is. */
#define BOOT_LEGACY_DEVICES BIT(0)
#define BOOT_VGA_ABSENT	    BIT(2)

/* 5.2.9, table 5.10 */
#define FADT_WBINVD	     BIT(0)
#define FADT_PROC_C1	     BIT(2)
#define FADT_NO_POWER_BUTTON BIT(4)
#define FADT_NO_SLEEP_BUTTON BIT(5)
#define FADT_NO_RTC_WAKE     BIT(6)
#define FADT_RESET_REGISTER  BIT(10)

/* 5.2.10 */
struct facs {
	char signature[4];
	u32 length, hardware_signature, waking_vector, global_lock, flags;
	u64 x_waking_vector;
	u8 version, reserved[31];
} __packed;
_Static_assert(sizeof(struct facs) == 64, "ACPI 6.5 5.2.10");

/* 5.2.12 */
struct madt {
	u32 lapic_address, flags;
} __packed;
#define MADT_PC_COMPATIBLE BIT(0) /* 8259s are there as well */

struct madt_lapic {
	u8 type, length, uid, apic_id;
	u32 flags;
} __packed;
struct madt_ioapic {
	u8 type, length, id, reserved;
	u32 address, gsi_base;
} __packed;
struct madt_override {
	u8 type, length, bus, source;
	u32 gsi;
	u16 flags;
} __packed;
struct madt_lapic_nmi {
	u8 type, length, uid;
	u16 flags;
	u8 lint;
} __packed;
struct madt_x2apic {
	u8 type, length;
	u16 reserved;
	u32 x2apic_id, flags, uid;
} __packed;
struct madt_x2apic_nmi {
	u8 type, length;
	u16 flags;
	u32 uid;
	u8 lint, reserved[3];
} __packed;

enum {
	MADT_LAPIC = 0,
	MADT_IOAPIC = 1,
	MADT_OVERRIDE = 2,
	MADT_LAPIC_NMI = 4,
	MADT_X2APIC = 9,
	MADT_X2APIC_NMI = 10,
};
#define MADT_ENABLED	BIT(0)
#define APIC_ID_MAX	254 /* 255 means "all"; an id from there on needs the x2APIC entry */
#define INTI_AS_BUS	0   /* 5.2.12.5: ISA is edge, active high */
#define INTI_LEVEL_HIGH (1 | 3 << 2)

/* The area being filled and the table that is open in it. */
struct builder {
	struct guest_memory *memory;
	u64 next, end;
	u64 table;
	u8 sum; /* of the open table's bytes */
	bool failed;
};

static void put(struct builder *builder, const void *from, u64 size)
{
	const u8 *bytes = from;

	if (size > builder->end - builder->next ||
		!guest_write(builder->memory, gpa(builder->next), from, size)) {
		builder->failed = true;
		return;
	}
	builder->next += size;
	for (u64 i = 0; i < size; i++)
		builder->sum += bytes[i];
}

static u64 align_next(struct builder *builder, u64 align)
{
	builder->next = MIN(ALIGN_UP(builder->next, align), builder->end);
	return builder->next;
}

static void begin_table(struct builder *builder, const char signature[4], u8 revision)
{
	struct table_header header = {
		.revision = revision,
		.oem_id = OEM_ID,
		.oem_table_id = OEM_TABLE_ID,
		.oem_revision = 1,
		.creator_id = CREATOR_ID,
		.creator_revision = 1,
	};

	memcpy(header.signature, signature, sizeof(header.signature));
	builder->table = align_next(builder, 16);
	builder->sum = 0;
	put(builder, &header, sizeof(header));
}

/* Completes the open table and returns its address. */
static u64 end_table(struct builder *builder)
{
	u32 length = (u32)(builder->next - builder->table);
	u64 at = builder->table;
	u8 checksum = builder->sum;

	for (u32 i = 0; i < sizeof(length); i++)
		checksum += (u8)(length >> (8 * i));
	checksum = (u8)-checksum;
	if (!builder->failed &&
		(!guest_write(builder->memory, gpa(at + offsetof(struct table_header, length)),
			 &length, sizeof(length)) ||
			!guest_write(builder->memory,
				gpa(at + offsetof(struct table_header, checksum)), &checksum, 1)))
		builder->failed = true;
	return at;
}

static u64 put_facs(struct builder *builder)
{
	const struct facs facs = { .signature = "FACS", .length = sizeof(facs), .version = 2 };
	u64 at = align_next(builder, 64);

	put(builder, &facs, sizeof(facs));
	return at;
}

static u64 put_dsdt(struct builder *builder)
{
	u64 at = align_next(builder, 16);

	put(builder, dsdt, sizeof(dsdt)); /* complete as iasl wrote it */
	return at;
}

static struct address io_address(u16 port, u8 bits, u8 access)
{
	return (struct address){
		.space = SPACE_IO, .bits = bits, .access = access, .address = port
	};
}

static u64 put_fadt(struct builder *builder, u64 facs, u64 dsdt_address)
{
	const struct fadt fadt = {
		.facs = (u32)facs, /* x_facs stays 0: one of the two, 5.2.9 */
		.dsdt = (u32)dsdt_address,
		.sci_interrupt = IRQ_SCI,
		/* smi_command 0: ACPI mode is always on, there is no SMM. */
		.pm1a_event = PORT_PM1_EVENT,
		.pm1a_control = PORT_PM1_CONTROL,
		.pm_timer = PORT_PM_TIMER,
		.pm1_event_length = 4,
		.pm1_control_length = 2,
		.pm_timer_length = 4,
		.c2_latency = LATENCY_NO_C2,
		.c3_latency = LATENCY_NO_C3,
		.boot_architecture = BOOT_LEGACY_DEVICES | BOOT_VGA_ABSENT,
		.flags = FADT_WBINVD | FADT_PROC_C1 | FADT_NO_POWER_BUTTON | FADT_NO_SLEEP_BUTTON |
			 FADT_NO_RTC_WAKE | FADT_RESET_REGISTER,
		.reset_register = io_address(PORT_RESET, 8, ACCESS_BYTE),
		.reset_value = RESET_VALUE,
		.minor_version = 1,
		.x_dsdt = dsdt_address,
		.x_pm1a_event = io_address(PORT_PM1_EVENT, 32, ACCESS_WORD),
		.x_pm1a_control = io_address(PORT_PM1_CONTROL, 16, ACCESS_WORD),
		.x_pm_timer = io_address(PORT_PM_TIMER, 32, ACCESS_DWORD),
	};

	begin_table(builder, "FACP", 5);
	put(builder, &fadt, sizeof(fadt));
	return end_table(builder);
}

static void put_processor(struct builder *builder, u32 id)
{
	const struct madt_lapic lapic = { MADT_LAPIC, sizeof(lapic), (u8)id, (u8)id, MADT_ENABLED };
	const struct madt_x2apic x2apic = { MADT_X2APIC, sizeof(x2apic), 0, id, MADT_ENABLED, id };

	if (id <= APIC_ID_MAX)
		put(builder, &lapic, sizeof(lapic));
	else
		put(builder, &x2apic, sizeof(x2apic));
}

static u64 put_madt(struct builder *builder, u32 cpus)
{
	const struct madt madt = { LAPIC_BASE, MADT_PC_COMPATIBLE };
	const struct madt_ioapic ioapic = { MADT_IOAPIC, sizeof(ioapic), IOAPIC_ID, 0, IOAPIC_BASE,
		0 };
	const struct madt_override overrides[] = {
		{ MADT_OVERRIDE, sizeof(overrides[0]), 0, IRQ_PIT, 2, INTI_AS_BUS },
		{ MADT_OVERRIDE, sizeof(overrides[0]), 0, IRQ_SCI, IRQ_SCI, INTI_LEVEL_HIGH },
	};
	/* NMI comes in at LINT1 of all processors. */
	const struct madt_lapic_nmi nmi = { MADT_LAPIC_NMI, sizeof(nmi), 0xff, INTI_AS_BUS, 1 };
	const struct madt_x2apic_nmi x2apic_nmi = { MADT_X2APIC_NMI, sizeof(x2apic_nmi),
		INTI_AS_BUS, 0xffffffff, 1, { 0 } };

	begin_table(builder, "APIC", 4);
	put(builder, &madt, sizeof(madt));
	for (u32 id = 0; id < cpus && !builder->failed; id++)
		put_processor(builder, id);
	put(builder, &ioapic, sizeof(ioapic));
	put(builder, overrides, sizeof(overrides));
	put(builder, &nmi, sizeof(nmi));
	if (cpus > APIC_ID_MAX + 1)
		put(builder, &x2apic_nmi, sizeof(x2apic_nmi));
	return end_table(builder);
}

/* PCI Firmware 3.2 table 4-2, behind eight reserved bytes */
struct mcfg {
	u64 reserved;
	u64 base;
	u16 segment;
	u8 first_bus, last_bus;
	u32 reserved1;
} __packed;
_Static_assert(sizeof(struct mcfg) == 24, "PCI Firmware 3.2 4.1.2");

static u64 put_mcfg(struct builder *builder)
{
	const struct mcfg mcfg = { .base = PCI_ECAM_BASE };

	begin_table(builder, "MCFG", 1);
	put(builder, &mcfg, sizeof(mcfg));
	return end_table(builder);
}

/* AML (chapter 20) of one processor: Device (Cnnn) { Name (_HID, "ACPI0007") Name (_UID, n) } */
struct aml_processor {
	u8 device_op[2], package_length;
	char name[4];
	u8 hid_op;
	char hid_name[4];
	u8 hid_string_op;
	char hid[9];
	u8 uid_op;
	char uid_name[4];
	u8 uid_dword_op;
	u32 uid;
} __packed;
_Static_assert(sizeof(struct aml_processor) - 2 < 64, "PkgLength in one byte, 20.2.4");

#define AML_SCOPE_OP  0x10
#define AML_NAME_OP   0x08
#define AML_STRING_OP 0x0d
#define AML_DWORD_OP  0x0c

static u64 put_processor_ssdt(struct builder *builder, u32 cpus)
{
	static const char digits[] = "0123456789ABCDEF";
	/* PkgLength in three bytes: 4 bits of the length, then 8 and 8. It counts itself. */
	u32 length = 3 + 5 + cpus * (u32)sizeof(struct aml_processor);
	const u8 scope[] = { AML_SCOPE_OP, (u8)(0x80 | (length & 0xf)), (u8)(length >> 4),
		(u8)(length >> 12), '\\', '_', 'S', 'B', '_' };

	begin_table(builder, "SSDT", 2);
	put(builder, scope, sizeof(scope));
	for (u32 id = 0; id < cpus && !builder->failed; id++) {
		const struct aml_processor processor = {
			.device_op = { 0x5b, 0x82 },
			.package_length = sizeof(processor) - 2,
			.name = { 'C', digits[id >> 8 & 0xf], digits[id >> 4 & 0xf],
				digits[id & 0xf] },
			.hid_op = AML_NAME_OP,
			.hid_name = { '_', 'H', 'I', 'D' },
			.hid_string_op = AML_STRING_OP,
			.hid = "ACPI0007",
			.uid_op = AML_NAME_OP,
			.uid_name = { '_', 'U', 'I', 'D' },
			.uid_dword_op = AML_DWORD_OP,
			.uid = id,
		};

		put(builder, &processor, sizeof(processor));
	}
	return end_table(builder);
}

/* RSDT or XSDT: the addresses of the others, 4 or 8 bytes each. */
static u64 put_root(struct builder *builder, const char signature[4], const u64 *tables, u32 count,
	u32 entry_size)
{
	begin_table(builder, signature, 1);
	for (u32 i = 0; i < count; i++)
		put(builder, &tables[i], entry_size);
	return end_table(builder);
}

static u8 checksum_of(const void *from, u64 size)
{
	const u8 *bytes = from;
	u8 sum = 0;

	for (u64 i = 0; i < size; i++)
		sum += bytes[i];
	return (u8)-sum;
}

enum error acpi_tables_build(struct guest_memory *memory, u32 cpus, u64 *rsdp_address)
{
	struct builder builder = {
		.memory = memory,
		.next = GUEST_ACPI + sizeof(struct rsdp),
		.end = GUEST_ACPI + GUEST_ACPI_SIZE,
	};
	struct rsdp rsdp = {
		.signature = { 'R', 'S', 'D', ' ', 'P', 'T', 'R', ' ' },
		.oem_id = OEM_ID,
		.revision = 2,
		.length = sizeof(rsdp),
	};
	u64 facs, tables[4];

	/* The product of cpus and an entry's size must not wrap: more never fit into the area. */
	if (!cpus || cpus > GUEST_ACPI_SIZE / sizeof(struct aml_processor) ||
		!guest_fill(memory, gpa(GUEST_ACPI), 0, GUEST_ACPI_SIZE))
		return ERR_RANGE;
	facs = put_facs(&builder);
	tables[0] = put_fadt(&builder, facs, put_dsdt(&builder));
	tables[1] = put_madt(&builder, cpus);
	tables[2] = put_mcfg(&builder);
	tables[3] = put_processor_ssdt(&builder, cpus);
	rsdp.rsdt = (u32)put_root(&builder, "RSDT", tables, ARRAY_SIZE(tables), 4);
	rsdp.xsdt = put_root(&builder, "XSDT", tables, ARRAY_SIZE(tables), 8);
	rsdp.checksum = checksum_of(&rsdp, RSDP_V1_SIZE);
	rsdp.extended_checksum = checksum_of(&rsdp, sizeof(rsdp));
	if (builder.failed || !guest_write(memory, gpa(GUEST_ACPI), &rsdp, sizeof(rsdp)))
		return ERR_RANGE;
	*rsdp_address = GUEST_ACPI;
	return ERR_OK;
}
