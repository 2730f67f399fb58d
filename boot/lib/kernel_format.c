// SPDX-License-Identifier: BSD-2-Clause
/*
 * First look at a kernel file, so that a wrong file is refused while its line in the configuration
 * is known. Called by boot/files.c; the file's bytes are hostile.
 */
#include "boot/lib/kernel_format.h"
#include "hv/lib/string.h"

#define ELF_MAGIC 0x464c457fu

/* Linux, Documentation/arch/x86/boot.rst: "HdrS" at 0x202, 0xaa55 at 0x1fe. */
#define LINUX_BOOT_FLAG_OFFSET 0x1fe
#define LINUX_BOOT_FLAG	       0xaa55u
#define LINUX_MAGIC_OFFSET     0x202
#define LINUX_MAGIC	       0x53726448u

/* Multiboot 0.6.96, 3.1.1: in the first 8192 bytes, 4-byte aligned, 12 bytes that sum up to 0. */
#define MULTIBOOT_SEARCH 8192
#define MULTIBOOT_MAGIC	 0x1badb002u

static u32 read32(const void *file, u64 offset)
{
	u32 value;

	memcpy(&value, (const u8 *)file + offset, sizeof(value));
	return value;
}

static bool is_linux(const void *file, u64 size)
{
	return size >= LINUX_MAGIC_OFFSET + 4 && read32(file, LINUX_MAGIC_OFFSET) == LINUX_MAGIC &&
	       (read32(file, LINUX_BOOT_FLAG_OFFSET) & 0xffff) == LINUX_BOOT_FLAG;
}

static bool is_multiboot(const void *file, u64 size)
{
	u64 end = MIN(size, (u64)MULTIBOOT_SEARCH);

	for (u64 at = 0; at + 12 <= end; at += 4) {
		u32 sum = read32(file, at) + read32(file, at + 4) + read32(file, at + 8);

		if (read32(file, at) == MULTIBOOT_MAGIC && !sum)
			return true;
	}
	return false;
}

bool kernel_format_known(const void *file, u64 size)
{
	return is_linux(file, size) || is_multiboot(file, size) ||
	       (size >= 4 && read32(file, 0) == ELF_MAGIC);
}
