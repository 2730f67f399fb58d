// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer target for the guest loaders: `make fuzz-loader` builds and runs it for a minute. The
 * first four bytes choose the VM (memory, command line, initrd, entry), the rest is the kernel's
 * file. Beyond the sanitizers' checks: firmware's areas stay as they are, and an accepted kernel
 * starts inside RAM.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/dev/platform_map.h"
#include "hv/lib/log.h"
#include "hv/vm/guest_map.h"
#include "hv/vm/loader.h"

#define RAM	   (24u << 20)
#define CANARY	   0xa5
#define CHOICES	   4
#define INITRD_MAX 0x10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static u8 ram[RAM] __aligned(4096);
static u8 initrd[INITRD_MAX];

void log_line(enum log_level level, const char *format, ...)
{
	char line[1024];
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
}

void panic(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	abort();
}

static void require(bool condition)
{
	if (!condition)
		abort();
}

static struct guest_memory make_memory(u32 size)
{
	u64 cut = 0x101000;

	return (struct guest_memory){ .size = size,
		.count = 2,
		.extents = { { gpa(0), cut, ram + RAM - cut, hpa(0) },
			{ gpa(cut), size - cut, ram, hpa(0) } } };
}

static void check_firmware_area(const struct guest_memory *memory)
{
	static u8 area[GUEST_BIOS_END - GUEST_EBDA];

	require(guest_read(memory, gpa(GUEST_EBDA), area, sizeof(area)));
	for (size_t i = 0; i < sizeof(area); i++)
		require(area[i] == CANARY);
}

static void check_entry(const struct guest_memory *memory, const struct guest_entry *entry)
{
	require(guest_pointer(memory, gpa(entry->rip), 1) != NULL);
	require(guest_pointer(memory, gpa(entry->gdt_base), entry->gdt_limit + 1) != NULL);
	require(guest_pointer(memory, gpa(entry->rsp - 8), 8) != NULL);
	require((entry->mode == ENTRY_LONG64) == (entry->cr3 != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vm_config config;
	char message[GUEST_MESSAGE_MAX];
	struct guest_files files = { 0 };
	struct guest_memory memory;
	struct guest_entry entry;

	if (size < CHOICES)
		return 0;
	memory = make_memory((4u << 20) + (data[0] % 16u << 20));
	memset(&config, 0, sizeof(config));
	strcpy(config.name, "fuzz");
	strcpy(config.kernel.name, "kernel");
	memset(config.cmdline, 'c', data[1] * 8u);
	files.kernel = (struct guest_file){ data + CHOICES, size - CHOICES };
	files.initrd = (struct guest_file){ initrd, data[2] * 256u };
	files.entry32 = data[3] & 1;
	config.module_count = data[3] >> 1 & 1;
	files.modules[0] = (struct guest_file){ initrd, data[3] };
	require(guest_fill(&memory, gpa(GUEST_EBDA), CANARY, GUEST_BIOS_END - GUEST_EBDA));
	if (guest_load(&config, &memory, &files, GUEST_ACPI, &entry, message, sizeof(message)))
		require(message[0] && memchr(message, 0, sizeof(message)) &&
			!strchr(message, '\n'));
	else
		check_entry(&memory, &entry);
	check_firmware_area(&memory);
	return 0;
}
