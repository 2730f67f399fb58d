// SPDX-License-Identifier: BSD-2-Clause
/*
 * A VM's platform as a whole: its memory, power-on and reset, MMIO dispatch, timers and console.
 * The ports are in ports.c, the interrupts in interrupts.c. Called by the VM's creation, the exit
 * handlers and the run loop.
 */
#include "hv/dev/board.h"
#include "hv/lib/log.h"
#include "hv/lib/string.h"

#define TSC_HZ_MIN	   1000000u
#define MAXPHYADDR_DEFAULT 52

/* LAPICs begin on a page of their own: their first page is a virtual-APIC page. */
_Static_assert(offsetof(struct lapic, page) == 0, "the register page begins the structure");
_Static_assert(offsetof(struct platform, lapics) % PAGE_SIZE == 0, "register pages are aligned");
_Static_assert(sizeof(struct lapic) % PAGE_SIZE == 0, "register pages are aligned");

size_t platform_size(u32 cpus)
{
	return sizeof(struct platform) + cpus * sizeof(struct lapic);
}

struct lapic *platform_lapic(struct platform *platform, u32 vcpu)
{
	return &platform->lapics[vcpu];
}

void board_stop(struct platform *platform, enum stop_reason reason, u8 value)
{
	const struct platform_host *host = &platform->config.host;

	host->stop(host->context, reason, value);
}

static void earliest_timer_changed(void *context)
{
	struct platform *platform = context;
	const struct platform_host *host = &platform->config.host;

	host->timer_changed(host->context);
}

/* All devices but RTC, PIT and PM timer, which have timers to be prepared first. */
static void reset_devices(struct platform *platform)
{
	platform->lowest_priority_next = 0;
	pic_reset(&platform->pic);
	ioapic_reset(platform);
	for (u32 i = 0; i < platform->config.cpus; i++)
		lapic_power_on(&platform->lapics[i], platform, i);
	test_device_reset(platform);
	uart_reset(platform);
	keyboard_reset(platform);
	pci_reset(platform);
	vga_reset(platform);
	platform->fw_cfg = (struct fw_cfg){ 0 };
}

void platform_init(struct platform *platform, const struct platform_config *config)
{
	ASSERT(config->tsc_hz >= TSC_HZ_MIN && config->cpus >= 1);
	platform->config = *config;
	if (config->maxphyaddr == 0)
		platform->config.maxphyaddr = MAXPHYADDR_DEFAULT;
	platform->timers =
		(struct timer_queue){ .changed = earliest_timer_changed, .context = platform };
	for (u32 i = 0; i < config->cpus; i++) {
		platform->lapics[i].board = platform;
		lapic_timer_init(&platform->lapics[i]);
	}
	ioapic_init(platform);
	reset_devices(platform);
	pit_init(platform);
	pm_init(platform);
	rtc_init(platform);
}

void platform_reset(struct platform *platform)
{
	/* Lines fall with their devices; the controllers come after and begin with all low. */
	platform->device_lines = 0;
	platform->test_lines = 0;
	reset_devices(platform);
	pit_reset(platform);
	pm_reset(platform);
	rtc_reset(platform);
}

/* Registers of APICs have 32 bits at multiples of 16; a narrower read gets its part of them. */
static u64 part(u32 value, gpa_t address, u32 size)
{
	u32 offset = address.value & 3;

	if (offset + size > 4)
		return ~0ull;
	return value >> offset * 8 & all_ones(size);
}

static bool is_lapic(const struct lapic *lapic, gpa_t address)
{
	return ((address.value ^ lapic->base) & ~PAGE_MASK) == 0;
}

static u64 lapic_page_read(struct lapic *lapic, gpa_t address, u32 size)
{
	u32 offset = address.value & PAGE_MASK & ~3u;

	/* With the APIC off or in x2APIC mode nobody answers (SDM 3A 11.4.3, 11.12.2). */
	if (lapic_mode(lapic) != LAPIC_XAPIC || (offset & 15) || size > 4)
		return ~0ull;
	return part(lapic_mmio_read(lapic, offset), address, size);
}

static bool is_ioapic(gpa_t address)
{
	return (address.value & ~PAGE_MASK) == IOAPIC_BASE;
}

/* The scratch memory's bytes at the address; NULL: not there. */
static u8 *scratch(struct platform *platform, gpa_t address, u32 size)
{
	u64 offset = address.value - MMIO_SCRATCH;

	if (!platform->config.test_device || offset > MMIO_SCRATCH_SIZE - size)
		return NULL;
	return platform->test.scratch + offset;
}

bool platform_mmio_read(struct platform *platform, u32 vcpu, gpa_t address, u32 size, u64 *value)
{
	struct lapic *lapic = &platform->lapics[vcpu];
	u8 *bytes;

	*value = ~0ull;
	if (is_lapic(lapic, address)) {
		*value = lapic_page_read(lapic, address, size);
	} else if (is_ioapic(address)) {
		if (size <= 4)
			*value = part(ioapic_read(platform, address.value & PAGE_MASK & ~3u),
				address, size);
	} else if (address.value - PCI_ECAM_BASE < PCI_ECAM_SIZE) {
		if (size <= 4)
			*value = pci_memory_read(platform, address.value - PCI_ECAM_BASE, size);
	} else if ((bytes = scratch(platform, address, size))) {
		*value = 0;
		memcpy(value, bytes, size);
	} else {
		return false;
	}
	return true;
}

bool platform_mmio_write(struct platform *platform, u32 vcpu, gpa_t address, u32 size, u64 value)
{
	struct lapic *lapic = &platform->lapics[vcpu];
	u32 offset = address.value & PAGE_MASK;
	u8 *bytes;

	if (is_lapic(lapic, address)) {
		if (lapic_mode(lapic) == LAPIC_XAPIC && size == 4 && !(offset & 15))
			lapic_mmio_write(lapic, offset, (u32)value);
	} else if (is_ioapic(address)) {
		/* IOREGSEL has 8 bits and takes 8-bit writes (82093AA 3.0). */
		if (size == 4 || (offset == 0 && size < 4))
			ioapic_write(platform, offset, (u32)value);
	} else if (address.value - PCI_ECAM_BASE < PCI_ECAM_SIZE) {
		pci_memory_write(platform, address.value - PCI_ECAM_BASE, size, value);
	} else if ((bytes = scratch(platform, address, size))) {
		memcpy(bytes, &value, size);
	} else {
		return false;
	}
	return true;
}

bool platform_console_input(struct platform *platform, u8 byte)
{
	return uart_receive(platform, byte);
}

void platform_console_ready(struct platform *platform)
{
	uart_transmit(platform);
}

u64 platform_next_deadline(const struct platform *platform)
{
	return timer_queue_next(&platform->timers);
}

void platform_run_timers(struct platform *platform)
{
	timer_queue_run(&platform->timers, board_now(platform));
}
