// SPDX-License-Identifier: BSD-2-Clause
/* Looks for a frame buffer among the firmware's screens. Called by boot/main.c. */
#include <efi.h>

#include "boot/firmware.h"
#include "boot/graphics.h"
#include "boot/lib/gop.h"

static EFI_GUID gop_guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;

static bool framebuffer_of(EFI_HANDLE handle, struct boot_framebuffer *framebuffer)
{
	EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
	const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info;
	struct gop_mode mode;

	if (EFI_ERROR(firmware->BootServices->HandleProtocol(handle, &gop_guid, (void **)&gop)) ||
		!gop->Mode || !gop->Mode->Info)
		return false;
	info = gop->Mode->Info;
	mode = (struct gop_mode){
		.base = gop->Mode->FrameBufferBase,
		.size = gop->Mode->FrameBufferSize,
		.width = info->HorizontalResolution,
		.height = info->VerticalResolution,
		.stride = info->PixelsPerScanLine,
		.format = info->PixelFormat,
		.red_mask = info->PixelInformation.RedMask,
		.green_mask = info->PixelInformation.GreenMask,
		.blue_mask = info->PixelInformation.BlueMask,
		.reserved_mask = info->PixelInformation.ReservedMask,
	};
	return gop_framebuffer(&mode, framebuffer);
}

void graphics_find(struct boot_framebuffer *framebuffer)
{
	EFI_HANDLE *handles;
	UINTN count;

	if (EFI_ERROR(firmware->BootServices->LocateHandleBuffer(
		    ByProtocol, &gop_guid, NULL, &count, &handles)))
		return;
	for (UINTN i = 0; i < count; i++)
		if (framebuffer_of(handles[i], framebuffer))
			break;
	firmware->BootServices->FreePool(handles);
}
