// SPDX-License-Identifier: BSD-2-Clause
/* The host's page tables (SDM 3A 4.5). Called during start-up, interrupts off; the tables change
 * little after. */
#include "hv/mem/paging.h"

#include "hv/cpu/insn.h"
#include "hv/lib/log.h"
#include "hv/lib/string.h"
#include "hv/mem/efi_memory.h"
#include "hv/mem/frames.h"

#define PTE_PRESENT  BIT(0)
#define PTE_WRITE    BIT(1)
#define PTE_UNCACHED (BIT(3) | BIT(4)) /* PWT and PCD: UC in the reset value of PAT */
#define PTE_LARGE    BIT(7)
#define PTE_NX	     BIT(63)
#define PTE_ADDRESS  0x000ffffffffff000ull

#define CR0_WP	 BIT(16)
#define CR0_NE	 BIT(5)
#define CR4_UMIP BIT(11)
#define CR4_SMEP BIT(20)
#define CR4_SMAP BIT(21)
#define CR4_PGE	 BIT(7)

#define CPUID_7_EBX_SMEP	BIT(7)
#define CPUID_7_EBX_SMAP	BIT(20)
#define CPUID_7_ECX_UMIP	BIT(2)
#define CPUID_80000001_EDX_1G	BIT(26)
#define CPUID_EXTENDED_FEATURES 0x80000001

static hpa_t root, identity_root;
static u64 table_pages;
static bool pages_1g;

static u64 *table_of(u64 entry)
{
	return phys_to_virt(hpa(entry & PTE_ADDRESS));
}

static hpa_t new_table(void)
{
	hpa_t table;

	if (frames_alloc(1, PAGE_SIZE, &table))
		panic("no memory for the host's page tables");
	table_pages++;
	return table;
}

/* Replaces a large page by a table of the next smaller size with the same rights. */
static void split(u64 *entry, u64 size)
{
	hpa_t table = new_table();
	u64 *small = phys_to_virt(table), step = size / 512;
	u64 flags = *entry & ~PTE_ADDRESS;

	if (step == PAGE_SIZE)
		flags &= ~PTE_LARGE;
	for (u64 i = 0; i < 512; i++)
		small[i] = ((*entry & PTE_ADDRESS) + i * step) | flags;
	*entry = table.value | PTE_PRESENT | PTE_WRITE;
}

/*
 * The entry that maps virt with pages of that size (SIZE_1G, SIZE_2M, PAGE_SIZE); makes the tables
 * above it and splits what is larger.
 */
static u64 *entry_for(hpa_t from, u64 virt, u64 size)
{
	u64 *table = phys_to_virt(from);
	u64 covers = 512ull << 30;

	for (;;) {
		u64 *entry = &table[virt / covers % 512];

		if (covers == size)
			return entry;
		if (!(*entry & PTE_PRESENT))
			*entry = new_table().value | PTE_PRESENT | PTE_WRITE;
		else if (*entry & PTE_LARGE)
			split(entry, covers);
		table = table_of(*entry);
		covers /= 512;
	}
}

/* True if [virt, virt + size) has no tables below that a large page would cut off. */
static bool can_be_large(hpa_t from, u64 virt, u64 size)
{
	u64 *table = phys_to_virt(from);
	u64 covers = 512ull << 30;

	for (; covers >= size; covers /= 512) {
		u64 entry = table[virt / covers % 512];

		if (!(entry & PTE_PRESENT) || (entry & PTE_LARGE && covers < 512ull << 30))
			return true;
		if (covers == size)
			return false;
		table = table_of(entry);
	}
	return true;
}

static void map(hpa_t from, u64 virt, u64 phys, u64 size, u64 flags)
{
	while (size) {
		u64 page = PAGE_SIZE;

		for (u64 large = pages_1g ? SIZE_1G : SIZE_2M; large > PAGE_SIZE; large /= 512) {
			if (IS_ALIGNED(virt | phys, large) && size >= large &&
				can_be_large(from, virt, large)) {
				page = large;
				break;
			}
		}
		*entry_for(from, virt, page) =
			phys | flags | PTE_PRESENT | (page > PAGE_SIZE ? PTE_LARGE : 0);
		virt += page;
		phys += page;
		size -= page;
	}
}

static void map_memory(const struct boot_info *boot)
{
	struct efi_memory_range r;

	for (u64 i = 0; efi_memory_range(&boot->memory_map, i, &r); i++) {
		u64 phys = r.start * PAGE_SIZE, size = (r.end - r.start) * PAGE_SIZE;

		if (!r.memory)
			continue;
		map(root, HV_DIRECT_MAP + phys, phys, size, PTE_WRITE | PTE_NX);
		map(identity_root, phys, phys, size, PTE_WRITE);
	}
}

static void map_image(const struct boot_info *boot)
{
	for (u32 i = 0; i < boot->segment_count; i++) {
		const struct boot_segment *s = &boot->segments[i];

		map(root, s->virtual_address, s->address, s->size,
			(s->writable ? PTE_WRITE : 0) | (s->executable ? 0 : PTE_NX));
		/* Not to be written through the direct map either. */
		if (!s->writable)
			map(root, HV_DIRECT_MAP + s->address, s->address, s->size, PTE_NX);
	}
}

/* Rights by capability: SDM 3A 2.5 and 4.6. */
static void set_protections(void)
{
	struct cpuid_regs seven = { 0 };
	u64 cr4 = insn_read_cr4() | CR4_PGE;

	if (insn_cpuid(0, 0).eax >= 7)
		seven = insn_cpuid(7, 0);
	if (seven.ebx & CPUID_7_EBX_SMEP)
		cr4 |= CR4_SMEP;
	if (seven.ebx & CPUID_7_EBX_SMAP)
		cr4 |= CR4_SMAP;
	if (seven.ecx & CPUID_7_ECX_UMIP)
		cr4 |= CR4_UMIP;
	insn_write_cr4(cr4);
	insn_write_cr0(insn_read_cr0() | CR0_WP | CR0_NE);
}

void paging_init(const struct boot_info *boot)
{
	pages_1g = insn_cpuid(CPUID_EXTENDED_FEATURES, 0).edx & CPUID_80000001_EDX_1G;
	root = new_table();
	identity_root = new_table();
	map_memory(boot);
	map_image(boot);
	/* Firmware calls return into the hypervisor: its half is shared, slot by slot. */
	memcpy((u64 *)phys_to_virt(identity_root) + 256, (u64 *)phys_to_virt(root) + 256, 256 * 8);
	insn_write_cr3(root.value);
	set_protections();
}

hpa_t paging_root(void)
{
	return root;
}

hpa_t firmware_root(void)
{
	return identity_root;
}

u64 paging_table_pages(void)
{
	return table_pages;
}

void *mmio_map(hpa_t address, u64 size)
{
	u64 first = ALIGN_DOWN(address.value, PAGE_SIZE);
	u64 end = ALIGN_UP(address.value + size, PAGE_SIZE);

	map(root, HV_DIRECT_MAP + first, first, end - first, PTE_WRITE | PTE_NX | PTE_UNCACHED);
	for (u64 page = first; page < end; page += PAGE_SIZE)
		insn_invlpg(HV_DIRECT_MAP + page);
	return phys_to_virt(address);
}

u8 *stack_alloc(u64 size)
{
	hpa_t frames;
	u8 *guard;

	if (frames_alloc(size / PAGE_SIZE + 1, PAGE_SIZE, &frames))
		panic("no memory for a stack");
	guard = phys_to_virt(frames);
	*entry_for(root, (u64)guard, PAGE_SIZE) = 0;
	insn_invlpg((u64)guard);
	return guard + PAGE_SIZE + size;
}
