// SPDX-License-Identifier: BSD-2-Clause
/* Area MSR (and HW's IA32_FEATURE_CONTROL): what RDMSR and WRMSR accept (SDM 4). */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/multiboot.h"

#define PATTERN		     0x1122334455667788ull
#define FEATURE_CONTROL_LOCK BIT(0)
#define FEATURE_CONTROL_VMX  (BIT(1) | BIT(2))

SNIPPET(do_rdmsr, "rdmsr\n");
SNIPPET(do_wrmsr, "wrmsr\n");

static void expect_no_msr(u32 index)
{
	struct trap_frame frame = frame_kernel(do_rdmsr);

	frame.rcx = index;
	frame.rax = PATTERN;
	frame.rdx = ~PATTERN;
	run_frame(&frame);
	expect_equal(frame.vector, GP, "RDMSR %x", index);
	expect_equal(frame.error, 0, "RDMSR %x: error code", index);
	expect_equal(frame.rip, (u64)do_rdmsr, "RDMSR %x: RIP", index);
	expect_equal(frame.rax, PATTERN, "RDMSR %x: RAX", index);
	expect_equal(frame.rdx, ~PATTERN, "RDMSR %x: RDX", index);
	frame = frame_kernel(do_wrmsr);
	frame.rcx = index;
	run_frame(&frame);
	expect_equal(frame.vector, GP, "WRMSR %x", index);
	expect_equal(frame.rip, (u64)do_wrmsr, "WRMSR %x: RIP", index);
}

CASE("BUG-15", "MSR", "unknown", msr_unknown)
{
	static const u32 indexes[] = { 0x2000, 0x2001, 0x1fff, 0x80000000, 0xbfffffff, 0xc0001fff,
		0xc0002000, 0xffffffff, 0x12345678, 0x40000fff, 0x3fffffff, 0xc0010117, 0x7fffffff,
		0x00010000, 0xdeadbeef };
	u32 seed = 12345;

	/* QEMU TCG answers every MSR it does not know with 0. */
	for (u32 i = 0; i < ARRAY_SIZE(indexes); i++)
		expect_no_msr(indexes[i]);
	for (u32 i = 0; i < 200; i++) {
		seed = seed * 1664525 + 1013904223;
		if (seed >= 0x10000 && (seed < 0x40000000 || seed > 0x400000ff) &&
			(seed < 0xc0000000 || seed > 0xc001ffff))
			expect_no_msr(seed);
	}
}

CASE("BUG-15", "MSR", "hypervisor-range", msr_hypervisor_range)
{
	if (!under_torpor())
		case_skip("not under Torpor");
	for (u32 index = 0x40000000; index <= 0x400000ff; index++)
		expect_no_msr(index);
}

SNIPPET(upper_rdmsr, "rdmsr\n");

CASE("BUG-15", "MSR", "upper-halves", msr_upper_halves)
{
	struct trap_frame frame = frame_kernel(upper_rdmsr);

	frame.rcx = 0xffffffff00000000 | MSR_EFER;
	frame.rax = frame.rdx = ~0ull;
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "RDMSR with RCX[63:32] set");
	expect_equal(frame.rax, rdmsr(MSR_EFER), "RAX zero-extended");
	expect_equal(frame.rdx, 0, "RDX zero-extended");
}

/* Values that these MSRs must refuse or take. */
static const struct msr_value {
	u32 index;
	u64 value;
	bool legal;
	const char *why;
} msr_values[] = {
	{ MSR_EFER, EFER_LME | EFER_LMA | EFER_NXE | EFER_SCE, true, "EFER.SCE" },
	{ MSR_EFER, EFER_LME | EFER_NXE, true, "EFER.LMA is ignored in a write" },
	{ MSR_EFER, EFER_LME | EFER_LMA | BIT(1), false, "EFER reserved bit 1" },
	{ MSR_EFER, EFER_LME | EFER_LMA | BIT(63), false, "EFER reserved bit 63" },
	{ MSR_EFER, EFER_NXE, false, "EFER.LME cleared with paging on" },
	{ MSR_PAT, 0x0007040600070406, true, "power-on PAT" },
	{ MSR_PAT, 0x0706050400010406, true, "all PAT types" },
	{ MSR_PAT, 0x0007040600070402, false, "PAT type 2" },
	{ MSR_PAT, 0x0007040600070403, false, "PAT type 3" },
	{ MSR_PAT, 0x0807040600070406, false, "PAT type 8" },
	{ MSR_LSTAR, 0x00007fffffffffff, true, "highest lower address" },
	{ MSR_LSTAR, 0x0000800000000000, false, "LSTAR not canonical" },
	{ MSR_LSTAR, 0xffff800000000000, true, "lowest upper address" },
	{ MSR_CSTAR, 0x0001000000000000, false, "CSTAR not canonical" },
	{ MSR_FS_BASE, 0x0000800000000000, false, "FS_BASE not canonical" },
	{ MSR_GS_BASE, 0x8000000000000000, false, "GS_BASE not canonical" },
	{ MSR_KERNEL_GS_BASE, 0x0000800000000000, false, "KERNEL_GS_BASE not canonical" },
	{ MSR_KERNEL_GS_BASE, 0xffffffff80000000, true, "KERNEL_GS_BASE" },
	{ 0x175, 0x0000800000000000, false, "SYSENTER_ESP not canonical" },
	{ 0x176, 0x0000800000000000, false, "SYSENTER_EIP not canonical" },
	{ 0x176, 0xffffffff81000000, true, "SYSENTER_EIP" },
	{ MSR_FMASK, 0x0000000000047700, true, "FMASK" },
	{ MSR_APIC_BASE, 0xfee00900ull | BIT(63), false, "APIC_BASE reserved bit 63" },
	{ MSR_APIC_BASE, 0xfee00901ull, false, "APIC_BASE reserved bit 0" },
};

CASE("BUG-15", "MSR", "values", msr_value_rules)
{
	u64 lma = EFER_LMA;

	for (u32 i = 0; i < ARRAY_SIZE(msr_values); i++) {
		const struct msr_value *row = &msr_values[i];
		u64 old = rdmsr(row->index), now;

		expect_equal((u64)try_wrmsr(row->index, row->value),
			(u64)(row->legal ? NO_FAULT : GP), "WRMSR %x %lx (%s)", row->index,
			row->value, row->why);
		now = rdmsr(row->index);
		expect_equal(now,
			row->legal ? row->value | (row->index == MSR_EFER ? lma : 0) : old,
			"MSR %x (%s)", row->index, row->why);
		wrmsr(row->index, old);
	}
}

CASE("BUG-07", "MSR", "syscall-msrs-over-exits", msr_syscall)
{
	static const u32 indexes[] = { MSR_STAR, MSR_LSTAR, MSR_CSTAR, MSR_FMASK,
		MSR_KERNEL_GS_BASE, MSR_FS_BASE, MSR_GS_BASE, 0x174, 0x175, 0x176 };
	u64 old[ARRAY_SIZE(indexes)];

	for (u32 i = 0; i < ARRAY_SIZE(indexes); i++) {
		old[i] = rdmsr(indexes[i]);
		wrmsr(indexes[i], 0x1000 * (i + 1) + 0x100);
	}
	for (u32 round = 0; round < 100; round++) {
		cpuid(0, 0);
		wrmsr(MSR_EFER, rdmsr(MSR_EFER) ^ EFER_SCE);
		for (u32 i = 0; i < ARRAY_SIZE(indexes); i++)
			expect_equal(
				rdmsr(indexes[i]), 0x1000 * (i + 1) + 0x100, "MSR %x", indexes[i]);
	}
	for (u32 i = 0; i < ARRAY_SIZE(indexes); i++)
		wrmsr(indexes[i], old[i]);
}

CASE("BUG-07", "MSR", "swapgs", msr_swapgs)
{
	u64 gs = rdmsr(MSR_GS_BASE), kernel_gs = rdmsr(MSR_KERNEL_GS_BASE);

	wrmsr(MSR_GS_BASE, 0x1111000);
	wrmsr(MSR_KERNEL_GS_BASE, 0x2222000);
	__asm__ volatile("swapgs");
	cpuid(0, 0);
	expect_equal(rdmsr(MSR_GS_BASE), 0x2222000, "GS_BASE after SWAPGS");
	expect_equal(rdmsr(MSR_KERNEL_GS_BASE), 0x1111000, "KERNEL_GS_BASE after SWAPGS");
	wrmsr(MSR_GS_BASE, gs);
	wrmsr(MSR_KERNEL_GS_BASE, kernel_gs);
}

static u64 rdtscp_aux(void)
{
	u32 low, high, aux;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
	return aux;
}

CASE("BUG-65", "MSR", "tsc-aux", msr_tsc_aux)
{
	u64 initial;

	if (!cpuid_edx(0x80000001, 27))
		case_skip("no RDTSCP");
	initial = rdmsr(MSR_TSC_AUX);
	expect_equal(initial, 0, "TSC_AUX of a fresh guest");
	for (u32 i = 1; i < 100; i++) {
		wrmsr(MSR_TSC_AUX, i * 0x01010101);
		cpuid(0, 0);
		expect_equal(rdtscp_aux(), i * 0x01010101, "RDTSCP");
		expect_equal(rdmsr(MSR_TSC_AUX), i * 0x01010101, "TSC_AUX");
	}
	/*
	 * Bit 32 is reserved (#GP), but Bochs takes it, so that nothing can be said about it here.
	 */
	wrmsr(MSR_TSC_AUX, initial);
}

CASE("BUG-28", "HW", "feature-control", msr_feature_control)
{
	u64 value = 0;

	if (!under_torpor() && !cpuid_ecx(1, 5))
		case_skip("no VMX and no hypervisor that hides it");
	if (!expect_equal((u64)try_rdmsr(MSR_FEATURE_CONTROL, &value), (u64)NO_FAULT, "RDMSR 3a"))
		return;
	if (under_torpor())
		expect_equal(value & (FEATURE_CONTROL_LOCK | FEATURE_CONTROL_VMX),
			FEATURE_CONTROL_LOCK, "locked with VMX off");
	if (value & FEATURE_CONTROL_LOCK)
		expect_equal(
			(u64)try_wrmsr(MSR_FEATURE_CONTROL, value), GP, "WRMSR 3a when locked");
}

CASE("BUG-29", "EPT", "mtrr-registers", msr_mtrr)
{
	u64 cap = 0, type = 0, value = 0;

	if (!cpuid_edx(1, 12))
		case_skip("no MTRR");
	expect_equal((u64)try_rdmsr(0xfe, &cap), (u64)NO_FAULT, "RDMSR MTRRCAP");
	expect_equal((u64)try_rdmsr(0x2ff, &type), (u64)NO_FAULT, "RDMSR MTRR_DEF_TYPE");
	expect_equal((u64)try_wrmsr(0x2ff, type), (u64)NO_FAULT, "WRMSR MTRR_DEF_TYPE");
	for (u32 i = 0; i < (cap & 0xff); i++) {
		expect_equal((u64)try_rdmsr(0x200 + 2 * i, &value), (u64)NO_FAULT,
			"RDMSR MTRR base %u", i);
		expect_equal((u64)try_wrmsr(0x200 + 2 * i, value), (u64)NO_FAULT,
			"WRMSR MTRR base %u", i);
		expect_equal((u64)try_rdmsr(0x201 + 2 * i, &value), (u64)NO_FAULT,
			"RDMSR MTRR mask %u", i);
		expect_equal((u64)try_wrmsr(0x201 + 2 * i, value), (u64)NO_FAULT,
			"WRMSR MTRR mask %u", i);
	}
	if (cap & BIT(8))
		expect_equal((u64)try_rdmsr(0x250, &value), (u64)NO_FAULT, "RDMSR MTRR_FIX64K");
	expect_equal((u64)try_wrmsr(0xfe, cap), GP, "MTRRCAP is read-only");
	expect_equal((u64)try_wrmsr(0x2ff, 2), GP, "MTRR_DEF_TYPE type 2");
}

CASE("BUG-63", "MSR", "tsc-writes", msr_tsc)
{
	u64 before = rdtsc(), after;

	if (!expect_equal(
		    (u64)try_wrmsr(0x10, before + 0x100000000000ull), (u64)NO_FAULT, "WRMSR TSC"))
		return;
	after = rdtsc();
	expect(after - before >= 0x100000000000ull && after - before < 0x108000000000ull,
		"TSC runs on from what was written: %lx to %lx", before, after);
	wrmsr(0x10, before + (rdtsc() - after));
}
