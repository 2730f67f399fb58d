// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a payload knows of its machine before any case runs: the loader's information, whose
 * hypervisor this is, whether the test device is there, and the way out.
 */
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/string.h"

#define PORT_LATCH     0xe0
#define PORT_SHUTDOWN  0x8900
#define TEST_SCRATCH   0xff000000ull
#define SIGNATURE_LEAF 0x40000000u

struct boot_information boot;

struct multiboot_info {
	u32 flags, memory_lower, memory_upper, boot_device, cmdline, module_count, modules;
	u32 symbols[4];
	u32 mmap_length, mmap, drives_length, drives, config_table, name;
};

struct multiboot_module {
	u32 start, end, cmdline, reserved;
};

struct multiboot_mmap {
	u32 size; /* of what follows */
	u64 base, length;
	u32 type;
} __packed;

static void copy_text(char *to, size_t size, u32 from)
{
	const char *text = (const char *)(u64)from;
	size_t length = MIN(strlen(text), size - 1);

	memcpy(to, text, length);
	to[length] = 0;
}

static void read_mmap(const struct multiboot_info *info)
{
	for (u32 at = 0; at < info->mmap_length && boot.mmap_count < BOOT_MMAP_MAX;) {
		const struct multiboot_mmap *entry = (const void *)((u64)info->mmap + at);

		boot.mmap[boot.mmap_count++] =
			(struct boot_range){ entry->base, entry->length, entry->type };
		at += entry->size + sizeof(entry->size);
	}
}

void boot_read(u32 magic, u32 info_address)
{
	const struct multiboot_info *info = (const void *)(u64)info_address;

	boot.magic = magic;
	if (magic != MULTIBOOT_BOOT_MAGIC)
		return;
	boot.flags = info->flags;
	boot.memory_lower_kib = info->memory_lower;
	boot.memory_upper_kib = info->memory_upper;
	if (info->flags & MBI_CMDLINE)
		copy_text(boot.cmdline, sizeof(boot.cmdline), info->cmdline);
	if (info->flags & MBI_NAME)
		copy_text(boot.name, sizeof(boot.name), info->name);
	if (info->flags & MBI_MMAP)
		read_mmap(info);
	if (!(info->flags & MBI_MODULES))
		return;
	boot.module_count = MIN(info->module_count, BOOT_MODULES_MAX);
	for (u32 i = 0; i < boot.module_count; i++) {
		const struct multiboot_module *module =
			(const struct multiboot_module *)(u64)info->modules + i;

		boot.modules[i].start = module->start;
		boot.modules[i].end = module->end;
		if (module->cmdline)
			copy_text(boot.modules[i].cmdline, sizeof(boot.modules[i].cmdline),
				module->cmdline);
	}
}

const char *boot_arguments(void)
{
	const char *s = boot.cmdline;

	while (*s && *s != ' ')
		s++;
	return s;
}

void __noreturn guest_exit(u8 value)
{
	outb(PORT_EXIT, value);
	for (const char *s = "Shutdown"; *s; s++) /* bare Bochs */
		outb(PORT_SHUTDOWN, (u8)*s);
	for (;;)
		__asm__ volatile("cli; hlt");
}

static bool hypervisor_is(const char *signature)
{
	struct cpuid leaf;

	if (!cpuid_ecx(1, 31))
		return false;
	leaf = cpuid(SIGNATURE_LEAF, 0);
	return !memcmp(&leaf.ebx, signature, 12);
}

bool under_torpor(void)
{
	return hypervisor_is("TorporTorpor");
}

bool under_qemu_tcg(void)
{
	return hypervisor_is("TCGTCGTCGTCG");
}

bool have_test_device(void)
{
	outl(PORT_LATCH, 0x5aa51221);
	if (inl(PORT_LATCH) != 0x5aa51221)
		return false;
	outl(PORT_LATCH, 0);
	return inl(PORT_LATCH) == 0;
}

u64 mmio_scratch(void)
{
	return have_test_device() ? TEST_SCRATCH : option_number("scratch", 0);
}
