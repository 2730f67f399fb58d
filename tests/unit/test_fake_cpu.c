// SPDX-License-Identifier: BSD-2-Clause
// The fake processor against the manual: the tests of everything else lean on it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "vmx/vmcs.h"

static int setup(void **state)
{
	(void)state;
	fake_cpu_reset();
	return 0;
}

static void msr_rules(void **state)
{
	u64 value;

	(void)state;
	assert_int_equal(FAKE_FAULT(insn_rdmsr(0x12345)), 13);
	assert_false(insn_rdmsr_safe(0x12345, &value));
	assert_int_equal(FAKE_FAULT(insn_wrmsr(0xc0000082, 0x0000800000000000)), 13);
	assert_int_equal(FAKE_FAULT(insn_wrmsr(0xc0000082, 0xffff800000000000)), -1);
	assert_int_equal(insn_rdmsr(0xc0000082), 0xffff800000000000);
	assert_int_equal(FAKE_FAULT(insn_wrmsr(0x277, 0x0202)), 13);
	assert_int_equal(FAKE_FAULT(insn_wrmsr(0xc0000080, BIT(63))), 13);
	/* LMA cannot be written away */
	insn_wrmsr(0xc0000080, 0x100);
	assert_int_equal(insn_rdmsr(0xc0000080), 0x500);
}

static void ltr_refuses_busy(void **state)
{
	static u64 gdt[8];

	(void)state;
	/* available 64-bit TSS at 0x1234567890, limit 0x2073 */
	gdt[5] = 0x2073ull | 0x567890ull << 16 | 0x34ull << 56 | 0x89ull << 40;
	gdt[6] = 0x12;
	insn_lgdt(&(struct insn_table){ .limit = sizeof(gdt) - 1, .base = (u64)gdt });
	assert_int_equal(FAKE_FAULT(insn_ltr(0x28)), -1);
	assert_int_equal(fake_cpu->tr.base, 0x1234567890);
	assert_int_equal(fake_cpu->tr.limit, 0x2073);
	assert_int_equal((gdt[5] >> 40) & 0xf, 0xb);
	assert_int_equal(FAKE_FAULT(insn_ltr(0x28)), 13);
	assert_int_equal(FAKE_FAULT(insn_ltr(0x38)), 13); /* second half beyond the limit */
	gdt[5] &= ~BIT(41);
	fake_cpu->gdt_read_only = true;
	assert_int_equal(FAKE_FAULT(insn_ltr(0x28)), 14);
}

/* SDM 3C 28.5 */
static void exit_forces_limits(void **state)
{
	(void)state;
	fake_vmcs_begin();
	vmcs_write(VMCS_GUEST_TR_LIMIT, 0xffff);
	vmcs_write(VMCS_GUEST_GDTR_LIMIT, 0x7f);
	vmcs_write(VMCS_GUEST_GS_BASE, 0x1111);
	vmcs_write(VMCS_HOST_GS_BASE, 0x2222);
	vmcs_write(VMCS_HOST_TR_BASE, 0x3333);
	vmcs_write(VMCS_ENTRY_CONTROLS, BIT(2));
	vmcs_write(VMCS_EXIT_CONTROLS, BIT(2));
	vmcs_write(VMCS_GUEST_DR7, 0x455);
	fake_vmentry();
	assert_int_equal(fake_cpu->tr.limit, 0xffff);
	assert_int_equal(fake_cpu->dr[7], 0x455);
	fake_vmexit(10, 0, 2);
	assert_int_equal(fake_cpu->tr.limit, 0x67);
	assert_int_equal(fake_cpu->tr.base, 0x3333);
	assert_int_equal(fake_cpu->gdtr.limit, 0xffff);
	assert_int_equal(fake_cpu->idtr.limit, 0xffff);
	assert_true(fake_cpu->ldtr.unusable);
	assert_int_equal(fake_cpu->dr[7], 0x400);
	assert_int_equal(insn_rdmsr(0xc0000101), 0x2222);
	assert_int_equal(vmcs_read(VMCS_GUEST_GS_BASE), 0x1111);
	assert_int_equal(vmcs_read(VMCS_GUEST_DR7), 0x455);
	assert_int_equal(vmcs_read(VMCS_EXIT_REASON), 10);
}

static void vmcs_rules(void **state)
{
	u64 value;

	(void)state;
	assert_int_equal(FAKE_FAULT((void)!insn_vmread_safe(VMCS_GUEST_RIP, &value)), 6);
	fake_vmcs_begin();
	vmcs_write(VMCS_VPID, 0x12345);
	assert_int_equal(vmcs_read(VMCS_VPID), 0x2345);
	vmcs_write(VMCS_TSC_OFFSET, 0x1122334455667788);
	insn_vmwrite(VMCS_TSC_OFFSET | 1, 0xaabbccdd);
	assert_int_equal(vmcs_read(VMCS_TSC_OFFSET), 0xaabbccdd55667788);
	assert_int_equal(insn_vmread(VMCS_TSC_OFFSET | 1), 0xaabbccdd);
	assert_false(insn_vmwrite_safe(VMCS_EXIT_REASON, 1));
	assert_int_equal(vmcs_read(VMCS_INSTRUCTION_ERROR), 13);
	assert_false(insn_vmread_safe(0x6fff, &value));
	assert_int_equal(vmcs_read(VMCS_INSTRUCTION_ERROR), 12);
	fake_vmcs_remove_field(VMCS_TSC_MULTIPLIER);
	assert_false(insn_vmread_safe(VMCS_TSC_MULTIPLIER, &value));
	assert_int_equal(insn_vmclear(hpa(0x2000)), VMX_SUCCEED);
	assert_false(insn_vmread_safe(VMCS_GUEST_RIP, &value));
}

static void invalidation_types(void **state)
{
	struct insn_inv_descriptor none = { 0 }, eptp = { 0x5000 | 0x1e, 0 }, vpid = { 3, 0 };

	(void)state;
	fake_vmcs_begin();
	assert_int_equal(insn_invept(0, &none), VMX_FAIL_VALID);
	assert_int_equal(vmcs_read(VMCS_INSTRUCTION_ERROR), 28);
	assert_int_equal(insn_invept(1, &eptp), VMX_SUCCEED);
	assert_int_equal(insn_invept(2, &none), VMX_SUCCEED);
	assert_int_equal(insn_invvpid(1, &none), VMX_FAIL_VALID);
	assert_int_equal(insn_invvpid(1, &vpid), VMX_SUCCEED);
	assert_int_equal(fake_cpu->invalidation_count, 3);
	assert_true(fake_cpu->invalidations[2].vpid);
	fake_msr_remove(0x48c);
	assert_int_equal(FAKE_FAULT((void)!insn_invept(2, &none)), 6);
}

static void control_registers(void **state)
{
	(void)state;
	assert_int_equal(FAKE_FAULT(insn_write_cr0(BIT(31))), 13);
	assert_int_equal(FAKE_FAULT(insn_write_cr4(fake_cpu->cr4 & ~BIT(5))), 13);
	assert_int_equal(FAKE_FAULT(insn_write_cr4(fake_cpu->cr4 | BIT(13) | BIT(17))), -1);
	fake_vmcs_begin();
	assert_int_equal(FAKE_FAULT(insn_write_cr4(fake_cpu->cr4 & ~BIT(13))), 13);
	assert_int_equal(FAKE_FAULT(insn_write_cr8(16)), 13);
	assert_int_equal(FAKE_FAULT(insn_xsetbv(0, 5)), 13);
	assert_int_equal(FAKE_FAULT(insn_xsetbv(0, 7)), -1);
}

static void panic_is_caught(void **state)
{
	(void)state;
	assert_true(FAKE_PANIC(panic("out of %s", "luck")));
	assert_string_equal(fake_log_last, "out of luck");
	assert_false(FAKE_PANIC(log_error("fine")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(msr_rules, setup),
		cmocka_unit_test_setup(ltr_refuses_busy, setup),
		cmocka_unit_test_setup(exit_forces_limits, setup),
		cmocka_unit_test_setup(vmcs_rules, setup),
		cmocka_unit_test_setup(invalidation_types, setup),
		cmocka_unit_test_setup(control_registers, setup),
		cmocka_unit_test_setup(panic_is_caught, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
