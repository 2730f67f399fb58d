// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads \torpor\torpor.conf and what it names. Called by boot/main.c with boot services at hand.
 * The volume's content is hostile: sizes come from the file system, contents are not looked into
 * but for the kernel's magic numbers.
 */
#include "boot/files.h"
#include "boot/firmware.h"
#include "boot/lib/kernel_format.h"
#include "boot/report.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"

/* Some firmware's disk drivers fail on very large reads. */
#define READ_MAX (4ull << 20)
#define FILE_MAX (64ull << 30)

/* Characters of a path with the directory before it. */
#define PATH_MAX (CONFIG_PATH_MAX + 16)

/* Why a file could not be had; NULL if it could. */
typedef const char *reason_t;

static EFI_FILE_HANDLE volume;

static bool open_volume(void)
{
	static EFI_GUID loaded_image_guid = LOADED_IMAGE_PROTOCOL;
	static EFI_GUID file_system_guid = SIMPLE_FILE_SYSTEM_PROTOCOL;
	EFI_BOOT_SERVICES *services = firmware->BootServices;
	EFI_FILE_IO_INTERFACE *file_system;
	EFI_LOADED_IMAGE *loaded;

	if (EFI_ERROR(services->HandleProtocol(
		    firmware_image, &loaded_image_guid, (void **)&loaded)) ||
		EFI_ERROR(services->HandleProtocol(
			loaded->DeviceHandle, &file_system_guid, (void **)&file_system)))
		return false;
	return !EFI_ERROR(file_system->OpenVolume(file_system, &volume));
}

/* The path as UEFI wants it: from the root, with backslashes, 16 bits a character. */
static void uefi_path(const char *name, CHAR16 path[PATH_MAX])
{
	const char *prefix = *name == '\\' || *name == '/' ? "" : CONFIG_DIRECTORY;
	u32 length = 0;

	for (; *prefix; prefix++)
		path[length++] = (u8)*prefix;
	for (; *name; name++)
		path[length++] = *name == '/' ? '\\' : (u8)*name;
	path[length] = 0;
}

/* The size of a plain file that is not empty and fits into memory sizes. */
static reason_t file_size(EFI_FILE_HANDLE file, u64 limit, u64 *size)
{
	static EFI_GUID file_info_guid = EFI_FILE_INFO_ID;
	static u8 buffer[sizeof(EFI_FILE_INFO) + 2 * PATH_MAX] __aligned(8);
	const EFI_FILE_INFO *info = (const void *)buffer;
	UINTN buffer_size = sizeof(buffer);

	if (EFI_ERROR(file->GetInfo(file, &file_info_guid, &buffer_size, buffer)))
		return "the file system does not tell its size; check the volume";
	if (info->Attribute & EFI_FILE_DIRECTORY)
		return "it is a directory; name a file";
	if (!info->FileSize)
		return "it is empty; copy it again";
	if (info->FileSize > limit)
		return "it is too large; use a smaller one";
	*size = info->FileSize;
	return NULL;
}

static reason_t read_all(EFI_FILE_HANDLE file, u64 address, u64 size)
{
	while (size) {
		UINTN chunk = MIN(size, READ_MAX);

		if (EFI_ERROR(file->Read(file, &chunk, (void *)(uintptr_t)address)))
			return "reading it failed; check the volume";
		if (!chunk || chunk > size)
			return "it is shorter than the file system says; check the volume";
		address += chunk;
		size -= chunk;
	}
	return NULL;
}

static reason_t read_open_file(EFI_FILE_HANDLE file, u64 limit, u64 *address, u64 *size)
{
	reason_t reason = file_size(file, limit, size);

	if (reason)
		return reason;
	*address = firmware_allocate(*size);
	if (!*address)
		return "it does not fit into this machine's memory; use a smaller one";
	return read_all(file, *address, *size);
}

static reason_t read_file(const char *name, u64 limit, u64 *address, u64 *size)
{
	CHAR16 path[PATH_MAX];
	EFI_FILE_HANDLE file;
	reason_t reason;
	EFI_STATUS status;

	uefi_path(name, path);
	status = volume->Open(volume, &file, path, EFI_FILE_MODE_READ, 0);
	if (status == EFI_NOT_FOUND)
		return "there is no such file on the boot volume; copy it there or correct the "
		       "name";
	if (EFI_ERROR(status))
		return "it cannot be opened; check the volume";
	reason = read_open_file(file, limit, address, size);
	file->Close(file);
	return reason;
}

/* Loads one file that line `line` of the configuration names, if it names one. */
static EFI_STATUS load_named(struct boot_file *file, const char *what, u32 line)
{
	u64 start = firmware_milliseconds();
	reason_t reason;

	if (!file->name[0])
		return EFI_SUCCESS;
	reason = read_file(file->name, FILE_MAX, &file->address, &file->size);
	if (reason)
		return refuse(REFUSED_CONFIG, "%s:%u: %s %s: %s", CONFIG_FILE_NAME, line, what,
			file->name, reason);
	say("  %s %s: %llu KiB in %llu ms", what, file->name,
		(unsigned long long)(file->size + 1023) / 1024,
		(unsigned long long)(firmware_milliseconds() - start));
	return EFI_SUCCESS;
}

static EFI_STATUS load_kernel(struct vm_config *vm, u32 line)
{
	EFI_STATUS status = load_named(&vm->kernel, "kernel", line);

	if (EFI_ERROR(status))
		return status;
	if (!kernel_format_known((const void *)(uintptr_t)vm->kernel.address, vm->kernel.size))
		return refuse(REFUSED_CONFIG,
			"%s:%u: %s is not a kernel; give a Linux bzImage, a multiboot kernel or a "
			"PVH ELF file",
			CONFIG_FILE_NAME, line, vm->kernel.name);
	return EFI_SUCCESS;
}

static EFI_STATUS load_vm(struct vm_config *vm, const struct config_vm_lines *lines)
{
	EFI_STATUS status;

	say("vm %s: %llu MiB", vm->name, (unsigned long long)(vm->memory >> 20));
	status = load_kernel(vm, lines->kernel);
	if (!EFI_ERROR(status))
		status = load_named(&vm->initrd, "initrd", lines->initrd);
	for (u32 i = 0; !EFI_ERROR(status) && i < vm->module_count; i++)
		status = load_named(&vm->modules[i], "module", lines->modules[i]);
	return status;
}

static EFI_STATUS load_config(struct torpor_config *config, struct config_lines *lines)
{
	char message[CONFIG_MESSAGE_MAX];
	u64 address = 0, size = 0;
	reason_t reason = read_file(CONFIG_PATH, CONFIG_FILE_MAX, &address, &size);
	enum error error;

	if (reason)
		return refuse(REFUSED_CONFIG, "%s: %s", CONFIG_PATH, reason);
	error = config_parse((const char *)(uintptr_t)address, size, config, lines, message);
	firmware_free(address);
	if (error)
		return refuse(REFUSED_CONFIG, "%s", message);
	report_serial(config->hypervisor.serial_port, config->hypervisor.serial_baud);
	return EFI_SUCCESS;
}

EFI_STATUS files_load(struct torpor_config *config, struct config_lines *lines)
{
	EFI_STATUS status;

	if (!open_volume())
		return refuse(REFUSED_MACHINE, "the volume that Torpor was started from cannot be "
					       "read; start it from a FAT volume");
	status = load_config(config, lines);
	for (u32 i = 0; !EFI_ERROR(status) && i < config->vm_count; i++)
		status = load_vm(&config->vms[i], &lines->vms[i]);
	volume->Close(volume);
	return status;
}
