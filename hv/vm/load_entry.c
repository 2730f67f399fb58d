// SPDX-License-Identifier: BSD-2-Clause
/*
 * The state a guest kernel is entered in: the area in guest memory for what the boot protocol hands
 * over, and in it a GDT, a stack, and identity page tables for an entry in 64-bit mode. Called by
 * the loaders of the protocols after the kernel has its place.
 */
#include "hv/dev/platform_map.h"
#include "hv/lib/log.h"
#include "hv/vm/load.h"

/*
 * __BOOT_CS and __BOOT_DS of Linux's boot protocol; the other protocols leave the choice to the
 * loader.
 */
#define BOOT_CS 0x10
#define BOOT_DS 0x18

/* Segment descriptors (SDM 3A 3.4.5): base 0, limit 4 GiB, present, DPL 0, accessed. */
#define DESCRIPTOR_CODE32 0x00cf9b000000ffffull
#define DESCRIPTOR_CODE64 0x00af9b000000ffffull
#define DESCRIPTOR_DATA	  0x00cf93000000ffffull

/* Page-table entries (SDM 3A 4.5.4): present, writable, and a 2-MiB page. */
#define TABLE_ENTRY (BIT(0) | BIT(1))
#define PAGE_ENTRY  (BIT(0) | BIT(1) | BIT(7))
#define MAPPED_GIB  4

enum error load_area_init(struct load *load, u64 size, struct load_area *area)
{
	u64 start;

	size = ALIGN_UP(size, PAGE_SIZE);
	/* Page 0 is left alone: real-mode vectors, the BIOS data area, and no address is NULL. */
	if (!load_place_high(load, size, PAGE_SIZE, PAGE_SIZE, GUEST_EBDA, "boot data", &start) &&
		!load_place_low(load, size, PAGE_SIZE, load_highest_end(load), SIZE_4G, "boot data",
			&start))
		return load_refuse(load, ERR_RANGE,
			"no room for %lu KiB of boot data beside the kernel: give the VM more "
			"memory",
			size >> 10);
	if (!guest_fill(load->memory, gpa(start), 0, size))
		return load_refuse(load, ERR_RANGE, "the boot data at %#lx is not in RAM", start);
	*area = (struct load_area){ .load = load, .next = start, .end = start + size };
	return ERR_OK;
}

u64 load_area_take(struct load_area *area, u64 size, u64 align)
{
	u64 start = ALIGN_UP(area->next, align);

	ASSERT(start + size <= area->end);
	area->next = start + size;
	return start;
}

static void area_write(struct load_area *area, u64 to, const void *from, u64 size)
{
	bool written = guest_write(area->load->memory, gpa(to), from, size);

	ASSERT(written); /* load_area_init() has written there */
}

u64 load_area_put(struct load_area *area, const void *from, u64 size)
{
	u64 start = load_area_take(area, size, 16);

	area_write(area, start, from, size);
	return start;
}

u64 load_area_put_string(struct load_area *area, const char *text)
{
	u64 length = strnlen(text, CONFIG_CMDLINE_MAX - 1);
	u64 start = load_area_take(area, length + 1, 16); /* zeroed: terminated */

	area_write(area, start, text, length);
	return start;
}

u64 load_area_put_words(struct load_area *area, const char *word, const char *text)
{
	u64 first = strlen(word), second = strnlen(text, CONFIG_CMDLINE_MAX - 1);
	u64 start = load_area_take(area, first + 1 + second + 1, 16);

	area_write(area, start, word, first);
	area_write(area, start + first, " ", 1);
	area_write(area, start + first + 1, text, second);
	return start;
}

/* A PML4 whose first 4 GiB are mapped 1:1; returns its address. */
static u64 put_identity_map(struct load_area *area)
{
	u64 pml4 = load_area_take(area, PAGE_SIZE, PAGE_SIZE);
	u64 pdpt = load_area_take(area, PAGE_SIZE, PAGE_SIZE);
	u64 directories = load_area_take(area, MAPPED_GIB * PAGE_SIZE, PAGE_SIZE);
	u64 entry = pdpt | TABLE_ENTRY;

	area_write(area, pml4, &entry, sizeof(entry));
	for (u64 i = 0; i < MAPPED_GIB; i++) {
		entry = (directories + i * PAGE_SIZE) | TABLE_ENTRY;
		area_write(area, pdpt + i * sizeof(entry), &entry, sizeof(entry));
	}
	for (u64 i = 0; i < MAPPED_GIB * SIZE_1G / SIZE_2M; i++) {
		entry = (i * SIZE_2M) | PAGE_ENTRY;
		area_write(area, directories + i * sizeof(entry), &entry, sizeof(entry));
	}
	return pml4;
}

void load_entry_init(struct load_area *area, enum guest_entry_mode mode, u64 rip)
{
	const u64 gdt[] = {
		[BOOT_CS / 8] = mode == ENTRY_LONG64 ? DESCRIPTOR_CODE64 : DESCRIPTOR_CODE32,
		[BOOT_DS / 8] = DESCRIPTOR_DATA,
	};
	struct guest_entry *entry = area->load->entry;

	entry->mode = mode;
	entry->rip = rip;
	entry->cr3 = mode == ENTRY_LONG64 ? put_identity_map(area) : 0;
	entry->rsp = load_area_take(area, PAGE_SIZE, PAGE_SIZE) + PAGE_SIZE;
	entry->gdt_base = load_area_put(area, gdt, sizeof(gdt));
	entry->gdt_limit = sizeof(gdt) - 1;
	entry->cs = BOOT_CS;
	entry->ds = BOOT_DS;
}
