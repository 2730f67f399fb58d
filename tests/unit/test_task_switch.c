// SPDX-License-Identifier: BSD-2-Clause
/*
 * Task switches that end badly: whatever a guest's TSS and descriptors hold, the state that the
 * exit leaves is one that the processor enters (BUG-67). The oracle is the list of entry checks of
 * SDM 3C 27.3.1, an independent part of the hypervisor.
 */
#include "entry_state_fixture.h"

#include "hv/cpu/irq.h"
#include "vmx/entry_check.h"

#define GDT	 0x10000u
#define OLD_TSS	 0x11000u
#define NEW_TSS	 0x12000u
#define BAD_PDPT 0x13000u
#define SEL_CODE 0x08
#define SEL_DATA 0x10
#define SEL_OLD	 0x18
#define SEL_NEW	 0x20
#define FLAT	 0x00cf000000000000ull
#define JUMP	 (2ull << 30)

/* SDM 3A figure 8-2, by dword. */
enum { TSS_CR3 = 7, TSS_EIP, TSS_EFLAGS, TSS_ES = 18, TSS_CS, TSS_SS, TSS_DS, TSS_FS, TSS_GS };

/* What other handlers of exits.c need: the host's side of interrupts and NMIs. */
void irq_dispatch(u32 vector)
{
	fail_msg("interrupt %u", vector);
}

void nmi_unblock(void)
{
	fail();
}

static u64 descriptor(u64 base, u64 limit, u64 type)
{
	return limit | (base & 0xffffff) << 16 | type << 40 | (base >> 24) << 56;
}

static void store(u64 address, u64 value, u32 size)
{
	memcpy(memory + address, &value, size);
}

static void new_task(u32 index, u32 value)
{
	store(NEW_TSS + 4 * index, value, 4);
}

/* A 32-bit task in that state, without paging, about to jump to one in ring 0. */
static void begin(enum state state)
{
	set_state(state);
	memset(memory + GDT, 0, 0x4000);
	store(GDT + SEL_CODE, FLAT | 0xffff | 0x9bull << 40, 8);
	store(GDT + SEL_DATA, FLAT | 0xffff | 0x93ull << 40, 8);
	store(GDT + SEL_OLD, descriptor(OLD_TSS, 0x67, 0x8b), 8);
	store(GDT + SEL_NEW, descriptor(NEW_TSS, 0x67, 0x89), 8);
	put(VMCS_GUEST_GDTR_BASE, GDT);
	put(VMCS_GUEST_GDTR_LIMIT, 0x2f);
	put(VMCS_GUEST_TR_SELECTOR, SEL_OLD);
	put(VMCS_GUEST_TR_BASE, OLD_TSS);
	put(VMCS_EXIT_QUALIFICATION, JUMP | SEL_NEW);
	new_task(TSS_EFLAGS, 2);
	new_task(TSS_CS, SEL_CODE);
	new_task(TSS_SS, SEL_DATA);
	new_task(TSS_DS, SEL_DATA);
	vcpu.events = (struct event_state){ 0 };
}

/* The vector that the switch raised, -1: none. */
static int switch_tasks(void)
{
	char line[256];

	assert_int_equal(exit_task_switch(&vcpu), EXIT_RESUME);
	assert_string_equal(
		entry_check_failed(line, sizeof(line)), "every check that is known here holds");
	return vcpu.events.info & EVENT_VALID ? (int)EVENT_VECTOR(vcpu.events.info) : -1;
}

static void ring_3(void)
{
	put(VMCS_GUEST_CS_RIGHTS, 0xc0fb);
	put(VMCS_GUEST_SS_RIGHTS, 0xc0f3);
}

static void good_switch(void **unused)
{
	(void)unused;
	begin(S32);
	ring_3();
	assert_int_equal(switch_tasks(), -1);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_TR_SELECTOR), SEL_NEW);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_CS_SELECTOR), SEL_CODE);
}

static void bad_stack_from_ring_3(void **unused)
{
	(void)unused;
	begin(S32);
	ring_3();
	new_task(TSS_SS, SEL_CODE);
	assert_int_equal(switch_tasks(), VECTOR_TS);
}

static void bad_code_from_any_mode(void **unused)
{
	static const u16 bad[] = { 0, SEL_DATA, SEL_DATA | 3, SEL_CODE | 3, 0x28, 0x2c, 0xfff8 };

	(void)unused;
	for (u32 i = 0; i < 3 * ARRAY_SIZE(bad); i++) {
		begin(i % 3 == 0 ? SV86 : S32);
		if (i % 3 == 1)
			ring_3();
		new_task(TSS_CS, bad[i / 3]);
		assert_int_equal(switch_tasks(), VECTOR_TS);
	}
}

/* IF=0 under blocking by STI, TF=1 without a pending BS: SDM 3C 27.3.1.5. */
static void shadow_ends(void **unused)
{
	(void)unused;
	begin(S32);
	put(VMCS_GUEST_RFLAGS, 0x202);
	put(VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_BY_STI);
	assert_int_equal(switch_tasks(), -1);
	begin(S32);
	put(VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_BY_MOV_SS);
	new_task(TSS_EFLAGS, 0x102);
	assert_int_equal(switch_tasks(), -1);
}

static void bad_pdpt_into_vm86(void **unused)
{
	(void)unused;
	begin(SPAE);
	cr_set_initial(&vcpu, CR0_PE | CR0_PG, 0x8000, CR4_PAE, 0);
	/* The tables of 32-bit PAE paging: the first 2 MiB as they are. */
	store(0x20000, 0x83, 8);
	put(VMCS_GUEST_PDPTE0, 0x20001);
	store(BAD_PDPT, 0x20003, 8);
	new_task(TSS_EFLAGS, 0x20002);
	new_task(TSS_CR3, BAD_PDPT);
	assert_int_equal(switch_tasks(), VECTOR_GP);
}

/* INT1 in the shadow of MOV SS under TF: its exit has cleared the pending BS (SDM 3C 28.3.4). */
static void int1_in_a_shadow(void **unused)
{
	char line[256];

	(void)unused;
	begin(S32);
	put(VMCS_GUEST_RFLAGS, 0x102);
	put(VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_BY_MOV_SS);
	put(VMCS_EXIT_INTERRUPTION_INFO,
		EVENT_INFO(EVENT_PRIVILEGED_SOFTWARE_EXCEPTION, VECTOR_DB));
	put(VMCS_EXIT_INSTRUCTION_LENGTH, 1);
	assert_int_equal(exit_exception(&vcpu), EXIT_RESUME);
	assert_string_equal(
		entry_check_failed(line, sizeof(line)), "every check that is known here holds");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_switch),
		cmocka_unit_test(bad_stack_from_ring_3),
		cmocka_unit_test(bad_code_from_any_mode),
		cmocka_unit_test(shadow_ends),
		cmocka_unit_test(bad_pdpt_into_vm86),
		cmocka_unit_test(int1_in_a_shadow),
	};

	return cmocka_run_group_tests(tests, (CMFixtureFunction)fixture_setup, NULL);
}
