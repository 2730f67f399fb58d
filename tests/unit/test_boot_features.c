// SPDX-License-Identifier: BSD-2-Clause
/* Which processors are refused and with what words; BUG-28: the states of IA32_FEATURE_CONTROL. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/features.h"

/* A processor that has everything. */
static struct features whole_processor(void)
{
	struct features features = { {
		[FEATURES_CPUID_1_ECX] = 0x77faf3bf,
		[FEATURES_CPUID_80000001_EDX] = 0x2c100800,
		[FEATURES_CR4] = 0x668,
		[FEATURES_VMX_BASIC] = 0x00d81000534b4c58,
		[FEATURES_VMX_PINBASED] = 0x0000007f00000016,
		[FEATURES_VMX_PROCBASED] = 0xfff9fffe0401e172,
		[FEATURES_VMX_PROCBASED2] = 0x0007fcff00000000,
		[FEATURES_VMX_EXIT] = 0x00fffffb00036dff,
		[FEATURES_VMX_ENTRY] = 0x0000fbff000011ff,
		[FEATURES_VMX_EPT_VPID] = 0x00000f0106334141,
		[FEATURES_FEATURE_CONTROL] = 5,
	} };

	return features;
}

static void test_sound(void **state)
{
	struct features features = whole_processor();

	(void)state;
	assert_null(features_refusal(&features));
	assert_true(features_has_vmx(&features));
	assert_true(features_has_procbased2(&features));
	assert_true(features_has_ept_vpid(&features));
}

static void test_feature_control(void **state)
{
	static const struct {
		u64 value;
		bool usable;
	} states[] = {
		{ 0, true },  /* unlocked, off: set and locked by the hypervisor */
		{ 4, true },  /* unlocked, on */
		{ 1, false }, /* locked off */
		{ 3, false }, /* locked, on inside SMX only */
		{ 5, true },  /* locked on */
		{ 7, true },
		{ 0x100005, true }, /* with SGX and LMCE bits */
		{ 0x100001, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct features features = whole_processor();
		const char *refusal;

		features.source[FEATURES_FEATURE_CONTROL] = states[i].value;
		refusal = features_refusal(&features);
		if (states[i].usable)
			assert_null(refusal);
		else
			assert_non_null(strstr(refusal, "locked off in IA32_FEATURE_CONTROL"));
	}
}

/* Each bit taken away, or put in the way, by itself, and a word of the line that must name it. */
static const struct {
	enum feature_source source;
	u64 clear, set;
	const char *word;
} changes[] = {
	{ FEATURES_CPUID_1_ECX, BIT(5), 0, "VMX" },
	{ FEATURES_CPUID_80000001_EDX, BIT(29), 0, "64-bit mode" },
	{ FEATURES_CPUID_80000001_EDX, BIT(20), 0, "NX" },
	{ FEATURES_CR4, 0, BIT(12), "5-level paging" },
	{ FEATURES_VMX_BASIC, 0xfull << 50, 0, "write-back VMCS" },
	{ FEATURES_VMX_BASIC, 0, 1ull << 50, "write-back VMCS" },
	{ FEATURES_VMX_PINBASED, BIT(32), 0, "external-interrupt exiting" },
	{ FEATURES_VMX_PINBASED, BIT(35), 0, "NMI exiting" },
	{ FEATURES_VMX_PROCBASED, BIT(60), 0, "MSR bitmaps" },
	{ FEATURES_VMX_PROCBASED, BIT(63), 0, "secondary processor-based" },
	{ FEATURES_VMX_PROCBASED2, BIT(33), 0, "EPT (extended page tables)" },
	{ FEATURES_VMX_PROCBASED2, BIT(39), 0, "unrestricted guest" },
	{ FEATURES_VMX_EPT_VPID, BIT(6), 0, "EPT with 4 levels" },
	{ FEATURES_VMX_EPT_VPID, BIT(8) | BIT(14), 0, "write-back or uncacheable" },
	{ FEATURES_VMX_EXIT, BIT(41), 0, "64-bit host" },
	{ FEATURES_VMX_EXIT, BIT(53), 0, "VM-exit control" },
	{ FEATURES_VMX_ENTRY, BIT(41), 0, "64-bit guests" },
	{ FEATURES_VMX_ENTRY, BIT(47), 0, "VM-entry control" },
};

static void test_each_feature(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct features features = whole_processor();
		const char *refusal;

		features.source[changes[i].source] &= ~changes[i].clear;
		features.source[changes[i].source] |= changes[i].set;
		refusal = features_refusal(&features);
		if (!refusal || !strstr(refusal, changes[i].word))
			fail_msg("row %zu: %s", i, refusal ? refusal : "accepted");
		assert_null(strchr(refusal, '\n'));
	}
}

/* One of the two memory types for EPT tables is enough. */
static void test_either_ept_type(void **state)
{
	struct features features = whole_processor();

	(void)state;
	features.source[FEATURES_VMX_EPT_VPID] &= ~BIT(8);
	assert_null(features_refusal(&features));
	features = whole_processor();
	features.source[FEATURES_VMX_EPT_VPID] &= ~BIT(14);
	assert_null(features_refusal(&features));
}

/* A processor without VMX has none of the other registers: the line must not blame one of them. */
static void test_nothing(void **state)
{
	struct features features = { { 0 } };

	(void)state;
	assert_non_null(strstr(features_refusal(&features), "VMX (Intel VT-x)"));
	assert_false(features_has_vmx(&features));
	assert_false(features_has_procbased2(&features));
	assert_false(features_has_ept_vpid(&features));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_feature_control),
		cmocka_unit_test(test_each_feature),
		cmocka_unit_test(test_either_ept_type),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
