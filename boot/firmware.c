// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory and time from the firmware. Called by all of the loader's UEFI parts while boot services
 * are there. Allocations are remembered, so that a refusal leaves nothing behind.
 */
#include "boot/firmware.h"
#include "boot/boot_info.h"
#include "hv/lib/string.h"

/* Files of all VMs, segments, and a dozen of the loader's own. */
#define ALLOCATIONS_MAX		 (CONFIG_VMS_MAX * (2 + CONFIG_MODULES_MAX) + BOOT_SEGMENTS_MAX + 16)
#define CALIBRATION_MICROSECONDS 1000

EFI_SYSTEM_TABLE *firmware;
EFI_HANDLE firmware_image;

static struct {
	u64 address;
	u64 pages;
} allocations[ALLOCATIONS_MAX];

static u64 tsc_start, tsc_per_millisecond;

void firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	firmware_image = image;
	firmware = system;
	system->BootServices->SetWatchdogTimer(0, 0, 0, NULL);

	tsc_start = __builtin_ia32_rdtsc();
	system->BootServices->Stall(CALIBRATION_MICROSECONDS);
	tsc_per_millisecond = __builtin_ia32_rdtsc() - tsc_start;
	tsc_per_millisecond = MAX(tsc_per_millisecond * 1000 / CALIBRATION_MICROSECONDS, 1u);
}

u64 firmware_milliseconds(void)
{
	return (__builtin_ia32_rdtsc() - tsc_start) / tsc_per_millisecond;
}

u64 firmware_allocate(u64 size)
{
	u64 pages = ALIGN_UP(size, PAGE_SIZE) / PAGE_SIZE;
	EFI_PHYSICAL_ADDRESS address;

	for (u32 i = 0; i < ALLOCATIONS_MAX; i++) {
		if (allocations[i].pages)
			continue;
		if (EFI_ERROR(firmware->BootServices->AllocatePages(
			    AllocateAnyPages, EfiLoaderData, pages, &address)))
			return 0;
		memset((void *)(uintptr_t)address, 0, pages * PAGE_SIZE);
		allocations[i].address = address;
		allocations[i].pages = pages;
		return address;
	}
	return 0;
}

static void free_slot(u32 slot)
{
	firmware->BootServices->FreePages(allocations[slot].address, allocations[slot].pages);
	allocations[slot].pages = 0;
}

void firmware_free(u64 address)
{
	for (u32 i = 0; i < ALLOCATIONS_MAX; i++)
		if (allocations[i].pages && allocations[i].address == address)
			free_slot(i);
}

void firmware_free_all(void)
{
	for (u32 i = 0; i < ALLOCATIONS_MAX; i++)
		if (allocations[i].pages)
			free_slot(i);
}
