// SPDX-License-Identifier: BSD-2-Clause
/* The host's APICs (SDM 3A chapter 11). Boot CPU during start-up; later calls with interrupts off.
 */
#include "hv/cpu/hostapic.h"

#include "hv/acpi/madt.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/irq.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/time.h"
#include "hv/lib/log.h"
#include "hv/lib/mul_div.h"
#include "hv/mem/paging.h"

/* Register offsets in the xAPIC page; the x2APIC MSR is 0x800 + offset / 16. */
#define APIC_ID	       0x020
#define APIC_TPR       0x080
#define APIC_EOI       0x0b0
#define APIC_SVR       0x0f0
#define APIC_LVT_TIMER 0x320
#define APIC_LVT_LINT0 0x350
#define APIC_LVT_LINT1 0x360
#define APIC_LVT_ERROR 0x370
#define APIC_INITIAL   0x380
#define APIC_CURRENT   0x390
#define APIC_DIVIDE    0x3e0

#define SVR_ENABLE		 BIT(8)
#define LVT_MASKED		 BIT(16)
#define LVT_TSC_DEADLINE	 BIT(18)
#define DIVIDE_BY_1		 0xb
#define BASE_ENABLE		 BIT(11)
#define BASE_X2APIC		 BIT(10)
#define BASE_ADDRESS		 0x000ffffffffff000ul
#define CPUID_1_ECX_X2APIC	 BIT(21)
#define CPUID_1_ECX_TSC_DEADLINE BIT(24)

#define PORT_PIC_1_MASK 0x21
#define PORT_PIC_2_MASK 0xa1

#define IOAPIC_SELECT	 0x00
#define IOAPIC_WINDOW	 0x10
#define IOAPIC_VERSION	 1
#define IOAPIC_ENTRY(n)	 (0x10 + 2 * (n))
#define ENTRY_LOW_ACTIVE BIT(13)
#define ENTRY_LEVEL	 BIT(15)
#define ENTRY_MASKED	 BIT(16)

static volatile u32 *page; /* NULL: x2APIC */
static bool tsc_deadline;
static u64 timer_hz; /* of the APIC timer, without TSC deadline */
static volatile u32 *ioapic;
static struct madt_info madt;

static u32 apic_read(u32 reg)
{
	return page ? page[reg / 4] : (u32)insn_rdmsr(MSR_X2APIC_FIRST + reg / 16);
}

static void apic_write(u32 reg, u32 value)
{
	if (page)
		page[reg / 4] = value;
	else
		insn_wrmsr(MSR_X2APIC_FIRST + reg / 16, value);
}

static u32 ioapic_read(u32 reg)
{
	ioapic[IOAPIC_SELECT / 4] = reg;
	return ioapic[IOAPIC_WINDOW / 4];
}

static void ioapic_write(u32 reg, u32 value)
{
	ioapic[IOAPIC_SELECT / 4] = reg;
	ioapic[IOAPIC_WINDOW / 4] = value;
}

/* SDM 3A 11.12.1: from xAPIC on, x2APIC can be switched on; firmware may have done so already. */
static void enable_local(void)
{
	u64 base = insn_rdmsr(MSR_APIC_BASE);
	u32 features = insn_cpuid(1, 0).ecx;

	if (features & CPUID_1_ECX_X2APIC) {
		if (!(base & BASE_ENABLE))
			insn_wrmsr(MSR_APIC_BASE, base | BASE_ENABLE);
		insn_wrmsr(MSR_APIC_BASE, base | BASE_ENABLE | BASE_X2APIC);
	} else {
		insn_wrmsr(MSR_APIC_BASE, base | BASE_ENABLE);
		page = mmio_map(hpa(base & BASE_ADDRESS), PAGE_SIZE);
		if (!page)
			panic("the local APIC's base %#lx lies in memory", base & BASE_ADDRESS);
	}
	tsc_deadline = features & CPUID_1_ECX_TSC_DEADLINE;
	apic_write(APIC_TPR, 0);
	apic_write(APIC_LVT_LINT0, LVT_MASKED);
	apic_write(APIC_LVT_LINT1, LVT_MASKED);
	apic_write(APIC_LVT_ERROR, LVT_MASKED);
	apic_write(APIC_SVR, SVR_ENABLE | IRQ_VECTOR_SPURIOUS);
	apic_write(APIC_LVT_TIMER, IRQ_VECTOR_TIMER | (tsc_deadline ? LVT_TSC_DEADLINE : 0));
	apic_write(APIC_DIVIDE, DIVIDE_BY_1);
}

/* 1 ms of the TSC against the counter. */
static void measure_timer(void)
{
	u64 ticks = tsc_hz() / 1000, start;

	apic_write(APIC_LVT_TIMER, IRQ_VECTOR_TIMER | LVT_MASKED);
	apic_write(APIC_INITIAL, ~0u);
	start = insn_rdtsc();
	while (insn_rdtsc() - start < ticks)
		insn_pause();
	timer_hz = (u64)(~0u - apic_read(APIC_CURRENT)) * 1000;
	apic_write(APIC_INITIAL, 0);
	apic_write(APIC_LVT_TIMER, IRQ_VECTOR_TIMER);
	if (timer_hz == 0)
		panic("the local APIC's timer does not count");
}

static void enable_ioapic(void)
{
	u32 entries;

	ioapic = mmio_map(hpa(madt.ioapic_address), PAGE_SIZE);
	if (!ioapic || ioapic_read(IOAPIC_VERSION) == ~0u) {
		ioapic = NULL;
		return;
	}
	entries = (ioapic_read(IOAPIC_VERSION) >> 16 & 0xff) + 1;
	for (u32 i = 0; i < entries; i++)
		ioapic_write(IOAPIC_ENTRY(i), ENTRY_MASKED);
}

void hostapic_init(const struct boot_info *boot)
{
	insn_outb(PORT_PIC_1_MASK, 0xff);
	insn_outb(PORT_PIC_2_MASK, 0xff);
	enable_local();
	if (!tsc_deadline)
		measure_timer();
	madt_read(boot->rsdp, &madt);
	enable_ioapic();
}

void hostapic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

u32 hostapic_id(void)
{
	return page ? apic_read(APIC_ID) >> 24 : apic_read(APIC_ID);
}

bool hostapic_route_isa(u32 irq, u32 vector)
{
	const struct madt_isa *isa = &madt.isa[irq];
	u32 pin = isa->gsi - madt.ioapic_gsi_base;

	if (!ioapic || pin > (ioapic_read(IOAPIC_VERSION) >> 16 & 0xff))
		return false;
	ioapic_write(IOAPIC_ENTRY(pin) + 1, hostapic_id() << 24);
	ioapic_write(IOAPIC_ENTRY(pin),
		vector | (isa->level ? ENTRY_LEVEL : 0) | (isa->active_low ? ENTRY_LOW_ACTIVE : 0));
	return true;
}

void host_timer_set(u64 deadline_tsc)
{
	u64 now, ticks;

	if (tsc_deadline) {
		/* 0 disarms (SDM 3A 11.5.4.1). */
		insn_wrmsr(MSR_TSC_DEADLINE, deadline_tsc == ~0ull ? 0 : MAX(deadline_tsc, 1ul));
		return;
	}
	now = insn_rdtsc();
	if (deadline_tsc == ~0ull) {
		apic_write(APIC_INITIAL, 0);
		return;
	}
	ticks = deadline_tsc > now ? deadline_tsc - now : 0;
	ticks = mul_div(ticks, timer_hz, tsc_hz());
	apic_write(APIC_INITIAL, MIN(MAX(ticks, 1ul), 0xffffffffull));
}

void host_idle(u64 deadline_tsc)
{
	host_timer_set(deadline_tsc);
	insn_wait_for_interrupt();
}
