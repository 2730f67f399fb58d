// SPDX-License-Identifier: BSD-2-Clause
// MSR policy: a sweep over all indices against a list kept here (BUG-15), values that must fault,
// what each write leaves behind, TSC arithmetic, feature control (BUG-28), TSC_AUX (BUG-65).

#include "vcpu_fixture.h"

#include "hv/vm/guest_memory.h"
#include "vmx/msr.h"
#include "vmx/msr_table.h"

#define PATTERN_A 0x1111222233334444ull
#define PATTERN_D 0x5555666677778888ull

static int rdmsr(u32 index, u64 *value)
{
	int vector;

	vcpu.gpr[RCX] = index | 0xfeed000000000000;
	vcpu.gpr[RAX] = PATTERN_A;
	vcpu.gpr[RDX] = PATTERN_D;
	vector = fixture_exit(exit_rdmsr, 0);
	if (vector >= 0) {
		/* A fault leaves the registers alone. */
		assert_int_equal(vcpu.gpr[RAX], PATTERN_A);
		assert_int_equal(vcpu.gpr[RDX], PATTERN_D);
		return vector;
	}
	assert_int_equal(vcpu.gpr[RAX] >> 32 | vcpu.gpr[RDX] >> 32, 0);
	*value = vcpu.gpr[RDX] << 32 | vcpu.gpr[RAX];
	return vector;
}

static int wrmsr(u32 index, u64 value)
{
	vcpu.gpr[RCX] = index;
	vcpu.gpr[RAX] = (u32)value | 0xffffffff00000000;
	vcpu.gpr[RDX] = value >> 32 | 0xffffffff00000000;
	return fixture_exit(exit_wrmsr, 0);
}

/* Readable MSRs of the guest outside the local APIC's. */
static bool readable(u32 index)
{
	static const struct {
		u32 first, last;
	} ranges[] = { { 0x10, 0x10 }, { 0x17, 0x17 }, { 0x1b, 0x1b }, { 0x34, 0x34 },
		{ 0x3a, 0x3b }, { 0x48, 0x48 }, { 0x8b, 0x8b }, { 0xce, 0xce }, { 0xfe, 0xfe },
		{ 0x10a, 0x10a }, { 0x140, 0x140 }, { 0x174, 0x176 }, { 0x179, 0x17a },
		{ 0x1a0, 0x1a0 }, { 0x1d9, 0x1d9 }, { 0x200, 0x20f }, { 0x250, 0x250 },
		{ 0x258, 0x259 }, { 0x268, 0x26f }, { 0x277, 0x277 }, { 0x2ff, 0x2ff },
		{ 0x6e0, 0x6e0 }, { 0xda0, 0xda0 }, { 0xc0000080, 0xc0000084 },
		{ 0xc0000100, 0xc0000103 } };

	for (u32 i = 0; i < ARRAY_SIZE(ranges); i++)
		if (index >= ranges[i].first && index <= ranges[i].last)
			return true;
	return false;
}

static void sweep_one(u32 index)
{
	u64 value;

	if (index >= 0x800 && index <= 0x8ff)
		return; /* the local APIC's own tests */
	assert_int_equal(rdmsr(index, &value), readable(index) ? -1 : VECTOR_GP);
	if (!readable(index) && index != 0x49 && index != 0x79) {
		assert_int_equal(wrmsr(index, 0), VECTOR_GP);
		assert_int_equal(wrmsr(index, ~0ull), VECTOR_GP);
	}
}

static void sweep(void **state)
{
	static const u32 outside[] = { 0x2000, 0x3fffffff, 0x40000000, 0x40000001, 0x40000010,
		0x400000ff, 0x4b564d00, 0x80000000, 0xbfffffff, 0xc0002000, 0xc0010000, 0xc0010015,
		0xc0011029, 0xffffffff };

	(void)state;
	fake_cpuid_set(7, 0, (struct cpuid_regs){ 0, 0xd39ffffb, 0x1c, 0xbc000400 });
	fixture_rebuild();
	for (u32 index = 0; index < 0x2000; index++)
		sweep_one(index);
	for (u32 index = 0xc0000000; index < 0xc0002000; index++)
		sweep_one(index);
	for (u32 i = 0; i < ARRAY_SIZE(outside); i++)
		sweep_one(outside[i]);
	for (u32 i = 0; i < 20000; i++)
		sweep_one(fixture_random());
	/*
	 * Nothing that a guest does not have was asked of the machine: that would have failed here.
	 */
	assert_int_equal(fake_cpu->faults[13], 0);
}

static void rows_are_sorted(void **state)
{
	(void)state;
	for (u32 i = 0; i < msr_row_count; i++) {
		assert_true(msr_rows[i].first <= msr_rows[i].last);
		assert_true(i == 0 || msr_rows[i - 1].last < msr_rows[i].first);
		assert_ptr_equal(msr_row_find(msr_rows[i].first), &msr_rows[i]);
		assert_ptr_equal(msr_row_find(msr_rows[i].last), &msr_rows[i]);
		assert_true(msr_row_find(msr_rows[i].last + 1) != &msr_rows[i]);
	}
}

/* Fixed values, and that writing them is #GP. */
static void constants(void **state)
{
	static const struct {
		u32 index;
		u64 value;
		bool zero_ok; /* writing 0 is accepted and changes nothing */
	} rows[] = {
		{ 0x34, 0, false },
		{ 0x3a, 1, false /* BUG-28: locked, VMX off */ },
		{ 0xce, 25 << 8, false },
		{ 0xfe, 0x508, false },
		{ 0x179, 0, false },
		{ 0x140, 0, true },
		{ 0xda0, 0, true },
		{ 0x17, 0, false },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 value;

		assert_int_equal(wrmsr(rows[i].index, 0), rows[i].zero_ok ? -1 : VECTOR_GP);
		for (u32 bit = 0; bit < 64; bit++)
			assert_int_equal(wrmsr(rows[i].index, BIT(bit)), VECTOR_GP);
		assert_int_equal(rdmsr(rows[i].index, &value), -1);
		assert_int_equal(value, rows[i].value);
	}
}

/* Every single bit: either #GP with the old value kept, or the value that the manual leaves. */
static void single_bits(void **state)
{
	static const struct {
		u32 index;
		u64 valid, writable;
	} rows[] = {
		{ 0x17a, 7, 7 },
		{ 0x1a0, 0x1881, 1 },
		{ 0x1d9, 3, 3 },
		{ 0x174, 0xffffffff, 0xffffffff },
		{ 0x8b, ~0ull, 0 },
		{ 0xc0000084, 0xffffffff, 0xffffffff },
		{ 0xc0000103, 0xffffffff, 0xffffffff },
		{ 0xc0000081, ~0ull, ~0ull },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		for (u32 bit = 0; bit < 64; bit++) {
			bool good = rows[i].valid >> bit & 1;
			u64 before, after;

			assert_int_equal(rdmsr(rows[i].index, &before), -1);
			assert_int_equal(wrmsr(rows[i].index, BIT(bit)), good ? -1 : VECTOR_GP);
			assert_int_equal(rdmsr(rows[i].index, &after), -1);
			assert_int_equal(after,
				good ? (before & ~rows[i].writable) | (BIT(bit) & rows[i].writable)
				     : before);
		}
	}
}

static void addresses(void **state)
{
	static const u32 indices[] = { 0x175, 0x176, 0xc0000082, 0xc0000083, 0xc0000100, 0xc0000101,
		0xc0000102 };
	static const struct {
		u64 value;
		bool canonical;
	} values[] = { { 0, true }, { 0x00007fffffffffff, true }, { 0x0000800000000000, false },
		{ 0xffff7fffffffffff, false }, { 0xffff800000000000, true }, { ~0ull, true },
		{ 0x0100000000000000, false }, { BIT(63), false } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(indices); i++)
		for (u32 v = 0; v < ARRAY_SIZE(values); v++) {
			u64 read;

			assert_int_equal(wrmsr(indices[i], values[v].value),
				values[v].canonical ? -1 : VECTOR_GP);
			assert_int_equal(rdmsr(indices[i], &read), -1);
			assert_true(!values[v].canonical || read == values[v].value);
		}
}

/* Each byte of PAT and of fixed MTRRs takes memory types only (SDM 3A tables 12-8 and 12-10). */
static void memory_types(void **state)
{
	(void)state;
	for (u32 type = 0; type < 256; type++) {
		bool mtrr = type == 0 || type == 1 || type == 4 || type == 5 || type == 6;
		bool pat = mtrr || type == 7;

		for (u32 byte = 0; byte < 8; byte++) {
			u64 value = 0x0606060606060606;

			value = (value & ~(0xffull << 8 * byte)) | (u64)type << 8 * byte;
			assert_int_equal(wrmsr(0x277, value), pat ? -1 : VECTOR_GP);
			assert_int_equal(wrmsr(0x26f, value), mtrr ? -1 : VECTOR_GP);
			if (pat)
				assert_int_equal(fake_vmcs_get(VMCS_GUEST_PAT), value);
		}
		assert_int_equal(wrmsr(0x2ff, type), mtrr ? -1 : VECTOR_GP);
		assert_int_equal(wrmsr(0x200, type), mtrr ? -1 : VECTOR_GP);
	}
	for (u32 bit = 0; bit < 64; bit++) {
		/* width 46: base 45:12 and the type, mask 45:12 and 11, default type 11, 10 */
		bool frame = bit >= 12 && bit < 46;

		assert_int_equal(
			wrmsr(0x202, BIT(bit)), frame || bit == 0 || bit == 2 ? -1 : VECTOR_GP);
		assert_int_equal(wrmsr(0x203, BIT(bit)), frame || bit == 11 ? -1 : VECTOR_GP);
		assert_int_equal(wrmsr(0x2ff, BIT(bit)),
			bit == 0 || bit == 2 || bit == 10 || bit == 11 ? -1 : VECTOR_GP);
	}
}

/* What a kernel finds: RAM write-back, the device hole and VGA memory not. */
static void mtrr_reset(void **state)
{
	u64 value, mask;

	(void)state;
	assert_int_equal(rdmsr(0x2ff, &value), -1);
	assert_int_equal(value, 0xc06);
	assert_int_equal(rdmsr(0x200, &value), -1);
	assert_int_equal(rdmsr(0x201, &mask), -1);
	assert_int_equal(value & 0xff, 0);
	assert_true(mask & BIT(11));
	mask &= ~BIT(11);
	assert_int_equal(GUEST_HOLE & mask, value);
	assert_int_equal(0xfffff000 & mask, value);
	assert_int_not_equal((GUEST_HOLE - 1) & mask, value);
	assert_int_not_equal(SIZE_4G & mask, value);
	assert_int_equal(rdmsr(0x250, &value), -1);
	assert_int_equal(value, 0x0606060606060606);
	assert_int_equal(rdmsr(0x259, &value), -1);
	assert_int_equal(value, 0);
}

/* SDM 3B 18.17.3: the two registers move together. */
static void tsc(void **state)
{
	u64 value, adjust;

	(void)state;
	fake_cpu->tsc = 1000;
	assert_int_equal(wrmsr(0x10, 5000), -1);
	assert_int_equal(fake_vmcs_get(VMCS_TSC_OFFSET), 4000);
	assert_int_equal(vcpu.tsc_offset, 4000);
	assert_int_equal(rdmsr(0x3b, &adjust), -1);
	assert_int_equal(adjust, 4000);
	assert_int_equal(wrmsr(0x3b, 0), -1);
	assert_int_equal(fake_vmcs_get(VMCS_TSC_OFFSET), 0);
	fake_cpu->tsc = 2000;
	assert_int_equal(rdmsr(0x10, &value), -1);
	assert_int_equal(value, 2000);
	/* backwards, and around */
	assert_int_equal(wrmsr(0x10, 0), -1);
	assert_int_equal(rdmsr(0x3b, &adjust), -1);
	assert_int_equal(adjust, -2000ull);
	assert_int_equal(wrmsr(0x3b, ~0ull), -1);
	assert_int_equal(rdmsr(0x10, &value), -1);
	assert_int_equal(value, 1999);
	/* a second write counts from where the first left it */
	assert_int_equal(wrmsr(0x10, 2999), -1);
	assert_int_equal(rdmsr(0x3b, &adjust), -1);
	assert_int_equal(adjust, 999);
	/* the host's TSC is not the guest's to write */
	assert_int_equal(fake_cpu->tsc, 2000);
}

static void lapic_registers(void **state)
{
	u64 value;

	(void)state;
	assert_int_equal(rdmsr(0x1b, &value), -1);
	assert_int_equal(value, 0xfee00900);
	/* x2APIC registers only in x2APIC mode */
	assert_int_equal(rdmsr(0x802, &value), VECTOR_GP);
	assert_int_equal(wrmsr(0x1b, 0xfee00d00), -1);
	assert_int_equal(rdmsr(0x802, &value), -1);
	assert_int_equal(value, 0);
	/* the host's register is as before */
	assert_int_equal(fake_msr(0x1b)->writes, 0);
	/* disabled, and enabled again (docs/guest-platform.md) */
	assert_int_equal(wrmsr(0x1b, 0xfee00100), -1);
	assert_int_equal(wrmsr(0x1b, 0xfee00900), -1);
	assert_int_equal(rdmsr(0x1b, &value), -1);
	assert_int_equal(value, 0xfee00900);
}

/* An MSR goes with its CPUID bit, also when the machine has it (BUG-65). */
static void hidden_with_their_feature(void **state)
{
	u64 value;

	(void)state;
	fake_cpuid_set_any(0x80000001, (struct cpuid_regs){ 0, 0, 0x121, 0x2c100800 & ~BIT(27) });
	fake_cpuid_set(7, 0, (struct cpuid_regs){ 0, 0xd39ffffb, 0x1c, 0 });
	fake_msr_set(0xc0000103, 77, FAKE_MSR_ANY, 0);
	fixture_rebuild();
	assert_int_equal(rdmsr(0xc0000103, &value), VECTOR_GP);
	assert_int_equal(wrmsr(0xc0000103, 0), VECTOR_GP);
	assert_int_equal(rdmsr(0x48, &value), VECTOR_GP);
	assert_int_equal(wrmsr(0x49, 1), VECTOR_GP);
	assert_int_equal(rdmsr(0x10a, &value), VECTOR_GP);
	assert_int_equal(rdmsr(0xe1, &value), VECTOR_GP);
	msr_reset_live(&vm.cpuid);
	assert_int_equal(fake_msr(0xc0000103)->value, 77);
}

/* Bits that promise an MSR the guest does not have are left out. */
static void arch_capabilities(void **state)
{
	u64 value;

	(void)state;
	fake_msr_set(0x10a, ~0ull, FAKE_MSR_READ_ONLY, 0);
	fixture_rebuild();
	assert_int_equal(rdmsr(0x10a, &value), -1);
	assert_int_equal(value & (BIT(7) | BIT(10) | BIT(11) | BIT(18) | BIT(21) | BIT(25)), 0);
	assert_int_equal(value & 0x3f, 0x3f);
	assert_int_equal(value >> 29, 0);
}

/* A VM starts with the live registers at their reset values. */
static void live_reset(void **state)
{
	static const u32 live[] = { 0x48, 0xc0000081, 0xc0000082, 0xc0000083, 0xc0000084,
		0xc0000102, 0xc0000103 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(live); i++)
		fake_msr(live[i])->value = 0x55;
	msr_reset_live(&vm.cpuid);
	for (u32 i = 0; i < ARRAY_SIZE(live); i++)
		assert_int_equal(fake_msr(live[i])->value, 0);
	/* a command is not given by a reset */
	assert_int_equal(fake_msr(0x49)->writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sweep, fixture_setup),
		cmocka_unit_test_setup(rows_are_sorted, fixture_setup),
		cmocka_unit_test_setup(constants, fixture_setup),
		cmocka_unit_test_setup(single_bits, fixture_setup),
		cmocka_unit_test_setup(addresses, fixture_setup),
		cmocka_unit_test_setup(memory_types, fixture_setup),
		cmocka_unit_test_setup(mtrr_reset, fixture_setup),
		cmocka_unit_test_setup(tsc, fixture_setup),
		cmocka_unit_test_setup(lapic_registers, fixture_setup),
		cmocka_unit_test_setup(hidden_with_their_feature, fixture_setup),
		cmocka_unit_test_setup(arch_capabilities, fixture_setup),
		cmocka_unit_test_setup(live_reset, fixture_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
