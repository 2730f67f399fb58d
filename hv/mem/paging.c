// SPDX-License-Identifier: BSD-2-Clause
/* The host's page tables (SDM 3A 4.5). Called during start-up, interrupts off; the tables change
 * little after. */
#include "hv/mem/paging.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
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
#define ENTRIES	     512ul
#define ROOT_COVERS  (ENTRIES * SIZE_1G) /* by one entry of the root */
#define DIRECT_SIZE  (HV_IMAGE_BASE - HV_DIRECT_MAP)

#define PAT_RESET_VALUE		0x0007040600070406ul /* SDM 3A 12.12.4 */
#define CPUID_1_EDX_PAT		BIT(16)
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
	u64 *small = phys_to_virt(table), step = size / ENTRIES;
	u64 flags = *entry & ~PTE_ADDRESS;

	if (step == PAGE_SIZE)
		flags &= ~PTE_LARGE;
	for (u64 i = 0; i < ENTRIES; i++)
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
	u64 covers = ROOT_COVERS;

	for (;;) {
		u64 *entry = &table[virt / covers % ENTRIES];

		if (covers == size)
			return entry;
		if (!(*entry & PTE_PRESENT))
			*entry = new_table().value | PTE_PRESENT | PTE_WRITE;
		else if (*entry & PTE_LARGE)
			split(entry, covers);
		table = table_of(*entry);
		covers /= ENTRIES;
	}
}

/* True if [virt, virt + size) has no tables below that a large page would cut off. */
static bool can_be_large(hpa_t from, u64 virt, u64 size)
{
	u64 *table = phys_to_virt(from);
	u64 covers = ROOT_COVERS;

	for (; covers >= size; covers /= ENTRIES) {
		u64 entry = table[virt / covers % ENTRIES];

		if (!(entry & PTE_PRESENT) || (entry & PTE_LARGE && covers < ROOT_COVERS))
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

		for (u64 large = pages_1g ? SIZE_1G : SIZE_2M; large > PAGE_SIZE;
			large /= ENTRIES) {
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
		if (r.end * PAGE_SIZE > SIZE_4G)
			map(identity_root, phys, phys, size, PTE_WRITE);
	}
	/* Firmware reaches its devices too; what is no memory is uncached by the MTRRs. */
	map(identity_root, 0, 0, SIZE_4G, PTE_WRITE);
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
	insn_write_cr0((insn_read_cr0() | CR0_WP | CR0_NE) & ~(CR0_CD | CR0_NW));
}

void paging_init(const struct boot_info *boot)
{
	/* PTE_UNCACHED names an entry of the PAT: firmware's own choice of entries ends here. */
	if (insn_cpuid(1, 0).edx & CPUID_1_EDX_PAT)
		insn_wrmsr(MSR_PAT, PAT_RESET_VALUE);
	pages_1g = insn_cpuid(CPUID_EXTENDED_FEATURES, 0).edx & CPUID_80000001_EDX_1G;
	root = new_table();
	identity_root = new_table();
	map_memory(boot);
	map_image(boot);
	insn_write_cr3(root.value);
	set_protections();
}

hpa_t paging_root(void)
{
	return root;
}

hpa_t firmware_root(void)
{
	/* Firmware calls return into the hypervisor: its half is shared, slot by slot. */
	if (identity_root.value)
		memcpy((u64 *)phys_to_virt(identity_root) + ENTRIES / 2,
			(u64 *)phys_to_virt(root) + ENTRIES / 2, ENTRIES / 2 * sizeof(u64));
	return identity_root;
}

u64 paging_table_pages(void)
{
	return table_pages;
}

/* The entry that maps virt, 0 if there is none. */
static u64 leaf_of(hpa_t from, u64 virt)
{
	u64 *table = phys_to_virt(from);

	for (u64 covers = ROOT_COVERS;; covers /= ENTRIES) {
		u64 entry = table[virt / covers % ENTRIES];

		if (!(entry & PTE_PRESENT))
			return 0;
		if (covers == PAGE_SIZE || entry & PTE_LARGE)
			return entry;
		table = table_of(entry);
	}
}

static bool in_direct_map(hpa_t address, u64 size)
{
	return address.value < DIRECT_SIZE && size <= DIRECT_SIZE - address.value;
}

void *mmio_map(hpa_t address, u64 size)
{
	u64 first = ALIGN_DOWN(address.value, PAGE_SIZE);

	if (!in_direct_map(address, size))
		return NULL;
	for (u64 page = first; page < address.value + size; page += PAGE_SIZE) {
		u64 leaf = leaf_of(root, HV_DIRECT_MAP + page);

		if (leaf && (leaf & PTE_UNCACHED) != PTE_UNCACHED)
			return NULL;
	}
	map(root, HV_DIRECT_MAP + first, first, ALIGN_UP(address.value + size, PAGE_SIZE) - first,
		PTE_WRITE | PTE_NX | PTE_UNCACHED);
	/* A table that firmware_map() showed may share a page with a device: it was read-only. */
	for (u64 page = first; page < address.value + size; page += PAGE_SIZE)
		insn_invlpg(HV_DIRECT_MAP + page);
	return phys_to_virt(address);
}

const void *firmware_map(hpa_t address, u64 size)
{
	u64 first = ALIGN_DOWN(address.value, PAGE_SIZE);

	if (!in_direct_map(address, size))
		return NULL;
	for (u64 page = first; page < address.value + size; page += PAGE_SIZE)
		if (!leaf_of(root, HV_DIRECT_MAP + page))
			map(root, HV_DIRECT_MAP + page, page, PAGE_SIZE, PTE_NX | PTE_UNCACHED);
	return phys_to_virt(address);
}

u8 *stack_alloc(u64 size)
{
	hpa_t frames;
	u64 guard;

	if (frames_alloc(size / PAGE_SIZE + 1, PAGE_SIZE, &frames))
		panic("no memory for a stack");
	guard = HV_DIRECT_MAP + frames.value;
	*entry_for(root, guard, PAGE_SIZE) = 0;
	insn_invlpg(guard);
	return (u8 *)phys_to_virt(frames) + PAGE_SIZE + size;
}
