// SPDX-License-Identifier: BSD-2-Clause
/*
 * Start-up of the host on the boot CPU, in the order that each step needs the ones before: console,
 * frames, page tables, per-CPU structures, traps, own stack, time, interrupts.
 */
#include "hv/cpu/boot.h"

#include "hv/cpu/cpu.h"
#include "hv/cpu/framebuffer.h"
#include "hv/cpu/gdt.h"
#include "hv/cpu/hostapic.h"
#include "hv/cpu/irq.h"
#include "hv/cpu/power.h"
#include "hv/cpu/serial.h"
#include "hv/cpu/time.h"
#include "hv/cpu/traps.h"
#include "hv/lib/log.h"
#include "hv/lib/log_sink.h"
#include "hv/main.h"
#include "hv/mem/frames.h"
#include "hv/mem/paging.h"

#define GDT_PAGES    ((GDT_LIMIT + 1) / PAGE_SIZE)
#define COM1_PORT    0x3f8
#define COM2_PORT    0x2f8
#define ISA_IRQ_COM1 4
#define ISA_IRQ_COM2 3

__noreturn void call_on_stack(u8 *top, void (*function)(void *), void *argument);

static u64 image_size;

static void *alloc_pages(u64 pages, u64 align)
{
	hpa_t address;

	if (frames_alloc(pages, align, &address))
		panic("no memory for the CPU's structures");
	return phys_to_virt(address);
}

/* One stack for every exception until init_cpu(): nothing but a panic uses it. */
static void init_early(void)
{
	static u8 stack[CPU_STACK_SIZE] __aligned(16);
	static u64 gdt[GDT_ENTRIES];
	static struct tss_area tss;
	static struct cpu cpu = { .gdt = gdt, .tss = &tss };

	for (u32 ist = IST_NMI; ist <= IST_FAULT; ist++)
		gdt_set_ist(&cpu, ist, stack + sizeof(stack));
	gdt_load(&cpu, sizeof(gdt) - 1);
	traps_init();
}

static struct cpu *init_cpu(const struct boot_info *boot)
{
	struct cpu *cpu = alloc_pages(1, PAGE_SIZE);
	u64 tss_pages = ALIGN_UP(sizeof(struct tss_area), PAGE_SIZE) / PAGE_SIZE;

	cpu->apic_id = boot->cpus[0].apic_id;
	cpu->stack_top = stack_alloc(CPU_STACK_SIZE);
	cpu->tss = alloc_pages(tss_pages, PAGE_SIZE);
	cpu->gdt = alloc_pages(GDT_PAGES, GDT_PAGES * PAGE_SIZE);
	for (u32 ist = IST_NMI; ist <= IST_FAULT; ist++)
		gdt_set_ist(cpu, ist, stack_alloc(CPU_STACK_SIZE));
	gdt_load(cpu, GDT_LIMIT);
	return cpu;
}

/* Mirrors the log on the screen, from its beginning. */
static void init_framebuffer(const struct boot_framebuffer *screen)
{
	void *pixels = screen->base ? mmio_map(hpa(screen->base), screen->size) : NULL;
	char text[256];
	u64 from = 0, length;

	if (!pixels || framebuffer_init(screen, pixels))
		return;
	while ((length = log_read(&from, text, sizeof(text))))
		framebuffer_write(text, length);
	log_add_sink(framebuffer_write);
}

static void init_console_interrupts(const struct boot_info *boot)
{
	u16 port = boot->config.hypervisor.serial_port;
	u32 irq = port == COM1_PORT ? ISA_IRQ_COM1 : ISA_IRQ_COM2;

	/* Any other port is polled: which interrupt it has is not known. */
	if ((port == COM1_PORT || port == COM2_PORT) && hostapic_route_isa(irq, IRQ_VECTOR_SERIAL))
		console_use_interrupts();
}

static void start_on_own_stack(void *context)
{
	struct boot_info *boot = context;

	frames_donate(hpa(boot->boot_stack), boot->boot_stack_size / PAGE_SIZE);
	frames_donate(hpa(boot->loader_tables), boot->loader_tables_size / PAGE_SIZE);
	time_init();
	hostapic_init(boot);
	init_console_interrupts(boot);
	hv_main(boot);
}

void hv_start(struct boot_info *boot)
{
	struct cpu *cpu;

	console_init(boot->config.hypervisor.serial_port, boot->config.hypervisor.serial_baud);
	log_add_sink(console_write);
	log_set_level(boot->config.hypervisor.log_level);
	init_early();
	if (boot->magic != BOOT_INFO_MAGIC)
		panic("the loader and the hypervisor are not of one build");
	for (u32 i = 0; i < boot->segment_count; i++)
		image_size += boot->segments[i].size;
	frames_init(&boot->memory_map);
	paging_init(boot);
	power_init(boot);
	cpu = init_cpu(boot);
	init_framebuffer(&boot->framebuffer);
	call_on_stack(cpu->stack_top, start_on_own_stack, boot);
}

u64 host_image_size(void)
{
	return image_size;
}

u64 host_memory_in_use(void)
{
	return (frames_in_use() - paging_table_pages()) * PAGE_SIZE;
}
