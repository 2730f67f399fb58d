// SPDX-License-Identifier: BSD-2-Clause
// CPUID policy: what shows and what stays hidden on made-up processors (BUG-41), bits that follow
// the guest's state (BUG-38), XSAVE sizes, topology. Oracle: lists of bits by the manual's names,
// kept here.

#include "vcpu_fixture.h"

#include "hv/cpu/registers.h"
#include "vmx/xcr.h"

#define ALL_ONES ((struct cpuid_regs){ ~0u, ~0u, ~0u, ~0u })

static const struct cpuid_inputs everything = { .rdtscp = true,
	.invpcid = true,
	.xsaves = true,
	.user_wait = true,
	.speculation = true,
	.la57 = true,
	.cpus = 1,
	.tsc_hz = 3000000000 };

static struct cpuid_policy policy;

/* A processor of the far future: every feature bit set in every leaf that has some. */
static void future_processor(void)
{
	fake_cpuid_set_any(0, (struct cpuid_regs){ 0x23, 0x756e6547, 0x6c65746e, 0x49656e69 });
	fake_cpuid_set_any(1, ALL_ONES);
	fake_cpuid_set_any(6, ALL_ONES);
	for (u32 i = 0; i < 3; i++)
		fake_cpuid_set(7, i, (struct cpuid_regs){ i ? ~0u : 2, ~0u, ~0u, ~0u });
	for (u32 leaf = 0x10; leaf <= 0x23; leaf++)
		if (leaf != 0x15 && leaf != 0x16)
			fake_cpuid_set_any(leaf, ALL_ONES);
	fake_cpuid_set_any(0xa, ALL_ONES);
	fake_cpuid_set(0xd, 0, (struct cpuid_regs){ ~0u, ~0u, ~0u, ~0u });
	fake_cpuid_set(0xd, 1, ALL_ONES);
	fake_cpuid_set_any(0x80000000, (struct cpuid_regs){ 0x80000022, 0, 0, 0 });
	fake_cpuid_set_any(0x80000001, ALL_ONES);
	fake_cpuid_set_any(0x80000007, ALL_ONES);
	fake_cpuid_set_any(0x80000008, (struct cpuid_regs){ 0xffff392e, ~0u, ~0u, ~0u });
}

#define ROW(leaf, subleaf) (*cpuid_policy_row(&policy, leaf, subleaf))

static void future_bits_stay_hidden(void **state)
{
	(void)state;
	future_processor();
	cpuid_policy_build(&policy, &everything);
	/*
	 * Leaf 1 without DTES64, MONITOR, DS-CPL, VMX, SMX, EIST, TM2, CNXT-ID, SDBG, xTPR, PDCM,
	 * bit 16, DCA, OSXSAVE; without bits 9 (APIC, dynamic), 10, 18, 20, 21, 22, 29, 30, 31, and
	 * HTT for one CPU.
	 */
	assert_int_equal(ROW(1, 0).ecx, 0xf7fa3203);
	assert_int_equal(ROW(1, 0).edx, 0x0f8bf9ff);
	assert_int_equal(ROW(6, 0).eax, 4);
	assert_int_equal(ROW(6, 0).ebx | ROW(6, 0).ecx | ROW(6, 0).edx, 0);
	assert_int_equal(ROW(7, 0).eax, 1);
	/* without SGX 2, HLE 4, RTM 11, PQM 12, MPX 14, PQE 15, 22, PT 25 */
	assert_int_equal(ROW(7, 0).ebx, 0xfdbf27eb);
	/* without OSPKE 4, CET 7, TME 13, 15, 17-21, KL 23, BUS_LOCK 24, 26, ENQCMD 29, SGX_LC 30,
	 * PKS */
	assert_int_equal(ROW(7, 0).ecx, 0x1a415f6f);
	/* FSRM, the AVX-512 ones, MD_CLEAR, SERIALIZE, FP16, IBRS, STIBP, ARCH_CAPABILITIES, SSBD
	 */
	assert_int_equal(ROW(7, 0).edx, 0xac80451c);
	assert_int_equal(ROW(7, 1).eax, 0x1c30);
	assert_int_equal(ROW(7, 1).ebx | ROW(7, 1).ecx | ROW(7, 1).edx, 0);
	assert_int_equal(ROW(0xd, 1).eax, 0xf);
	assert_int_equal(ROW(0xd, 1).ecx | ROW(0xd, 1).edx, 0);
	assert_int_equal(ROW(0x80000001, 0).ecx, 0x121);
	assert_int_equal(ROW(0x80000001, 0).edx, 0x2c100800);
	assert_int_equal(ROW(0x80000007, 0).edx, 0x100);
	assert_int_equal(ROW(0x80000007, 0).eax, 0);
	assert_int_equal(ROW(0x80000008, 0).eax, 0x392e);
	assert_int_equal(ROW(0x80000008, 0).ebx | ROW(0x80000008, 0).ecx, 0);
	assert_int_equal(ROW(0x80000000, 0).eax, 0x80000008);
	assert_int_equal(ROW(0, 0).eax, 0x1f);
}

/* Leaves that may have something in them; every other one is zero up to the highest. */
static bool leaf_has_data(u32 leaf)
{
	static const u32 leaves[] = { 0, 1, 2, 4, 6, 7, 0xb, 0xd, 0x15, 0x16, 0x1f, 0x40000000,
		0x40000010, 0x80000000, 0x80000001, 0x80000002, 0x80000003, 0x80000004, 0x80000006,
		0x80000007, 0x80000008 };

	for (u32 i = 0; i < ARRAY_SIZE(leaves); i++)
		if (leaves[i] == leaf)
			return true;
	return false;
}

static void check_zero_leaves(u32 first, u32 last)
{
	static const struct cpuid_regs zero;

	for (u32 leaf = first; leaf <= last; leaf++)
		for (u32 subleaf = 0; subleaf < 70 && !leaf_has_data(leaf); subleaf++)
			assert_memory_equal(
				cpuid_policy_row(&policy, leaf, subleaf), &zero, sizeof(zero));
}

static void other_leaves(void **state)
{
	static const u32 beyond[] = { 0x20, 0x23, 0x1000, 0x3fffffff, 0x50000000, 0x7fffffff,
		0x80000009, 0x80000022, 0x8fffffff, 0x90000000, 0xc0000000, 0xffffffff };

	(void)state;
	future_processor();
	cpuid_policy_build(&policy, &everything);
	check_zero_leaves(0, 0x1f);
	check_zero_leaves(0x40000000, 0x40000040);
	check_zero_leaves(0x4ffffff0, 0x4fffffff);
	check_zero_leaves(0x80000000, 0x80000008);
	/* Above the highest leaf: the highest basic one, with the same subleaf. */
	for (u32 i = 0; i < ARRAY_SIZE(beyond); i++)
		for (u32 subleaf = 0; subleaf < 3; subleaf++)
			assert_ptr_equal(cpuid_policy_row(&policy, beyond[i], subleaf),
				cpuid_policy_row(&policy, 0x1f, subleaf));
	/* Subleaves that do not exist are zero. */
	assert_int_equal(ROW(7, 2).ebx | ROW(7, 2).eax | ROW(7, ~0u).ecx, 0);
	assert_int_equal(ROW(4, 4).eax | ROW(4, 1000).eax, 0);
	assert_int_equal(ROW(0xd, 10).eax | ROW(0xd, 17).eax | ROW(0xd, 63).eax, 0);
}

static void hypervisor_leaves(void **state)
{
	char text[13] = "";

	(void)state;
	cpuid_policy_build(&policy, &everything);
	memcpy(text, &ROW(0x40000000, 0).ebx, 4);
	memcpy(text + 4, &ROW(0x40000000, 0).ecx, 4);
	memcpy(text + 8, &ROW(0x40000000, 0).edx, 4);
	assert_string_equal(text, "TorporTorpor");
	assert_int_equal(ROW(0x40000000, 0).eax, 0x40000010);
	assert_int_equal(ROW(0x40000010, 0).eax, 3000000);
	/* The TSC from leaf 0x15: ECX * EBX / EAX */
	assert_int_equal(ROW(0x15, 0).ecx * (u64)ROW(0x15, 0).ebx / ROW(0x15, 0).eax, 3000000000);
	assert_int_equal(ROW(0x16, 0).eax, 3000);
	/* A frequency that is not known is not told, whatever the processor claims. */
	cpuid_policy_build(&policy, &(struct cpuid_inputs){ .cpus = 1 });
	assert_int_equal(ROW(0x15, 0).ebx | ROW(0x16, 0).eax | ROW(0x40000010, 0).eax, 0);
}

/* BUG-41: advertised only if the control makes the instruction work. */
static void controls_decide(void **state)
{
	static const struct {
		size_t input;
		enum cpuid_feature features[2];
	} rows[] = {
		{ offsetof(struct cpuid_inputs, rdtscp), { FEATURE_RDTSCP, FEATURE_RDPID } },
		{ offsetof(struct cpuid_inputs, invpcid), { FEATURE_INVPCID, FEATURE_INVPCID } },
		{ offsetof(struct cpuid_inputs, xsaves), { FEATURE_XSAVES, FEATURE_XSAVES } },
		{ offsetof(struct cpuid_inputs, user_wait), { FEATURE_WAITPKG, FEATURE_WAITPKG } },
		{ offsetof(struct cpuid_inputs, speculation), { FEATURE_IBRS_IBPB, FEATURE_SSBD } },
		{ offsetof(struct cpuid_inputs, la57), { FEATURE_LA57, FEATURE_LA57 } },
	};

	(void)state;
	future_processor();
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cpuid_inputs in = everything;
		struct cpuid_policy without;

		cpuid_policy_build(&policy, &in);
		*(bool *)((u8 *)&in + rows[i].input) = false;
		cpuid_policy_build(&without, &in);
		for (u32 f = 0; f < 2; f++) {
			assert_true(cpuid_has(&policy, rows[i].features[f]));
			assert_false(cpuid_has(&without, rows[i].features[f]));
		}
	}
	/* The control alone does not make an instruction that the processor lacks. */
	fake_cpuid_set(7, 0, (struct cpuid_regs){ 0 });
	fake_cpuid_set_any(0x80000001, (struct cpuid_regs){ 0 });
	cpuid_policy_build(&policy, &everything);
	assert_false(cpuid_has(&policy, FEATURE_INVPCID));
	assert_false(cpuid_has(&policy, FEATURE_RDTSCP));
	assert_false(cpuid_has(&policy, FEATURE_WAITPKG));
	/* What is emulated is there all the same. */
	assert_true(cpuid_has(&policy, FEATURE_TSC_ADJUST));
	assert_true(cpuid_has(&policy, FEATURE_X2APIC));
	assert_true(cpuid_has(&policy, FEATURE_TSC_DEADLINE));
}

static void no_xsave(void **state)
{
	struct cpuid_regs leaf1 = insn_cpuid(1, 0);

	(void)state;
	leaf1.ecx &= ~(1u << 26);
	fake_cpuid_set_any(1, leaf1);
	cpuid_policy_build(&policy, &everything);
	assert_int_equal(policy.xcr0, 0);
	assert_false(cpuid_has(&policy, FEATURE_AVX));
	assert_false(cpuid_has(&policy, FEATURE_AVX2));
	assert_false(cpuid_has(&policy, FEATURE_AVX512F));
	assert_false(cpuid_has(&policy, FEATURE_PKU));
	assert_false(cpuid_has(&policy, FEATURE_XSAVES));
	assert_int_equal(ROW(0xd, 0).eax | ROW(0xd, 1).eax, 0);
	assert_true(cpuid_has(&policy, FEATURE_SSE4_2));
}

/* An old processor: no leaf 7, no leaf 0xB, no 0x80000008. */
static void old_processor(void **state)
{
	(void)state;
	fake_cpuid_set_any(0, (struct cpuid_regs){ 5, 0x756e6547, 0x6c65746e, 0x49656e69 });
	/* what it answers for every leaf it does not have */
	fake_cpuid_set_any(5, ALL_ONES);
	fake_cpuid_set_any(0x80000000, (struct cpuid_regs){ 0x80000004, 0, 0, 0 });
	cpuid_policy_build(&policy, &everything);
	assert_int_equal(ROW(0, 0).eax, 5);
	assert_int_equal(policy.physical_width, 36);
	assert_int_equal(policy.linear_width, 48);
	assert_false(cpuid_has(&policy, FEATURE_SMEP));
	assert_false(cpuid_has(&policy, FEATURE_INVARIANT_TSC));
	assert_true(cpuid_has(&policy, FEATURE_SSE2));
	assert_int_equal(ROW(7, 0).ebx, 0);
}

static int executed(u32 leaf, u32 subleaf)
{
	vcpu.gpr[RAX] = leaf | 0xaaaa000000000000;
	vcpu.gpr[RCX] = subleaf | 0xbbbb000000000000;
	vcpu.gpr[RBX] = vcpu.gpr[RDX] = ~0ull;
	return fixture_exit(exit_cpuid, 0);
}

/* BUG-38 */
static void dynamic_bits(void **state)
{
	(void)state;
	fake_cpu->cr4 |= CR4_OSXSAVE | CR4_PKE; /* the host's must not show */
	for (u32 i = 0; i < 4; i++) {
		u64 cr4 = guest_cr4(&vcpu) & ~(CR4_OSXSAVE | CR4_PKE);

		cr4 |= (i & 1 ? CR4_OSXSAVE : 0) | (i & 2 ? CR4_PKE : 0);
		/* The guest owns both: it writes the real register. */
		fake_vmcs_put(VMCS_GUEST_CR4,
			(fake_vmcs_get(VMCS_GUEST_CR4) & ~(CR4_OSXSAVE | CR4_PKE)) | cr4);
		assert_int_equal(executed(1, 0), -1);
		assert_int_equal(vcpu.gpr[RCX] >> 27 & 1, i & 1);
		assert_int_equal(executed(7, 0), -1);
		assert_int_equal(vcpu.gpr[RCX] >> 4 & 1, i >> 1);
		executed(7, 1);
		assert_int_equal(vcpu.gpr[RCX], 0);
	}
	executed(1, 0);
	assert_int_equal(vcpu.gpr[RDX] >> 9 & 1, 1);
	assert_true(lapic_msr_write(vcpu.lapic, 0x1b, 0xfee00100));
	executed(1, 0);
	assert_int_equal(vcpu.gpr[RDX] >> 9 & 1, 0);
}

static void exit_writes_four_registers(void **state)
{
	(void)state;
	assert_int_equal(executed(0x80000000, 5), -1);
	assert_int_equal(vcpu.gpr[RAX], 0x80000008);
	assert_int_equal(vcpu.gpr[RBX] | vcpu.gpr[RCX] | vcpu.gpr[RDX], 0);
	for (u32 leaf = 0; leaf < 0x30; leaf++) {
		struct cpuid_regs r = cpuid_execute(&vcpu, leaf, 1);

		assert_int_equal(executed(leaf, 1), -1);
		assert_int_equal(vcpu.gpr[RAX], r.eax);
		assert_int_equal(vcpu.gpr[RBX], r.ebx);
		assert_int_equal(vcpu.gpr[RCX], r.ecx);
		assert_int_equal(vcpu.gpr[RDX], r.edx);
	}
}

/* As a kernel adds the sizes up (SDM 1 13.4.2 and 13.4.3), from the subleaves. */
static void xsave_oracle(u64 xcr0, u32 *standard, u32 *compact)
{
	*standard = *compact = 576;
	for (u32 i = 2; i < 63; i++) {
		struct cpuid_regs c = cpuid_execute(&vcpu, 0xd, i);

		if (!(xcr0 >> i & 1))
			continue;
		if (c.ebx + c.eax > *standard)
			*standard = c.ebx + c.eax;
		if (c.ecx & 2)
			*compact = (*compact + 63) / 64 * 64;
		*compact += c.eax;
	}
}

static void xsave_sizes(void **state)
{
	(void)state;
	/* A processor whose totals do not add up, with a component that wants alignment. */
	fake_cpuid_set(0xd, 0, (struct cpuid_regs){ 0x2ff, 2432, 2432, 0 });
	fake_cpuid_set(0xd, 1, (struct cpuid_regs){ 0xf, 2432, 0x100, 0 });
	fake_cpuid_set(0xd, 5, (struct cpuid_regs){ 0x41, 0x440, 0, 0 });
	fake_cpuid_set(0xd, 6, (struct cpuid_regs){ 0x200, 0x480, 2, 0 });
	fixture_rebuild();
	for (u64 xcr0 = 0; xcr0 < 0x400; xcr0++) {
		u32 standard, compact;

		if (!xcr0_valid(&vm.cpuid, xcr0))
			continue;
		xcr0_set(&vcpu, xcr0);
		xsave_oracle(xcr0, &standard, &compact);
		assert_int_equal(cpuid_execute(&vcpu, 0xd, 0).ebx, standard);
		assert_int_equal(cpuid_execute(&vcpu, 0xd, 1).ebx, compact);
	}
	xcr0_set(&vcpu, 0x2e7);
	/* 0xa80 + 8, and the compacted one without MPX's two components */
	assert_int_equal(cpuid_execute(&vcpu, 0xd, 0).ebx, 2696);
	assert_int_equal(cpuid_execute(&vcpu, 0xd, 0).ecx, 2696);
	assert_int_equal(cpuid_execute(&vcpu, 0xd, 1).ebx, 576 + 256 + 128 + 512 + 1024 + 8);
}

static void topology(void **state)
{
	(void)state;
	for (u32 cpus = 1; cpus <= 8; cpus++) {
		u32 ids = cpus == 1 ? 1 : cpus == 2 ? 2 : cpus <= 4 ? 4 : 8;

		vm.vcpu_count = cpus;
		fixture_rebuild();
		for (u32 id = 0; id < cpus; id++) {
			struct cpuid_regs r;

			vcpu.id = id;
			r = cpuid_execute(&vcpu, 1, 0);
			assert_int_equal(r.ebx >> 24, id);
			assert_int_equal(r.edx >> 28 & 1, cpus > 1);
			assert_int_equal(r.ebx >> 16 & 0xff, cpus > 1 ? ids : 0);
			r = cpuid_execute(&vcpu, 0xb, 0);
			assert_int_equal(r.eax, 0);
			assert_int_equal(r.ebx, 1);
			assert_int_equal(r.ecx, 0x100);
			assert_int_equal(r.edx, id);
			r = cpuid_execute(&vcpu, 0xb, 1);
			assert_int_equal(1u << r.eax, ids);
			assert_int_equal(r.ebx, cpus);
			assert_int_equal(r.ecx, 0x201);
			assert_int_equal(r.edx, id);
			/* Beyond: only the level's number and the id */
			r = cpuid_execute(&vcpu, 0xb, 7);
			assert_int_equal(r.eax | r.ebx, 0);
			assert_int_equal(r.ecx, 7);
			assert_int_equal(r.edx, id);
			r = cpuid_execute(&vcpu, 4, 3);
			assert_int_equal((r.eax >> 26) + 1, ids);
			assert_int_equal((r.eax >> 14 & 0xfff) + 1, ids);
			r = cpuid_execute(&vcpu, 4, 0);
			assert_int_equal(r.eax >> 14 & 0xfff, 0);
		}
	}
	vcpu.id = 0;
	vm.vcpu_count = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(future_bits_stay_hidden, fixture_setup),
		cmocka_unit_test_setup(other_leaves, fixture_setup),
		cmocka_unit_test_setup(hypervisor_leaves, fixture_setup),
		cmocka_unit_test_setup(controls_decide, fixture_setup),
		cmocka_unit_test_setup(no_xsave, fixture_setup),
		cmocka_unit_test_setup(old_processor, fixture_setup),
		cmocka_unit_test_setup(dynamic_bits, fixture_setup),
		cmocka_unit_test_setup(exit_writes_four_registers, fixture_setup),
		cmocka_unit_test_setup(xsave_sizes, fixture_setup),
		cmocka_unit_test_setup(topology, fixture_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
