// SPDX-License-Identifier: BSD-2-Clause
/*
 * From capability MSRs to controls, on made-up processors: no EPT, no VPID, no TRUE registers, bits
 * of the future, and each optional control missing in turn. The oracle is SDM 3D A.2: a control
 * word is legal iff it has all must-be-1 bits and none that may not be 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "hv/cpu/msr_index.h"
#include "vmx/controls.h"

#define ALL_ONES 0xffffffff

static struct vmx_capabilities everything(void)
{
	struct vmx_capabilities c = { 0 };

	for (u32 word = 0; word < CONTROL_WORDS; word++)
		c.controls[word].may_be_1 = ALL_ONES;
	return c;
}

static void assert_legal(const struct vmx_capabilities *c, const struct vmx_controls *controls)
{
	for (u32 word = 0; word < CONTROL_WORDS; word++) {
		u32 value = controls->word[word];

		assert_int_equal(value & c->controls[word].must_be_1, c->controls[word].must_be_1);
		assert_int_equal(value & ~c->controls[word].may_be_1, 0);
	}
}

/*
 * The dependencies that VM entry checks (SDM 3C 27.2.1.1, 27.2.1.2), written down apart from the
 * table.
 */
static void assert_consistent(const struct vmx_controls *k)
{
	u32 pin = k->word[CONTROLS_PIN], primary = k->word[CONTROLS_PRIMARY];
	u32 secondary = k->word[CONTROLS_SECONDARY], exit = k->word[CONTROLS_EXIT];

	if (!(pin & (1 << 3)))
		assert_false(pin & (1 << 5));
	if (!(pin & (1 << 6)))
		assert_false(exit & (1 << 22));
	if (!(primary & (1u << 31)))
		assert_int_equal(secondary, 0);
	if (!(secondary & (1 << 1)))
		assert_false(secondary & (1 << 7));
	/* CR8 is seen one way or the other. */
	if (!(primary & (1 << 21)))
		assert_int_equal(primary & (3 << 19), 3 << 19);
	else
		assert_int_equal(primary & (3 << 19), 0);
}

static void test_everything_offered(void **state)
{
	struct vmx_capabilities c = everything();
	struct vmx_controls k;
	const char *missing = NULL;
	char text[200];

	(void)state;
	assert_int_equal(vmx_controls_compute(&c, &k, &missing), ERR_OK);
	assert_legal(&c, &k);
	assert_consistent(&k);
	/* Nothing that was not asked for, whatever the future offers. */
	assert_false(k.word[CONTROLS_PRIMARY] &
		     (BIT(9) | BIT(12) | BIT(15) | BIT(16) | BIT(17) | BIT(27)));
	assert_int_equal(k.dynamic[CONTROLS_PRIMARY], BIT(2) | BIT(22));
	assert_int_equal(k.dynamic[CONTROLS_ENTRY], BIT(9));
	assert_false(k.word[CONTROLS_ENTRY] & BIT(9));
	vmx_controls_describe(&k, text, sizeof(text));
	assert_non_null(strstr(text, "EPT"));
	assert_non_null(strstr(text, "VPID"));
}

/* A processor without the TRUE registers: the default1 class must be 1 (SDM 3D A.2). */
static void test_default1_class(void **state)
{
	struct vmx_capabilities c = everything();
	struct vmx_controls k;
	const char *missing = NULL;

	(void)state;
	c.controls[CONTROLS_PIN].must_be_1 = 0x16;
	c.controls[CONTROLS_PRIMARY].must_be_1 = 0x0401e172;
	c.controls[CONTROLS_EXIT].must_be_1 = 0x36dff;
	c.controls[CONTROLS_ENTRY].must_be_1 = 0x11ff;
	assert_int_equal(vmx_controls_compute(&c, &k, &missing), ERR_OK);
	assert_legal(&c, &k);
	assert_true(k.word[CONTROLS_PRIMARY] & PRIMARY_CR3_LOAD_EXITING);
}

struct missing_row {
	enum control_word word;
	u32 bit;
	const char *name; /* NULL: Torpor runs without it */
};

static const struct missing_row missing_rows[] = {
	{ CONTROLS_PIN, 0, "external-interrupt exiting" },
	{ CONTROLS_PIN, 3, "NMI exiting" },
	{ CONTROLS_PIN, 5, "virtual NMIs" },
	{ CONTROLS_PIN, 6, NULL },
	{ CONTROLS_PRIMARY, 2, "interrupt-window exiting" },
	{ CONTROLS_PRIMARY, 21, NULL },
	{ CONTROLS_PRIMARY, 22, "NMI-window exiting" },
	{ CONTROLS_PRIMARY, 28, "MSR bitmaps" },
	{ CONTROLS_PRIMARY, 31, "secondary controls" },
	{ CONTROLS_SECONDARY, 1, "EPT (extended page tables)" },
	{ CONTROLS_SECONDARY, 5, NULL },
	{ CONTROLS_SECONDARY, 7, "unrestricted guest" },
	{ CONTROLS_SECONDARY, 3, NULL },
	{ CONTROLS_SECONDARY, 12, NULL },
	{ CONTROLS_SECONDARY, 20, NULL },
	{ CONTROLS_EXIT, 9, "64-bit host" },
	{ CONTROLS_EXIT, 21, "load EFER at exit" },
	{ CONTROLS_EXIT, 22, NULL },
	{ CONTROLS_ENTRY, 9, "64-bit guest" },
	{ CONTROLS_ENTRY, 14, "load PAT at entry" },
};

static void test_each_control_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(missing_rows); i++) {
		const struct missing_row *row = &missing_rows[i];
		struct vmx_capabilities c = everything();
		struct vmx_controls k;
		const char *missing = NULL;

		c.controls[row->word].may_be_1 &= ~(u32)BIT(row->bit);
		if (row->name) {
			assert_int_equal(vmx_controls_compute(&c, &k, &missing), ERR_UNSUPPORTED);
			assert_string_equal(missing, row->name);
			continue;
		}
		assert_int_equal(vmx_controls_compute(&c, &k, &missing), ERR_OK);
		assert_legal(&c, &k);
		assert_consistent(&k);
	}
}

/*
 * Whatever single bits are missing, and whichever of the allowed are forced, the result is legal or
 * refused.
 */
static void test_random_processors(void **state)
{
	u64 seed = 1;

	(void)state;
	for (u32 round = 0; round < 20000; round++) {
		struct vmx_capabilities c = everything();
		struct vmx_controls k;
		const char *missing = NULL;

		for (u32 word = 0; word < CONTROL_WORDS; word++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			c.controls[word].may_be_1 &= ~(u32)BIT(seed >> 59);
		}
		if (vmx_controls_compute(&c, &k, &missing) == ERR_OK) {
			assert_legal(&c, &k);
			assert_consistent(&k);
		} else {
			assert_non_null(missing);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_offered),
		cmocka_unit_test(test_default1_class),
		cmocka_unit_test(test_each_control_missing),
		cmocka_unit_test(test_random_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
