// SPDX-License-Identifier: BSD-2-Clause
// The host's page tables, read by a walker of the test's own and compared with what the memory map
// and the image ask for, page by page.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "hv/cpu/msr_index.h"
#include "hv/mem/frames.h"
#include "hv/mem/paging.h"
#include "memory_windows.h"

#define TEXT	  0x2100000ul
#define TEXT_SIZE 0x23000ul
#define CONSTANTS 0x2200000ul
#define DATA	  0x2300000ul
#define RUNTIME	  0x1000000ul /* never touched: only mapped */
#define ABOVE_4G  0x140000000ul
#define DEVICE	  0xfed00000ul
#define PAT_RESET 0x0007040600070406ul

struct translation {
	bool present, writable, executable, user, uncached;
	u64 address, size;
};

static struct translation walk(hpa_t root, u64 linear)
{
	struct translation t = { true, true, true, true, false, 0, 512 * SIZE_1G };
	const u64 *table = (const u64 *)root.value;

	for (u32 shift = 39;; shift -= 9, t.size /= 512) {
		u64 entry = table[linear >> shift & 511];
		bool leaf = shift == 12 || (shift < 39 && entry & BIT(7));

		if (!(entry & BIT(0)))
			return (struct translation){ 0 };
		t.writable &= !!(entry & BIT(1));
		t.user &= !!(entry & BIT(2));
		t.executable &= !(entry & BIT(63));
		if (leaf) {
			u64 base = entry & 0x000ffffffffff000ul;

			/* Reserved bits of a large page (SDM 3A table 4-15). */
			assert_true(IS_ALIGNED(base, t.size));
			t.uncached = (entry >> 3 & 3) == 3;
			t.address = base + (linear & (t.size - 1));
			return t;
		}
		table = (const u64 *)(entry & 0x000ffffffffff000ul);
	}
}

static struct boot_info *boot;
static struct map_builder builder;

static void start(void)
{
	free(boot);
	boot = calloc(1, sizeof(*boot));
	map_begin(&builder, 48);
	map_add(&builder, EFI_RUNTIME_CODE, RUNTIME, 5);
	map_add(&builder, EFI_LOADER_DATA, TEXT, 0x400);
	map_add(&builder, EFI_CONVENTIONAL, 0x2800000, 0x1000);
	map_add(&builder, EFI_CONVENTIONAL, HIGH_WINDOW, HIGH_SIZE / PAGE_SIZE);
	map_add(&builder, EFI_ACPI_NVS, ABOVE_4G, 0x80003);
	map_add(&builder, EFI_MMIO, 0xe0000000, 0x1000);
	boot->memory_map = builder.map;
	boot->segment_count = 3;
	boot->segments[0] = (struct boot_segment){ HV_IMAGE_BASE, TEXT, TEXT_SIZE, false, true };
	boot->segments[1] =
		(struct boot_segment){ HV_IMAGE_BASE + TEXT_SIZE, CONSTANTS, 0x5000, false, false };
	boot->segments[2] =
		(struct boot_segment){ HV_IMAGE_BASE + 0x40000, DATA, 0x9000, true, false };
	memset((void *)LOW_WINDOW, 0, LOW_SIZE);
	memset((void *)HIGH_WINDOW, 0, HIGH_SIZE);
	frames_init(&boot->memory_map);
	paging_init(boot);
}

static int begin(void **state)
{
	(void)state;
	fake_cpu_reset();
	fake_cpu->cr4_valid |= BIT(11); /* UMIP */
	return 0;
}

static bool in_range(u64 address, u64 start_address, u64 size)
{
	return address >= start_address && address - start_address < size;
}

static bool is_memory(u64 address)
{
	return in_range(address, RUNTIME, 5 * PAGE_SIZE) || in_range(address, TEXT, 0x400000) ||
	       in_range(address, 0x2800000, 0x1000000) ||
	       in_range(address, HIGH_WINDOW, HIGH_SIZE) ||
	       in_range(address, ABOVE_4G, 0x80003ul * PAGE_SIZE);
}

/* Every page of the first GiB, and a sample above: mapped once, by the rights it must have. */
static void check_direct_map(u64 address)
{
	struct translation t = walk(paging_root(), HV_DIRECT_MAP + address);
	bool constant = in_range(address, TEXT, TEXT_SIZE) || in_range(address, CONSTANTS, 0x5000);

	assert_int_equal(t.present, is_memory(address));
	if (!t.present)
		return;
	assert_int_equal(t.address, address);
	assert_false(t.executable || t.user || t.uncached);
	assert_int_equal(t.writable, !constant);
}

static void direct_map(void **state)
{
	(void)state;
	start();
	for (u64 address = 0; address < SIZE_1G; address += PAGE_SIZE)
		check_direct_map(address);
	for (u64 address = ABOVE_4G - SIZE_2M; address < ABOVE_4G + 0x90000000; address += 0x33000)
		check_direct_map(address);
	for (u64 address = HIGH_WINDOW - SIZE_2M; address < HIGH_WINDOW + HIGH_SIZE + SIZE_2M;
		address += PAGE_SIZE)
		check_direct_map(address);
}

/* W^X, and nothing beside the segments; the low half is empty. */
static void image(void **state)
{
	(void)state;
	start();
	for (u64 offset = 0; offset < 0x60000; offset += PAGE_SIZE) {
		struct translation t = walk(paging_root(), HV_IMAGE_BASE + offset);
		const struct boot_segment *s = NULL;

		for (u32 i = 0; i < boot->segment_count; i++)
			if (in_range(HV_IMAGE_BASE + offset, boot->segments[i].virtual_address,
				    boot->segments[i].size))
				s = &boot->segments[i];
		assert_int_equal(t.present, s != NULL);
		if (!s)
			continue;
		assert_int_equal(
			t.address, s->address + HV_IMAGE_BASE + offset - s->virtual_address);
		assert_int_equal(t.writable, s->writable);
		assert_int_equal(t.executable, s->executable);
		assert_false(t.user);
	}
	for (u32 i = 0; i < 256; i++)
		assert_int_equal(((const u64 *)paging_root().value)[i], 0);
}

/* Large pages by capability; the figures are the same memory either way. */
static void page_sizes(void **state)
{
	struct cpuid_regs extended = insn_cpuid(0x80000001, 0);
	u64 before = paging_table_pages(), with_1g, without;

	(void)state;
	extended.edx |= BIT(26);
	fake_cpuid_set_any(0x80000001, extended);
	start();
	assert_int_equal(walk(paging_root(), HV_DIRECT_MAP + 0x180000000ul).size, SIZE_1G);
	assert_int_equal(walk(paging_root(), HV_DIRECT_MAP + ABOVE_4G + 0x80000000ul).size,
		PAGE_SIZE); /* the last three pages */
	with_1g = paging_table_pages() - before;
	extended.edx &= ~BIT(26);
	fake_cpuid_set_any(0x80000001, extended);
	start();
	assert_int_equal(walk(paging_root(), HV_DIRECT_MAP + 0x180000000ul).size, SIZE_2M);
	without = paging_table_pages() - before - with_1g;
	/*
	 * A table for each GiB of the two above 4 GiB, for both roots, and the first four of one.
	 */
	assert_int_equal(without - with_1g, 2 + 2 + 4);
}

static void stacks_have_guards(void **state)
{
	u8 *top, *next;

	(void)state;
	start();
	top = stack_alloc(4 * PAGE_SIZE);
	next = stack_alloc(PAGE_SIZE);
	for (u64 at = 1; at <= 4; at++)
		assert_true(
			walk(paging_root(), HV_DIRECT_MAP + (u64)top - at * PAGE_SIZE).writable);
	assert_false(walk(paging_root(), HV_DIRECT_MAP + (u64)top - 5 * PAGE_SIZE).present);
	assert_true(walk(paging_root(), HV_DIRECT_MAP + (u64)next - PAGE_SIZE).writable);
	assert_false(walk(paging_root(), HV_DIRECT_MAP + (u64)next - 2 * PAGE_SIZE).present);
	/* The old translation of the guard page was flushed. */
	assert_int_equal(fake_cpu->last_invlpg, HV_DIRECT_MAP + (u64)next - 2 * PAGE_SIZE);
}

static void devices(void **state)
{
	struct translation t;

	(void)state;
	start();
	assert_int_equal((u64)mmio_map(hpa(DEVICE + 0x3f0), 0x20), DEVICE + 0x3f0);
	for (u32 i = 0; i < 2; i++) {
		t = walk(paging_root(), HV_DIRECT_MAP + DEVICE + i * PAGE_SIZE);
		assert_true(t.present == (i == 0) && t.writable == (i == 0));
	}
	t = walk(paging_root(), HV_DIRECT_MAP + DEVICE);
	assert_true(t.uncached && !t.executable && !t.user && t.address == DEVICE);
	assert_non_null(mmio_map(hpa(DEVICE), PAGE_SIZE)); /* again */
	/* Across a page's end, and above 4 GiB. */
	assert_non_null(mmio_map(hpa(0x3ff000000ul - 4), 8));
	assert_true(walk(paging_root(), HV_DIRECT_MAP + 0x3fefff000ul).uncached);
	assert_true(walk(paging_root(), HV_DIRECT_MAP + 0x3ff000000ul).uncached);
}

/* Firmware tables may say that a device lies in memory, in the hypervisor itself, or nowhere. */
static void devices_are_not_memory(void **state)
{
	static const struct {
		u64 address, size;
	} refused[] = {
		{ TEXT, PAGE_SIZE },
		{ RUNTIME - PAGE_SIZE, 2 * PAGE_SIZE },
		{ HIGH_WINDOW, 1 },
		{ ~0ul, 1 },
		{ ~0ul - PAGE_SIZE, 3 * PAGE_SIZE },
		{ HV_IMAGE_BASE - HV_DIRECT_MAP, 1 },
		{ HV_IMAGE_BASE - HV_DIRECT_MAP - 1, 2 },
		{ DEVICE, ~0ul },
	};

	(void)state;
	start();
	for (u32 i = 0; i < ARRAY_SIZE(refused); i++)
		assert_null(mmio_map(hpa(refused[i].address), refused[i].size));
	check_direct_map(TEXT);
	check_direct_map(RUNTIME - PAGE_SIZE);
}

/* A table in memory keeps its mapping, one elsewhere becomes readable and no more. */
static void firmware_tables_are_read_only(void **state)
{
	struct translation t;

	(void)state;
	start();
	assert_int_equal((u64)firmware_map(hpa(TEXT + 4), 8), TEXT + 4);
	check_direct_map(TEXT);
	assert_non_null(firmware_map(hpa(0x2800000), 8));
	check_direct_map(0x2800000);
	assert_non_null(firmware_map(hpa(0xe0000ff0), 0x20));
	for (u32 i = 0; i < 2; i++) {
		t = walk(paging_root(), HV_DIRECT_MAP + 0xe0000000ul + i * PAGE_SIZE);
		assert_true(t.present && !t.writable && !t.executable && !t.user);
	}
	assert_null(firmware_map(hpa(~0ul), 1));
	assert_null(firmware_map(hpa(0x1000), ~0ul));
	/* A device in the page of such a table must be writable. */
	assert_non_null(mmio_map(hpa(0xe0000000ul), 4));
	assert_true(walk(paging_root(), HV_DIRECT_MAP + 0xe0000000ul).writable);
}

/* Identity for the firmware, with the hypervisor's own half as it is at that moment. */
static void firmware_tables(void **state)
{
	struct translation t;

	(void)state;
	start();
	mmio_map(hpa(0x700000000000ul), 1); /* a slot of the root that did not exist before */
	for (u64 address = 0; address < SIZE_4G; address += 0x7ff000) {
		t = walk(firmware_root(), address);
		assert_true(t.present && t.writable && t.executable && t.address == address);
	}
	t = walk(firmware_root(), ABOVE_4G + 0x1000);
	assert_true(t.present && t.address == ABOVE_4G + 0x1000);
	assert_true(walk(firmware_root(), HIGH_WINDOW).present);
	assert_memory_equal((const u64 *)firmware_root().value + 256,
		(const u64 *)paging_root().value + 256, 2048);
}

static void protections_by_capability(void **state)
{
	struct cpuid_regs seven = insn_cpuid(7, 0);
	u64 bits[3] = { BIT(20), BIT(21), BIT(11) }; /* SMEP, SMAP, UMIP */

	(void)state;
	for (u32 have = 0; have < 8; have++) {
		fake_cpu_reset();
		fake_cpu->cr4_valid |= bits[0] | bits[1] | bits[2];
		seven.ebx = (have & 1 ? BIT(7) : 0) | (have & 2 ? BIT(20) : 0);
		seven.ecx = have & 4 ? BIT(2) : 0;
		fake_cpuid_set(7, 0, seven);
		fake_cpu->cr0 |= BIT(29) | BIT(30); /* firmware left the caches off */
		fake_cpu->cr0 &= ~BIT(16);
		start();
		assert_int_equal(fake_cpu->cr3, paging_root().value);
		for (u32 i = 0; i < 3; i++)
			assert_int_equal(!!(fake_cpu->cr4 & bits[i]), !!(have & 1u << i));
		assert_int_equal(
			fake_cpu->cr0 & (BIT(5) | BIT(16) | BIT(29) | BIT(30)), BIT(5) | BIT(16));
		assert_int_equal(fake_msr(MSR_PAT)->value, PAT_RESET);
	}
}

static void no_memory_for_tables(void **state)
{
	jmp_buf jump;

	(void)state;
	boot = boot ? boot : calloc(1, sizeof(*boot));
	map_begin(&builder, 48);
	map_add(&builder, EFI_CONVENTIONAL, LOW_WINDOW, 2);
	boot->memory_map = builder.map;
	frames_init(&boot->memory_map);
	fake_panic_jump = &jump;
	if (setjmp(jump) == 0) {
		paging_init(boot);
		fail_msg("tables out of nothing");
	}
	fake_panic_jump = NULL;
	assert_non_null(strstr(fake_log_last, "no memory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(direct_map, begin),
		cmocka_unit_test_setup(image, begin),
		cmocka_unit_test_setup(page_sizes, begin),
		cmocka_unit_test_setup(stacks_have_guards, begin),
		cmocka_unit_test_setup(devices, begin),
		cmocka_unit_test_setup(devices_are_not_memory, begin),
		cmocka_unit_test_setup(firmware_tables_are_read_only, begin),
		cmocka_unit_test_setup(firmware_tables, begin),
		cmocka_unit_test_setup(protections_by_capability, begin),
		cmocka_unit_test_setup(no_memory_for_tables, begin),
	};
	int failed = cmocka_run_group_tests(tests, map_windows, NULL);

	free(boot);
	return failed;
}
