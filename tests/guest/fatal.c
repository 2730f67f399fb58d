// SPDX-License-Identifier: BSD-2-Clause
/*
 * fatal.elf: the ends of a VM, one a boot, chosen by end=NAME on the command line. Before it acts
 * it prints "FATAL name"; what follows is the hypervisor's to say. Without a name it lists them and
 * exits with 1.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define DR7_WRITE_8_0 0x90402 /* breakpoint 0: G0, write, 8 bytes */
#define PM1_CONTROL   0x604
#define S5	      (5u << 10 | 1u << 13) /* sleep type of the FADT's _S5, SLP_EN */

void __noreturn guest_main(u32 magic, u32 info);

/* Status 68. */
static void triple_fault(void)
{
	static const struct descriptor_pointer none = { 0, 0 };

	__asm__ volatile("lidt %0; ud2" ::"m"(none));
}

/* A fault in #DF's own delivery, by way of an unmapped stack. Status 68. */
static void triple_fault_stack(void)
{
	tss.ist[0] = 0x500000000000;
	__asm__ volatile("mov %0, %%rsp; push %%rax" ::"r"(0x500000000000));
}

/* Documented outcome of HLT with IF=0 and no NMI source: reported. */
static void hlt_if0(void)
{
	__asm__ volatile("cli; hlt");
}

static void reset_cf9(void)
{
	outb(0xcf9, 2);
	outb(0xcf9, 6);
}

static void reset_keyboard(void)
{
	outb(0x64, 0xfe);
}

static void reset_port92(void)
{
	outb(0x92, (u8)((inb(0x92) & ~1) | 1));
}

static void s5(void)
{
	outw(PM1_CONTROL, S5);
}

static void shutdown_port(void)
{
	for (const char *s = "Shutdown"; *s; s++)
		outb(0x8900, (u8)*s);
}

/* Status ((v & 0x7f) << 1) | 1 with value=v. */
static void exit_port(void)
{
	outb(PORT_EXIT, (u8)option_number("value", 0));
}

/* BUG-48: the watchpoint lies on the IST frame of #DB: delivery makes the next #DB, for ever. */
static void db_recursion(void)
{
	trap_gate(DB, 2, 0);
	write_dr0((trap_stack_top(2) & ~15ull) - 8);
	write_dr7(DR7_WRITE_8_0);
	__asm__ volatile(".byte 0xf1");
}

SNIPPET(ac_code, "mov 1(%rsp), %eax\n");

static bool ac_again(struct trap_frame *frame)
{
	return frame->vector == AC; /* handled, but the cause stays: the access faults again */
}

/* BUG-48: #AC for ever. */
static void ac_recursion(void)
{
	struct trap_frame frame = frame_user(ac_code, ac_code_end);

	trap_handle(AC, ac_again);
	write_cr0(read_cr0() | CR0_AM);
	frame.rflags |= RFLAGS_AC;
	frame.rsp -= 64;
	run_frame(&frame);
}

/*
 * BUG-50: an address no RAM or device answers; whatever the documented outcome is, the VM must not
 * spin.
 */
static void unbacked(void)
{
	u64 address = option_number("address", 0xd0000000);

	paging_map(0x400000000000, address, PTE_P | PTE_W);
	print("read %lx\n", *(volatile u64 *)0x400000000000);
}

/* BUG-50: the delivery of an exception needs an address that nothing answers. Each status 68. */
static void idt_unbacked(void)
{
	static const struct descriptor_pointer nowhere = { 0xfff, 0xd0000000 };

	__asm__ volatile("lidt %0; ud2" ::"m"(nowhere));
}

static void gdt_unbacked(void)
{
	static const struct descriptor_pointer nowhere = { 0xfff, 0xd0000000 };

	__asm__ volatile("lgdt %0; ud2" ::"m"(nowhere));
}

static void stack_unbacked(void)
{
	__asm__ volatile("mov %0, %%rsp; ud2" ::"r"(0xd0001000ull));
}

static void stack_in_apic(void)
{
	__asm__ volatile("mov %0, %%rsp; ud2" ::"r"(LAPIC_BASE + 0x800));
}

/* All ones are reserved bits: #PF, whose delivery meets the same tables. */
static void tables_unbacked(void)
{
	__asm__ volatile("mov %0, %%cr3; nop" ::"r"(0xd0000000ull));
}

static void spin(void)
{
	for (;;)
		__asm__ volatile("pause");
}

static const struct end {
	const char *name;
	void (*run)(void);
} ends[] = {
	{ "triple-fault", triple_fault },
	{ "triple-fault-stack", triple_fault_stack },
	{ "hlt-if0", hlt_if0 },
	{ "reset-cf9", reset_cf9 },
	{ "reset-keyboard", reset_keyboard },
	{ "reset-port92", reset_port92 },
	{ "s5", s5 },
	{ "shutdown-port", shutdown_port },
	{ "exit", exit_port },
	{ "db-recursion", db_recursion },
	{ "ac-recursion", ac_recursion },
	{ "unbacked", unbacked },
	{ "idt-unbacked", idt_unbacked },
	{ "gdt-unbacked", gdt_unbacked },
	{ "stack-unbacked", stack_unbacked },
	{ "stack-in-apic", stack_in_apic },
	{ "tables-unbacked", tables_unbacked },
	{ "spin", spin },
};

static bool named(const char *text, const char *name)
{
	size_t length = strlen(name);

	return text && !memcmp(text, name, length) && (!text[length] || text[length] == ' ');
}

void __noreturn guest_main(u32 magic, u32 info)
{
	boot_read(magic, info);
	machine_reset();
	for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!named(option_text("end"), ends[i].name))
			continue;
		print("FATAL %s\n", ends[i].name);
		call_guarded(ends[i].run);
		print("FATAL %s came back\n", ends[i].name);
		guest_exit(2);
	}
	print("FATAL end=NAME is missing; names:");
	for (u32 i = 0; i < ARRAY_SIZE(ends); i++)
		print(" %s", ends[i].name);
	print("\n");
	guest_exit(1);
}
