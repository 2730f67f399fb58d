// SPDX-License-Identifier: BSD-2-Clause
/*
 * Emulated device accesses where user code cannot show what the processor does: addressing, faults,
 * limits, page crossings, strings, and what is refused. BUG-34, BUG-50. The instructions themselves
 * are test_mmio_native.c's.
 */
#include "emulation_fixture.h"

#include "vmx/alu.h"

/* ---------------------------------------------------------------- addresses and faults */

static enum exit_action run(const char *bytes, u32 size, u64 linear, u64 physical, u64 access)
{
	fixture_code(bytes, size);
	violation(linear, physical, access);
	return exit_ept_violation(&vcpu);
}

#define RUN(bytes, linear, physical, access) run(bytes, sizeof(bytes) - 1, linear, physical, access)

static void test_addressing(void **state)
{
	u32 displacement = DEVICE + 0x10 - (CODE + 6);
	u8 rip_relative[6] = { 0x8b, 0x05 };

	(void)state;
	fixture_begin();
	set_device_byte(0x10, 0x77);
	memcpy(rip_relative + 2, &displacement, 4);
	assert_int_equal(
		run((char *)rip_relative, 6, DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1), EXIT_RESUME);
	assert_int_equal(vcpu.gpr[RAX], 0x77);

	/* [RAX + RCX * 8 - 0x10], both beyond 32 bits: the sum counts. */
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.gpr[RAX] = 0x8000000000000000ull + DEVICE + 0x10;
	vcpu.gpr[RCX] = 0x1000000000000002ull;
	RUN("\x8b\x44\xc8\xf0", DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x77);

	/* FS base counts in 64-bit mode, DS base does not; 67 cuts the offset, not the sum. */
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	fake_vmcs_put(VMCS_GUEST_FS_BASE, 0x10);
	fake_vmcs_put(VMCS_GUEST_DS_BASE, 0x1234);
	vcpu.gpr[RDX] = 0xdead00000000ull + DEVICE;
	RUN("\x64\x67\x8b\x02", DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x77);
	vcpu.gpr[RDX] = DEVICE + 0x10;
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.gpr[RAX] = 0;
	RUN("\x8b\x02", DEVICE + 0x10, MMIO_SCRATCH + 0x10, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x77);

	/* An exit without a valid linear address says nothing about the translation. */
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	RUN("\x8b\x02", DEVICE + 0x10, MMIO_SCRATCH + 0x20, 1);
	assert_int_equal(vcpu.gpr[RAX], 0);
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_int_equal(vcpu.gpr[RAX], 0x77);
	assert_int_equal(vcpu.events.info, 0);
}

static void test_canonical(void **state)
{
	(void)state;
	fixture_begin();
	vcpu.gpr[RDX] = 0x0000800000000000;
	RUN("\x8b\x02", DEVICE, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_GP));
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE); /* BUG-34 */

	fixture_begin();
	vcpu.gpr[RBP] = 0x00007ffffffffffe; /* the last bytes are not canonical */
	RUN("\x8b\x45\x00", DEVICE, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_SS));
}

static void use_32bit(void)
{
	fake_vmcs_put(VMCS_ENTRY_CONTROLS, 0);
	fake_vmcs_put(VMCS_GUEST_EFER, 0);
	fake_vmcs_put(VMCS_GUEST_CR0, 0x31); /* paging off */
	fake_vmcs_put(VMCS_GUEST_CR4, 0);
	use_segments(RIGHTS_CODE32, RIGHTS_DATA32, 0xffffffff);
}

/* One access of 32-bit code to DS:[EDX] at MMIO_SCRATCH + 0x100. Returns the vector or -1. */
static int access_32(u64 base, u32 limit, u32 rights, u32 offset, bool write)
{
	fixture_begin();
	use_32bit();
	put_segment(VMCS_GUEST_DS_RIGHTS, base, limit, rights);
	vcpu.gpr[RDX] = offset;
	if (write)
		RUN("\x89\x02", (u32)(base + offset), (u32)(base + offset), VIOLATION_WRITE);
	else
		RUN("\x8b\x02", (u32)(base + offset), (u32)(base + offset), 1);
	return vcpu.events.info & EVENT_VALID ? (int)EVENT_VECTOR(vcpu.events.info) : -1;
}

static void test_segments(void **state)
{
	const u64 base = MMIO_SCRATCH;
	const u32 expand_down = 0xc097, expand_down16 = 0x8097, read_only = 0xc091, code = 0xc09b,
		  execute_only = 0xc099, unusable = 0x10000;

	(void)state;
	assert_int_equal(access_32(base, 0x103, RIGHTS_DATA32, 0x100, false), -1);
	assert_int_equal(access_32(base, 0x102, RIGHTS_DATA32, 0x100, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffffffff, RIGHTS_DATA32, 0xfffffffd, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xff, expand_down, 0x100, false), -1);
	assert_int_equal(access_32(base, 0x100, expand_down, 0x100, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xff, expand_down16, 0xfffc, false), -1);
	assert_int_equal(access_32(base, 0xff, expand_down16, 0xfffd, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, read_only, 0x100, false), -1);
	assert_int_equal(access_32(base, 0xffff, read_only, 0x100, true), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, code, 0x100, false), -1);
	assert_int_equal(access_32(base, 0xffff, code, 0x100, true), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, execute_only, 0x100, false), VECTOR_GP);
	assert_int_equal(access_32(base, 0xffff, unusable, 0x100, false), VECTOR_GP);
	/* Linear addresses wrap at 4 GiB. */
	assert_int_equal(access_32(base + 0x200, 0xffffffff, RIGHTS_DATA32, -0x100, false), -1);
	assert_int_equal(vcpu.events.info, 0);

	/* An instruction that does not fit into CS. */
	fixture_begin();
	use_32bit();
	put_segment(VMCS_GUEST_CS_RIGHTS, 0, CODE, RIGHTS_CODE32);
	vcpu.gpr[RDX] = MMIO_SCRATCH;
	RUN("\x8b\x02", MMIO_SCRATCH, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_GP));

	/* Real-address mode: DS:[BX + SI + 4]. */
	fixture_begin();
	use_32bit();
	fake_vmcs_put(VMCS_GUEST_CR0, 0x30);
	put_segment(VMCS_GUEST_CS_RIGHTS, CODE, 0xffff, 0x93);
	put_segment(VMCS_GUEST_DS_RIGHTS, MMIO_SCRATCH, 0xffff, 0x93);
	fake_vmcs_put(VMCS_GUEST_RIP, 0);
	vcpu.gpr[RBX] = 0xfff0;
	vcpu.gpr[RSI] = 0xffff0020;
	vcpu.gpr[RAX] = 0xffffffff;
	set_device_byte(0x14, 0x34);
	set_device_byte(0x15, 0x12);
	RUN("\x8b\x40\x04", MMIO_SCRATCH + 0x14, MMIO_SCRATCH + 0x14, 1);
	assert_int_equal(vcpu.gpr[RAX], 0xffff1234);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), 3);
}

static void test_page_faults(void **state)
{
	(void)state;
	/* The instruction's second page is not there. */
	fixture_begin();
	vcpu.gpr[RDX] = DEVICE;
	fake_vmcs_put(VMCS_GUEST_RIP, RAM_SIZE - 1);
	ram[RAM_SIZE - 1] = 0x8b;
	violation(DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(vcpu.events.error_code, PF_FETCH);
	assert_int_equal(fake_cpu->cr2, RAM_SIZE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), RAM_SIZE - 1);

	/* Read, change, write on a read-only page: the exit's read permission is not enough. */
	fixture_begin();
	vcpu.gpr[RDX] = DEVICE + 9 * PAGE_SIZE;
	RUN("\x01\x02", DEVICE + 9 * PAGE_SIZE, MMIO_SCRATCH, VIOLATION_READ);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(vcpu.events.error_code, PF_PRESENT | PF_WRITE);
	assert_int_equal(fake_cpu->cr2, DEVICE + 9 * PAGE_SIZE);
	assert_int_equal(device_byte(0), 0);

	/* The operand's second page is not there: CR2 is its first byte. */
	fixture_begin();
	vcpu.gpr[RDX] = NOWHERE + 2 * PAGE_SIZE - 2;
	vcpu.gpr[RAX] = 0x1111;
	RUN("\x8b\x02", NOWHERE + 2 * PAGE_SIZE - 2, NOWHERE_PHYSICAL + 2 * PAGE_SIZE - 2, 1);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(fake_cpu->cr2, NOWHERE + 2 * PAGE_SIZE);
	assert_int_equal(vcpu.gpr[RAX], 0x1111);

	/* Alignment checks of user code. */
	fixture_begin();
	fake_vmcs_put(VMCS_GUEST_CR0, 0x80050033);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | BIT(18));
	vcpu.gpr[RDX] = DEVICE + 2;
	RUN("\x8b\x02", DEVICE + 2, MMIO_SCRATCH + 2, 1);
	assert_true(exception_queued(VECTOR_AC));
	vcpu.events.info = 0;
	vcpu.gpr[RDX] = DEVICE + 4;
	RUN("\x8b\x02", DEVICE + 4, MMIO_SCRATCH + 4, 1);
	assert_int_equal(vcpu.events.info, 0);
}

/* Operands and instructions that lie on both sides of a page boundary. */
static void test_crossing(void **state)
{
	(void)state;
	fixture_begin();
	/* Two bytes of RAM, two of the device: from either side. */
	vcpu.gpr[RDX] = DEVICE - 2;
	vcpu.gpr[RAX] = 0x44332211;
	RUN("\x89\x02", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_int_equal(ram[DATA - 2], 0x11);
	assert_int_equal(ram[DATA - 1], 0x22);
	assert_int_equal(device_byte(0), 0x33);
	assert_int_equal(device_byte(1), 0x44);
	assert_int_equal(device_byte(2), 0);

	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	vcpu.gpr[RDX] = DEVICE + 8 * PAGE_SIZE - 3;
	ram[DATA] = 0x99;
	set_device_byte(8 * PAGE_SIZE - 3, 0x66);
	RUN("\x8b\x02", DEVICE + 8 * PAGE_SIZE - 3, MMIO_SCRATCH + 8 * PAGE_SIZE - 3, 1);
	assert_int_equal(vcpu.gpr[RAX], 0x99000066);

	/* The instruction crosses. */
	fixture_begin();
	vcpu.gpr[RDX] = DEVICE;
	set_device_byte(0, 0x5c);
	fake_vmcs_put(VMCS_GUEST_RIP, 0x201fff);
	memcpy(&ram[0x201fff], "\x8b\x02", 2);
	violation(DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_int_equal(vcpu.gpr[RAX], 0x5c);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), 0x202001);
}

/* ---------------------------------------------------------------- strings */

static void test_strings(void **state)
{
	(void)state;
	/* REP MOVSB from RAM to the device, downwards. */
	fixture_begin();
	for (u32 i = 0; i < 16; i++)
		ram[DATA + i] = i + 1;
	vcpu.gpr[RSI] = DATA + 15;
	vcpu.gpr[RDI] = DEVICE + 0x2f;
	vcpu.gpr[RCX] = 16;
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | FLAG_DF);
	RUN("\xf3\xa4", DEVICE + 0x2f, MMIO_SCRATCH + 0x2f, VIOLATION_WRITE);
	for (u32 i = 0; i < 16; i++)
		assert_int_equal(device_byte(0x20 + i), i + 1);
	assert_int_equal(vcpu.gpr[RCX], 0);
	assert_int_equal(vcpu.gpr[RSI], DATA - 1);
	assert_int_equal(vcpu.gpr[RDI], DEVICE + 0x1f);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);

	/* LODSW keeps the upper bits; 67: 32-bit registers. */
	fixture_begin();
	vcpu.gpr[RAX] = ~0ull;
	vcpu.gpr[RSI] = 0x100000000 + DEVICE;
	RUN("\x67\x66\xad", DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(vcpu.gpr[RAX], 0xffffffffffff0000);
	assert_int_equal(vcpu.gpr[RSI], DEVICE + 2);

	/* A long REP STOSD goes in turns at one RIP and ends. */
	fixture_begin();
	vcpu.gpr[RAX] = 0x01020304;
	vcpu.gpr[RDI] = DEVICE;
	vcpu.gpr[RCX] = 5000;
	fake_vmcs_put(VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_BY_STI);
	for (u32 turns = 1; fake_vmcs_get(VMCS_GUEST_RIP) == CODE; turns++) {
		u64 before = vcpu.gpr[RCX];

		assert_in_range(turns, 1, 100);
		RUN("\xf3\xab", vcpu.gpr[RDI], vcpu.gpr[RDI] - DEVICE + MMIO_SCRATCH,
			VIOLATION_WRITE);
		assert_true(vcpu.gpr[RCX] < before);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_INTERRUPTIBILITY), 0);
	}
	assert_int_equal(vcpu.gpr[RCX], 0);
	assert_int_equal(vcpu.gpr[RDI], DEVICE + 20000);
	assert_int_equal(device_byte(19999), 1);
	assert_int_equal(device_byte(20000), 0);
	assert_int_equal(vcpu.gpr[RAX], 0x01020304);

	/* A single step after each element. */
	fixture_begin();
	vcpu.gpr[RDI] = DEVICE;
	vcpu.gpr[RCX] = 2;
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | BIT(8));
	RUN("\xf3\xaa", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_int_equal(vcpu.gpr[RCX], 1);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_PENDING_DEBUG), BIT(14));
	assert_true(fake_vmcs_get(VMCS_GUEST_RFLAGS) & BIT(16));

	/* The source's page ends: two elements are done, the third faults. */
	fixture_begin();
	vcpu.gpr[RSI] = NOWHERE + 2 * PAGE_SIZE - 8;
	vcpu.gpr[RDI] = DEVICE;
	vcpu.gpr[RCX] = 4;
	RUN("\xf3\xa5", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(fake_cpu->cr2, NOWHERE + 2 * PAGE_SIZE);
	assert_int_equal(vcpu.gpr[RCX], 2);
	assert_int_equal(vcpu.gpr[RDI], DEVICE + 8);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);

	/* REP with nothing to do is done. */
	fixture_begin();
	RUN("\xf3\xa4", DEVICE, MMIO_SCRATCH, VIOLATION_WRITE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);
	assert_int_equal(vcpu.events.info, 0);
}

/* ---------------------------------------------------------------- what is not emulated */

static void test_bug50_nothing_there(void **state)
{
	(void)state;
	fixture_begin();
	vcpu.gpr[RDX] = NOWHERE;
	for (u32 i = 0; i < 10; i++) {
		vcpu.gpr[RAX] = 0;
		fake_vmcs_put(VMCS_GUEST_RIP, CODE);
		RUN("\x48\x8b\x02", NOWHERE, NOWHERE_PHYSICAL, 1);
		assert_int_equal(vcpu.gpr[RAX], ~0ull);
	}
	assert_int_equal(fake_log_count, 1);
	assert_non_null(strstr(fake_log_last, "0xd0000000"));
	assert_non_null(strstr(fake_log_last, "0x200800"));
	fake_vmcs_put(VMCS_GUEST_RIP, CODE);
	RUN("\x89\x02", NOWHERE, NOWHERE_PHYSICAL, VIOLATION_WRITE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);

	/* Two pages in turn: the log stays bounded. */
	for (u32 i = 0; i < 1000; i++) {
		vcpu.gpr[RDX] = NOWHERE + i % 2 * PAGE_SIZE;
		fake_vmcs_put(VMCS_GUEST_RIP, CODE);
		RUN("\x8b\x02", vcpu.gpr[RDX], NOWHERE_PHYSICAL + i % 2 * PAGE_SIZE, 1);
	}
	assert_in_range(fake_log_count, 2, 16);
}

static void test_refusals(void **state)
{
	static const char *const instructions[] = { "\xc1\x22\x01", "\x0f\xc7\x0a", "\xff\x12",
		"\xc5\xf8\x10\x02", "\x62\xf1\x7c\x48\x10\x02" };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(instructions); i++) {
		fixture_begin();
		vcpu.gpr[RDX] = DEVICE;
		assert_int_equal(
			run(instructions[i], strlen(instructions[i]), DEVICE, MMIO_SCRATCH, 1),
			EXIT_RESUME);
		assert_true(exception_queued(VECTOR_UD));
		assert_int_equal(fake_log_count, 1);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);
	}
	assert_non_null(strstr(fake_log_last, "62 f1 7c 48 10 02"));

	/* Not valid on any processor: no line. */
	fixture_begin();
	RUN("\xf0\x89\x02", DEVICE, MMIO_SCRATCH, 1);
	assert_true(exception_queued(VECTOR_UD));
	assert_int_equal(fake_log_count, 0);

	/* Changed by another processor into one without memory: let it run. */
	fixture_begin();
	assert_int_equal(RUN("\x89\xc0", DEVICE, MMIO_SCRATCH, 1), EXIT_RESUME);
	assert_int_equal(vcpu.events.info, 0);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);

	/* Code outside RAM reads as FF FF. */
	fixture_begin();
	fake_vmcs_put(VMCS_GUEST_RIP, DEVICE);
	violation(DEVICE, MMIO_SCRATCH, BIT(2));
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_UD));
}

static void test_event_delivery(void **state)
{
	(void)state;
	fixture_begin();
	vcpu.events.info = EVENT_VALID | 14 | 3 << 8;
	assert_int_equal(RUN("\x90", NOWHERE, NOWHERE_PHYSICAL, VIOLATION_WRITE), EXIT_STOP);
	assert_int_equal(vm.stop, STOP_CRASH);

	/* RAM that another vCPU has just mapped again: nothing to do. */
	fixture_begin();
	vcpu.events.info = EVENT_VALID | 14 | 3 << 8;
	assert_int_equal(RUN("\x90", DATA, DATA, VIOLATION_WRITE), EXIT_RESUME);

	/* IRET had opened NMIs before it failed. */
	fixture_begin();
	RUN("\x90", DATA, DATA, BIT(12));
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_INTERRUPTIBILITY), BLOCKING_BY_NMI);
}

static void test_paging_structure_outside_ram(void **state)
{
	(void)state;
	fixture_begin();
	put_entry(TABLES + 0x1000, 2, NOWHERE_PHYSICAL | 7);
	fixture_code("\x8b\x02", 2);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, BIT(7) | BIT(1));
	fake_vmcs_put(VMCS_GUEST_LINEAR_ADDRESS, 0x80000123);
	fake_vmcs_put(VMCS_GUEST_PHYSICAL_ADDRESS, NOWHERE_PHYSICAL);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(vcpu.events.error_code, PF_PRESENT | PF_RESERVED | PF_WRITE);
	assert_int_equal(fake_cpu->cr2, 0x80000123);
}

/* MOV to CR3 with PDPTEs in no memory: #GP, not an instruction that is refused (BUG-50). */
static void test_pdptes_outside_ram(void **state)
{
	(void)state;
	fixture_begin();
	fixture_code("\x0f\x22\xd8", 3);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, 1);
	fake_vmcs_put(VMCS_GUEST_PHYSICAL_ADDRESS, NOWHERE_PHYSICAL);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	assert_true(exception_queued(VECTOR_GP));
	assert_int_equal(vcpu.events.error_code, 0);
}

/* Reads the device at RDX with whatever code RIP shows now; -1: no fault. */
static int fetch_once(u64 rip)
{
	fake_vmcs_put(VMCS_GUEST_RIP, rip);
	vcpu.gpr[RAX] = vcpu.gpr[RCX] = 0;
	vcpu.gpr[RDX] = DEVICE;
	vcpu.events.info = 0;
	violation(DEVICE, MMIO_SCRATCH, 1);
	assert_int_equal(exit_ept_violation(&vcpu), EXIT_RESUME);
	return vcpu.events.info & EVENT_VALID ? (int)EVENT_VECTOR(vcpu.events.info) : -1;
}

/* What is remembered of a fetch counts only while code, tables and registers are the same. */
static void test_remembered_fetch(void **state)
{
	const u64 rip = DEVICE + 8 * PAGE_SIZE, leaf = TABLES + 0x4000 + 8 * 8; /* of page DATA */
	u64 entry;

	(void)state;
	fixture_begin();
	set_device_byte(0, 0x5c);
	memcpy(&ram[DATA], "\x8b\x02", 2);	    /* MOV EAX, [RDX] */
	memcpy(&ram[DATA + 0x1000], "\x8b\x0a", 2); /* MOV ECX, [RDX] */
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(fetch_once(rip), -1);
		assert_int_equal(vcpu.gpr[RAX], 0x5c);
	}
	/* Of an instruction on two pages, the second changes; what follows the first stays. */
	put_entry(TABLES + 0x4000, 10, DATA | 7);
	put_entry(TABLES + 0x4000, 11, (DATA + 0x3000) | 7);
	ram[DATA + 0xfff] = 0x8b;
	memcpy(&ram[DATA + 0x1000], "\x02\x00", 2);
	ram[DATA + 0x3000] = 0x02;
	assert_int_equal(fetch_once(DEVICE + 11 * PAGE_SIZE - 1), -1);
	assert_int_equal(vcpu.gpr[RAX], 0x5c);
	ram[DATA + 0x3000] = 0x0a;
	assert_int_equal(fetch_once(DEVICE + 11 * PAGE_SIZE - 1), -1);
	assert_int_equal(vcpu.gpr[RCX], 0x5c);
	memcpy(&ram[DATA + 0x1000], "\x8b\x0a", 2);
	/* Self-modifying code. */
	ram[DATA + 1] = 0x0a;
	assert_int_equal(fetch_once(rip), -1);
	assert_int_equal(vcpu.gpr[RCX], 0x5c);
	ram[DATA + 1] = 0x02;
	assert_int_equal(fetch_once(rip), -1);
	/* Another page at the same address. */
	put_entry(TABLES + 0x4000, 8, (DATA + 0x1000) | 7);
	assert_int_equal(fetch_once(rip), -1);
	assert_int_equal(vcpu.gpr[RCX], 0x5c);
	put_entry(TABLES + 0x4000, 8, DATA | 7);
	assert_int_equal(fetch_once(rip), -1);
	assert_int_equal(vcpu.gpr[RAX], 0x5c);
	/* The accessed flag is set again if the guest cleared it. */
	put_entry(TABLES + 0x4000, 8, DATA | 7);
	assert_int_equal(fetch_once(rip), -1);
	memcpy(&entry, &ram[leaf], 8);
	assert_int_equal(entry, DATA | 0x27);
	/* SMEP forbids what was allowed; a user page stays good for the user. */
	fake_vmcs_put(VMCS_GUEST_CR4, 0x20 | BIT(20));
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
	assert_int_equal(fetch_once(rip), -1);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc093);
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	fake_vmcs_put(VMCS_GUEST_CR4, 0x20);
	/* An upper entry goes away, no-execute comes, CR3 leads elsewhere. */
	assert_int_equal(fetch_once(rip), -1);
	put_entry(TABLES + 0x4000, 8, DATA | 0x27 | BIT(63));
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	put_entry(TABLES + 0x4000, 8, DATA | 0x27);
	assert_int_equal(fetch_once(rip), -1);
	fake_vmcs_put(VMCS_GUEST_CR3, TABLES + 0x5000);
	assert_int_equal(fetch_once(rip), VECTOR_PF);
	fake_vmcs_put(VMCS_GUEST_CR3, TABLES);
	put_entry(TABLES, 0, 0);
	assert_int_equal(fetch_once(rip), VECTOR_PF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addressing),
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_page_faults),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bug50_nothing_there),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_event_delivery),
		cmocka_unit_test(test_remembered_fetch),
		cmocka_unit_test(test_paging_structure_outside_ram),
		cmocka_unit_test(test_pdptes_outside_ram),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
