// SPDX-License-Identifier: BSD-2-Clause
// The fake processor outside VMX: CPUID, MSRs, control and debug registers, XCR0. What it refuses,
// and with which fault, is the architecture's rule named at each check.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "hv/cpu/cpu.h"

#define VECTOR_DB 1
#define VECTOR_UD 6
#define VECTOR_GP 13

#define MSR_TSC	    0x10
#define MSR_EFER    0xc0000080u
#define EFER_LMA    BIT(10)
#define CR0_PE	    BIT(0)
#define CR0_NW	    BIT(29)
#define CR0_CD	    BIT(30)
#define CR0_PG	    BIT(31)
#define CR4_DE	    BIT(3)
#define CR4_PAE	    BIT(5)
#define CR4_VMXE    BIT(13)
#define CR4_PCIDE   BIT(17)
#define CR4_OSXSAVE BIT(18)
#define CR4_PKE	    BIT(22)
#define DR7_GD	    BIT(13)
#define DR6_BD	    BIT(13)

struct fake_cpu fake_cpus[FAKE_CPUS];
struct fake_cpu *fake_cpu = &fake_cpus[0];

struct cpu *this_cpu(void)
{
	if (!fake_cpu->block)
		fail_msg("this_cpu() used, but the test set no fake_cpu->block");
	return fake_cpu->block;
}

void fake_fault(u32 vector, u32 error_code)
{
	fake_cpu->faults[vector]++;
	fake_cpu->fault_error = error_code;
	if (fake_cpu->fault_jump) {
		fake_cpu->fault_vector = vector;
		longjmp(*fake_cpu->fault_jump, 1);
	}
	if (!fake_cpu->count_faults)
		fail_msg("the fake processor raised exception %u, error code %#x", vector,
			error_code);
}

/* ---------------------------------------------------------------- CPUID, TSC */

void fake_cpuid_clear(void)
{
	fake_cpu->cpuid_count = 0;
}

static struct fake_cpuid_row *cpuid_row(u32 leaf, u32 subleaf)
{
	for (u32 i = 0; i < fake_cpu->cpuid_count; i++) {
		struct fake_cpuid_row *row = &fake_cpu->cpuid[i];

		if (row->leaf == leaf && (row->any_subleaf || row->subleaf == subleaf))
			return row;
	}
	return NULL;
}

static void cpuid_put(u32 leaf, u32 subleaf, bool any, struct cpuid_regs regs)
{
	struct fake_cpuid_row *row = cpuid_row(leaf, subleaf);

	if (!row) {
		assert_true(fake_cpu->cpuid_count < FAKE_CPUID_ROWS);
		row = &fake_cpu->cpuid[fake_cpu->cpuid_count++];
	}
	*row = (struct fake_cpuid_row){ leaf, subleaf, any, regs };
}

void fake_cpuid_set(u32 leaf, u32 subleaf, struct cpuid_regs regs)
{
	cpuid_put(leaf, subleaf, false, regs);
}

void fake_cpuid_set_any(u32 leaf, struct cpuid_regs regs)
{
	cpuid_put(leaf, 0, true, regs);
}

struct cpuid_regs insn_cpuid(u32 leaf, u32 subleaf)
{
	struct fake_cpuid_row *row = cpuid_row(leaf, subleaf);
	struct fake_cpuid_row *base = cpuid_row(leaf & 0x80000000u, 0);
	u32 highest = base ? base->regs.eax : 0;

	fake_cpu->cpuid_executed++;
	/* SDM 2A CPUID: beyond the highest leaf the data of the highest basic leaf is returned. */
	if (!base || leaf > highest) {
		base = cpuid_row(0, 0);
		row = base ? cpuid_row(base->regs.eax, subleaf) : NULL;
	}
	return row ? row->regs : (struct cpuid_regs){ 0 };
}

u64 insn_rdtsc(void)
{
	fake_cpu->tsc += fake_cpu->tsc_step;
	return fake_cpu->tsc;
}

/* ---------------------------------------------------------------- MSRs */

struct fake_msr *fake_msr(u32 index)
{
	for (u32 i = 0; i < fake_cpu->msr_count; i++)
		if (fake_cpu->msrs[i].index == index && fake_cpu->msrs[i].exists)
			return &fake_cpu->msrs[i];
	return NULL;
}

void fake_msr_set(u32 index, u64 value, enum fake_msr_rule rule, u64 valid)
{
	struct fake_msr *msr = fake_msr(index);

	if (!msr) {
		assert_true(fake_cpu->msr_count < FAKE_MSRS);
		msr = &fake_cpu->msrs[fake_cpu->msr_count++];
	}
	*msr = (struct fake_msr){
		.index = index, .exists = true, .rule = rule, .valid = valid, .value = value
	};
}

void fake_msr_remove(u32 index)
{
	struct fake_msr *msr = fake_msr(index);

	if (msr)
		msr->exists = false;
}

static bool is_canonical(u64 address)
{
	return (u64)((s64)(address << 16) >> 16) == address;
}

static bool is_pat(u64 value)
{
	for (u32 i = 0; i < 8; i++) {
		u8 type = value >> (8 * i);

		if (type > 7 || type == 2 || type == 3)
			return false;
	}
	return true;
}

static bool msr_takes(const struct fake_msr *msr, u64 value)
{
	switch (msr->rule) {
	case FAKE_MSR_ANY:
		return true;
	case FAKE_MSR_MASK:
	case FAKE_MSR_WRITE_ONLY:
		return !(value & ~msr->valid);
	case FAKE_MSR_CANONICAL:
		return is_canonical(value);
	case FAKE_MSR_PAT:
		return is_pat(value);
	case FAKE_MSR_READ_ONLY:
		return false;
	}
	return false;
}

bool insn_rdmsr_safe(u32 index, u64 *value)
{
	struct fake_msr *msr = fake_msr(index);

	fake_cpu->rdmsr_count++;
	*value = 0;
	if (!msr || msr->rule == FAKE_MSR_WRITE_ONLY)
		return false;
	msr->reads++;
	*value = index == MSR_TSC ? insn_rdtsc() : msr->value;
	return true;
}

bool insn_wrmsr_safe(u32 index, u64 value)
{
	struct fake_msr *msr = fake_msr(index);

	fake_cpu->wrmsr_count++;
	if (!msr || !msr_takes(msr, value))
		return false;
	msr->writes++;
	/* SDM 3A 2.2.1: EFER.LMA is read-only. */
	msr->value = index == MSR_EFER ? (value & ~EFER_LMA) | (msr->value & EFER_LMA) : value;
	if (index == MSR_TSC)
		fake_cpu->tsc = value;
	return true;
}

u64 insn_rdmsr(u32 index)
{
	u64 value;

	if (!insn_rdmsr_safe(index, &value))
		fake_fault(VECTOR_GP, 0);
	return value;
}

void insn_wrmsr(u32 index, u64 value)
{
	if (!insn_wrmsr_safe(index, value))
		fake_fault(VECTOR_GP, 0);
}

/* ---------------------------------------------------------------- control registers */

/* SDM 3C 24.8: in VMX operation the fixed bits of CR0 and CR4 cannot change. */
static bool breaks_fixed(u64 value, u32 fixed0, u32 fixed1)
{
	u64 must, may;

	if (!fake_cpu->vmx_on)
		return false;
	must = fake_msr(fixed0)->value;
	may = fake_msr(fixed1)->value;
	return (value & must) != must || (value & ~may);
}

static bool in_long_mode(void)
{
	return fake_msr(MSR_EFER)->value & EFER_LMA;
}

u64 insn_read_cr0(void)
{
	return fake_cpu->cr0;
}

void insn_write_cr0(u64 value)
{
	/* SDM 2B MOV to control registers */
	if (value >> 32 || ((value & CR0_PG) && !(value & CR0_PE)) ||
		((value & CR0_NW) && !(value & CR0_CD)) || breaks_fixed(value, 0x486, 0x487) ||
		(!(value & CR0_PG) && (fake_cpu->cr4 & CR4_PCIDE)))
		fake_fault(VECTOR_GP, 0);
	else
		fake_cpu->cr0 = value;
}

u64 insn_read_cr2(void)
{
	return fake_cpu->cr2;
}

void insn_write_cr2(u64 value)
{
	fake_cpu->cr2 = value;
}

u64 insn_read_cr3(void)
{
	return fake_cpu->cr3;
}

void insn_write_cr3(u64 value)
{
	bool pcid = fake_cpu->cr4 & CR4_PCIDE;

	if (pcid)
		value &= ~BIT(63);
	if (value >> (cpuid_row(0x80000008u, 0) ? cpuid_row(0x80000008u, 0)->regs.eax & 0xff : 36))
		fake_fault(VECTOR_GP, 0);
	else
		fake_cpu->cr3 = value;
}

u64 insn_read_cr4(void)
{
	return fake_cpu->cr4;
}

void insn_write_cr4(u64 value)
{
	u64 raised = value & ~fake_cpu->cr4;

	if ((value & ~fake_cpu->cr4_valid) || breaks_fixed(value, 0x488, 0x489) ||
		(in_long_mode() && !(value & CR4_PAE)) ||
		((raised & CR4_PCIDE) && (!in_long_mode() || (fake_cpu->cr3 & 0xfff))))
		fake_fault(VECTOR_GP, 0);
	else
		fake_cpu->cr4 = value;
}

u64 insn_read_cr8(void)
{
	return fake_cpu->cr8;
}

void insn_write_cr8(u64 value)
{
	if (value > 15)
		fake_fault(VECTOR_GP, 0);
	else
		fake_cpu->cr8 = value;
}

/* ---------------------------------------------------------------- debug registers */

/* SDM 3B 18.2.4: with DR7.GD set each access is #DB; delivery clears GD. */
static bool dr_guarded(void)
{
	if (!(fake_cpu->dr[7] & DR7_GD))
		return false;
	fake_cpu->dr[7] &= ~DR7_GD;
	fake_cpu->dr[6] |= DR6_BD;
	fake_fault(VECTOR_DB, 0);
	return true;
}

static u64 dr_read(u32 number)
{
	return dr_guarded() ? 0 : fake_cpu->dr[number];
}

static void dr_write(u32 number, u64 value)
{
	if (dr_guarded())
		return;
	if (number >= 6 && value >> 32) {
		fake_fault(VECTOR_GP, 0);
		return;
	}
	if (number == 6)
		value = (value & 0xe00f) | 0xffff0ff0;
	if (number == 7)
		value = (value & 0xffff2bff) | 0x400;
	fake_cpu->dr[number] = value;
}

#define FAKE_DR(n)                       \
	u64 insn_read_dr##n(void)        \
	{                                \
		return dr_read(n);       \
	}                                \
	void insn_write_dr##n(u64 value) \
	{                                \
		dr_write(n, value);      \
	}
FAKE_DR(0)
FAKE_DR(1)
FAKE_DR(2)
FAKE_DR(3)
FAKE_DR(6)
FAKE_DR(7)

/* ---------------------------------------------------------------- XCR0 */

u32 insn_rdpkru(void)
{
	if (!(fake_cpu->cr4 & CR4_PKE))
		fake_fault(VECTOR_UD, 0);
	return fake_cpu->pkru;
}

u64 insn_xgetbv(u32 index)
{
	if (!(fake_cpu->cr4 & CR4_OSXSAVE))
		fake_fault(VECTOR_UD, 0);
	else if (index != 0)
		fake_fault(VECTOR_GP, 0);
	return fake_cpu->xcr0;
}

void insn_xsetbv(u32 index, u64 value)
{
	u64 avx512 = value & 0xe0, amx = value & 0x60000, mpx = value & 0x18;

	fake_cpu->xsetbv_count++;
	if (!(fake_cpu->cr4 & CR4_OSXSAVE)) {
		fake_fault(VECTOR_UD, 0);
	} else if (index != 0 || !(value & 1) || (value & ~fake_cpu->xcr0_valid) ||
		   ((value & 4) && !(value & 2)) || (avx512 && (avx512 != 0xe0 || !(value & 4))) ||
		   (amx && amx != 0x60000) || (mpx && mpx != 0x18)) {
		fake_fault(VECTOR_GP, 0);
	} else {
		fake_cpu->xcr0 = value;
	}
}
