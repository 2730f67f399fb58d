// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the check that failed a VM entry. Called after a failed entry, for the message; nothing
 * else depends on it. The rows are in entry_check_controls.c, _host.c, _guest.c and _segments.c.
 */
#include "vmx/entry_check.h"

#include "hv/cpu/registers.h"
#include "hv/lib/print.h"
#include "vmx/controls.h"
#include "vmx/cr.h"
#include "vmx/entry_check_rows.h"
#include "vmx/machine.h"
#include "vmx/vmcs.h"

static const struct {
	u32 encoding;
	const char *name;
} field_names[] = {
#define FIELD_NAME(name, encoding) { encoding, #name },
	VMCS_FIELD_TABLE(FIELD_NAME)
#undef FIELD_NAME
};

static const char *field_name(u32 encoding)
{
	for (u32 i = 0; i < ARRAY_SIZE(field_names); i++)
		if (field_names[i].encoding == encoding)
			return field_names[i].name;
	return "field";
}

bool entry_check_is_canonical(const struct entry_context *context, u64 address)
{
	u32 shift = 64 - context->linear_width;

	return (u64)((s64)(address << shift) >> shift) == address;
}

bool entry_check_is_pat(const struct entry_context *context, u64 value)
{
	(void)context;
	for (u32 i = 0; i < 64; i += 8) {
		u8 type = value >> i;

		if (type > 7 || type == 2 || type == 3)
			return false;
	}
	return true;
}

bool entry_check_is_cr4(const struct entry_context *context, u64 value)
{
	const struct vmx_capabilities *cap = &vmx_machine.capabilities;

	(void)context;
	return (value & cap->cr4_fixed0) == cap->cr4_fixed0 && !(value & ~cap->cr4_fixed1);
}

static void read_context(struct entry_context *c)
{
	struct cpuid_regs widths = { .eax = 48 << 8 | 36 };
	u64 cr0 = vmcs_read(VMCS_GUEST_CR0), cr4 = vmcs_read(VMCS_GUEST_CR4);

	if (insn_cpuid(0x80000000, 0).eax >= 0x80000008)
		widths = insn_cpuid(0x80000008, 0);
	c->pin = vmcs_read(VMCS_PIN_BASED_CONTROLS);
	c->primary = vmcs_read(VMCS_PRIMARY_CONTROLS);
	c->secondary =
		c->primary & PRIMARY_ACTIVATE_SECONDARY ? vmcs_read(VMCS_SECONDARY_CONTROLS) : 0;
	c->exit = vmcs_read(VMCS_EXIT_CONTROLS);
	c->entry = vmcs_read(VMCS_ENTRY_CONTROLS);
	c->ia32e = c->entry & ENTRY_IA32E_GUEST;
	c->unrestricted = c->secondary & SECONDARY_UNRESTRICTED_GUEST;
	c->v86 = vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_VM;
	c->protected_mode = cr0 & CR0_PE;
	c->pae_pdptes =
		(c->secondary & SECONDARY_EPT) && (cr0 & CR0_PG) && (cr4 & CR4_PAE) && !c->ia32e;
	c->address_high = ~0ull << (widths.eax & 0xff);
	c->linear_width = widths.eax >> 8 & 0xff;
}

static bool holds(const struct entry_context *context, const struct entry_check *row, u64 value)
{
	switch ((enum entry_check_kind)row->kind) {
	case CHECK_CLEAR:
		return !(value & row->mask);
	case CHECK_SET:
		return (value & row->mask) == row->mask;
	case CHECK_LINEAR:
		return entry_check_is_canonical(context, value);
	case CHECK_ADDRESS:
		return !(value & (row->mask | context->address_high));
	case CHECK_FUNCTION:
		return row->holds(context, value);
	}
	return false;
}

/* The first row of the group that does not hold, or NULL. */
static const struct entry_check *first_failing(
	const struct entry_context *context, const struct entry_check *row)
{
	for (; row->rule; row++) {
		u64 value;

		if (row->applies && !row->applies(context))
			continue;
		/* A field that the processor lacks cannot have failed. */
		if (insn_vmread_safe(row->field, &value) && !holds(context, row, value))
			return row;
	}
	return NULL;
}

const char *entry_check_failed(char *buffer, size_t size)
{
	static const struct entry_check *const groups[] = { entry_checks_controls,
		entry_checks_host, entry_checks_guest_registers, NULL, entry_checks_guest_rest };
	struct entry_context context;
	const char *rule = NULL;
	u32 field = 0;

	read_context(&context);
	for (u32 i = 0; i < ARRAY_SIZE(groups) && !rule; i++) {
		const struct entry_check *row;

		/* The segments' place in the manual's order. */
		if (!groups[i]) {
			rule = entry_check_segments(&context, &field);
			continue;
		}
		row = first_failing(&context, groups[i]);
		if (row) {
			rule = row->rule;
			field = row->field;
		}
	}
	if (rule)
		fmt_print(buffer, size, "%s = %#lx: %s", field_name(field), vmcs_read(field), rule);
	else
		fmt_print(buffer, size, "every check that is known here holds");
	return buffer;
}
