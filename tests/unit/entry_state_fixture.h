/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VMCSs that the processor would enter, in each mode of a guest: what a test of the checks breaks.
 */
#ifndef TESTS_UNIT_ENTRY_STATE_FIXTURE_H
#define TESTS_UNIT_ENTRY_STATE_FIXTURE_H

#include "vcpu_fixture.h"

static u8 apic_page[4096] __attribute__((aligned(4096)));

struct setting {
	u32 field;
	u64 value;
};

/* A guest in 64-bit mode, a 64-bit host, controls as Torpor sets them. */
static void legal(void)
{
	const struct setting settings[] = {
		{ VMCS_MSR_BITMAP, 0x5000 },
		{ VMCS_EPT_POINTER, 0x601e },
		{ VMCS_VPID, 1 },
		{ VMCS_VIRTUAL_APIC_ADDRESS, (u64)apic_page },
		{ VMCS_VMCS_LINK_POINTER, ~0ull },
		{ VMCS_HOST_CR0, 0x80050033 },
		{ VMCS_HOST_CR3, 0x7000 },
		{ VMCS_HOST_CR4, 0x26a0 },
		{ VMCS_HOST_PAT, 0x0007040600070406 },
		{ VMCS_HOST_EFER, 0xd01 },
		{ VMCS_HOST_CS_SELECTOR, 8 },
		{ VMCS_HOST_SS_SELECTOR, 16 },
		{ VMCS_HOST_TR_SELECTOR, 40 },
		{ VMCS_HOST_GS_BASE, 0xffff800000000000 },
		{ VMCS_HOST_RIP, 0xffffffff80000000 },
		{ VMCS_GUEST_CR0, 0x80000031 },
		{ VMCS_GUEST_CR3, 0x8000 },
		{ VMCS_GUEST_CR4, 0x2020 },
		{ VMCS_GUEST_EFER, 0x500 },
		{ VMCS_GUEST_DR7, 0x400 },
		{ VMCS_GUEST_PAT, 0x0007040600070406 },
		{ VMCS_GUEST_RFLAGS, 2 },
		{ VMCS_GUEST_RIP, 0x1000 },
		{ VMCS_GUEST_CS_SELECTOR, 8 },
		{ VMCS_GUEST_CS_LIMIT, 0xffffffff },
		{ VMCS_GUEST_CS_RIGHTS, 0xa09b },
		{ VMCS_GUEST_SS_SELECTOR, 16 },
		{ VMCS_GUEST_SS_LIMIT, 0xffffffff },
		{ VMCS_GUEST_SS_RIGHTS, 0xc093 },
		{ VMCS_GUEST_DS_RIGHTS, 0x10000 },
		{ VMCS_GUEST_ES_RIGHTS, 0x10000 },
		{ VMCS_GUEST_FS_RIGHTS, 0x10000 },
		{ VMCS_GUEST_GS_RIGHTS, 0x10000 },
		{ VMCS_GUEST_LDTR_RIGHTS, 0x10000 },
		{ VMCS_GUEST_TR_SELECTOR, 40 },
		{ VMCS_GUEST_TR_LIMIT, 0x67 },
		{ VMCS_GUEST_TR_RIGHTS, 0x8b },
	};

	memset(fake_cpu->current_vmcs->fields, 0, sizeof(fake_cpu->current_vmcs->fields));
	memset(apic_page, 0, sizeof(apic_page));
	fake_cpuid_set_any(0x80000008, (struct cpuid_regs){ 0x3030, 0, 0, 0 });
	fixture_rebuild();
	for (u32 i = 0; i < ARRAY_SIZE(settings); i++)
		fake_vmcs_put(settings[i].field, settings[i].value);
	fake_vmcs_put(VMCS_ENTRY_CONTROLS, fake_vmcs_get(VMCS_ENTRY_CONTROLS) | BIT(9));
}

/* What the mode of a row needs besides the broken field. */
enum state { S64, SCOMPAT, S32, SPAE, SREAL, SV86, SEVENT_EXT, SEVENT_NMI, SALL_DATA, SLDTR, SHLT };

static void put(u32 field, u64 value)
{
	fake_vmcs_put(field, value);
}

static void set_legacy(u64 cr0, u64 cr4)
{
	put(VMCS_ENTRY_CONTROLS, fake_vmcs_get(VMCS_ENTRY_CONTROLS) & ~BIT(9));
	put(VMCS_GUEST_EFER, 0);
	put(VMCS_GUEST_CR0, cr0);
	put(VMCS_GUEST_CR4, cr4);
	put(VMCS_GUEST_CS_RIGHTS, 0xc09b);
}

static void set_state(enum state state)
{
	static const u32 data[] = { VMCS_GUEST_DS_RIGHTS, VMCS_GUEST_ES_RIGHTS,
		VMCS_GUEST_FS_RIGHTS, VMCS_GUEST_GS_RIGHTS };

	legal();
	switch (state) {
	case S64:
		break;
	case SCOMPAT:
		put(VMCS_GUEST_CS_RIGHTS, 0xc09b);
		break;
	case S32:
		set_legacy(0x31, 0x2000);
		break;
	case SPAE:
		set_legacy(0x80000031, 0x2020);
		break;
	case SREAL:
		set_legacy(0x30, 0x2000);
		put(VMCS_GUEST_CS_RIGHTS, 0x93);
		put(VMCS_GUEST_CS_LIMIT, 0xffff);
		break;
	case SV86:
		set_legacy(0x31, 0x2000);
		put(VMCS_GUEST_RFLAGS, 0x20002);
		for (u32 i = 0; i < 6; i++) {
			put(VMCS_GUEST_ES_SELECTOR + 2 * i, 0x100);
			put(VMCS_GUEST_ES_BASE + 2 * i, 0x1000);
			put(VMCS_GUEST_ES_LIMIT + 2 * i, 0xffff);
			put(VMCS_GUEST_ES_RIGHTS + 2 * i, 0xf3);
		}
		break;
	case SEVENT_EXT:
		put(VMCS_GUEST_RFLAGS, 0x202);
		put(VMCS_ENTRY_INTERRUPTION_INFO, 0x80000030);
		break;
	case SEVENT_NMI:
		put(VMCS_ENTRY_INTERRUPTION_INFO, 0x80000202);
		break;
	case SALL_DATA:
		for (u32 i = 0; i < ARRAY_SIZE(data); i++) {
			put(data[i], 0xc093);
			put(data[i] - VMCS_GUEST_ES_RIGHTS + VMCS_GUEST_ES_LIMIT, 0xffffffff);
		}
		break;
	case SLDTR:
		put(VMCS_GUEST_LDTR_RIGHTS, 0x82);
		put(VMCS_GUEST_LDTR_LIMIT, 0xfff);
		break;
	case SHLT:
		put(VMCS_GUEST_ACTIVITY_STATE, 1);
		break;
	}
}

#endif
