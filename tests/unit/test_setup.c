// SPDX-License-Identifier: BSD-2-Clause
/*
 * A vCPU's VMCS as it is made: what the loaders can ask for passes every check of a VM entry, and
 * where memory ends on the way, nothing is freed twice and nothing is left.
 */
#include "vcpu_fixture.h"

#include "frames_double.h"
#include "hv/cpu/cpu.h"
#include "vmx/entry.h"
#include "vmx/entry_check.h"
#include "vmx/setup.h"

/* The stubs are assembly: only their addresses matter here. */
const char vmx_exit_stub[1], vmx_exit_stub_profile[1];

static struct cpu host_cpu;

static int setup(void **state)
{
	if (fixture_setup(state))
		return 1;
	fake_cpu->block = &host_cpu;
	/* Frames are this program's own memory, at addresses of 47 bits. */
	fake_cpuid_set_any(0x80000008, (struct cpuid_regs){ .eax = 48 << 8 | 52 });
	vcpu.vm = &vm;
	vm.ept.eptp = 0x5000 | 3 << 3 | 6;
	frames_double_budget = ~0ull;
	return 0;
}

static const struct guest_entry entries[] = {
	{ .mode = ENTRY_LONG64, .rip = 0x100000, .cr3 = 0x4000, .cs = 0x10, .ds = 0x18 },
	{ .mode = ENTRY_PROTECTED32, .rip = 0x100000, .cs = 0x08, .ds = 0x10 },
};

static void test_entry_would_succeed(void **state)
{
	char text[160];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(entries); i++) {
		u64 before = frames_double_used;

		assert_int_equal(vcpu_vmcs_create(&vcpu, &entries[i]), ERR_OK);
		assert_string_equal(entry_check_failed(text, sizeof(text)),
			"every check that is known here holds");
		assert_int_equal(fake_vmcs_get(VMCS_HOST_RSP), (u64)&vcpu);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), 0x100000);
		vcpu_vmcs_destroy(&vcpu);
		assert_int_equal(frames_double_used, before);
		vcpu.vmcs = vcpu.msr_bitmap = hpa(0);
	}
}

static void test_out_of_memory(void **state)
{
	u64 before = frames_double_used;

	(void)state;
	for (u64 budget = 0; budget < 2; budget++) {
		frames_double_budget = budget;
		assert_int_equal(vcpu_vmcs_create(&vcpu, &entries[0]), ERR_NO_MEMORY);
		vcpu_vmcs_destroy(&vcpu);
		assert_int_equal(frames_double_used, before);
		vcpu.vmcs = vcpu.msr_bitmap = hpa(0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_entry_would_succeed, setup),
		cmocka_unit_test_setup(test_out_of_memory, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
