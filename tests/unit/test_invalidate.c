// SPDX-License-Identifier: BSD-2-Clause
/*
 * INVEPT and INVVPID for every combination of capability bits (BUG-56), on the fake processor,
 * which refuses types that it does not have. What was executed is recorded there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "hv/cpu/msr_index.h"
#include "mmu/invalidate.h"

static const struct ept ept = { .eptp = 0x123000 | 3 << 3 | 6 };

/* The six requests; each names the bits that can serve it, from narrow to wide. */
static void request(u32 number)
{
	switch (number) {
	case 0:
		invalidate_ept(&ept);
		break;
	case 1:
		invalidate_ept_all();
		break;
	case 2:
		invalidate_vpid_address(7, gva(0x1234000));
		break;
	case 3:
		invalidate_vpid_keep_global(7);
		break;
	case 4:
		invalidate_vpid(7);
		break;
	default:
		invalidate_vpid_all();
	}
}

static const u8 serving_bits[6][3] = { { 25, 26 }, { 26 }, { 40, 41, 42 }, { 43, 41, 42 },
	{ 41, 42 }, { 42 } };

/* SDM 3C 31.3: the type's number by its capability bit. */
static u32 type_number(u32 bit)
{
	return bit < 40 ? bit - 24 : bit - 40;
}

static void begin(u64 capabilities)
{
	fake_cpu_reset();
	fake_msr_set(MSR_VMX_EPT_VPID_CAP, capabilities, FAKE_MSR_READ_ONLY, 0);
	fake_vmcs_begin();
	invalidate_init(capabilities);
	fake_cpu->invalidation_count = 0;
}

static void check_request(u64 capabilities, u32 number)
{
	u32 bit = 0;

	begin(capabilities);
	for (u32 k = 0; !bit && k < 3; k++) {
		u32 candidate = serving_bits[number][k];

		if (candidate && (capabilities & BIT(candidate)))
			bit = candidate;
	}
	if (!bit) {
		assert_true(FAKE_PANIC(request(number)));
		return;
	}
	request(number);
	assert_int_equal(fake_cpu->invalidation_count, 1);
	assert_int_equal(fake_cpu->invalidations[0].vpid, number >= 2);
	assert_int_equal(fake_cpu->invalidations[0].type, type_number(bit));
	if (bit == 25)
		assert_int_equal(fake_cpu->invalidations[0].descriptor.first, ept.eptp);
	if (bit >= 40 && bit != 42)
		assert_int_equal(fake_cpu->invalidations[0].descriptor.first, 7);
	if (bit == 40)
		assert_int_equal(fake_cpu->invalidations[0].descriptor.second, 0x1234000);
}

static void test_bug56_every_combination(void **state)
{
	(void)state;
	for (u32 i = 0; i < 256; i++) {
		u64 capabilities = BIT(6) | BIT(14) | (i & 1 ? BIT(20) : 0) |
				   (u64)(i >> 1 & 3) << 25 | (i >> 3 & 1 ? BIT(32) : 0) |
				   (u64)(i >> 4) << 40;

		begin(capabilities);
		assert_int_equal(invalidate_ept_usable(),
			(capabilities & BIT(20)) && (capabilities & BIT(26)));
		assert_int_equal(invalidate_vpid_usable(),
			(capabilities & BIT(32)) && (capabilities & BIT(42)));
		for (u32 r = 0; r < 6; r++) {
			if (capabilities & BIT(r < 2 ? 20 : 32))
				check_request(capabilities, r);
		}
	}
}

#define ALL_CAPABILITIES (BIT(6) | BIT(14) | BIT(20) | BIT(25) | BIT(26) | BIT(32) | 0xfull << 40)

static void test_failure_is_checked(void **state)
{
	static const struct ept wrong = { .eptp = 0x123000 | 0xf00 };

	(void)state;
	begin(ALL_CAPABILITIES);
	assert_true(FAKE_PANIC(invalidate_ept(&wrong)));
	assert_true(FAKE_PANIC(invalidate_vpid(0)));
	assert_true(FAKE_PANIC(invalidate_vpid_keep_global(0)));
	assert_true(FAKE_PANIC(invalidate_vpid_address(0, gva(0))));
}

/* INVVPID by address fails for addresses that are not canonical: the guest can name any. */
static void test_address_not_canonical(void **state)
{
	static const u64 addresses[] = { 0x800000000000, 0x0100000000000000, 0xffff7fffffffffff,
		~0ull, 0x7fffffffffff };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(addresses); i++) {
		begin(ALL_CAPABILITIES);
		invalidate_vpid_address(3, gva(addresses[i]));
		assert_int_equal(fake_cpu->invalidation_count, 1);
		assert_int_equal(fake_cpu->invalidations[0].type, i < 3 ? 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bug56_every_combination),
		cmocka_unit_test(test_failure_is_checked),
		cmocka_unit_test(test_address_not_canonical),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
