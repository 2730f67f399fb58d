// SPDX-License-Identifier: BSD-2-Clause
/*
 * RDMSR and WRMSR of a guest: finds the row, checks, reads or stores. Called by the exits of both
 * instructions; interrupts off, vCPU loaded, VMCS current. The rows are in vmx/msr_table.c.
 */
#include "vmx/msr.h"

#include "hv/cpu/msr_index.h"
#include "hv/dev/lapic.h"
#include "hv/lib/string.h"
#include "hv/vm/guest_memory.h"
#include "hv/vm/vcpu.h"
#include "vmx/cpuid.h"
#include "vmx/cr.h"
#include "vmx/exit.h"
#include "vmx/msr_bitmap.h"
#include "vmx/msr_table.h"
#include "vmx/xcr.h"

#define MTRR_MASK_VALID	   BIT(11)
#define MTRR_DEFAULT_BITS  (0xffull | BIT(10) | BIT(11))
#define PLATFORM_ID_BITS   (7ull << 50)
#define PLATFORM_RATIO_HZ  100000000 /* SDM 4: the ratio counts 100 MHz */
#define PLATFORM_RATIO_BIT 8
#define XCR0_RESET	   1

/*
 * IA32_ARCH_CAPABILITIES (SDM 4 table 2-2): "not affected" bits and the like. Left out are bits
 * that promise an MSR that is not offered: TSX_CTRL (7), MISC_PACKAGE_CTLS (10),
 * ENERGY_FILTERING_CTL (11), FB_CLEAR_CTRL (18), XAPIC_DISABLE_STATUS (21), GDS_CTRL (25).
 */
static const u64 arch_capabilities_shown =
	0x7f | BIT(8) | 7ull << 13 | BIT(17) | 3ull << 19 | BIT(24) | 7ull << 26;

static bool offered(const struct cpuid_policy *policy, const struct msr_row *row)
{
	return !row->feature || cpuid_has(policy, row->feature);
}

static u64 *state_slot(struct vcpu *vcpu, const struct msr_row *row, u32 index)
{
	return (u64 *)((u8 *)&vcpu->msr + row->where) + (index - row->first);
}

/* ---------------------------------------------------------------- checks */

static bool is_canonical(const struct vcpu *vcpu, u64 address)
{
	u32 shift = 64 - vcpu->cpuid->linear_width;

	return (u64)((s64)(address << shift) >> shift) == address;
}

/* SDM 3A table 12-8: UC, WC, WT, WP, WB. */
static bool is_memory_type(u8 type)
{
	return type <= 6 && type != 2 && type != 3;
}

/* SDM 3A table 12-10: the same and UC- (7). */
static bool is_pat_type(u8 type)
{
	return is_memory_type(type) || type == 7;
}

static bool each_byte(u64 value, bool (*is_type)(u8 type))
{
	for (u32 i = 0; i < 8; i++)
		if (!is_type(value >> 8 * i))
			return false;
	return true;
}

static bool is_mtrr_variable(const struct vcpu *vcpu, u32 index, u64 value)
{
	u64 frame = (BIT(vcpu->cpuid->physical_width) - 1) & ~PAGE_MASK;

	if (index & 1)
		return !(value & ~(frame | MTRR_MASK_VALID));
	return !(value & ~(frame | 0xff)) && is_memory_type(value);
}

static bool accepts(const struct vcpu *vcpu, const struct msr_row *row, u32 index, u64 value)
{
	switch ((enum msr_check)row->check) {
	case CHECK_READ_ONLY:
		return false;
	case CHECK_WRITE_ONLY:
	case CHECK_BITS:
		return !(value & ~row->valid);
	case CHECK_CANONICAL:
		return is_canonical(vcpu, value);
	case CHECK_PAT:
		return each_byte(value, is_pat_type);
	case CHECK_MTRR_FIXED:
		return each_byte(value, is_memory_type);
	case CHECK_MTRR_VARIABLE:
		return is_mtrr_variable(vcpu, index, value);
	case CHECK_MTRR_DEFAULT:
		return !(value & ~MTRR_DEFAULT_BITS) && is_memory_type(value);
	}
	return false;
}

/* ---------------------------------------------------------------- handlers */

static void set_tsc_offset(struct vcpu *vcpu, u64 offset)
{
	vcpu->tsc_offset = offset;
	vmcs_write(VMCS_TSC_OFFSET, offset);
	lapic_set_tsc_offset(vcpu->lapic, offset);
}

static bool tsc_read(struct vcpu *vcpu, u32 index, u64 *value)
{
	(void)index;
	*value = insn_rdtsc() + vcpu->tsc_offset;
	return true;
}

/* SDM 3B 18.17.3: a write of the TSC moves IA32_TSC_ADJUST by as much. */
static bool tsc_write(struct vcpu *vcpu, u32 index, u64 value)
{
	u64 offset = value - insn_rdtsc();

	(void)index;
	vcpu->msr.tsc_adjust += offset - vcpu->tsc_offset;
	set_tsc_offset(vcpu, offset);
	return true;
}

static bool tsc_adjust_read(struct vcpu *vcpu, u32 index, u64 *value)
{
	(void)index;
	*value = vcpu->msr.tsc_adjust;
	return true;
}

static bool tsc_adjust_write(struct vcpu *vcpu, u32 index, u64 value)
{
	u64 moved = value - vcpu->msr.tsc_adjust;

	(void)index;
	vcpu->msr.tsc_adjust = value;
	set_tsc_offset(vcpu, vcpu->tsc_offset + moved);
	return true;
}

static bool efer_read_msr(struct vcpu *vcpu, u32 index, u64 *value)
{
	(void)index;
	*value = vcpu->msr.efer;
	return true;
}

static bool efer_write_msr(struct vcpu *vcpu, u32 index, u64 value)
{
	(void)index;
	return efer_write(vcpu, value);
}

static bool lapic_read(struct vcpu *vcpu, u32 index, u64 *value)
{
	return lapic_msr_read(vcpu->lapic, index, value);
}

static bool lapic_write(struct vcpu *vcpu, u32 index, u64 value)
{
	return lapic_msr_write(vcpu->lapic, index, value);
}

static const struct {
	bool (*read)(struct vcpu *vcpu, u32 index, u64 *value);
	bool (*write)(struct vcpu *vcpu, u32 index, u64 value);
} handlers[MSR_HANDLERS] = {
	[HANDLE_TSC] = { tsc_read, tsc_write },
	[HANDLE_TSC_ADJUST] = { tsc_adjust_read, tsc_adjust_write },
	[HANDLE_EFER] = { efer_read_msr, efer_write_msr },
	[HANDLE_LAPIC] = { lapic_read, lapic_write },
};

/* ---------------------------------------------------------------- access */

bool msr_read(struct vcpu *vcpu, u32 index, u64 *value)
{
	const struct msr_row *row = msr_row_find(index);

	if (!row || row->check == CHECK_WRITE_ONLY || !offered(vcpu->cpuid, row))
		return false;
	switch ((enum msr_store)row->store) {
	case STORE_CONSTANT:
		*value = row->reset;
		return true;
	case STORE_STATE:
		*value = *state_slot(vcpu, row, index);
		return true;
	case STORE_FIELD:
		*value = vmcs_read(row->where);
		return true;
	case STORE_LIVE:
		return insn_rdmsr_safe(index, value);
	case STORE_HANDLER:
		return handlers[row->where].read(vcpu, index, value);
	}
	return false;
}

bool msr_write(struct vcpu *vcpu, u32 index, u64 value)
{
	const struct msr_row *row = msr_row_find(index);
	u64 *slot;

	if (!row || !offered(vcpu->cpuid, row) || !accepts(vcpu, row, index, value))
		return false;
	switch ((enum msr_store)row->store) {
	case STORE_CONSTANT:
		return true;
	case STORE_STATE:
		slot = state_slot(vcpu, row, index);
		*slot = (*slot & ~row->writable) | (value & row->writable);
		return true;
	case STORE_FIELD:
		vmcs_write(row->where, value);
		return true;
	case STORE_LIVE:
		return insn_wrmsr_safe(index, value);
	case STORE_HANDLER:
		return handlers[row->where].write(vcpu, index, value);
	}
	return false;
}

/* The registers that guests access all the time go past the table. */
static bool is_lapic(u32 index)
{
	return index - MSR_X2APIC_FIRST <= MSR_X2APIC_LAST - MSR_X2APIC_FIRST ||
	       index == MSR_TSC_DEADLINE;
}

enum exit_action exit_rdmsr(struct vcpu *vcpu)
{
	u32 index = vcpu->gpr[RCX];
	u64 value;

	if (!(is_lapic(index) ? lapic_msr_read(vcpu->lapic, index, &value)
			      : msr_read(vcpu, index, &value)))
		return raise_gp(vcpu);
	vcpu->gpr[RAX] = (u32)value;
	vcpu->gpr[RDX] = value >> 32;
	return complete_instruction(vcpu);
}

enum exit_action exit_wrmsr(struct vcpu *vcpu)
{
	u32 index = vcpu->gpr[RCX];
	u64 value = vcpu->gpr[RDX] << 32 | (u32)vcpu->gpr[RAX];

	if (!(is_lapic(index) ? lapic_msr_write(vcpu->lapic, index, value)
			      : msr_write(vcpu, index, value)))
		return raise_gp(vcpu);
	return complete_instruction(vcpu);
}

/* ---------------------------------------------------------------- life of a vCPU */

/* The host's MSR, 0 where it has none. */
static u64 host_value(u32 index)
{
	u64 value;

	return insn_rdmsr_safe(index, &value) ? value : 0;
}

void msr_init(struct vcpu *vcpu, const struct msr_inputs *inputs)
{
	struct msr_state *msr = &vcpu->msr;
	u64 physical = BIT(vcpu->cpuid->physical_width) - 1;

	memset(msr, 0, sizeof(*msr));
	for (const struct msr_row *row = msr_rows; row < msr_rows + msr_row_count; row++)
		for (u32 i = row->first; row->store == STORE_STATE && i <= row->last; i++)
			*state_slot(vcpu, row, i) = row->reset;
	/* The memory hole below 4 GiB is uncacheable. */
	msr->mtrr_variable[0] = GUEST_HOLE;
	msr->mtrr_variable[1] = (physical & ~(SIZE_4G - GUEST_HOLE - 1)) | MTRR_MASK_VALID;
	msr->platform_id = host_value(MSR_PLATFORM_ID) & PLATFORM_ID_BITS;
	msr->microcode = host_value(MSR_BIOS_SIGN_ID);
	msr->platform_info = (inputs->tsc_hz / PLATFORM_RATIO_HZ & 0xff) << PLATFORM_RATIO_BIT;
	if (cpuid_has(vcpu->cpuid, FEATURE_ARCH_CAPABILITIES))
		msr->arch_capabilities =
			host_value(MSR_ARCH_CAPABILITIES) & arch_capabilities_shown;
	xcr0_set(vcpu, XCR0_RESET);
}

void msr_reset_live(const struct cpuid_policy *policy)
{
	for (const struct msr_row *row = msr_rows; row < msr_rows + msr_row_count; row++)
		if (row->store == STORE_LIVE && row->check != CHECK_WRITE_ONLY &&
			offered(policy, row))
			insn_wrmsr(row->first, row->reset);
}

void msr_bitmap_fill(void *bitmap, const struct cpuid_policy *policy)
{
	msr_bitmap_intercept_all(bitmap);
	for (const struct msr_row *row = msr_rows; row < msr_rows + msr_row_count; row++) {
		if (!offered(policy, row))
			continue;
		for (u32 i = row->first; i <= row->last; i++) {
			if (row->pass & PASS_READ)
				msr_bitmap_set(bitmap, i, MSR_READ, false);
			if (row->pass & PASS_WRITE)
				msr_bitmap_set(bitmap, i, MSR_WRITE, false);
		}
	}
}
