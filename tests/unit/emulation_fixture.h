/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A vCPU with memory, page tables and a platform for tests of instruction emulation: 64-bit code at
 * CODE, RAM mapped one to one, the test device's MMIO page at the linear address DEVICE. Everything
 * but the processor is the shipping code.
 */
#ifndef TESTS_UNIT_EMULATION_FIXTURE_H
#define TESTS_UNIT_EMULATION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "hv/dev/platform_map.h"
#include "hv/vm/vm.h"
#include "mmu/walk.h"
#include "vmx/exit.h"
#include "vmx/machine.h"

#define RAM_SIZE	 0x400000ull
#define TABLES		 0x100000ull /* page tables of the fixture */
#define CODE		 0x200800ull
#define DATA_SIZE	 0x12000ull  /* cleared for each test, from the page before DATA */
#define DATA		 0x300000ull /* RAM */
#define DEVICE		 0x40000000ull /* 8 pages of MMIO_SCRATCH; the page before it is DATA - 4096 */
#define NOWHERE		 0x50000000ull /* mapped to guest-physical 0xd0000000 */
#define NOWHERE_PHYSICAL 0xd0000000ull

#define RIGHTS_CODE64 0xa09b
#define RIGHTS_CODE32 0xc09b
#define RIGHTS_CODE16 0x009b
#define RIGHTS_DATA32 0xc093

static u8 ram[RAM_SIZE] __attribute__((aligned(4096)));
static struct vm vm;
static struct vcpu vcpu;
static struct vm_config vm_config = { .name = "test" };

static u64 random_state = 0x9e3779b97f4a7c15;

static inline u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static u64 no_time(void *context)
{
	(void)context;
	return 0;
}

static void no_vcpu(void *context, u32 id)
{
	(void)context;
	(void)id;
}

static void no_sipi(void *context, u32 id, u8 vector)
{
	(void)context;
	(void)id;
	(void)vector;
}

static void no_timer(void *context)
{
	(void)context;
}

static void no_stop(void *context, enum stop_reason reason, u8 value)
{
	(void)context;
	(void)reason;
	(void)value;
}

static void no_unmap(void *context, gpa_t page)
{
	(void)context;
	(void)page;
}

static bool no_console(void *context, u8 byte)
{
	(void)context;
	(void)byte;
	return true;
}

static void put_entry(u64 table, u32 index, u64 entry)
{
	memcpy(&ram[table + 8 * index], &entry, 8);
}

/* Levels 4, 3, 2 for the first 4 GiB's beginnings; level 1 below 2 MiB-wise where needed. */
static void build_page_tables(void)
{
	u64 pml4 = TABLES, pdpt = TABLES + 0x1000, pd0 = TABLES + 0x2000, pd1 = TABLES + 0x3000,
	    pt = TABLES + 0x4000, pt_before = TABLES + 0x5000, pt_nowhere = TABLES + 0x6000;

	put_entry(pml4, 0, pdpt | 7);
	put_entry(pdpt, 0, pd0 | 7);
	put_entry(pdpt, 1, pd1 | 7);
	for (u32 i = 0; i < RAM_SIZE / SIZE_2M; i++)
		put_entry(pd0, i, i * SIZE_2M | 0x87);
	/* The last 2 MiB below DEVICE and the first from it. */
	put_entry(pd0, 511, pt_before | 7);
	put_entry(pt_before, 511, (DATA - PAGE_SIZE) | 7);
	put_entry(pd1, 0, pt | 7);
	for (u32 i = 0; i < 8; i++)
		put_entry(pt, i, (MMIO_SCRATCH + i * PAGE_SIZE) | 7);
	put_entry(pt, 8, DATA | 7);	    /* RAM right behind the device */
	put_entry(pt, 9, MMIO_SCRATCH | 5); /* read-only */
	put_entry(pd1, 128, pt_nowhere | 7);
	put_entry(pt_nowhere, 0, NOWHERE_PHYSICAL | 7);
	put_entry(pt_nowhere, 1, (NOWHERE_PHYSICAL + PAGE_SIZE) | 7);
}

static void put_segment(u32 rights_field, u64 base, u32 limit, u32 rights)
{
	fake_vmcs_put(rights_field, rights);
	fake_vmcs_put(rights_field - VMCS_GUEST_ES_RIGHTS + VMCS_GUEST_ES_LIMIT, limit);
	fake_vmcs_put(rights_field - VMCS_GUEST_ES_RIGHTS + VMCS_GUEST_ES_BASE, base);
}

static inline void use_segments(u32 code_rights, u32 data_rights, u32 limit)
{
	for (u32 s = 0; s < 6; s++)
		put_segment(VMCS_GUEST_ES_RIGHTS + 2 * s, 0, limit, data_rights);
	put_segment(VMCS_GUEST_CS_RIGHTS, 0, limit, code_rights);
}

static void fixture_platform(void)
{
	struct platform_config config = {
		.host = { .now_tsc = no_time,
			.interrupt_changed = no_vcpu,
			.nmi = no_vcpu,
			.init = no_vcpu,
			.sipi = no_sipi,
			.timer_changed = no_timer,
			.stop = no_stop,
			.unmap_once = no_unmap,
			.console_write = no_console },
		.tsc_hz = 1000000000,
		.memory_size = RAM_SIZE,
		.cpus = 1,
		.test_device = true,
	};

	free(vm.platform);
	vm.platform = aligned_alloc(PAGE_SIZE, ALIGN_UP(platform_size(1), PAGE_SIZE));
	memset(vm.platform, 0, ALIGN_UP(platform_size(1), PAGE_SIZE));
	platform_init(vm.platform, &config);
}

/* 64-bit code at CPL 0, empty memory. */
static void fixture_begin(void)
{
	struct platform *platform = vm.platform;

	fake_cpu_reset();
	fake_vmcs_begin();
	/* What tests touch; the whole would take a while each time. */
	memset(ram + TABLES, 0, 0x7000);
	memset(ram + CODE - 0x800, 0, 2 * PAGE_SIZE);
	memset(ram + DATA - PAGE_SIZE, 0, DATA_SIZE);
	memset(ram + RAM_SIZE - PAGE_SIZE, 0, PAGE_SIZE);
	memset(&vm, 0, sizeof(vm));
	memset(&vcpu, 0, sizeof(vcpu));
	vm.config = &vm_config;
	vm.platform = platform;
	vm.memory.count = 1;
	vm.memory.size = RAM_SIZE;
	vm.memory.extents[0] = (struct guest_extent){ .size = RAM_SIZE, .host = ram };
	vcpu.vm = &vm;
	fixture_platform();
	vcpu.lapic = platform_lapic(vm.platform, 0);
	build_page_tables();
	fake_vmcs_put(VMCS_GUEST_CR0, 0x80010033);
	fake_vmcs_put(VMCS_GUEST_CR3, TABLES);
	fake_vmcs_put(VMCS_GUEST_CR4, 0x20);
	fake_vmcs_put(VMCS_GUEST_EFER, 0xd01);
	fake_vmcs_put(VMCS_ENTRY_CONTROLS, BIT(9));
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2);
	use_segments(RIGHTS_CODE64, RIGHTS_DATA32, 0xffffffff);
	fake_log_count = 0;
}

static void fixture_code(const void *bytes, u32 size)
{
	memcpy(&ram[CODE], bytes, size);
}

/* The device's bytes, read and written past the emulation. */
static inline u8 device_byte(u64 offset)
{
	u64 value = 0;

	assert_true(platform_mmio_read(vm.platform, 0, gpa(MMIO_SCRATCH + offset), 1, &value));
	return value;
}

static inline void set_device_byte(u64 offset, u8 value)
{
	assert_true(platform_mmio_write(vm.platform, 0, gpa(MMIO_SCRATCH + offset), 1, value));
}

static inline bool exception_queued(u32 vector)
{
	return vcpu.events.info == (EVENT_VALID | 3u << 8 | vector) ||
	       vcpu.events.info == (EVENT_VALID | EVENT_ERROR_CODE | 3u << 8 | vector);
}

/* Exit qualification of an EPT violation (SDM 3C table 28-7). */
#define VIOLATION_READ	BIT(0)
#define VIOLATION_WRITE BIT(1)
#define VIOLATION_VALID (BIT(7) | BIT(8))

static inline void violation(u64 linear, u64 physical, u64 access)
{
	fake_vmcs_put(VMCS_EXIT_REASON, EXIT_EPT_VIOLATION);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, access | VIOLATION_VALID);
	fake_vmcs_put(VMCS_GUEST_LINEAR_ADDRESS, linear);
	fake_vmcs_put(VMCS_GUEST_PHYSICAL_ADDRESS, physical);
}

#endif
