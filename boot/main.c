// SPDX-License-Identifier: BSD-2-Clause
/*
 * The UEFI program: reads the configuration, loads what it names and the hypervisor, tells it about
 * the machine and leaves. Called by the firmware's boot manager or the UEFI shell; on any mistake
 * it says what is wrong, frees what it took and returns an error.
 */
#include <efi.h>

#include "boot/boot_info.h"
#include "boot/cpus.h"
#include "boot/files.h"
#include "boot/firmware.h"
#include "boot/image.h"
#include "boot/leave.h"
#include "boot/report.h"

static struct config_lines lines;

static EFI_STATUS run(void)
{
	struct boot_info *info = (struct boot_info *)(uintptr_t)firmware_allocate(sizeof(*info));
	EFI_STATUS status;
	u64 entry;

	if (!info)
		return refuse(REFUSED_MACHINE,
			"out of memory: no %zu KiB to begin with; give the machine more memory",
			sizeof(*info) / 1024);
	info->magic = BOOT_INFO_MAGIC;
	info->runtime_services = (u64)(uintptr_t)firmware->RuntimeServices;

	status = files_load(&info->config, &lines);
	cpus_find(info);
	if (!EFI_ERROR(status))
		status = image_load(info, &entry);
	if (!EFI_ERROR(status))
		status = leave(info, entry);
	return status;
}

/* Called by crt0-efi. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_STATUS status;

	firmware_init(image, system);
	report_init();
	report_serial(0x3f8, CONFIG_BAUD_DEFAULT);
	say("Torpor %s", TORPOR_VERSION);
	status = run();
	firmware_free_all();
	return status;
}
