// SPDX-License-Identifier: BSD-2-Clause
/*
 * The local APIC's interrupt logic: acceptance, priority, EOI, inter-processor interrupts, LINT0.
 * The registers are in lapic_registers.c, the timer in lapic_timer.c. Called by those two, by
 * apic_message.c and interrupts.c, and by the exit handlers through lapic.h.
 */
#include "hv/dev/apic_message.h"
#include "hv/dev/board.h"

#define LEGAL_VECTOR_MIN 16 /* SDM 3A 11.5.2 */

/* ICR (SDM 3A figure 11-12). */
#define ICR_LOGICAL	   BIT(11)
#define ICR_ASSERT	   BIT(14)
#define ICR_LEVEL	   BIT(15)
#define ICR_SHORTHAND(icr) ((icr) >> 18 & 3)
enum { SHORTHAND_NONE, SHORTHAND_SELF, SHORTHAND_ALL, SHORTHAND_OTHERS };

/* Version 0x14, six LVT entries, no suppression of EOI broadcasts (SDM 3A 11.4.8). */
#define VERSION_VALUE (5u << 16 | 0x14)

static void set_bit(struct lapic *lapic, u32 registers, u8 vector)
{
	*lapic_slot(lapic, registers + vector / 32 * 16) |= 1u << (vector & 31);
}

static void clear_bit(struct lapic *lapic, u32 registers, u8 vector)
{
	*lapic_slot(lapic, registers + vector / 32 * 16) &= ~(1u << (vector & 31));
}

static bool test_bit(const struct lapic *lapic, u32 registers, u8 vector)
{
	return lapic_register(lapic, registers + vector / 32 * 16) >> (vector & 31) & 1;
}

static s32 highest_bit(const struct lapic *lapic, u32 registers)
{
	for (s32 i = 7; i >= 0; i--) {
		u32 word = lapic_register(lapic, registers + (u32)i * 16);

		if (word)
			return i * 32 + 31 - __builtin_clz(word);
	}
	return -1;
}

/* SDM 3A 11.8.3.1: the higher class of TPR and ISRV wins; TPR's subclass counts only if it does. */
u32 lapic_ppr(const struct lapic *lapic)
{
	u32 tpr = lapic_register(lapic, LAPIC_TPR) & 0xff;
	u32 isr = lapic->isr_top < 0 ? 0 : (u32)lapic->isr_top & 0xf0;

	return (tpr & 0xf0) >= isr ? tpr : isr;
}

int lapic_deliverable(const struct lapic *lapic)
{
	if (lapic->irr_top < 0 || ((u32)lapic->irr_top & 0xf0) <= (lapic_ppr(lapic) & 0xf0))
		return -1;
	return lapic->irr_top;
}

/* The priority changed: nobody has to look again while nothing waits. */
static void priority_changed(struct lapic *lapic)
{
	*lapic_slot(lapic, LAPIC_PPR) = lapic_ppr(lapic);
	if (lapic->irr_top >= 0)
		board_interrupt_changed(lapic->board, lapic->id);
}

int lapic_accept(struct lapic *lapic)
{
	int vector = lapic_deliverable(lapic);

	if (vector < 0)
		return vector;
	clear_bit(lapic, LAPIC_IRR, (u8)vector);
	set_bit(lapic, LAPIC_ISR, (u8)vector);
	lapic->irr_top = highest_bit(lapic, LAPIC_IRR);
	lapic->isr_top = vector;
	*lapic_slot(lapic, LAPIC_PPR) = lapic_ppr(lapic);
	return vector;
}

void lapic_error(struct lapic *lapic, u32 bit)
{
	u32 lvt = lapic_register(lapic, LAPIC_LVT_ERROR);

	lapic->errors |= bit;
	/*
	 * An illegal vector in the error entry itself is one more error, but not one more
	 * interrupt.
	 */
	if (!(lvt & LVT_MASKED) && (lvt & 0xff) < LEGAL_VECTOR_MIN)
		lapic->errors |= ESR_RECEIVE_ILLEGAL_VECTOR;
	else
		lapic_local_interrupt(lapic, LAPIC_LVT_ERROR);
}

/* SDM 3A 11.8.4: IRR, and TMR says whether the EOI goes to the I/O APIC as well. */
static bool accept_vector(struct lapic *lapic, u8 vector, bool level)
{
	if (!lapic_software_enabled(lapic))
		return false;
	if (vector < LEGAL_VECTOR_MIN) {
		lapic_error(lapic, ESR_RECEIVE_ILLEGAL_VECTOR);
		return true;
	}
	set_bit(lapic, LAPIC_IRR, vector);
	if (level)
		set_bit(lapic, LAPIC_TMR, vector);
	else
		clear_bit(lapic, LAPIC_TMR, vector);
	lapic->irr_top = MAX(lapic->irr_top, (s32)vector);
	board_interrupt_changed(lapic->board, lapic->id);
	return true;
}

bool lapic_receive(struct lapic *lapic, u8 mode, u8 vector, bool level)
{
	const struct platform_host *host = &lapic->board->config.host;

	switch (mode) {
	case APIC_FIXED:
	case APIC_LOWEST_PRIORITY:
		return accept_vector(lapic, vector, level);
	case APIC_NMI:
		host->nmi(host->context, lapic->id);
		return true;
	case APIC_INIT:
		host->init(host->context, lapic->id);
		return true;
	case APIC_STARTUP:
		host->sipi(host->context, lapic->id, vector);
		return true;
	default: /* SMI: the platform has no SMM; ExtINT is no message; 3 is reserved */
		return false;
	}
}

void lapic_local_interrupt(struct lapic *lapic, u32 lvt)
{
	u32 entry = lapic_register(lapic, lvt);

	if (entry & LVT_MASKED)
		return;
	/* Timer and error entries have no delivery mode: the field reads 0, fixed. */
	if (LVT_MODE(entry) == APIC_FIXED || LVT_MODE(entry) == APIC_NMI)
		lapic_receive(lapic, LVT_MODE(entry), (u8)entry, false);
}

void lapic_set_lint0(struct lapic *lapic, bool level)
{
	bool rising = level && !lapic->lint0;

	lapic->lint0 = level;
	if (lapic_mode(lapic) != LAPIC_DISABLED && rising)
		lapic_local_interrupt(lapic, LAPIC_LVT_LINT0);
}

bool lapic_takes_extint(const struct lapic *lapic)
{
	u32 entry = lapic_register(lapic, LAPIC_LVT_LINT0);

	/*
	 * With the APIC off, LINT0 is the INTR pin (SDM 3A 11.4.3); a PC's board has it on the BSP.
	 */
	if (lapic_mode(lapic) == LAPIC_DISABLED)
		return lapic->id == 0;
	return !(entry & LVT_MASKED) && LVT_MODE(entry) == APIC_EXTINT;
}

void lapic_eoi(struct lapic *lapic)
{
	u8 vector = (u8)lapic->isr_top;

	if (lapic->isr_top < 0)
		return;
	clear_bit(lapic, LAPIC_ISR, vector);
	lapic->isr_top = highest_bit(lapic, LAPIC_ISR);
	if (test_bit(lapic, LAPIC_TMR, vector))
		ioapic_eoi(lapic->board, vector);
	priority_changed(lapic);
}

/* SDM 3A table 11-3: to itself, alone or among all, an APIC can send fixed interrupts only. */
static void send_shorthand(struct lapic *lapic, u32 shorthand, const struct apic_message *message)
{
	struct platform *board = lapic->board;

	if (shorthand != SHORTHAND_OTHERS && message->mode != APIC_FIXED)
		return;
	for (u32 i = 0; i < board->config.cpus; i++) {
		struct lapic *to = &board->lapics[i];
		bool self = to == lapic;

		if (lapic_mode(to) == LAPIC_DISABLED || (shorthand == SHORTHAND_SELF && !self) ||
			(shorthand == SHORTHAND_OTHERS && self))
			continue;
		lapic_receive(to, message->mode, message->vector, false);
	}
}

void lapic_send_ipi(struct lapic *lapic, u32 destination)
{
	u32 icr = lapic_register(lapic, LAPIC_ICR);
	struct apic_message message = {
		.destination = destination,
		.wide = lapic_mode(lapic) == LAPIC_X2APIC,
		.logical = icr & ICR_LOGICAL,
		.mode = LVT_MODE(icr),
		.vector = (u8)icr,
	};

	/* INIT level de-assert does nothing since the Pentium 4 (SDM 3A 11.6.1). */
	if (message.mode == APIC_INIT && (icr & ICR_LEVEL) && !(icr & ICR_ASSERT))
		return;
	if (message.mode <= APIC_LOWEST_PRIORITY && message.vector < LEGAL_VECTOR_MIN) {
		lapic_error(lapic, ESR_SEND_ILLEGAL_VECTOR);
		return;
	}
	if (ICR_SHORTHAND(icr) == SHORTHAND_NONE)
		apic_deliver(lapic->board, &message);
	else
		send_shorthand(lapic, ICR_SHORTHAND(icr), &message);
}

void lapic_self_ipi(struct lapic *lapic, u8 vector)
{
	if (vector < LEGAL_VECTOR_MIN)
		lapic_error(lapic, ESR_SEND_ILLEGAL_VECTOR);
	else
		lapic_receive(lapic, APIC_FIXED, vector, false);
}

void lapic_svr_written(struct lapic *lapic)
{
	if (lapic_software_enabled(lapic))
		return;
	/* SDM 3A 11.4.7.2: software disable sets every mask bit. What is in IRR and ISR stays. */
	for (u32 lvt = LAPIC_LVT_TIMER; lvt <= LAPIC_LVT_ERROR; lvt += 16)
		*lapic_slot(lapic, lvt) |= LVT_MASKED;
}

u64 lapic_base(const struct lapic *lapic)
{
	return lapic->base;
}

u64 lapic_cr8_read(const struct lapic *lapic)
{
	return lapic_register(lapic, LAPIC_TPR) >> 4 & 15;
}

/* SDM 3A 11.8.6.1: MOV to CR8 sets TPR[7:4] and clears TPR[3:0]. */
void lapic_cr8_write(struct lapic *lapic, u64 value)
{
	*lapic_slot(lapic, LAPIC_TPR) = (u32)(value & 15) << 4;
	priority_changed(lapic);
}

void *lapic_page(struct lapic *lapic)
{
	return lapic->page;
}

void lapic_tpr_changed(struct lapic *lapic)
{
	priority_changed(lapic);
}

/*
 * SDM 3C 30.1.2: the exit comes when VTPR[7:4] falls below the threshold. Non-zero only if the TPR
 * alone holds the waiting vector back; then its class is at most that of the TPR, so never above
 * VTPR (BUG-45).
 */
u32 lapic_tpr_threshold(struct lapic *lapic)
{
	u32 waiting, in_service, tpr = lapic_register(lapic, LAPIC_TPR) >> 4 & 15;

	if (lapic->irr_top < 0)
		return 0;
	waiting = (u32)lapic->irr_top >> 4;
	in_service = lapic->isr_top < 0 ? 0 : (u32)lapic->isr_top >> 4;
	return waiting > in_service && waiting <= tpr ? waiting : 0;
}

void lapic_clear(struct lapic *lapic)
{
	bool x2apic = lapic_mode(lapic) == LAPIC_X2APIC;
	u32 id = lapic->id;

	lapic_timer_stop(lapic);
	for (u32 offset = 0; offset < PAGE_SIZE; offset += 4)
		*lapic_slot(lapic, offset) = 0;
	*lapic_slot(lapic, LAPIC_ID) = x2apic ? id : id << 24;
	/* SDM 3A 11.12.10.2 */
	*lapic_slot(lapic, LAPIC_LDR) = x2apic ? (id >> 4) << 16 | 1u << (id & 15) : 0;
	*lapic_slot(lapic, LAPIC_VERSION) = VERSION_VALUE;
	*lapic_slot(lapic, LAPIC_DFR) = 0xffffffff;
	*lapic_slot(lapic, LAPIC_SVR) = 0xff;
	for (u32 lvt = LAPIC_LVT_TIMER; lvt <= LAPIC_LVT_ERROR; lvt += 16)
		*lapic_slot(lapic, lvt) = LVT_MASKED;
	lapic->irr_top = -1;
	lapic->isr_top = -1;
	lapic->errors = 0;
}

void lapic_init_reset(struct lapic *lapic)
{
	lapic_clear(lapic);
	board_interrupt_changed(lapic->board, lapic->id);
}

void lapic_power_on(struct lapic *lapic, struct platform *board, u32 id)
{
	lapic->board = board;
	lapic->id = id;
	lapic->base = LAPIC_BASE | APIC_BASE_EN | (id == 0 ? APIC_BASE_BSP : 0);
	lapic->lint0 = false;
	lapic_clear(lapic);
	/*
	 * The boot processor is handed over as a PC's firmware does it, in virtual wire mode (MP
	 * specification 3.6.2.2): LINT0 takes the 8259's interrupts, LINT1 is NMI.
	 */
	if (id == 0) {
		*lapic_slot(lapic, LAPIC_SVR) |= SVR_ENABLED;
		*lapic_slot(lapic, LAPIC_LVT_LINT0) = APIC_EXTINT << 8;
		*lapic_slot(lapic, LAPIC_LVT_LINT1) = APIC_NMI << 8;
	}
}
