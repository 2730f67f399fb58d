// SPDX-License-Identifier: BSD-2-Clause
/*
 * Start-up of the host on the boot CPU, in the order that each step needs the ones before: console,
 * frames, page tables, per-CPU structures, traps, own stack, time, interrupts.
 */
#include "hv/cpu/boot.h"

#include "hv/cpu/cpu.h"
#include "hv/cpu/hostapic.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/irq.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/power.h"
#include "hv/cpu/serial.h"
#include "hv/cpu/time.h"
#include "hv/cpu/traps.h"
#include "hv/lib/log.h"
#include "hv/lib/log_sink.h"
#include "hv/lib/string.h"
#include "hv/main.h"
#include "hv/mem/frames.h"
#include "hv/mem/paging.h"

#define GDT_PAGES     16 /* 64 KiB: a limit of 0xffff shows zeros beyond the table */
#define COM1_PORT     0x3f8
#define COM2_PORT     0x2f8
#define ISA_IRQ_COM1  4
#define ISA_IRQ_COM2  3
#define CODE_64	      0x00af9b000000ffffull /* SDM 3A 3.4.5, 5.2.1 */
#define DATA_64	      0x00cf93000000ffffull
#define USER_CODE_64  0x00affb000000ffffull
#define USER_DATA_64  0x00cff3000000ffffull
#define TSS_AVAILABLE 0x89ull

void load_segments(u64 code, u64 data);
__noreturn void call_on_stack(u8 *top, void (*function)(void *), void *argument);

static u64 image_size;

static void *alloc_pages(u64 pages, u64 align)
{
	hpa_t address;

	if (frames_alloc(pages, align, &address))
		panic("no memory for the CPU's structures");
	return phys_to_virt(address);
}

static void init_gdt(struct cpu *cpu)
{
	struct insn_table table = { .limit = 0xffff };
	u64 base = (u64)cpu->tss, *gdt;

	gdt = cpu->gdt = alloc_pages(GDT_PAGES, GDT_PAGES * PAGE_SIZE);
	gdt[SEL_HOST_CODE / 8] = CODE_64;
	gdt[SEL_HOST_DATA / 8] = DATA_64;
	gdt[SEL_USER_DATA / 8] = USER_DATA_64;
	gdt[SEL_USER_CODE / 8] = USER_CODE_64;
	/* A 16-byte descriptor: SDM 3A 8.2.3. */
	gdt[SEL_TSS / 8] = (TSS_LIMIT & 0xffff) | (base & 0xffffff) << 16 | TSS_AVAILABLE << 40 |
			   (u64)(TSS_LIMIT >> 16) << 48 | (base >> 24 & 0xff) << 56;
	gdt[SEL_TSS / 8 + 1] = base >> 32;
	table.base = (u64)gdt;
	insn_lgdt(&table);
	load_segments(SEL_HOST_CODE, SEL_HOST_DATA);
	insn_ltr(SEL_TSS);
}

static struct cpu *init_cpu(const struct boot_info *boot)
{
	struct cpu *cpu = alloc_pages(1, PAGE_SIZE);
	u64 tss_pages = ALIGN_UP(sizeof(struct tss_area), PAGE_SIZE) / PAGE_SIZE;

	cpu->self = cpu;
	cpu->apic_id = boot->cpus[0].apic_id;
	cpu->stack_top = stack_alloc(CPU_STACK_SIZE);
	cpu->tss = alloc_pages(tss_pages, PAGE_SIZE);
	for (u32 ist = IST_NMI; ist <= IST_FAULT; ist++)
		cpu->tss->tss.ist[ist - 1] = (u64)stack_alloc(CPU_STACK_SIZE);
	cpu->tss->tss.rsp[0] = (u64)cpu->stack_top;
	cpu->tss->tss.io_bitmap_base = TSS_NO_IO_BITMAP;
	memset(cpu->tss->io_bitmap, 0xff, sizeof(cpu->tss->io_bitmap));
	memset(cpu->tss->terminator, 0xff, sizeof(cpu->tss->terminator));
	init_gdt(cpu);
	insn_wrmsr(MSR_GS_BASE, (u64)cpu);
	return cpu;
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
	if (boot->magic != BOOT_INFO_MAGIC)
		panic("the loader and the hypervisor are not of one build");
	for (u32 i = 0; i < boot->segment_count; i++)
		image_size += boot->segments[i].size;
	frames_init(&boot->memory_map);
	paging_init(boot);
	power_init(boot);
	cpu = init_cpu(boot);
	traps_init();
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
