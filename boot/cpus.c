// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists the processors for the hypervisor. Called by boot/main.c with boot services at hand, on the
 * BSP: its own APIC id comes from CPUID, so that the list is never empty.
 */
#include <efi.h>

#include "boot/acpi_tables.h"
#include "boot/cpus.h"
#include "boot/firmware.h"
#include "boot/processor.h"
#include "boot/report.h"

/* PI 1.8, volume 2, 13.4. */
#define MP_SERVICES_GUID                                               \
	{                                                              \
		0x3fdda605, 0xa76e, 0x4f46,                            \
		{                                                      \
			0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 \
		}                                                      \
	}

#define PROCESSOR_IS_BSP  BIT(0)
#define PROCESSOR_ENABLED BIT(1)

struct processor_information {
	UINT64 processor_id; /* the local APIC's id */
	UINT32 status;
	UINT32 location[3];
	UINT32 extended_location[6];
};

struct mp_services {
	EFI_STATUS(EFIAPI *get_number_of_processors)
	(struct mp_services *this, UINTN *all, UINTN *enabled);
	EFI_STATUS(EFIAPI *get_processor_info)
	(struct mp_services *this, UINTN number, struct processor_information *information);
};

static void add_cpu(struct boot_info *info, u32 apic_id, bool bsp)
{
	info->cpus[info->cpu_count++] = (struct boot_cpu){ .apic_id = apic_id, .bsp = bsp };
}

static bool find_by_mp_services(struct boot_info *info)
{
	static EFI_GUID guid = MP_SERVICES_GUID;
	struct mp_services *mp;
	UINTN all, enabled;

	if (EFI_ERROR(firmware->BootServices->LocateProtocol(&guid, NULL, (void **)&mp)) ||
		EFI_ERROR(mp->get_number_of_processors(mp, &all, &enabled)))
		return false;
	add_cpu(info, processor_apic_id(), true);
	for (UINTN i = 0; i < all && info->cpu_count < BOOT_CPUS_MAX; i++) {
		struct processor_information cpu;

		if (!EFI_ERROR(mp->get_processor_info(mp, i, &cpu)) &&
			(cpu.status & PROCESSOR_ENABLED) && !(cpu.status & PROCESSOR_IS_BSP))
			add_cpu(info, (u32)cpu.processor_id, false);
	}
	return true;
}

static bool find_by_madt(struct boot_info *info)
{
	u32 bsp = processor_apic_id(), ids[BOOT_CPUS_MAX];
	u32 count = acpi_tables_processors(&info->memory_map, info->rsdp, ids, BOOT_CPUS_MAX);

	add_cpu(info, bsp, true);
	for (u32 i = 0; i < count && info->cpu_count < BOOT_CPUS_MAX; i++)
		if (ids[i] != bsp)
			add_cpu(info, ids[i], false);
	return count;
}

void cpus_find(struct boot_info *info)
{
	const char *source = find_by_mp_services(info) ? "the firmware"
			     : find_by_madt(info)      ? "the MADT"
						       : "CPUID alone";

	say("%u CPU%s (from %s)", info->cpu_count, info->cpu_count == 1 ? "" : "s", source);
}
