// SPDX-License-Identifier: BSD-2-Clause
// Control registers: every bit walked singly against an oracle of SDM 3A 2.5 and 2B MOV CR
// (BUG-14), what VMX fixes (BUG-13), long mode (BUG-19), PCID (BUG-12), all registers (BUG-11), CR8
// (BUG-45), PDPTEs.

#include "vcpu_fixture.h"

#include "hv/cpu/registers.h"
#include "mmu/invalidate.h"

#define MOV_TO(cr, gpr)	  ((u64)(cr) | (u64)(gpr) << 8)
#define MOV_FROM(cr, gpr) ((u64)(cr) | 1 << 4 | (u64)(gpr) << 8)
#define CLTS_EXIT	  (2 << 4)
#define LMSW_EXIT(source) (3 << 4 | (u64)(source) << 16)
#define ENTRY_IA32E	  BIT(9)
#define EFER_LME_BIT	  BIT(8)
#define EFER_LMA_BIT	  BIT(10)

enum mode { REAL, PROTECTED, PAE_PAGED, COMPAT, LONG64, MODES };

static void set_mode(enum mode mode)
{
	static const struct {
		u64 cr0, cr4, efer;
		u32 cs;
	} states[MODES] = {
		[REAL] = { 0x30, 0, 0, 0x93 },
		[PROTECTED] = { 0x31, 0, 0, CS_RIGHTS_32 },
		[PAE_PAGED] = { 0x80000031, 0x20, 0, CS_RIGHTS_32 },
		[COMPAT] = { 0x80000031, 0x20, EFER_LME_BIT, CS_RIGHTS_32 },
		[LONG64] = { 0x80000031, 0x20, EFER_LME_BIT, CS_RIGHTS_64 },
	};

	cr_set_initial(&vcpu, states[mode].cr0, 0x4000, states[mode].cr4, states[mode].efer);
	fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, states[mode].cs);
}

/* What the processor would refuse at VM entry (SDM 3C 27.3.1.1), in this test's own words. */
static void check_entry_state(void)
{
	u64 cr0 = fake_vmcs_get(VMCS_GUEST_CR0), cr4 = fake_vmcs_get(VMCS_GUEST_CR4);
	u64 efer = fake_vmcs_get(VMCS_GUEST_EFER);
	bool ia32e = fake_vmcs_get(VMCS_ENTRY_CONTROLS) & ENTRY_IA32E;

	assert_true(cr0 & BIT(5));
	assert_false(cr0 & (BIT(29) | BIT(30)));
	assert_true(!(cr0 & BIT(31)) || (cr0 & 1));
	assert_false(cr0 >> 32);
	assert_true(cr4 & BIT(13));
	assert_false(cr4 & ~0x776fffull);
	assert_int_equal(ia32e, !!(efer & EFER_LMA_BIT));
	assert_int_equal(!!(efer & EFER_LMA_BIT), (cr0 & BIT(31)) && (efer & EFER_LME_BIT));
	assert_true(!ia32e || ((cr0 & BIT(31)) && (cr4 & BIT(5))));
	assert_true(ia32e || !(cr4 & BIT(17)));
	assert_int_equal(efer, vcpu.msr.efer);
}

/* MOV to CR0 of a value that differs in one bit: false means #GP. */
static bool oracle_cr0(enum mode mode, u64 value)
{
	if (value >> 32)
		return false;
	if ((value & BIT(31)) && !(value & 1))
		return false;
	if ((value & BIT(29)) && !(value & BIT(30)))
		return false;
	/* Clearing PG: not from 64-bit code. */
	return value & BIT(31) || mode != LONG64;
}

static void cr0_bits(void **state)
{
	/* MP EM TS ET NE WP AM NW CD PG PE */
	const u64 defined = 0xe005003f;

	(void)state;
	for (enum mode mode = REAL; mode < MODES; mode++) {
		for (u32 bit = 0; bit < 64; bit++) {
			u64 old, value;
			bool good;

			set_mode(mode);
			old = guest_cr0(&vcpu);
			value = old ^ BIT(bit);
			good = oracle_cr0(mode, value);
			vcpu.gpr[RBX] = value;
			if (mode != LONG64)
				good = oracle_cr0(mode, (u32)value);
			assert_int_equal(fixture_exit(exit_cr_access, MOV_TO(0, RBX)),
				good ? -1 : VECTOR_GP);
			assert_int_equal(
				guest_cr0(&vcpu), good ? (((u32)value & defined) | BIT(4)) : old);
			check_entry_state();
		}
	}
}

/* CR4 bits of the fake processor's CPUID that Torpor shows: no VMXE, SMXE, LA57, KL, CET, PKS. */
#define CR4_GUEST_BITS 0x770fffull

static bool oracle_cr4(enum mode mode, u64 value)
{
	bool long_mode = mode == COMPAT || mode == LONG64;

	if (value & ~CR4_GUEST_BITS)
		return false;
	if (long_mode && !(value & BIT(5)))
		return false;
	return long_mode || !(value & BIT(17));
}

static void cr4_bits(void **state)
{
	(void)state;
	for (enum mode mode = REAL; mode < MODES; mode++) {
		for (u32 bit = 0; bit < 64; bit++) {
			u64 old, value;
			bool good;

			set_mode(mode);
			old = guest_cr4(&vcpu);
			value = old ^ BIT(bit);
			vcpu.gpr[RBX] = value;
			good = oracle_cr4(mode, mode == LONG64 ? value : (u32)value);
			assert_int_equal(fixture_exit(exit_cr_access, MOV_TO(4, RBX)),
				good ? -1 : VECTOR_GP);
			assert_int_equal(guest_cr4(&vcpu),
				good ? (mode == LONG64 ? value : (u32)value) : old);
			check_entry_state();
		}
	}
}

/* BUG-13: the guest reads what it wrote, the processor has what it needs. */
static void fixed_bits(void **state)
{
	(void)state;
	assert_true(cr0_write(&vcpu, 0x80000011));
	assert_int_equal(guest_cr0(&vcpu), 0x80000011);
	assert_int_equal(fake_vmcs_get(VMCS_CR0_SHADOW) & BIT(5), 0);
	assert_true(fake_vmcs_get(VMCS_GUEST_CR0) & BIT(5));
	assert_true(cr0_write(&vcpu, 0xe0000011));
	assert_int_equal(guest_cr0(&vcpu), 0xe0000011);
	/* VMXE reads 0, MCE as written although the machine keeps it on */
	assert_int_equal(guest_cr4(&vcpu), 0x20);
	assert_true(fake_vmcs_get(VMCS_GUEST_CR4) & BIT(13));
	assert_true(fake_vmcs_get(VMCS_GUEST_CR4) & BIT(6));
	check_entry_state();
}

/*
 * Bits whose writes must not exit: the guest's change of the real register is what it reads. ET
 * (bit 4) is none of them: no guest changes it, and a hypervisor below lets it read back as it was
 * written.
 */
static void guest_owned(void **state)
{
	const u64 cr0_free = 0x0005000f, cr4_free = 0x770fbf;

	(void)state;
	assert_int_equal(fake_vmcs_get(VMCS_CR0_MASK), ~cr0_free);
	assert_int_equal(fake_vmcs_get(VMCS_CR4_MASK), ~cr4_free);
	fake_vmcs_put(VMCS_GUEST_CR0, fake_vmcs_get(VMCS_GUEST_CR0) ^ BIT(16));
	assert_true(guest_cr0(&vcpu) & BIT(16));
	/* A write that exits for another bit takes the owned ones with it. */
	assert_true(cr0_write(&vcpu, guest_cr0(&vcpu) ^ BIT(16) ^ BIT(5)));
	assert_false(guest_cr0(&vcpu) & BIT(16));
	assert_false(fake_vmcs_get(VMCS_GUEST_CR0) & BIT(16));
}

/* Without unrestricted guest and EPT, PE and PG are fixed and paging bits are the host's. */
static void restricted(void **state)
{
	struct cr_inputs in = { .cr0_fixed0 = 0x80000021,
		.cr0_fixed1 = 0xffffffff,
		.cr4_fixed0 = 0x2000,
		.cr4_fixed1 = 0x776fff };

	(void)state;
	cr_init(&vcpu, &in);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_CR0), 0x80000031);
	assert_int_equal(guest_cr0(&vcpu), 0x60000010);
	assert_int_equal(~fake_vmcs_get(VMCS_CR0_MASK) & 0x80010021, 0);
	assert_int_equal(~fake_vmcs_get(VMCS_CR4_MASK) & 0x7200b0, 0);
	/* TS and the like stay the guest's */
	assert_int_equal(~fake_vmcs_get(VMCS_CR0_MASK) & 0xe, 0xe);
}

/* BUG-19: 64-bit to 32-bit and back. */
static void long_mode_round_trips(void **state)
{
	(void)state;
	for (u32 i = 0; i < 1000; i++) {
		set_mode(LONG64);
		assert_true(vcpu.msr.efer & EFER_LMA_BIT);
		/* LME cannot change with paging on, nor paging go off in 64-bit code */
		assert_false(efer_write(&vcpu, 0));
		assert_false(cr0_write(&vcpu, 0x31));
		fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, CS_RIGHTS_32);
		assert_true(cr0_write(&vcpu, 0x31));
		assert_int_equal(vcpu.msr.efer, EFER_LME_BIT);
		check_entry_state();
		assert_true(efer_write(&vcpu, 0));
		assert_true(cr0_write(&vcpu, 0x80000031));
		check_entry_state();
		assert_true(cr0_write(&vcpu, 0x31));
		assert_true(efer_write(&vcpu, EFER_LME_BIT | EFER_LMA_BIT));
		assert_int_equal(vcpu.msr.efer, EFER_LME_BIT);
		assert_true(cr0_write(&vcpu, 0x80000031));
		assert_int_equal(vcpu.msr.efer, EFER_LME_BIT | EFER_LMA_BIT);
		check_entry_state();
	}
}

/* SDM 3A 10.8.5 */
static void long_mode_conditions(void **state)
{
	(void)state;
	set_mode(PROTECTED);
	assert_true(efer_write(&vcpu, EFER_LME_BIT));
	assert_false(cr0_write(&vcpu, 0x80000031)); /* PAE clear */
	assert_true(cr4_write(&vcpu, 0x20));
	fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, CS_RIGHTS_64);
	assert_false(cr0_write(&vcpu, 0x80000031)); /* CS.L set */
	fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, CS_RIGHTS_32);
	fake_vmcs_put(VMCS_GUEST_TR_RIGHTS, 0x83); /* 16-bit TSS */
	assert_false(cr0_write(&vcpu, 0x80000031));
	fake_vmcs_put(VMCS_GUEST_TR_RIGHTS, 0x8b);
	assert_true(cr0_write(&vcpu, 0x80000031));
	check_entry_state();
	/* EFER bits by CPUID, the rest reserved */
	for (u32 bit = 0; bit < 64; bit++) {
		bool good = bit == 0 || bit == 8 || bit == 10 || bit == 11;

		assert_int_equal(efer_write(&vcpu, EFER_LME_BIT | EFER_LMA_BIT | BIT(bit)), good);
	}
}

/* BUG-12 */
static void pcid(void **state)
{
	(void)state;
	fake_vmcs_put(VMCS_GUEST_CR3, 0x4001);
	assert_false(cr4_write(&vcpu, 0x20020));
	fake_vmcs_put(VMCS_GUEST_CR3, 0x4000);
	/* without PCIDE bit 63 is reserved */
	assert_false(cr3_write(&vcpu, BIT(63) | 0x5000));
	assert_true(cr4_write(&vcpu, 0x20020));
	fake_cpu->invalidation_count = 0;
	assert_true(cr3_write(&vcpu, BIT(63) | 0x5003));
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_CR3), 0x5003);
	assert_int_equal(fake_cpu->invalidation_count, 0);
	assert_true(cr3_write(&vcpu, 0x6004));
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_CR3), 0x6004);
	assert_int_equal(fake_cpu->invalidation_count, 1);
	for (u32 bit = 46; bit < 63; bit++)
		assert_false(cr3_write(&vcpu, BIT(bit)));
	/* PG cannot go while PCIDE is set, not even from compatibility mode */
	fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, CS_RIGHTS_32);
	assert_false(cr0_write(&vcpu, 0x31));
}

static void every_register(void **state)
{
	(void)state;
	for (u32 gpr = 0; gpr < GPR_COUNT; gpr++) {
		for (u32 i = 0; i < GPR_COUNT; i++)
			vcpu_set_gpr(&vcpu, i, i << 12);
		vcpu_set_gpr(&vcpu, gpr, 0x9000 + ((u64)gpr << 16));
		assert_int_equal(fixture_exit(exit_cr_access, MOV_TO(3, gpr)), -1);
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_CR3), 0x9000 + ((u64)gpr << 16));
		vcpu_set_gpr(&vcpu, gpr, 0);
		assert_int_equal(fixture_exit(exit_cr_access, MOV_FROM(3, gpr)), -1);
		for (u32 i = 0; i < GPR_COUNT; i++)
			assert_int_equal(vcpu_gpr(&vcpu, i),
				i == gpr ? 0x9000 + ((u64)gpr << 16) : (u64)i << 12);
	}
	/* A read takes the whole of CR0 and CR4 */
	assert_int_equal(fixture_exit(exit_cr_access, MOV_FROM(0, RSP)), -1);
	assert_int_equal(vcpu_gpr(&vcpu, RSP), guest_cr0(&vcpu));
	assert_int_equal(fixture_exit(exit_cr_access, MOV_FROM(4, R15)), -1);
	assert_int_equal(vcpu.gpr[R15], guest_cr4(&vcpu));
}

static void cr8(void **state)
{
	(void)state;
	for (u64 value = 0; value < 64; value++) {
		vcpu.gpr[RDX] = value;
		assert_int_equal(
			fixture_exit(exit_cr_access, MOV_TO(8, RDX)), value > 15 ? VECTOR_GP : -1);
		assert_int_equal(fixture_exit(exit_cr_access, MOV_FROM(8, RCX)), -1);
		assert_int_equal(vcpu.gpr[RCX], MIN(value, 15ull));
		/* CR8 is the high half of the TPR at 0x80 */
		assert_int_equal(((u8 *)lapic_page(vcpu.lapic))[0x80], MIN(value, 15ull) << 4);
	}
	vcpu.gpr[RDX] = BIT(63);
	assert_int_equal(fixture_exit(exit_cr_access, MOV_TO(8, RDX)), VECTOR_GP);
	/* the host's own stays */
	assert_int_equal(fake_cpu->cr8, 0);
}

static void clts_and_lmsw(void **state)
{
	(void)state;
	set_mode(PROTECTED);
	assert_true(cr0_write(&vcpu, 0x39));
	assert_int_equal(fixture_exit(exit_cr_access, CLTS_EXIT), -1);
	assert_int_equal(guest_cr0(&vcpu), 0x31);
	for (u32 source = 0; source < 0x10000; source += 0x1003) {
		set_mode(PROTECTED);
		assert_int_equal(fixture_exit(exit_cr_access, LMSW_EXIT(source)), -1);
		/* PE stays, only three bits follow */
		assert_int_equal(guest_cr0(&vcpu), 0x31 | (source & 0xe));
	}
	set_mode(REAL);
	assert_int_equal(fixture_exit(exit_cr_access, LMSW_EXIT(1)), -1);
	assert_int_equal(guest_cr0(&vcpu), 0x31);
}

/* SDM 3A 4.4.1 and table 4-8: reserved bits of a present PDPTE are #GP, and nothing is loaded. */
static void pdptes(void **state)
{
	u64 *table = (u64 *)(memory + 0x4020);

	(void)state;
	for (u32 bit = 0; bit < 64; bit++) {
		for (u32 present = 0; present < 2; present++) {
			bool reserved = bit == 1 || bit == 2 || (bit >= 5 && bit <= 8) || bit >= 46;
			bool good = !reserved || !(present || bit == 0);

			set_mode(PROTECTED);
			assert_true(cr4_write(&vcpu, 0x20));
			fake_vmcs_put(VMCS_GUEST_CR3, 0x4020);
			fake_vmcs_put(VMCS_GUEST_PDPTE2, 0);
			table[0] = table[1] = table[3] = 0x7001;
			table[2] = present | BIT(bit);
			assert_int_equal(cr0_write(&vcpu, 0x80000031), good);
			assert_int_equal(fake_vmcs_get(VMCS_GUEST_PDPTE2), good ? table[2] : 0);
			assert_int_equal(!!(guest_cr0(&vcpu) & BIT(31)), good);
		}
	}
	/* From where no memory is */
	set_mode(PROTECTED);
	assert_true(cr4_write(&vcpu, 0x20));
	fake_vmcs_put(VMCS_GUEST_CR3, 0x80000000);
	assert_false(cr0_write(&vcpu, 0x80000031));
	/* CR4.PGE reloads them, CR4.TSD does not */
	set_mode(PAE_PAGED);
	fake_vmcs_put(VMCS_GUEST_CR3, 0x4020);
	table[2] = 0x7003;
	assert_true(cr4_write(&vcpu, 0x24));
	assert_false(cr4_write(&vcpu, 0xa4));
	assert_int_equal(guest_cr4(&vcpu), 0x24);
	/* In long mode there are none */
	set_mode(LONG64);
	fake_vmcs_put(VMCS_GUEST_CR3, 0x4020);
	assert_true(cr4_write(&vcpu, 0xa0));
}

/* What the native instruction would have flushed is flushed (tagged TLB, VPID 1). */
static void flushes(void **state)
{
	(void)state;
	set_mode(COMPAT);
	fake_cpu->invalidation_count = 0;
	assert_true(cr0_write(&vcpu, 0x80000031 | CR0_CD));
	assert_int_equal(fake_cpu->invalidation_count, 0);
	assert_true(cr4_write(&vcpu, 0xa0));
	assert_int_equal(fake_cpu->invalidation_count, 1);
	assert_true(cr0_write(&vcpu, 0x31));
	assert_int_equal(fake_cpu->invalidation_count, 2);
	assert_true(efer_write(&vcpu, 0x900));
	assert_int_equal(fake_cpu->invalidation_count, 3);
	assert_true(fake_cpu->invalidations[2].vpid);
	assert_int_equal(fake_cpu->invalidations[2].descriptor.first, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cr0_bits, fixture_setup),
		cmocka_unit_test_setup(cr4_bits, fixture_setup),
		cmocka_unit_test_setup(fixed_bits, fixture_setup),
		cmocka_unit_test_setup(guest_owned, fixture_setup),
		cmocka_unit_test_setup(restricted, fixture_setup),
		cmocka_unit_test_setup(long_mode_round_trips, fixture_setup),
		cmocka_unit_test_setup(long_mode_conditions, fixture_setup),
		cmocka_unit_test_setup(pcid, fixture_setup),
		cmocka_unit_test_setup(every_register, fixture_setup),
		cmocka_unit_test_setup(cr8, fixture_setup),
		cmocka_unit_test_setup(clts_and_lmsw, fixture_setup),
		cmocka_unit_test_setup(pdptes, fixture_setup),
		cmocka_unit_test_setup(flushes, fixture_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
