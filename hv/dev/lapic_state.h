/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local APIC as the files lapic*.c and the board see it. Registers are in the page at the
 * offsets of SDM 3A table 11-1; what stands beside the page is what no register shows.
 */
#ifndef HV_DEV_LAPIC_STATE_H
#define HV_DEV_LAPIC_STATE_H

#include "hv/dev/lapic.h"
#include "hv/dev/timer.h"
#include "hv/lib/types.h"

struct platform;

/* Offsets in the page; an x2APIC register's MSR is 0x800 + offset / 16. */
enum {
	LAPIC_ID = 0x020,
	LAPIC_VERSION = 0x030,
	LAPIC_TPR = 0x080,
	LAPIC_APR = 0x090,
	LAPIC_PPR = 0x0a0,
	LAPIC_EOI = 0x0b0,
	LAPIC_RRD = 0x0c0,
	LAPIC_LDR = 0x0d0,
	LAPIC_DFR = 0x0e0,
	LAPIC_SVR = 0x0f0,
	LAPIC_ISR = 0x100, /* eight registers each */
	LAPIC_TMR = 0x180,
	LAPIC_IRR = 0x200,
	LAPIC_ESR = 0x280,
	LAPIC_ICR = 0x300, /* x2APIC: 64 bits here (SDM 3C 30.5) */
	LAPIC_ICR_HIGH = 0x310,
	LAPIC_LVT_TIMER = 0x320,
	LAPIC_LVT_THERMAL = 0x330,
	LAPIC_LVT_PERFORMANCE = 0x340,
	LAPIC_LVT_LINT0 = 0x350,
	LAPIC_LVT_LINT1 = 0x360,
	LAPIC_LVT_ERROR = 0x370,
	LAPIC_INITIAL_COUNT = 0x380,
	LAPIC_CURRENT_COUNT = 0x390,
	LAPIC_DIVIDE = 0x3e0,
	LAPIC_SELF_IPI = 0x3f0,
};

#define LVT_MASKED     BIT(16)
#define LVT_MODE(lvt)  ((u8)((lvt) >> 8 & 7))
#define SVR_ENABLED    BIT(8)
#define APIC_BASE_BSP  BIT(8)
#define APIC_BASE_EXTD BIT(10)
#define APIC_BASE_EN   BIT(11)

/* Bits of the ESR (SDM 3A 11.5.3). */
#define ESR_SEND_ILLEGAL_VECTOR	   BIT(5)
#define ESR_RECEIVE_ILLEGAL_VECTOR BIT(6)
#define ESR_ILLEGAL_REGISTER	   BIT(7)

/* By bits 11 (EN) and 10 (EXTD) of IA32_APIC_BASE (SDM 3A table 11-5). */
enum lapic_mode { LAPIC_DISABLED = 0, LAPIC_INVALID = 1, LAPIC_XAPIC = 2, LAPIC_X2APIC = 3 };

struct lapic {
	u8 page[PAGE_SIZE];
	struct platform *board;
	u32 id;		      /* APIC id: the vCPU's index */
	u64 base;	      /* IA32_APIC_BASE */
	s32 irr_top, isr_top; /* highest bit of IRR, ISR; -1: none */
	u32 errors;	      /* since the last write of ESR */
	bool lint0;	      /* level of the LINT0 input: the 8259's INTR */
	struct timer timer;
	bool counting;	 /* the current-count register is not at rest */
	u64 count_start; /* host TSC at which the count began */
	u64 deadline;	 /* IA32_TSC_DEADLINE: guest TSC, 0 disarmed */
	u64 tsc_offset;	 /* guest TSC = host TSC + this */
} __aligned(PAGE_SIZE);

static inline u32 *lapic_slot(struct lapic *lapic, u32 offset)
{
	return (u32 *)(lapic->page + offset);
}

static inline u32 lapic_register(const struct lapic *lapic, u32 offset)
{
	return *(const u32 *)(lapic->page + offset);
}

static inline enum lapic_mode lapic_mode_of(u64 base)
{
	return (enum lapic_mode)(base >> 10 & 3);
}

static inline enum lapic_mode lapic_mode(const struct lapic *lapic)
{
	return lapic_mode_of(lapic->base);
}

static inline bool lapic_software_enabled(const struct lapic *lapic)
{
	return lapic_register(lapic, LAPIC_SVR) & SVR_ENABLED;
}

/* lapic.c */
void lapic_power_on(struct lapic *lapic, struct platform *board, u32 id);
/* As after power-up: also what turning the APIC off and on gives. IA32_APIC_BASE stays. */
void lapic_clear(struct lapic *lapic);
/* A message or local interrupt arrives. True if it was taken. */
bool lapic_receive(struct lapic *lapic, u8 mode, u8 vector, bool level);
/* A local interrupt source fires: what its LVT entry (offset) says is done. */
void lapic_local_interrupt(struct lapic *lapic, u32 lvt);
void lapic_set_lint0(struct lapic *lapic, bool level);
bool lapic_takes_extint(const struct lapic *lapic);
void lapic_error(struct lapic *lapic, u32 bit);
u32 lapic_ppr(const struct lapic *lapic);
/* The vector that is deliverable now, or -1. */
int lapic_deliverable(const struct lapic *lapic);
int lapic_accept(struct lapic *lapic); /* the same, and IRR -> ISR */

/* lapic_registers.c: registers by offset; false: there is no such register in this mode. */
bool lapic_read(struct lapic *lapic, u32 offset, u32 *value);
bool lapic_write(struct lapic *lapic, u32 offset, u32 value);
/* MMIO: as lapic_read() and lapic_write(), with the error a missing register makes. */
u32 lapic_mmio_read(struct lapic *lapic, u32 offset);
void lapic_mmio_write(struct lapic *lapic, u32 offset, u32 value);

/* lapic.c: side effects of register writes; the value is in the page already. */
void lapic_eoi(struct lapic *lapic);
void lapic_send_ipi(struct lapic *lapic, u32 destination);
void lapic_self_ipi(struct lapic *lapic, u8 vector);
void lapic_svr_written(struct lapic *lapic);

/* lapic_timer.c */
void lapic_timer_init(struct lapic *lapic);
void lapic_timer_stop(struct lapic *lapic);
u32 lapic_timer_count(const struct lapic *lapic);
void lapic_timer_set_count(struct lapic *lapic, u32 count);
void lapic_timer_set_divide(struct lapic *lapic, u32 divide);
void lapic_timer_set_lvt(struct lapic *lapic, u32 lvt);
u64 lapic_timer_deadline(const struct lapic *lapic);
void lapic_timer_set_deadline(struct lapic *lapic, u64 deadline);

#endif
