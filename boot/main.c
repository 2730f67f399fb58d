// SPDX-License-Identifier: BSD-2-Clause
/*
 * The UEFI program: reads the configuration, loads what it names and the hypervisor, tells it about
 * the machine and leaves. Called by the firmware's boot manager or the UEFI shell; on any mistake
 * it says what is wrong, frees what it took and returns an error.
 */
#include <efi.h>

#include "boot/acpi_tables.h"
#include "boot/boot_info.h"
#include "boot/cpus.h"
#include "boot/files.h"
#include "boot/firmware.h"
#include "boot/graphics.h"
#include "boot/image.h"
#include "boot/leave.h"
#include "boot/lib/config_memory.h"
#include "boot/lib/memory_map.h"
#include "boot/memory.h"
#include "boot/processor.h"
#include "boot/report.h"

static struct config_lines lines;

/* The machine: what the hypervisor must know of it, and whether the VMs fit. */
static EFI_STATUS describe_machine(struct boot_info *info, struct memory_buffer *buffer)
{
	char message[CONFIG_MESSAGE_MAX];
	EFI_STATUS status = processor_check();

	if (EFI_ERROR(status))
		return status;
	if (!memory_buffer_allocate(buffer) || !memory_map_take(buffer, &info->memory_map))
		return refuse(REFUSED_MACHINE,
			"no memory for the memory map; give the machine more memory");
	if (config_check_memory(&info->config, &lines, memory_map_free(&info->memory_map), message))
		return refuse(REFUSED_CONFIG, "%s", message);
	info->rsdp = acpi_tables_rsdp(&info->memory_map);
	cpus_find(info);
	graphics_find(&info->framebuffer);
	return EFI_SUCCESS;
}

static EFI_STATUS run(void)
{
	struct boot_info *info = (struct boot_info *)(uintptr_t)firmware_allocate(sizeof(*info));
	struct memory_buffer buffer;
	EFI_STATUS status;
	u64 entry;

	if (!info)
		return refuse(REFUSED_MACHINE,
			"no %zu KiB of memory to begin with; give the machine more memory",
			sizeof(*info) / 1024);
	info->magic = BOOT_INFO_MAGIC;
	info->runtime_services = (u64)(uintptr_t)firmware->RuntimeServices;

	status = files_load(&info->config, &lines);
	if (!EFI_ERROR(status))
		status = describe_machine(info, &buffer);
	if (!EFI_ERROR(status))
		status = image_load(info, &entry);
	if (!EFI_ERROR(status))
		status = leave(info, &buffer, entry);
	return status;
}

/* Called by crt0-efi. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_STATUS status;

	firmware_init(image, system);
	report_init();
	report_serial(CONFIG_SERIAL_DEFAULT, CONFIG_BAUD_DEFAULT);
	say("Torpor %s", TORPOR_VERSION);
	status = run();
	firmware_free_all();
	return status;
}
