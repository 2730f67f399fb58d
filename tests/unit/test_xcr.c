// SPDX-License-Identifier: BSD-2-Clause
// XSETBV (BUG-39): all single, pairwise and small masks against an oracle of SDM 1 13.3 and
// CPUID.0DH.

#include "vcpu_fixture.h"

#include "hv/cpu/registers.h"
#include "vmx/xcr.h"

static bool oracle(u64 allowed, u64 value)
{
	bool x87 = value & 1, sse = value & 2, avx = value & 4;
	bool opmask = value & 0x20, hi256 = value & 0x40, hi16 = value & 0x80;

	if (value & ~allowed)
		return false;
	if (!x87 || (avx && !sse))
		return false;
	if (opmask != hi256 || hi256 != hi16)
		return false;
	return !opmask || avx;
}

static int set(u64 rcx, u64 value)
{
	vcpu.gpr[RCX] = rcx;
	/* The upper halves are ignored. */
	vcpu.gpr[RAX] = (u32)value | 0xdead000000000000;
	vcpu.gpr[RDX] = value >> 32 | 0xbeef000000000000;
	return fixture_exit(exit_xsetbv, 0);
}

static void try_value(u64 allowed, u64 value)
{
	u64 before = vcpu.msr.xcr0;
	bool good = oracle(allowed, value);

	assert_int_equal(set(0, value), good ? -1 : VECTOR_GP);
	assert_int_equal(vcpu.msr.xcr0, good ? value : before);
	/* The fake processor would have failed the test on a bad value. */
	assert_int_equal(fake_cpu->xcr0, vcpu.msr.xcr0);
}

static void all_masks(void **state)
{
	/* Offered by the host, allowed to the guest: x87 SSE AVX AVX-512 PKRU, no MPX, no AMX. */
	static const struct {
		u64 host, guest;
	} processors[] = { { 0x602ff, 0x2e7 }, { 7, 7 }, { 3, 3 }, { 0x27, 7 }, { 0xe3, 3 },
		{ 0x1f, 7 } };

	(void)state;
	for (u32 p = 0; p < ARRAY_SIZE(processors); p++) {
		fake_cpuid_set(0xd, 0, (struct cpuid_regs){ processors[p].host, 0x240, 0x240, 0 });
		fake_cpu->xcr0_valid = processors[p].host;
		fixture_rebuild();
		fake_cpu->cr4 |= CR4_OSXSAVE;
		fake_cpu->xcr0 = 1;
		assert_true(cr4_write(&vcpu, guest_cr4(&vcpu) | CR4_OSXSAVE));
		assert_int_equal(cpuid_policy_row(&vm.cpuid, 0xd, 0)->eax, processors[p].guest);
		for (u32 i = 0; i < 64; i++)
			for (u32 j = 0; j < 64; j++)
				try_value(processors[p].guest, BIT(i) | BIT(j));
		for (u64 value = 0; value < 0x400; value++)
			try_value(processors[p].guest, value);
	}
}

static void index_and_privilege(void **state)
{
	(void)state;
	/* OSXSAVE clear: #UD, before anything else */
	assert_int_equal(set(0, 1), VECTOR_UD);
	fake_cpu->cr4 |= CR4_OSXSAVE;
	assert_true(cr4_write(&vcpu, guest_cr4(&vcpu) | CR4_OSXSAVE));
	for (u32 index = 0; index < 4; index++)
		assert_int_equal(set(index, 7), index ? VECTOR_GP : -1);
	/* RCX[63:32] is ignored */
	assert_int_equal(set(0xffffffff00000000, 3), -1);
	assert_int_equal(vcpu.msr.xcr0, 3);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
	assert_int_equal(set(0, 7), VECTOR_GP);
	assert_int_equal(vcpu.msr.xcr0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_masks, fixture_setup),
		cmocka_unit_test_setup(index_and_privilege, fixture_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
