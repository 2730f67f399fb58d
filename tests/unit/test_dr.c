// SPDX-License-Identifier: BSD-2-Clause
// MOV DR exits (BUG-61): values, aliases, DR7.GD and the order of faults, with all registers
// (BUG-11).

#include "hv/cpu/registers.h"
#include "vcpu_fixture.h"

#define QUALIFICATION(dr, from, gpr) ((u64)(dr) | (u64)(from) << 4 | (u64)(gpr) << 8)

static int to_dr(u32 dr, u32 gpr, u64 value)
{
	vcpu_set_gpr(&vcpu, gpr, value);
	return fixture_exit(exit_dr_access, QUALIFICATION(dr, 0, gpr));
}

static int from_dr(u32 dr, u32 gpr, u64 *value)
{
	int vector = fixture_exit(exit_dr_access, QUALIFICATION(dr, 1, gpr));

	*value = vcpu_gpr(&vcpu, gpr);
	return vector;
}

/* SDM 3B 18.2: which bits can be written, and what the others read. */
static u64 oracle(u32 dr, u64 value)
{
	switch (dr) {
	case 4:
	case 6:
		return (value & 0x0000e00f) | 0xffff0ff0;
	case 5:
	case 7:
		return (value & 0xffff23ff) | 0x400;
	default:
		return value;
	}
}

static void values(void **state)
{
	(void)state;
	for (u32 dr = 0; dr < 8; dr++) {
		for (u32 bit = 0; bit < 64; bit++) {
			u64 value = BIT(bit), read;
			bool upper = dr >= 4 && bit >= 32;

			/* GD would guard the next access: it has its own test. */
			if ((dr == 5 || dr == 7) && bit == 13)
				continue;
			assert_int_equal(to_dr(dr, RSI, 0), -1);
			assert_int_equal(to_dr(dr, RSI, value), upper ? VECTOR_GP : -1);
			assert_int_equal(from_dr(dr, RDI, &read), -1);
			assert_int_equal(read, oracle(dr, upper ? 0 : value));
		}
	}
}

static void every_register(void **state)
{
	u64 read;

	(void)state;
	for (u32 gpr = 0; gpr < GPR_COUNT; gpr++) {
		u64 before[GPR_COUNT];

		for (u32 i = 0; i < GPR_COUNT; i++)
			vcpu_set_gpr(&vcpu, i, 0x1000 + i);
		assert_int_equal(to_dr(0, gpr, 0x5500 + gpr), -1);
		assert_int_equal(fake_cpu->dr[0], 0x5500 + gpr);
		for (u32 i = 0; i < GPR_COUNT; i++)
			before[i] = vcpu_gpr(&vcpu, i);
		fake_cpu->dr[0] = 0x7700 + gpr;
		assert_int_equal(from_dr(0, gpr, &read), -1);
		assert_int_equal(read, 0x7700 + gpr);
		for (u32 i = 0; i < GPR_COUNT; i++)
			assert_int_equal(vcpu_gpr(&vcpu, i), i == gpr ? read : before[i]);
	}
}

static void aliases(void **state)
{
	u64 read;

	(void)state;
	assert_int_equal(to_dr(4, RAX, 0xe00f), -1);
	assert_int_equal(fake_cpu->dr[6], 0xffffefff);
	assert_true(cr4_write(&vcpu, guest_cr4(&vcpu) | CR4_DE));
	assert_int_equal(to_dr(4, RAX, 0), VECTOR_UD);
	assert_int_equal(from_dr(5, RAX, &read), VECTOR_UD);
	assert_int_equal(to_dr(6, RAX, 0), -1);
}

static void general_detect(void **state)
{
	u64 read;

	(void)state;
	fake_cpu->dr[6] = 0xffff0ff5;
	assert_int_equal(to_dr(7, RAX, 0x2400), -1);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_DR7), 0x2400);
	assert_int_equal(from_dr(0, RAX, &read), VECTOR_DB);
	assert_false(vcpu.events.info & EVENT_ERROR_CODE);
	assert_int_equal(fake_cpu->dr[6], 0xffff2ff0);
	/* GD is clear in the handler */
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_DR7), 0x400);
	assert_int_equal(from_dr(0, RAX, &read), -1);
}

/* #UD, then #GP, then #DB; the exit came before all of them. */
static void order_of_faults(void **state)
{
	(void)state;
	assert_int_equal(to_dr(7, RAX, 0x2400), -1);
	assert_true(cr4_write(&vcpu, guest_cr4(&vcpu) | CR4_DE));
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
	assert_int_equal(to_dr(4, RAX, 0), VECTOR_UD);
	assert_int_equal(to_dr(0, RAX, 0), VECTOR_GP);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc093);
	assert_int_equal(to_dr(0, RAX, 0), VECTOR_DB);
}

static void outside_64_bit_mode(void **state)
{
	(void)state;
	fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, CS_RIGHTS_32);
	assert_int_equal(to_dr(7, RAX, 0xffffffff00000401), -1);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_DR7), 0x401);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(values, fixture_setup),
		cmocka_unit_test_setup(every_register, fixture_setup),
		cmocka_unit_test_setup(aliases, fixture_setup),
		cmocka_unit_test_setup(general_detect, fixture_setup),
		cmocka_unit_test_setup(order_of_faults, fixture_setup),
		cmocka_unit_test_setup(outside_64_bit_mode, fixture_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
