// SPDX-License-Identifier: BSD-2-Clause
// Diagnosis of a failed VM entry: a legal VMCS broken in one field for each rule of SDM 3C 27.2
// and 27.3; the report must name that field and rule. At the end every rule must have been reported
// once.

#include <stdio.h>

#include "entry_state_fixture.h"

#include "vmx/entry_check.h"
#include "vmx/entry_check_rows.h"

#define HITS_MAX 400

static char hits[HITS_MAX][256];
static u32 hit_count;

static const char *name_of(u32 field)
{
	static const struct {
		u32 encoding;
		const char *name;
	} names[] = {
#define NAME(name, encoding) { encoding, #name },
		VMCS_FIELD_TABLE(NAME)
#undef NAME
	};

	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].encoding == field)
			return names[i].name;
	fail();
	return NULL;
}

/* The report about a broken field must say "FIELD = value: ...words...". */
static void expect(u32 field, const char *words)
{
	char line[256], start[96];

	entry_check_failed(line, sizeof(line));
	snprintf(start, sizeof(start), "%s = %#lx: ", name_of(field), fake_vmcs_get(field));
	if (strncmp(line, start, strlen(start)) || !strstr(line, words))
		fail_msg("expected \"%s...%s\", got \"%s\"", start, words, line);
	assert_true(hit_count < HITS_MAX);
	/* without the value: "FIELD: rule" */
	snprintf(hits[hit_count++], sizeof(hits[0]), "%s:%s", name_of(field),
		strstr(line, ": ") + 1);
}

/* Base states are legal, so that a report is about what a row breaks. */
static void base_states_are_legal(void **unused)
{
	char line[256];

	(void)unused;
	for (enum state state = S64; state <= SHLT; state++) {
		set_state(state);
		assert_string_equal(entry_check_failed(line, sizeof(line)),
			"every check that is known here holds");
	}
}

#define GUEST_CASES_MAX 2
struct broken {
	enum state state;
	u32 field;
	u64 value;
	const char *words;
	struct setting with[GUEST_CASES_MAX]; /* set too; legal by themselves */
};

#define PIN	  VMCS_PIN_BASED_CONTROLS
#define PRIMARY	  VMCS_PRIMARY_CONTROLS
#define SECONDARY VMCS_SECONDARY_CONTROLS
#define EXIT	  VMCS_EXIT_CONTROLS
#define ENTRY	  VMCS_ENTRY_CONTROLS
#define INFO	  VMCS_ENTRY_INTERRUPTION_INFO

static const struct broken broken[] = {
	/* 27.2.1: values of fields that are not control words; those follow below */
	{ S64, VMCS_CR3_TARGET_COUNT, 5, "CR3 targets", {} },
	{ S64, VMCS_MSR_BITMAP, 0x5008, "aligned", {} },
	{ S64, VMCS_VIRTUAL_APIC_ADDRESS, BIT(48), "aligned", {} },
	{ S64, VMCS_TPR_THRESHOLD, 0x10, "reserved bits of the TPR", {} },
	{ S64, VMCS_TPR_THRESHOLD, 1, "above the virtual TPR", {} },
	{ S64, VMCS_VPID, 0, "VPID 0", {} },
	{ S64, VMCS_EPT_POINTER, 0x6019, "memory type", {} },
	{ S64, VMCS_EPT_POINTER, 0x6016, "walk length", {} },
	{ S64, VMCS_EPT_POINTER, 0x609e, "reserved", {} },
	{ S64, VMCS_EXIT_MSR_STORE_ADDRESS, 8, "aligned", { { VMCS_EXIT_MSR_STORE_COUNT, 1 } } },
	{ S64, VMCS_EXIT_MSR_LOAD_ADDRESS, BIT(50), "aligned",
		{ { VMCS_EXIT_MSR_LOAD_COUNT, 1 } } },
	{ S64, VMCS_ENTRY_MSR_LOAD_ADDRESS, 4, "aligned", { { VMCS_ENTRY_MSR_LOAD_COUNT, 1 } } },
	{ S64, INFO, 0x80000101, "type is reserved", {} },
	{ S64, INFO, 0x80000203, "vector does not fit", {} },
	{ S64, INFO, 0x80000b20, "vector does not fit", {} },
	{ S64, INFO, 0x8000030d, "deliver-error-code", {} },
	{ S64, INFO, 0x80000b06, "deliver-error-code", {} },
	{ SREAL, INFO, 0x80000b0d, "deliver-error-code", {} },
	{ S64, INFO, 0x80001306, "reserved bits of the interruption", {} },
	{ S64, VMCS_ENTRY_ERROR_CODE, 0x8000, "reserved bits of the error code",
		{ { INFO, 0x80000b0d } } },
	{ S64, VMCS_ENTRY_INSTRUCTION_LENGTH, 16, "instruction length", { { INFO, 0x80000480 } } },
	/* 27.2.2 to 27.2.4 */
	{ S64, VMCS_HOST_CR0, 0x80050013, "CR0_FIXED", {} },
	{ S64, VMCS_HOST_CR4, 0x6a0, "CR4_FIXED", {} },
	{ S64, VMCS_HOST_CR3, BIT(48), "host CR3", {} },
	{ S64, VMCS_HOST_SYSENTER_ESP, BIT(47), "canonical", {} },
	{ S64, VMCS_HOST_SYSENTER_EIP, BIT(63), "canonical", {} },
	{ S64, VMCS_HOST_PAT, 2, "host's PAT", {} },
	{ S64, VMCS_HOST_EFER, 0x501 | BIT(1), "reserved bits of the host's EFER", {} },
	{ S64, VMCS_HOST_EFER, 0x100, "64-bit host", {} },
	{ S64, VMCS_HOST_CS_SELECTOR, 0xb, "RPL", {} },
	{ S64, VMCS_HOST_SS_SELECTOR, 0x14, "RPL", {} },
	{ S64, VMCS_HOST_DS_SELECTOR, 1, "RPL", {} },
	{ S64, VMCS_HOST_ES_SELECTOR, 2, "RPL", {} },
	{ S64, VMCS_HOST_FS_SELECTOR, 4, "RPL", {} },
	{ S64, VMCS_HOST_GS_SELECTOR, 3, "RPL", {} },
	{ S64, VMCS_HOST_TR_SELECTOR, 0x2c, "RPL", {} },
	{ S64, VMCS_HOST_CS_SELECTOR, 0, "host CS is not null", {} },
	{ S64, VMCS_HOST_TR_SELECTOR, 0, "host TR is not null", {} },
	{ S64, VMCS_HOST_FS_BASE, BIT(47), "canonical", {} },
	{ S64, VMCS_HOST_GS_BASE, BIT(47), "canonical", {} },
	{ S64, VMCS_HOST_GDTR_BASE, BIT(62), "canonical", {} },
	{ S64, VMCS_HOST_IDTR_BASE, BIT(47), "canonical", {} },
	{ S64, VMCS_HOST_TR_BASE, BIT(47), "canonical", {} },
	{ S64, VMCS_HOST_CR4, 0x2680, "64-bit host sets CR4.PAE", {} },
	{ S64, VMCS_HOST_RIP, BIT(47), "canonical", {} },
	/* 27.3.1.1 */
	{ S64, VMCS_GUEST_CR0, 0x80000011, "CR0_FIXED", {} },
	{ S32, VMCS_GUEST_CR0, 0x80000030, "PG without PE", {} },
	{ S64, VMCS_GUEST_CR4, 0x20, "CR4_FIXED", {} },
	{ S64, VMCS_GUEST_DEBUGCTL, BIT(3), "DEBUGCTL", {} },
	{ S64, VMCS_GUEST_CR0, 0x31, "without CR0.PG", {} },
	{ S64, VMCS_GUEST_CR4, 0x2000, "without CR4.PAE", {} },
	{ SPAE, VMCS_GUEST_CR4, 0x22020, "PCIDE outside", {} },
	{ S64, VMCS_GUEST_CR3, BIT(48), "guest CR3", {} },
	{ S64, VMCS_GUEST_DR7, BIT(32), "DR7", {} },
	{ S64, VMCS_GUEST_SYSENTER_ESP, BIT(47), "canonical", {} },
	{ S64, VMCS_GUEST_SYSENTER_EIP, BIT(47), "canonical", {} },
	{ S64, VMCS_GUEST_PAT, 3ull << 56, "guest's PAT", {} },
	{ S64, VMCS_GUEST_EFER, 0x502, "reserved bits of the guest's EFER", {} },
	{ S64, VMCS_GUEST_EFER, 0x100, "IA-32e mode guest control", {} },
	{ S64, VMCS_GUEST_EFER, 0x400, "differs from LME", {} },
	/* 27.3.1.2 */
	{ S64, VMCS_GUEST_TR_SELECTOR, 0x2c, "TR is in the GDT", {} },
	{ SLDTR, VMCS_GUEST_LDTR_SELECTOR, 4, "LDTR is in the GDT", {} },
	{ SV86, VMCS_GUEST_CS_BASE, 0x2000, "selector times 16", {} },
	{ SV86, VMCS_GUEST_GS_BASE, 0x2000, "selector times 16", {} },
	{ S64, VMCS_GUEST_TR_BASE, BIT(47), "base is not canonical", {} },
	{ S64, VMCS_GUEST_FS_BASE, BIT(47), "base is not canonical", {} },
	{ S64, VMCS_GUEST_GS_BASE, BIT(47), "base is not canonical", {} },
	{ SLDTR, VMCS_GUEST_LDTR_BASE, BIT(47), "base of LDTR", {} },
	{ S64, VMCS_GUEST_CS_BASE, BIT(32), "32 bits", {} },
	{ SALL_DATA, VMCS_GUEST_DS_BASE, BIT(32), "32 bits", {} },
	{ SV86, VMCS_GUEST_DS_LIMIT, 0x1ffff, "limit is 0xffff", {} },
	{ SV86, VMCS_GUEST_SS_RIGHTS, 0x93, "rights are 0xf3", {} },
	{ S64, VMCS_GUEST_CS_RIGHTS, 0xa09a, "CS is not an accessed code", {} },
	{ S64, VMCS_GUEST_SS_RIGHTS, 0xc091, "SS is not an accessed", {} },
	{ SALL_DATA, VMCS_GUEST_FS_RIGHTS, 0xc092, "data segment is not accessed", {} },
	{ SALL_DATA, VMCS_GUEST_ES_RIGHTS, 0xc099, "not readable", {} },
	{ S64, VMCS_GUEST_CS_RIGHTS, 0xa08b, "S is clear", {} },
	{ S64, VMCS_GUEST_CS_RIGHTS, 0xa0fb, "DPL of CS", {} },
	{ SREAL, VMCS_GUEST_CS_RIGHTS, 0xf3, "DPL of CS", {} },
	{ SREAL, VMCS_GUEST_SS_RIGHTS, 0xc0f3, "real-address mode", {} },
	{ SALL_DATA, VMCS_GUEST_GS_RIGHTS, 0xc013, "not present", {} },
	{ S64, VMCS_GUEST_SS_RIGHTS, 0xc493, "reserved bits of the rights", {} },
	{ S64, VMCS_GUEST_CS_RIGHTS, 0xe09b, "both L and D", {} },
	{ S64, VMCS_GUEST_CS_RIGHTS, 0xa09b, "G does not fit",
		{ { VMCS_GUEST_CS_LIMIT, 0xfffff000 } } },
	{ S64, VMCS_GUEST_CS_RIGHTS, 0x209b, "G does not fit", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x83, "busy TSS", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x89, "busy TSS", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x9b, "TR has S set", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x0b, "TR is not present", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x18b, "reserved bits of TR", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x808b, "G of TR", {} },
	{ S64, VMCS_GUEST_TR_RIGHTS, 0x1008b, "TR is unusable", {} },
	{ SLDTR, VMCS_GUEST_LDTR_RIGHTS, 0x89, "LDTR is not an LDT", {} },
	{ SLDTR, VMCS_GUEST_LDTR_RIGHTS, 0x92, "LDTR has S", {} },
	{ SLDTR, VMCS_GUEST_LDTR_RIGHTS, 0x02, "LDTR is not present", {} },
	{ SLDTR, VMCS_GUEST_LDTR_RIGHTS, 0x182, "reserved bits of LDTR", {} },
	{ SLDTR, VMCS_GUEST_LDTR_RIGHTS, 0x82, "G of LDTR",
		{ { VMCS_GUEST_LDTR_LIMIT, 0x100000 } } },
	/* 27.3.1.3 and 27.3.1.4 */
	{ S64, VMCS_GUEST_GDTR_BASE, BIT(47), "canonical", {} },
	{ S64, VMCS_GUEST_IDTR_BASE, BIT(47), "canonical", {} },
	{ S64, VMCS_GUEST_GDTR_LIMIT, 0x10000, "GDT limit", {} },
	{ S64, VMCS_GUEST_IDTR_LIMIT, 0x10000, "IDT limit", {} },
	{ SCOMPAT, VMCS_GUEST_RIP, BIT(32), "RIP", {} },
	{ S64, VMCS_GUEST_RIP, BIT(48), "RIP", {} },
	{ S64, VMCS_GUEST_RFLAGS, 0x8002, "reserved bits of RFLAGS", {} },
	{ S64, VMCS_GUEST_RFLAGS, 0, "bit 1 of RFLAGS", {} },
	{ SV86, VMCS_GUEST_RFLAGS, 0x20002, "RFLAGS.VM", { { VMCS_GUEST_CR0, 0x30 } } },
	{ SEVENT_EXT, VMCS_GUEST_RFLAGS, 2, "RFLAGS.IF clear", {} },
	/* 27.3.1.5 */
	{ S64, VMCS_GUEST_ACTIVITY_STATE, 4, "activity state", {} },
	{ SHLT, VMCS_GUEST_ACTIVITY_STATE, 1, "SS.DPL above 0",
		{ { VMCS_GUEST_SS_RIGHTS, 0xc0f3 }, { VMCS_GUEST_CS_RIGHTS, 0xa0fb } } },
	{ SHLT, VMCS_GUEST_ACTIVITY_STATE, 1, "while not active",
		{ { VMCS_GUEST_INTERRUPTIBILITY, 2 } } },
	{ S64, VMCS_GUEST_INTERRUPTIBILITY, 0x20, "reserved bits of the interruptibility", {} },
	{ SEVENT_EXT, VMCS_GUEST_INTERRUPTIBILITY, 3, "at once", { { INFO, 0 } } },
	{ S64, VMCS_GUEST_INTERRUPTIBILITY, 1, "STI with RFLAGS.IF", {} },
	{ SEVENT_EXT, VMCS_GUEST_INTERRUPTIBILITY, 1, "into a shadow", {} },
	{ SEVENT_NMI, VMCS_GUEST_INTERRUPTIBILITY, 2, "shadow of MOV SS", {} },
	{ S64, VMCS_GUEST_INTERRUPTIBILITY, 4, "SMI", {} },
	{ SEVENT_NMI, VMCS_GUEST_INTERRUPTIBILITY, 1, "shadow of STI",
		{ { VMCS_GUEST_RFLAGS, 0x202 } } },
	{ SEVENT_NMI, VMCS_GUEST_INTERRUPTIBILITY, 8, "virtual NMIs are blocked", {} },
	{ S64, VMCS_GUEST_PENDING_DEBUG, BIT(13), "reserved bits of the pending", {} },
	{ S64, VMCS_GUEST_PENDING_DEBUG, 0, "BS differs",
		{ { VMCS_GUEST_RFLAGS, 0x102 }, { VMCS_GUEST_INTERRUPTIBILITY, 2 } } },
	{ SHLT, VMCS_GUEST_PENDING_DEBUG, BIT(14), "BS differs", {} },
	{ S64, VMCS_VMCS_LINK_POINTER, 0x1234, "link pointer", {} },
	/* 27.3.1.6 */
	{ SPAE, VMCS_GUEST_PDPTE0, 3, "PDPTE", {} },
	{ SPAE, VMCS_GUEST_PDPTE1, 0x21, "PDPTE", {} },
	{ SPAE, VMCS_GUEST_PDPTE2, BIT(48) | 1, "PDPTE", {} },
	{ SPAE, VMCS_GUEST_PDPTE3, 0x101, "PDPTE", {} },
};

static void one_field_broken(void **unused)
{
	(void)unused;
	for (u32 i = 0; i < ARRAY_SIZE(broken); i++) {
		set_state(broken[i].state);
		for (u32 w = 0; w < GUEST_CASES_MAX; w++)
			if (broken[i].with[w].field)
				put(broken[i].with[w].field, broken[i].with[w].value);
		put(broken[i].field, broken[i].value);
		expect(broken[i].field, broken[i].words);
	}
}

/* Control words: bits to set and to clear, and another word that makes the rule apply. */
static const struct {
	u32 field, set, clear;
	u32 other, other_set, other_clear;
	u32 blamed; /* 0: field */
	const char *words;
} control_rows[] = {
	{ PIN, BIT(30), 0, 0, 0, 0, 0, "PINBASED" },
	{ PRIMARY, 1, 0, 0, 0, 0, 0, "PROCBASED_CTLS" },
	{ SECONDARY, BIT(31), 0, 0, 0, 0, 0, "CTLS2" },
	{ PIN, 0, BIT(3), PRIMARY, 0, 0, 0, "need NMI exiting" },
	{ PRIMARY, BIT(22), 0, PIN, 0, BIT(5), 0, "needs virtual NMIs" },
	{ SECONDARY, BIT(4), 0, PRIMARY, 0, BIT(21), 0, "needs the TPR shadow" },
	{ SECONDARY, BIT(0) | BIT(4), 0, PRIMARY, 0, 0, 0, "excludes" },
	{ PIN, 0, BIT(0), SECONDARY, BIT(9), 0, 0, "external-interrupt exiting" },
	{ PIN, BIT(7), 0, SECONDARY, 0, 0, SECONDARY, "need virtual-interrupt delivery" },
	{ EXIT, 0, BIT(15), PIN, BIT(7), 0, 0, "acknowledge" },
	{ SECONDARY, BIT(17), BIT(1) | BIT(7), PRIMARY, 0, 0, 0, "PML needs EPT" },
	{ SECONDARY, 0, BIT(1), PRIMARY, 0, 0, 0, "unrestricted guest needs EPT" },
	{ EXIT, BIT(31), 0, 0, 0, 0, 0, "EXIT_CTLS" },
	{ EXIT, BIT(22), 0, PIN, 0, BIT(6), 0, "needs the timer" },
	{ ENTRY, BIT(31), 0, 0, 0, 0, 0, "ENTRY_CTLS" },
	{ EXIT, 0, BIT(9), 0, 0, 0, 0, "host address-space size" },
};

static void change(u32 field, u32 set, u32 clear)
{
	put(field, (fake_vmcs_get(field) & ~clear) | set);
}

static void control_words(void **unused)
{
	(void)unused;
	for (u32 i = 0; i < ARRAY_SIZE(control_rows); i++) {
		legal();
		/* All may be 1, as on a processor with everything; none but bit 31 is refused. */
		for (u32 w = 0; w < CONTROL_WORDS; w++) {
			vmx_machine.capabilities.controls[w].must_be_1 = 0;
			vmx_machine.capabilities.controls[w].may_be_1 = w == CONTROLS_PRIMARY ? ~1u
									: w == CONTROLS_PIN
										? ~BIT(30)
										: 0x7fffffff;
		}
		if (control_rows[i].field == SECONDARY || control_rows[i].other == SECONDARY)
			change(PRIMARY, BIT(31), 0);
		if (strstr(control_rows[i].words, "acknowledge"))
			change(SECONDARY, BIT(9), 0);
		if (control_rows[i].other)
			change(control_rows[i].other, control_rows[i].other_set,
				control_rows[i].other_clear);
		change(control_rows[i].field, control_rows[i].set, control_rows[i].clear);
		expect(control_rows[i].blamed ? control_rows[i].blamed : control_rows[i].field,
			control_rows[i].words);
	}
}

/* Fields that count only with controls that Torpor leaves off. */
static void rare_controls(void **unused)
{
	static const struct {
		u32 word, bit, field;
		u64 value;
		const char *words;
	} rows[] = {
		{ PRIMARY, BIT(25), VMCS_IO_BITMAP_A, 1, "aligned" },
		{ PRIMARY, BIT(25), VMCS_IO_BITMAP_B, BIT(48), "aligned" },
		{ SECONDARY, BIT(0), VMCS_APIC_ACCESS_ADDRESS, 0x10, "aligned" },
		{ SECONDARY, BIT(17), VMCS_PML_ADDRESS, 0x800, "aligned" },
		{ SECONDARY, BIT(25), VMCS_TSC_MULTIPLIER, 0, "multiplier" },
		{ PIN, BIT(7), VMCS_POSTED_INTERRUPT_VECTOR, 0x100, "8 bits" },
		{ PIN, BIT(7), VMCS_POSTED_INTERRUPT_DESCRIPTOR_ADDRESS, 0x20, "aligned" },
	};

	(void)unused;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		legal();
		for (u32 w = 0; w < CONTROL_WORDS; w++)
			vmx_machine.capabilities.controls[w] = (struct allowed_settings){ 0, ~0u };
		change(rows[i].word, rows[i].bit, 0);
		if (rows[i].word == PIN)
			change(SECONDARY, BIT(9), 0);
		put(rows[i].field, rows[i].value);
		expect(rows[i].field, rows[i].words);
	}
	/* Without unrestricted guest RPLs and DPLs must agree. */
	static const struct {
		u32 field;
		u64 value;
		u32 blamed;
		const char *words;
	} restricted[] = { { VMCS_GUEST_SS_SELECTOR, 0x13, VMCS_GUEST_SS_SELECTOR, "RPL of SS" },
		{ VMCS_GUEST_SS_RIGHTS, 0xc0f3, VMCS_GUEST_SS_RIGHTS, "DPL of SS differs" },
		{ VMCS_GUEST_DS_SELECTOR, 3, VMCS_GUEST_DS_RIGHTS, "DPL is below" } };
	for (u32 i = 0; i < ARRAY_SIZE(restricted); i++) {
		set_state(SALL_DATA);
		change(SECONDARY, 0, BIT(7));
		/* conforming, so that SS alone is at fault */
		put(VMCS_GUEST_CS_RIGHTS, 0xa09f);
		put(restricted[i].field, restricted[i].value);
		expect(restricted[i].blamed, restricted[i].words);
	}
}

/* BUG-63: legal though it looks odd. */
static void one_past_the_canonical_edge(void **unused)
{
	char line[256];

	(void)unused;
	legal();
	put(VMCS_GUEST_RIP, 0x0000800000000000);
	assert_string_equal(
		entry_check_failed(line, sizeof(line)), "every check that is known here holds");
}

static bool was_hit(const char *field, const char *rule)
{
	char key[256];

	snprintf(key, sizeof(key), "%s: %s", field, rule);
	for (u32 i = 0; i < hit_count; i++)
		if (!strcmp(hits[i], key))
			return true;
	return false;
}

static void every_rule_was_reported(void **unused)
{
	static const struct entry_check *const groups[] = { entry_checks_controls,
		entry_checks_host, entry_checks_guest_registers, entry_checks_guest_rest };

	(void)unused;
	for (u32 g = 0; g < ARRAY_SIZE(groups); g++)
		for (const struct entry_check *row = groups[g]; row->rule; row++)
			if (!was_hit(name_of(row->field), row->rule))
				fail_msg("no case for %s: %s", name_of(row->field), row->rule);
	for (u32 i = 0; entry_check_segment_rule(i); i++) {
		bool hit = false;

		for (u32 h = 0; h < hit_count; h++)
			hit |= strstr(hits[h], entry_check_segment_rule(i)) != NULL;
		if (!hit)
			fail_msg("no case for segment rule: %s", entry_check_segment_rule(i));
	}
}

/* A small buffer is cut, never overrun. */
static void short_buffer(void **unused)
{
	char line[16];

	(void)unused;
	legal();
	put(VMCS_GUEST_RFLAGS, 0);
	memset(line, 'x', sizeof(line));
	entry_check_failed(line, 8);
	assert_int_equal(strlen(line), 7);
	assert_int_equal(line[8], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_states_are_legal),
		cmocka_unit_test(one_field_broken),
		cmocka_unit_test(control_words),
		cmocka_unit_test(rare_controls),
		cmocka_unit_test(one_past_the_canonical_edge),
		cmocka_unit_test(every_rule_was_reported),
		cmocka_unit_test(short_buffer),
	};

	return cmocka_run_group_tests(tests, (CMFixtureFunction)fixture_setup, NULL);
}
