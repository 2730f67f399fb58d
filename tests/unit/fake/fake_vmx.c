// SPDX-License-Identifier: BSD-2-Clause
// The fake processor's VMX operation: the VMCS as a field store that knows widths and read-only
// fields, the VMX instructions with the manual's error numbers, and the host state that an exit
// leaves behind.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "vmx/vmcs_fields.h"

#define VECTOR_UD 6
#define VECTOR_GP 13

/* SDM 3C 31.4: VM-instruction error numbers */
enum {
	ERROR_VMCLEAR_ADDRESS = 2,
	ERROR_VMCLEAR_VMXON_POINTER = 3,
	ERROR_VMPTRLD_ADDRESS = 9,
	ERROR_VMPTRLD_VMXON_POINTER = 10,
	ERROR_FIELD = 12,
	ERROR_READ_ONLY = 13,
	ERROR_IN_VMX_ROOT = 15,
	ERROR_INVALIDATION_OPERAND = 28,
};

#define MSR_FEATURE_CONTROL 0x3a
#define MSR_SYSENTER_CS	    0x174
#define MSR_SYSENTER_ESP    0x175
#define MSR_SYSENTER_EIP    0x176
#define MSR_DEBUGCTL	    0x1d9
#define MSR_PAT		    0x277
#define MSR_VMX_MISC	    0x485
#define MSR_EPT_VPID_CAP    0x48c
#define MSR_EFER	    0xc0000080u
#define MSR_FS_BASE	    0xc0000100u
#define MSR_GS_BASE	    0xc0000101u
#define CR4_VMXE	    BIT(13)
#define EFER_LMA	    BIT(10)

static const u64 known_fields[] = {
#define FAKE_FIELD(name, encoding) encoding,
	VMCS_FIELD_TABLE(FAKE_FIELD)
#undef FAKE_FIELD
};

/* SDM 3D appendix B: bits 14:13 width, 11:10 type, 9:1 index. */
static u32 slot_of(u64 field)
{
	return ((field >> 13) & 3) << 8 | ((field >> 10) & 3) << 6 | ((field >> 1) & 0x3f);
}

static bool field_exists(u64 field)
{
	u64 full = field & ~1ull;

	/* Only 64-bit fields have a high half with an encoding of its own. */
	if ((field & 1) && ((field >> 13) & 3) != 1)
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(known_fields); i++)
		if (known_fields[i] == full)
			return !fake_cpu->field_missing[slot_of(full)];
	return false;
}

static u64 width_mask(u64 field)
{
	switch ((field >> 13) & 3) {
	case 0:
		return 0xffff;
	case 2:
		return 0xffffffff;
	}
	return ~0ull;
}

static enum vmx_result vmx_fail(u32 error)
{
	if (!fake_cpu->current_vmcs)
		return VMX_FAIL_INVALID;
	fake_cpu->current_vmcs->fields[slot_of(VMCS_INSTRUCTION_ERROR)] = error;
	return VMX_FAIL_VALID;
}

static bool vmx_usable(void)
{
	if (!fake_cpu->vmx_on)
		fake_fault(VECTOR_UD, 0);
	return fake_cpu->vmx_on;
}

/* ---------------------------------------------------------------- VMREAD, VMWRITE */

bool insn_vmread_safe(u64 field, u64 *value)
{
	fake_cpu->vmread_count++;
	if (!vmx_usable() || !fake_cpu->current_vmcs)
		return false;
	if (!field_exists(field)) {
		vmx_fail(ERROR_FIELD);
		return false;
	}
	*value = fake_cpu->current_vmcs->fields[slot_of(field)] >> (field & 1 ? 32 : 0);
	return true;
}

bool insn_vmwrite_safe(u64 field, u64 value)
{
	u64 *slot;

	fake_cpu->vmwrite_count++;
	if (!vmx_usable() || !fake_cpu->current_vmcs)
		return false;
	if (!field_exists(field)) {
		vmx_fail(ERROR_FIELD);
		return false;
	}
	/* SDM 3D A.6: bit 29 of IA32_VMX_MISC allows VMWRITE to the exit information fields. */
	if (((field >> 10) & 3) == 1 && !(fake_msr(MSR_VMX_MISC)->value & BIT(29))) {
		vmx_fail(ERROR_READ_ONLY);
		return false;
	}
	slot = &fake_cpu->current_vmcs->fields[slot_of(field)];
	if (field & 1)
		*slot = (*slot & 0xffffffff) | value << 32;
	else
		*slot = value & width_mask(field);
	return true;
}

u64 insn_vmread(u64 field)
{
	u64 value = 0;

	if (!insn_vmread_safe(field, &value))
		fail_msg("VMREAD of field %#lx failed", (unsigned long)field);
	return value;
}

void insn_vmwrite(u64 field, u64 value)
{
	if (!insn_vmwrite_safe(field, value))
		fail_msg("VMWRITE of field %#lx failed", (unsigned long)field);
}

static u64 *current_field(u64 field)
{
	if (!fake_cpu->current_vmcs || !field_exists(field))
		fail_msg("no current VMCS, or no field %#lx", (unsigned long)field);
	return &fake_cpu->current_vmcs->fields[slot_of(field)];
}

u64 fake_vmcs_get(u64 field)
{
	return *current_field(field);
}

void fake_vmcs_put(u64 field, u64 value)
{
	*current_field(field) = value & width_mask(field);
}

void fake_vmcs_remove_field(u64 field)
{
	fake_cpu->field_missing[slot_of(field)] = true;
}

/* ---------------------------------------------------------------- VMX on and off, pointers */

enum vmx_result insn_vmxon(hpa_t address)
{
	/*
	 * SDM 3C 31.3 VMXON: #UD without CR4.VMXE, #GP unless locked with VMX outside SMX (bits 0,
	 * 2).
	 */
	if (!(fake_cpu->cr4 & CR4_VMXE)) {
		fake_fault(VECTOR_UD, 0);
		return VMX_FAIL_INVALID;
	}
	if (fake_cpu->vmx_on)
		return vmx_fail(ERROR_IN_VMX_ROOT);
	if ((fake_msr(MSR_FEATURE_CONTROL)->value & 5) != 5 ||
		(fake_cpu->cr0 & fake_msr(0x486)->value) != fake_msr(0x486)->value ||
		(fake_cpu->cr4 & fake_msr(0x488)->value) != fake_msr(0x488)->value) {
		fake_fault(VECTOR_GP, 0);
		return VMX_FAIL_INVALID;
	}
	if (address.value & PAGE_MASK)
		return VMX_FAIL_INVALID;
	fake_cpu->vmx_on = true;
	fake_cpu->vmxon_region = address.value;
	fake_cpu->current_vmcs = NULL;
	return VMX_SUCCEED;
}

void insn_vmxoff(void)
{
	if (!vmx_usable())
		return;
	fake_cpu->vmx_on = false;
	fake_cpu->current_vmcs = NULL;
}

static struct fake_vmcs *vmcs_at(u64 address)
{
	struct fake_vmcs *unused = NULL;

	for (u32 i = 0; i < FAKE_VMCS_COUNT; i++) {
		if (fake_cpu->vmcs[i].address == address)
			return &fake_cpu->vmcs[i];
		if (!fake_cpu->vmcs[i].address && !unused)
			unused = &fake_cpu->vmcs[i];
	}
	if (!unused)
		fail_msg("the fake processor holds %d VMCSs only", FAKE_VMCS_COUNT);
	unused->address = address;
	return unused;
}

enum vmx_result insn_vmclear(hpa_t address)
{
	struct fake_vmcs *vmcs;

	if (!vmx_usable())
		return VMX_FAIL_INVALID;
	if (!address.value || (address.value & PAGE_MASK))
		return vmx_fail(ERROR_VMCLEAR_ADDRESS);
	if (address.value == fake_cpu->vmxon_region)
		return vmx_fail(ERROR_VMCLEAR_VMXON_POINTER);
	vmcs = vmcs_at(address.value);
	vmcs->launched = false;
	if (fake_cpu->current_vmcs == vmcs)
		fake_cpu->current_vmcs = NULL;
	return VMX_SUCCEED;
}

enum vmx_result insn_vmptrld(hpa_t address)
{
	if (!vmx_usable())
		return VMX_FAIL_INVALID;
	if (!address.value || (address.value & PAGE_MASK))
		return vmx_fail(ERROR_VMPTRLD_ADDRESS);
	if (address.value == fake_cpu->vmxon_region)
		return vmx_fail(ERROR_VMPTRLD_VMXON_POINTER);
	fake_cpu->current_vmcs = vmcs_at(address.value);
	return VMX_SUCCEED;
}

void fake_vmcs_begin(void)
{
	fake_cpu->cr4 |= CR4_VMXE;
	if (!fake_cpu->vmx_on)
		assert_int_equal(insn_vmxon(hpa(0x1000)), VMX_SUCCEED);
	assert_int_equal(insn_vmclear(hpa(0x2000)), VMX_SUCCEED);
	assert_int_equal(insn_vmptrld(hpa(0x2000)), VMX_SUCCEED);
}

/* ---------------------------------------------------------------- INVEPT, INVVPID */

static enum vmx_result record(bool vpid, u64 type, const struct insn_inv_descriptor *descriptor)
{
	if (fake_cpu->invalidation_count < FAKE_INVALIDATIONS)
		fake_cpu->invalidations[fake_cpu->invalidation_count] =
			(struct fake_invalidation){ vpid, type, *descriptor };
	fake_cpu->invalidation_count++;
	return VMX_SUCCEED;
}

/* The capability MSR, or 0 and #UD when the instruction does not exist. */
static u64 invalidation_capabilities(u32 supported_bit)
{
	struct fake_msr *msr = fake_msr(MSR_EPT_VPID_CAP);

	if (vmx_usable() && msr && (msr->value & BIT(supported_bit)))
		return msr->value;
	if (fake_cpu->vmx_on)
		fake_fault(VECTOR_UD, 0);
	return 0;
}

/* SDM 3C 31.3 INVEPT: types 1 (single-context) and 2 (global). */
enum vmx_result insn_invept(u64 type, const struct insn_inv_descriptor *descriptor)
{
	u64 capabilities = invalidation_capabilities(20);

	if (!capabilities)
		return VMX_FAIL_INVALID;
	if (type < 1 || type > 2 || !(capabilities & BIT(24 + type)) || descriptor->second)
		return vmx_fail(ERROR_INVALIDATION_OPERAND);
	/*
	 * An EPTP with reserved bits 11:8 or a page-walk length other than 4 would fail an entry.
	 */
	if (type == 1 && ((descriptor->first & 0xf00) || ((descriptor->first >> 3) & 7) != 3))
		return vmx_fail(ERROR_INVALIDATION_OPERAND);
	return record(false, type, descriptor);
}

/* SDM 3C 31.3 INVVPID: types 0 (address), 1 (single), 2 (all), 3 (single, retaining globals). */
enum vmx_result insn_invvpid(u64 type, const struct insn_inv_descriptor *descriptor)
{
	u64 capabilities = invalidation_capabilities(32);
	u64 address = descriptor->second;

	if (!capabilities)
		return VMX_FAIL_INVALID;
	if (type > 3 || !(capabilities & BIT(40 + type)) || descriptor->first >> 16)
		return vmx_fail(ERROR_INVALIDATION_OPERAND);
	if (type != 2 && !descriptor->first)
		return vmx_fail(ERROR_INVALIDATION_OPERAND);
	if (type == 0 && (u64)((s64)(address << 16) >> 16) != address)
		return vmx_fail(ERROR_INVALIDATION_OPERAND);
	return record(true, type, descriptor);
}

/* ---------------------------------------------------------------- transitions */

enum {
	ENTRY_LOAD_DEBUG = BIT(2),
	ENTRY_IA32E = BIT(9),
	ENTRY_LOAD_PAT = BIT(14),
	ENTRY_LOAD_EFER = BIT(15)
};
enum {
	EXIT_SAVE_DEBUG = BIT(2),
	EXIT_HOST_64 = BIT(9),
	EXIT_SAVE_PAT = BIT(18),
	EXIT_LOAD_PAT = BIT(19),
	EXIT_SAVE_EFER = BIT(20),
	EXIT_LOAD_EFER = BIT(21)
};

static void set_msr(u32 index, u64 value)
{
	struct fake_msr *msr = fake_msr(index);

	if (msr)
		msr->value = value;
}

static u64 get_msr(u32 index)
{
	struct fake_msr *msr = fake_msr(index);

	return msr ? msr->value : 0;
}

void fake_vmentry(void)
{
	u64 controls = fake_vmcs_get(VMCS_ENTRY_CONTROLS);

	fake_cpu->cr0 = fake_vmcs_get(VMCS_GUEST_CR0);
	fake_cpu->cr3 = fake_vmcs_get(VMCS_GUEST_CR3);
	fake_cpu->cr4 = fake_vmcs_get(VMCS_GUEST_CR4);
	if (controls & ENTRY_LOAD_DEBUG) {
		fake_cpu->dr[7] = fake_vmcs_get(VMCS_GUEST_DR7);
		set_msr(MSR_DEBUGCTL, fake_vmcs_get(VMCS_GUEST_DEBUGCTL));
	}
	set_msr(MSR_SYSENTER_CS, fake_vmcs_get(VMCS_GUEST_SYSENTER_CS));
	set_msr(MSR_SYSENTER_ESP, fake_vmcs_get(VMCS_GUEST_SYSENTER_ESP));
	set_msr(MSR_SYSENTER_EIP, fake_vmcs_get(VMCS_GUEST_SYSENTER_EIP));
	set_msr(MSR_FS_BASE, fake_vmcs_get(VMCS_GUEST_FS_BASE));
	set_msr(MSR_GS_BASE, fake_vmcs_get(VMCS_GUEST_GS_BASE));
	if (controls & ENTRY_LOAD_PAT)
		set_msr(MSR_PAT, fake_vmcs_get(VMCS_GUEST_PAT));
	if (controls & ENTRY_LOAD_EFER)
		set_msr(MSR_EFER, fake_vmcs_get(VMCS_GUEST_EFER));
	fake_cpu->tr = (struct fake_segment){
		.selector = fake_vmcs_get(VMCS_GUEST_TR_SELECTOR),
		.base = fake_vmcs_get(VMCS_GUEST_TR_BASE),
		.limit = fake_vmcs_get(VMCS_GUEST_TR_LIMIT),
	};
	fake_cpu->ldtr = (struct fake_segment){
		.selector = fake_vmcs_get(VMCS_GUEST_LDTR_SELECTOR),
		.base = fake_vmcs_get(VMCS_GUEST_LDTR_BASE),
		.limit = fake_vmcs_get(VMCS_GUEST_LDTR_LIMIT),
		.unusable = fake_vmcs_get(VMCS_GUEST_LDTR_RIGHTS) & BIT(16),
	};
	fake_cpu->gdtr = (struct fake_table){ fake_vmcs_get(VMCS_GUEST_GDTR_BASE),
		fake_vmcs_get(VMCS_GUEST_GDTR_LIMIT) };
	fake_cpu->idtr = (struct fake_table){ fake_vmcs_get(VMCS_GUEST_IDTR_BASE),
		fake_vmcs_get(VMCS_GUEST_IDTR_LIMIT) };
	/* SDM 3C 25.8.3: the valid bit is cleared by the exit that follows. */
	fake_cpu->current_vmcs->launched = true;
	fake_cpu->in_guest = true;
}

/* SDM 3C 28.3: guest state into the VMCS. */
static void save_guest_state(void)
{
	u64 controls = fake_vmcs_get(VMCS_EXIT_CONTROLS);

	fake_vmcs_put(VMCS_GUEST_CR0, fake_cpu->cr0);
	fake_vmcs_put(VMCS_GUEST_CR3, fake_cpu->cr3);
	fake_vmcs_put(VMCS_GUEST_CR4, fake_cpu->cr4);
	if (controls & EXIT_SAVE_DEBUG) {
		fake_vmcs_put(VMCS_GUEST_DR7, fake_cpu->dr[7]);
		fake_vmcs_put(VMCS_GUEST_DEBUGCTL, get_msr(MSR_DEBUGCTL));
	}
	fake_vmcs_put(VMCS_GUEST_SYSENTER_CS, get_msr(MSR_SYSENTER_CS));
	fake_vmcs_put(VMCS_GUEST_SYSENTER_ESP, get_msr(MSR_SYSENTER_ESP));
	fake_vmcs_put(VMCS_GUEST_SYSENTER_EIP, get_msr(MSR_SYSENTER_EIP));
	fake_vmcs_put(VMCS_GUEST_FS_BASE, get_msr(MSR_FS_BASE));
	fake_vmcs_put(VMCS_GUEST_GS_BASE, get_msr(MSR_GS_BASE));
	if (controls & EXIT_SAVE_PAT)
		fake_vmcs_put(VMCS_GUEST_PAT, get_msr(MSR_PAT));
	if (controls & EXIT_SAVE_EFER)
		fake_vmcs_put(VMCS_GUEST_EFER, get_msr(MSR_EFER));
}

/* SDM 3C 28.5: host state, and what an exit forces whatever the VMCS says. */
static void load_host_state(void)
{
	u64 controls = fake_vmcs_get(VMCS_EXIT_CONTROLS);

	fake_cpu->cr0 = fake_vmcs_get(VMCS_HOST_CR0);
	fake_cpu->cr3 = fake_vmcs_get(VMCS_HOST_CR3);
	fake_cpu->cr4 = fake_vmcs_get(VMCS_HOST_CR4);
	fake_cpu->dr[7] = 0x400;
	set_msr(MSR_DEBUGCTL, 0);
	set_msr(MSR_SYSENTER_CS, fake_vmcs_get(VMCS_HOST_SYSENTER_CS));
	set_msr(MSR_SYSENTER_ESP, fake_vmcs_get(VMCS_HOST_SYSENTER_ESP));
	set_msr(MSR_SYSENTER_EIP, fake_vmcs_get(VMCS_HOST_SYSENTER_EIP));
	set_msr(MSR_FS_BASE, fake_vmcs_get(VMCS_HOST_FS_BASE));
	set_msr(MSR_GS_BASE, fake_vmcs_get(VMCS_HOST_GS_BASE));
	if (controls & EXIT_LOAD_PAT)
		set_msr(MSR_PAT, fake_vmcs_get(VMCS_HOST_PAT));
	if (controls & EXIT_LOAD_EFER)
		set_msr(MSR_EFER, fake_vmcs_get(VMCS_HOST_EFER));
	else if (controls & EXIT_HOST_64)
		set_msr(MSR_EFER, get_msr(MSR_EFER) | EFER_LMA | BIT(8));
	/* SDM 3C 28.5.2 and 28.5.3 */
	fake_cpu->tr = (struct fake_segment){
		.selector = fake_vmcs_get(VMCS_HOST_TR_SELECTOR),
		.base = fake_vmcs_get(VMCS_HOST_TR_BASE),
		.limit = 0x67,
	};
	fake_cpu->ldtr = (struct fake_segment){ .unusable = true };
	fake_cpu->gdtr = (struct fake_table){ fake_vmcs_get(VMCS_HOST_GDTR_BASE), 0xffff };
	fake_cpu->idtr = (struct fake_table){ fake_vmcs_get(VMCS_HOST_IDTR_BASE), 0xffff };
	fake_cpu->interrupts_on = false;
}

void fake_vmexit(u32 reason, u64 qualification, u32 instruction_length)
{
	fake_vmcs_put(VMCS_EXIT_REASON, reason);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, qualification);
	fake_vmcs_put(VMCS_EXIT_INSTRUCTION_LENGTH, instruction_length);
	fake_vmcs_put(VMCS_ENTRY_INTERRUPTION_INFO,
		fake_vmcs_get(VMCS_ENTRY_INTERRUPTION_INFO) & ~BIT(31));
	if (fake_cpu->in_guest)
		save_guest_state();
	load_host_state();
	fake_cpu->in_guest = false;
}
