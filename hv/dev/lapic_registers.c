// SPDX-License-Identifier: BSD-2-Clause
/*
 * The local APIC's two register interfaces, MMIO and MSRs, and IA32_APIC_BASE that chooses between
 * them. One table says which register exists in which and what of it can be written. Called by
 * platform.c (MMIO) and by the exit handlers (MSRs).
 */
#include "hv/cpu/msr_index.h"
#include "hv/dev/board.h"

#define MSR_X2APIC_ICR (MSR_X2APIC_FIRST + LAPIC_ICR / 16)

#define X_R  1 /* readable by MMIO */
#define X_W  2
#define X2_R 4 /* readable by MSR */
#define X2_W 8
#define R    (X_R | X2_R)
#define RW   (X_R | X_W | X2_R | X2_W)

struct lapic_register_rule {
	u8 access;
	/* MMIO ignores the other bits; by MSR a 1 in them is #GP (SDM 3A 11.12.1.3). */
	u32 writable;
};

#define LVT_SOURCE 0x107ff /* vector, delivery mode, mask */
#define LVT_PIN	   0x1a7ff /* and polarity, trigger mode */

/* SDM 3A tables 11-1 and 11-6, by offset / 16. */
static const struct lapic_register_rule rules[64] = {
	[LAPIC_ID / 16] = { R, 0 }, /* fixed; SDM 3A 11.4.6 lets a processor ignore writes */
	[LAPIC_VERSION / 16] = { R, 0 },
	[LAPIC_TPR / 16] = { RW, 0xff },
	[LAPIC_APR / 16] = { X_R, 0 },
	[LAPIC_PPR / 16] = { R, 0 },
	[LAPIC_EOI / 16] = { X_W | X2_W, 0 },
	[LAPIC_RRD / 16] = { X_R, 0 },
	[LAPIC_LDR / 16] = { R | X_W, 0xff000000 },
	[LAPIC_DFR / 16] = { X_R | X_W, 0xf0000000 },
	[LAPIC_SVR / 16] = { RW, 0x3ff },
	[LAPIC_ISR / 16 ... LAPIC_ISR / 16 + 7] = { R, 0 },
	[LAPIC_TMR / 16 ... LAPIC_TMR / 16 + 7] = { R, 0 },
	[LAPIC_IRR / 16 ... LAPIC_IRR / 16 + 7] = { R, 0 },
	[LAPIC_ESR / 16] = { RW, 0 },
	[LAPIC_ICR / 16] = { RW, 0xccfff },
	[LAPIC_ICR_HIGH / 16] = { X_R | X_W, 0xff000000 },
	[LAPIC_LVT_TIMER / 16] = { RW, 0x700ff },
	[LAPIC_LVT_THERMAL / 16] = { RW, LVT_SOURCE },
	[LAPIC_LVT_PERFORMANCE / 16] = { RW, LVT_SOURCE },
	[LAPIC_LVT_LINT0 / 16] = { RW, LVT_PIN },
	[LAPIC_LVT_LINT1 / 16] = { RW, LVT_PIN },
	[LAPIC_LVT_ERROR / 16] = { RW, 0x100ff },
	[LAPIC_INITIAL_COUNT / 16] = { RW, 0xffffffff },
	[LAPIC_CURRENT_COUNT / 16] = { R, 0 },
	[LAPIC_DIVIDE / 16] = { RW, 0xb },
	[LAPIC_SELF_IPI / 16] = { X2_W, 0xff },
};

bool lapic_read(struct lapic *lapic, u32 offset, u32 *value)
{
	u8 wanted = lapic_mode(lapic) == LAPIC_X2APIC ? X2_R : X_R;

	if (offset >= 64 * 16 || !(rules[offset / 16].access & wanted))
		return false;
	switch (offset) {
	case LAPIC_PPR:
		*value = lapic_ppr(lapic);
		break;
	case LAPIC_CURRENT_COUNT:
		*value = lapic_timer_count(lapic);
		break;
	default:
		*value = lapic_register(lapic, offset);
	}
	return true;
}

static void write_lvt(struct lapic *lapic, u32 offset, u32 value)
{
	if (!lapic_software_enabled(lapic))
		value |= LVT_MASKED;
	if (offset == LAPIC_LVT_TIMER)
		lapic_timer_set_lvt(lapic, value);
	*lapic_slot(lapic, offset) = value;
	/* The 8259 may have been waiting for LINT0 to open. */
	if (offset == LAPIC_LVT_LINT0 && lapic->lint0)
		board_interrupt_changed(lapic->board, lapic->id);
}

bool lapic_write(struct lapic *lapic, u32 offset, u32 value)
{
	bool x2apic = lapic_mode(lapic) == LAPIC_X2APIC;
	const struct lapic_register_rule *rule;

	if (offset >= 64 * 16)
		return false;
	rule = &rules[offset / 16];
	if (!(rule->access & (x2apic ? X2_W : X_W)) || (x2apic && (value & ~rule->writable)))
		return false;
	value &= rule->writable;
	switch (offset) {
	case LAPIC_TPR:
		*lapic_slot(lapic, offset) = value;
		lapic_tpr_changed(lapic);
		break;
	case LAPIC_EOI:
		lapic_eoi(lapic);
		break;
	case LAPIC_DFR:
		*lapic_slot(lapic, offset) = value | ~rule->writable;
		break;
	case LAPIC_SVR:
		*lapic_slot(lapic, offset) = value;
		lapic_svr_written(lapic);
		break;
	case LAPIC_ESR: /* a write shows what came since the last one (SDM 3A 11.5.3) */
		*lapic_slot(lapic, offset) = lapic->errors;
		lapic->errors = 0;
		break;
	case LAPIC_ICR:
		*lapic_slot(lapic, offset) = value;
		lapic_send_ipi(lapic, x2apic ? lapic_register(lapic, LAPIC_ICR + 4)
					     : lapic_register(lapic, LAPIC_ICR_HIGH) >> 24);
		break;
	case LAPIC_LVT_TIMER ... LAPIC_LVT_ERROR:
		write_lvt(lapic, offset, value);
		break;
	case LAPIC_INITIAL_COUNT:
		lapic_timer_set_count(lapic, value);
		break;
	case LAPIC_DIVIDE:
		lapic_timer_set_divide(lapic, value);
		break;
	case LAPIC_SELF_IPI:
		lapic_self_ipi(lapic, (u8)value);
		break;
	default:
		*lapic_slot(lapic, offset) = value;
	}
	return true;
}

/* A reserved offset or a register of the wrong direction is an error (SDM 3A 11.5.3). */
u32 lapic_mmio_read(struct lapic *lapic, u32 offset)
{
	u32 value = 0;

	if (!lapic_read(lapic, offset, &value))
		lapic_error(lapic, ESR_ILLEGAL_REGISTER);
	return value;
}

void lapic_mmio_write(struct lapic *lapic, u32 offset, u32 value)
{
	if (!lapic_write(lapic, offset, value))
		lapic_error(lapic, ESR_ILLEGAL_REGISTER);
}

/* SDM 3A 11.12.5: the legal transitions are off <-> xAPIC -> x2APIC -> off. */
static bool write_base(struct lapic *lapic, u64 value)
{
	u32 width = lapic->board->config.maxphyaddr;
	u64 reserved =
		(PAGE_MASK & ~(APIC_BASE_BSP | APIC_BASE_EXTD | APIC_BASE_EN)) | ~(BIT(width) - 1);
	enum lapic_mode from = lapic_mode(lapic), to = lapic_mode_of(value);

	if ((value & reserved) || to == LAPIC_INVALID ||
		(from == LAPIC_X2APIC && to == LAPIC_XAPIC) ||
		(from == LAPIC_DISABLED && to == LAPIC_X2APIC))
		return false;
	lapic->base = value;
	if (from == to)
		return true;
	if (to == LAPIC_X2APIC) {
		*lapic_slot(lapic, LAPIC_ID) = lapic->id;
		*lapic_slot(lapic, LAPIC_LDR) = (lapic->id >> 4) << 16 | 1u << (lapic->id & 15);
		*lapic_slot(lapic, LAPIC_ICR + 4) = 0;
	} else {
		/* Off, or on again: the registers are as after power-up (SDM 3A 11.4.3). */
		lapic_clear(lapic);
	}
	board_interrupt_changed(lapic->board, lapic->id);
	return true;
}

bool lapic_msr_read(struct lapic *lapic, u32 index, u64 *value)
{
	u32 low;

	if (index == MSR_APIC_BASE) {
		*value = lapic->base;
		return true;
	}
	if (index == MSR_TSC_DEADLINE) {
		*value = lapic_timer_deadline(lapic);
		return true;
	}
	if (index < MSR_X2APIC_FIRST || index > MSR_X2APIC_LAST ||
		lapic_mode(lapic) != LAPIC_X2APIC ||
		!lapic_read(lapic, (index - MSR_X2APIC_FIRST) * 16, &low))
		return false;
	*value = low;
	if (index == MSR_X2APIC_ICR)
		*value |= (u64)lapic_register(lapic, LAPIC_ICR + 4) << 32;
	return true;
}

bool lapic_msr_write(struct lapic *lapic, u32 index, u64 value)
{
	u32 offset = (index - MSR_X2APIC_FIRST) * 16;

	if (index == MSR_APIC_BASE)
		return write_base(lapic, value);
	if (index == MSR_TSC_DEADLINE) {
		lapic_timer_set_deadline(lapic, value);
		return true;
	}
	if (index < MSR_X2APIC_FIRST || index > MSR_X2APIC_LAST ||
		lapic_mode(lapic) != LAPIC_X2APIC)
		return false;
	if (index == MSR_X2APIC_ICR) {
		/* One register of 64 bits: the destination is there before the low half is sent. */
		if ((u32)value & ~rules[LAPIC_ICR / 16].writable)
			return false;
		*lapic_slot(lapic, LAPIC_ICR + 4) = (u32)(value >> 32);
	} else if (value >> 32) {
		return false;
	}
	return lapic_write(lapic, offset, (u32)value);
}
