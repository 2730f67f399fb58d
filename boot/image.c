// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places the hypervisor in memory. Called by boot/main.c with boot services at hand; the ELF file
 * is the one that payload.asm embeds.
 */
#include "boot/image.h"
#include "boot/firmware.h"
#include "boot/lib/elf.h"
#include "boot/report.h"
#include "hv/lib/string.h"

extern const u8 payload_start[], payload_end[];

static EFI_STATUS load_segment(struct boot_info *info, const struct elf_segment *segment)
{
	struct boot_segment *to = &info->segments[info->segment_count];
	u64 base = elf_segment_base(segment), span = elf_segment_span(segment);
	u64 address = firmware_allocate(span);

	if (!address)
		return refuse(REFUSED_MACHINE,
			"out of memory: no %llu KiB for the hypervisor; give the machine more "
			"memory",
			(unsigned long long)span / 1024);
	memcpy((void *)(uintptr_t)(address + (segment->virtual_address - base)),
		payload_start + segment->file_offset, segment->file_size);
	*to = (struct boot_segment){
		.virtual_address = base,
		.address = address,
		.size = span,
		.writable = segment->writable,
		.executable = segment->executable,
	};
	info->segment_count++;
	return EFI_SUCCESS;
}

EFI_STATUS image_load(struct boot_info *info, u64 *entry)
{
	struct elf_image image;
	const char *why;

	if (elf_parse(payload_start, (u64)(payload_end - payload_start), &image, &why))
		return refuse(REFUSED_MACHINE,
			"the embedded hypervisor %s; build or copy BOOTX64.EFI again", why);
	for (u32 i = 0; i < image.segment_count; i++) {
		EFI_STATUS status = load_segment(info, &image.segments[i]);

		if (EFI_ERROR(status))
			return status;
	}
	*entry = image.entry;
	return EFI_SUCCESS;
}
