// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boots a Linux kernel bare, as scripts/bench-boot's yardstick: a UEFI program that reads kernel,
 * initial RAM disk and command line from its volume, tells the debug port the time stamp counter
 * and starts the kernel's EFI stub. All files are in memory before the count begins, as under
 * Torpor.
 */
#include <efi.h>

#define DEBUG_PORT 0xe9
#define PATH(name) L"\\bare\\" name

#define EFI_LOAD_FILE2_GUID                                            \
	{                                                              \
		0x4006c0c1, 0xfcb3, 0x403e,                            \
		{                                                      \
			0x99, 0x6d, 0x4a, 0x6c, 0x87, 0x24, 0xe0, 0x6d \
		}                                                      \
	}
/* The vendor media path at which the kernel's stub looks for its initial RAM disk. */
#define LINUX_INITRD_GUID                                              \
	{                                                              \
		0x5568e427, 0x68fc, 0x4f3d,                            \
		{                                                      \
			0xac, 0x74, 0xca, 0x55, 0x52, 0x31, 0xcc, 0x68 \
		}                                                      \
	}

struct file {
	UINT8 *data;
	UINTN size;
};

static EFI_BOOT_SERVICES *boot;
static struct file initrd;

static struct {
	VENDOR_DEVICE_PATH vendor;
	EFI_DEVICE_PATH end;
} __attribute__((packed)) initrd_path = {
	.vendor = { { MEDIA_DEVICE_PATH, MEDIA_VENDOR_DP, { sizeof(VENDOR_DEVICE_PATH), 0 } },
		LINUX_INITRD_GUID },
	.end = { END_DEVICE_PATH_TYPE, END_ENTIRE_DEVICE_PATH_SUBTYPE,
		{ sizeof(EFI_DEVICE_PATH), 0 } },
};

static void say(const char *text)
{
	for (; *text; text++)
		asm volatile("outb %0, %w1" : : "a"(*text), "Nd"(DEBUG_PORT));
}

static void say_number(UINT64 value)
{
	char digits[2] = { (char)('0' + value % 10), 0 };

	if (value >= 10)
		say_number(value / 10);
	say(digits);
}

static UINT64 read_tsc(void)
{
	UINT32 low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (UINT64)high << 32 | low;
}

static EFI_STATUS refuse(const char *what, EFI_STATUS status)
{
	say("@torpor {\"event\":\"refused\",\"kind\":\"config\",\"reason\":\"");
	say(what);
	say("\"}\n");
	return status;
}

static EFI_STATUS read_file(EFI_FILE_HANDLE root, const CHAR16 *path, struct file *file)
{
	static EFI_GUID info_guid = EFI_FILE_INFO_ID;
	UINT8 info_space[sizeof(EFI_FILE_INFO) + 256] __attribute__((aligned(8)));
	UINTN info_size = sizeof(info_space);
	EFI_PHYSICAL_ADDRESS address;
	EFI_FILE_HANDLE handle;
	EFI_STATUS status;

	status = root->Open(root, &handle, (CHAR16 *)path, EFI_FILE_MODE_READ, 0);
	if (EFI_ERROR(status))
		return status;
	status = handle->GetInfo(handle, &info_guid, &info_size, info_space);
	if (!EFI_ERROR(status)) {
		file->size = ((EFI_FILE_INFO *)info_space)->FileSize;
		status = boot->AllocatePages(
			AllocateAnyPages, EfiLoaderData, file->size / 4096 + 1, &address);
	}
	if (!EFI_ERROR(status)) {
		file->data = (UINT8 *)address;
		status = handle->Read(handle, &file->size, file->data);
	}
	handle->Close(handle);
	return status;
}

/* EFI_LOAD_FILE2_PROTOCOL.LoadFile: how the stub fetches the initial RAM disk. */
static EFI_STATUS EFIAPI load_initrd(EFI_LOAD_FILE_INTERFACE *this, EFI_DEVICE_PATH *path,
	BOOLEAN boot_policy, UINTN *size, VOID *buffer)
{
	UINTN room = *size;

	(void)this;
	(void)path;
	if (boot_policy)
		return EFI_UNSUPPORTED;
	*size = initrd.size;
	if (!buffer || room < initrd.size)
		return EFI_BUFFER_TOO_SMALL;
	boot->CopyMem(buffer, initrd.data, initrd.size);
	return EFI_SUCCESS;
}

static EFI_STATUS offer_initrd(void)
{
	static EFI_GUID path_guid = EFI_DEVICE_PATH_PROTOCOL_GUID;
	static EFI_GUID load_guid = EFI_LOAD_FILE2_GUID;
	static EFI_LOAD_FILE_INTERFACE load;
	EFI_HANDLE handle = NULL;

	load.LoadFile = load_initrd;
	return boot->InstallMultipleProtocolInterfaces(
		&handle, &path_guid, &initrd_path, &load_guid, &load, NULL);
}

static EFI_STATUS start(EFI_HANDLE image, const struct file *kernel, const struct file *cmdline)
{
	static EFI_GUID loaded_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
	static CHAR16 options[2048];
	EFI_LOADED_IMAGE *loaded;
	EFI_HANDLE handle;
	EFI_STATUS status;
	UINTN length = 0;

	status = boot->LoadImage(FALSE, image, NULL, kernel->data, kernel->size, &handle);
	if (!EFI_ERROR(status))
		status = boot->HandleProtocol(handle, &loaded_guid, (VOID **)&loaded);
	if (EFI_ERROR(status))
		return refuse("the kernel cannot be loaded", status);
	for (; length < cmdline->size && length < 2047; length++)
		options[length] = cmdline->data[length];
	loaded->LoadOptions = options;
	loaded->LoadOptionsSize = (UINT32)((length + 1) * sizeof(options[0]));
	say("@torpor {\"event\":\"enter\",\"name\":\"bare\",\"guest_tsc\":");
	say_number(read_tsc());
	say("}\n");
	return boot->StartImage(handle, NULL, NULL);
}

/* Called by gnu-efi's start code. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	static EFI_GUID loaded_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
	static EFI_GUID volume_guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	struct file kernel, cmdline;
	EFI_LOADED_IMAGE *loaded;
	EFI_FILE_IO_INTERFACE *volume;
	EFI_FILE_HANDLE root;
	EFI_STATUS status;

	boot = system->BootServices;
	status = boot->HandleProtocol(image, &loaded_guid, (VOID **)&loaded);
	if (!EFI_ERROR(status))
		status = boot->HandleProtocol(loaded->DeviceHandle, &volume_guid, (VOID **)&volume);
	if (!EFI_ERROR(status))
		status = volume->OpenVolume(volume, &root);
	if (EFI_ERROR(status))
		return refuse("the boot volume cannot be opened", status);
	status = read_file(root, PATH(L"vmlinuz"), &kernel);
	if (!EFI_ERROR(status))
		status = read_file(root, PATH(L"initrd.img"), &initrd);
	if (!EFI_ERROR(status))
		status = read_file(root, PATH(L"cmdline"), &cmdline);
	if (EFI_ERROR(status))
		return refuse("a file cannot be read", status);
	status = offer_initrd();
	if (EFI_ERROR(status))
		return refuse("the RAM disk cannot be offered", status);
	return start(image, &kernel, &cmdline);
}
