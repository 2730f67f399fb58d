// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area TASK, hardware task switches in 32-bit protected mode (SDM 3A 8.3): JMP, CALL, IRET, task
 * gates, and the faults that come before and after the switch is committed. On a hypervisor that
 * refuses task switches by ending the VM, option taskswitch=0 leaves these cases out.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define TASK_MAIN     0x28
#define TASK_OTHER    0x30
#define TASK_ABSENT   0x38
#define TASK_SHORT    0x40
#define TASK_BAD_CS   0x48
#define TASK_GATE     0x50
#define TASK_USER     0x58
#define TASK_VM86     0x60
#define USER_CODE     (0x68 | 3)
#define USER_DATA     (0x70 | 3)
#define FLAGS_NT      BIT(14)
#define TSS_AVAILABLE 0x89ull
#define TSS_BUSY_BIT  BIT(41)
#define VECTOR_GATE   0x50
#define VM86_CODE     0x9000
#define ENTRY_SIZE    16

/* SDM 3A figure 8-2. */
struct tss32 {
	u32 link, esp0, ss0, esp1, ss1, esp2, ss2, cr3, eip, eflags;
	u32 eax, ecx, edx, ebx, esp, ebp, esi, edi;
	u32 es, cs, ss, ds, fs, gs, ldt;
	u16 trap, io_base;
} __packed;
_Static_assert(sizeof(struct tss32) == 104, "32-bit TSS");

struct task_log {
	u32 vector, error, eip, eflags, tr, cr0, ebx, esi, edi;
};

void task_excursion(u32 entry);
extern const u8 task_entries[];

static u64 task_gdt[16] __aligned(16);
static u64 task_idt[VECTOR_DONE + 1] __aligned(16);
static struct tss32 task_main __aligned(128), task_other __aligned(128), task_third __aligned(128);
static u8 other_stack[1024] __aligned(16), kernel_stack[1024] __aligned(16);
extern struct descriptor_pointer task_gdtr, task_idtr; /* read by task_switch.asm */
struct descriptor_pointer task_gdtr = { sizeof(task_gdt) - 1, (u64)task_gdt };
struct descriptor_pointer task_idtr = { sizeof(task_idt) - 1, (u64)task_idt };
extern volatile struct task_log task_log;
volatile struct task_log task_log;
extern u64 task_pdpt[4]; /* read by the snippets */
u64 task_pdpt[4] __aligned(32);
static u64 task_pd[512] __aligned(4096);
static u64 bad_pdpt[4] __aligned(32);
static volatile u32 visits, other_flags, other_link, other_error;

static u64 descriptor(u64 base, u64 limit, u64 type)
{
	return (limit & 0xffff) | (base & 0xffffff) << 16 | type << 40 | (limit >> 16 & 0xf) << 48 |
	       (base >> 24 & 0xff) << 56;
}

static u64 interrupt_gate(u64 entry, u64 dpl)
{
	return (entry & 0xffff) | (u64)SEL_CODE32 << 16 | (0x8eull | dpl << 5) << 40 |
	       (entry >> 16) << 48;
}

static u64 task_gate(u64 selector)
{
	return selector << 16 | 0xe5ull << 40; /* DPL 3 */
}

static struct tss32 new_task(const void *entry)
{
	return (struct tss32){ .esp0 = (u32)(u64)kernel_stack + sizeof(kernel_stack),
		.ss0 = SEL_DATA,
		.eip = (u32)(u64)entry,
		.eflags = 2,
		.ebx = 0x44444444,
		.esp = (u32)(u64)other_stack + sizeof(other_stack),
		.es = SEL_DATA,
		.cs = SEL_CODE32,
		.ss = SEL_DATA,
		.ds = SEL_DATA,
		.io_base = sizeof(struct tss32) };
}

/* The other task: counts, logs what it was entered with, and goes back as it was asked to. */
SNIPPET32(other_jmp, "incl visits; pushf; pop other_flags; movl $0x55555555, %ebx\n"
		     "ljmp $0x28, $0\n"
		     "jmp other_jmp");
SNIPPET32(other_iret, "other_iret_top: incl visits; pushf; pop other_flags\n"
		      "mov task_other, %eax; mov %eax, other_link; iret; jmp other_iret_top");
SNIPPET32(other_double_fault, "pop %eax; mov %eax, other_error; incl visits\n");

SNIPPET32(main_jmp, "ljmp $0x30, $0\nmain_jmp_next:\n");
SNIPPET32(main_call, "lcall $0x30, $0\nmain_call_next:\n");
SNIPPET32(main_call_gate, "lcall $0x50, $0\n");
SNIPPET32(main_int_gate, "int $0x50\n");
SNIPPET32(main_absent, "ljmp $0x38, $0\n");
SNIPPET32(main_short, "ljmp $0x40, $0\n");
SNIPPET32(main_busy, "ljmp $0x28, $0\n");
SNIPPET32(main_bad_cs, "ljmp $0x48, $0\n");
SNIPPET32(main_user, "ljmp $0x58, $0\n");
SNIPPET32(main_vm86, "ljmp $0x60, $0\n");
SNIPPET32(main_gp, "mov $0xf8, %eax; mov %eax, %ds\n");
SNIPPET32(main_sti, "sti; ljmp $0x48, $0\n");
SNIPPET32(main_mov_ss, "mov %ss, %eax; mov %eax, %ss; ljmp $0x48, $0\n");
SNIPPET32(main_paging, "mov $task_pdpt, %eax; mov %eax, %cr3; mov %cr4, %eax; or $0x20, %eax\n"
		       "mov %eax, %cr4; mov %cr0, %eax; or $0x80000000, %eax; mov %eax, %cr0\n"
		       "ljmp $0x60, $0\n");
SNIPPET32(main_pdpt, "mov $task_pdpt, %eax; mov %eax, %cr3; mov %cr4, %eax; or $0x20, %eax\n"
		     "mov %eax, %cr4; mov %cr0, %eax; or $0x80000000, %eax; mov %eax, %cr0\n"
		     "mov $0xd0000000, %eax\nmain_pdpt_load: mov %eax, %cr3\n");
extern const u8 main_pdpt_load[];
SNIPPET32(user_jmp, "ljmp $0x30, $0\n");
SNIPPET32(user_task, "mov %cs, %ebx; mov $0x66666666, %esi\n");

static void set_up(const void *other)
{
	if (!option_number("taskswitch", 1))
		case_skip("option taskswitch=0 is given");
	task_main = new_task(NULL);
	task_other = new_task(other);
	memset(task_gdt, 0, sizeof(task_gdt));
	memcpy(task_gdt, gdt, 0x20);
	task_gdt[TASK_MAIN / 8] = descriptor((u64)&task_main, sizeof(task_main) - 1, TSS_AVAILABLE);
	task_gdt[TASK_OTHER / 8] =
		descriptor((u64)&task_other, sizeof(task_other) - 1, TSS_AVAILABLE);
	task_gdt[TASK_ABSENT / 8] = descriptor((u64)&task_other, sizeof(task_other) - 1, 0x09);
	task_gdt[TASK_SHORT / 8] =
		descriptor((u64)&task_other, sizeof(task_other) - 2, TSS_AVAILABLE);
	task_gdt[TASK_BAD_CS / 8] =
		descriptor((u64)&task_third, sizeof(task_third) - 1, TSS_AVAILABLE);
	task_gdt[TASK_USER / 8] = task_gdt[TASK_BAD_CS / 8];
	task_gdt[TASK_VM86 / 8] = task_gdt[TASK_BAD_CS / 8];
	task_gdt[TASK_GATE / 8] = task_gate(TASK_OTHER);
	task_gdt[USER_CODE / 8] = 0x00cffb000000ffff;
	task_gdt[USER_DATA / 8] = 0x00cff3000000ffff;
	for (u64 vector = 0; vector <= VECTOR_DONE; vector++)
		task_idt[vector] = interrupt_gate(
			(u64)task_entries + vector * ENTRY_SIZE, vector == VECTOR_DONE ? 3 : 0);
	task_idt[VECTOR_GATE] = task_gate(TASK_OTHER);
	visits = other_flags = other_link = other_error = 0;
}

static void run_task(const u8 *entry)
{
	memset((void *)&task_log, 0, sizeof(task_log));
	task_excursion((u32)(u64)entry);
	segments_reset();
}

static bool busy(u32 selector)
{
	return task_gdt[selector / 8] & TSS_BUSY_BIT;
}

static void expect_main_again(void)
{
	expect_equal(task_log.vector, VECTOR_DONE, "end");
	expect_equal(task_log.tr, TASK_MAIN, "TR");
	expect_equal(task_log.ebx, 0x11111111, "EBX of the main task");
	expect_equal(task_log.esi, 0x22222222, "ESI of the main task");
	expect_equal(task_log.cr0 & CR0_TS, CR0_TS, "CR0.TS after a switch");
	expect_equal(task_log.eflags & FLAGS_NT, 0, "NT of the main task");
	expect_equal(visits, 1, "runs of the other task");
	expect(busy(TASK_MAIN) && !busy(TASK_OTHER), "busy bits: main %d, other %d",
		busy(TASK_MAIN), busy(TASK_OTHER));
}

CASE("BUG-67", "TASK", "switch-jmp", task_jmp)
{
	set_up(other_jmp);
	run_task(main_jmp);
	expect_main_again();
	expect_equal(other_flags & FLAGS_NT, 0, "NT in a task entered by JMP");
	expect_equal(task_other.ebx, 0x55555555, "EBX saved in the other TSS");
}

CASE("BUG-67", "TASK", "switch-call-iret", task_call)
{
	set_up(other_iret);
	run_task(main_call);
	expect_main_again();
	expect_equal(other_flags & FLAGS_NT, FLAGS_NT, "NT in a task entered by CALL");
	expect_equal(other_link & 0xffff, TASK_MAIN, "link");
}

CASE("BUG-67", "TASK", "switch-call-gate", task_call_gate)
{
	set_up(other_iret);
	run_task(main_call_gate);
	expect_main_again();
	expect_equal(other_link & 0xffff, TASK_MAIN, "link");
}

CASE("BUG-67", "TASK", "switch-interrupt-gate", task_int)
{
	set_up(other_iret);
	run_task(main_int_gate);
	expect_main_again();
	expect_equal(task_main.eip, (u64)main_int_gate + 2, "EIP saved behind INT");
}

/* The fault of a switch that is not committed: in the old task, at the instruction. */
static void expect_refused(const u8 *entry, u32 vector, u32 error, const char *what)
{
	set_up(other_jmp);
	task_third = new_task(other_jmp);
	run_task(entry);
	expect_equal(task_log.vector, vector, "%s: vector", what);
	expect_equal(task_log.error, error, "%s: error code", what);
	expect_equal(task_log.eip, (u64)entry, "%s: EIP", what);
	expect_equal(task_log.tr, TASK_MAIN, "%s: TR", what);
	expect_equal(visits, 0, "%s: runs of the other task", what);
}

CASE("BUG-67", "TASK", "switch-refused", task_refused)
{
	expect_refused(main_absent, NP, TASK_ABSENT, "absent TSS");
	expect_refused(main_short, TS, TASK_SHORT, "TSS limit 0x66");
	expect_refused(main_busy, GP, TASK_MAIN, "busy TSS");
}

CASE("BUG-67", "TASK", "switch-bad-cs", task_bad_cs)
{
	/* CS is checked when the switch is committed: the fault is the new task's (SDM 3A 8.3). */
	set_up(other_jmp);
	task_third = new_task(other_jmp);
	task_third.cs = SEL_DATA;
	run_task(main_bad_cs);
	expect_equal(task_log.vector, TS, "vector");
	expect_equal(task_log.error, SEL_DATA, "error code");
	expect_equal(task_log.tr, TASK_BAD_CS, "TR is the new task's");
	expect_equal(task_log.eip, (u64)other_jmp, "EIP is the new task's");
}

CASE("BUG-67", "TASK", "switch-to-ring3", task_user)
{
	set_up(other_jmp);
	task_third = new_task(user_task);
	task_third.cs = USER_CODE;
	task_third.ss = task_third.ds = task_third.es = USER_DATA;
	run_task(main_user);
	expect_equal(task_log.vector, VECTOR_DONE, "vector");
	expect_equal(task_log.ebx, USER_CODE, "CS in the task");
	expect_equal(task_log.esi, 0x66666666, "the task ran");
	expect_equal(task_log.tr, TASK_USER, "TR");
}

CASE("BUG-67", "TASK", "switch-to-vm86", task_vm86)
{
	/* mov bx,cs; hlt: HLT is #GP in virtual-8086 mode. */
	static const u8 code[] = { 0x8c, 0xcb, 0xf4 };

	set_up(other_jmp);
	memcpy((void *)VM86_CODE, code, sizeof(code));
	task_third = new_task(NULL);
	task_third.eflags = (u32)(2 | RFLAGS_VM);
	task_third.cs = task_third.ss = task_third.ds = task_third.es = VM86_CODE / 16;
	task_third.esp = 0x800;
	run_task(main_vm86);
	expect_equal(task_log.vector, GP, "vector of HLT");
	expect_equal(task_log.eip, 2, "IP");
	expect_equal(task_log.ebx & 0xffff, VM86_CODE / 16, "CS in virtual-8086 mode");
	expect_equal(task_log.eflags & RFLAGS_VM, RFLAGS_VM, "VM in the saved EFLAGS");
}

CASE("BUG-67", "TASK", "double-fault-gate", task_double_fault)
{
	/* #GP and the #NP of its absent gate make #DF, whose gate is a task. */
	set_up(other_double_fault);
	task_idt[GP] &= ~BIT(47);
	task_idt[NP] &= ~BIT(47);
	task_idt[DF] = task_gate(TASK_OTHER);
	run_task(main_gp);
	expect_equal(task_log.vector, VECTOR_DONE, "end");
	expect_equal(visits, 1, "runs of the #DF task");
	expect_equal(other_error, 0, "error code of #DF");
	expect_equal(task_log.tr, TASK_OTHER, "TR");
	expect_equal(task_main.eip, (u64)main_gp + 5, "EIP of the instruction that faulted");
}

/* A shadow ends with the instruction behind it, also when that is the switch (SDM 3C 24.4.2). */
CASE("BUG-27", "TASK", "switch-in-sti-shadow", task_sti)
{
	set_up(other_jmp);
	task_third = new_task(user_task);
	run_task(main_sti);
	expect_equal(task_log.vector, VECTOR_DONE, "vector");
	expect_equal(task_log.esi, 0x66666666, "the task ran");
	expect_equal(task_log.eflags & RFLAGS_IF, 0, "IF");
}

CASE("BUG-27", "TASK", "switch-in-mov-ss-shadow", task_mov_ss)
{
	set_up(other_jmp);
	task_third = new_task(user_task);
	task_third.eflags |= RFLAGS_TF;
	run_task(main_mov_ss);
	expect_equal(task_log.vector, DB, "vector");
	expect_equal(task_log.eip, (u64)user_task + 2, "EIP behind the first instruction");
}

/* The main task jumps to ring 3 or virtual-8086 mode and comes back by way of #TS, a task gate. */
static void expect_back_by_ts(const u8 *entry)
{
	task_idt[TS] = task_gate(TASK_MAIN);
	run_task(entry);
	expect_equal(task_log.vector, VECTOR_DONE, "vector");
	expect_equal(task_log.tr, TASK_MAIN, "TR");
	expect_equal(task_main.link & 0xffff, TASK_OTHER, "the task that took #TS");
	expect_equal(visits, 0, "runs of that task");
}

CASE("BUG-67", "TASK", "switch-bad-ss-from-ring3", task_bad_ss)
{
	/* CS is in ring 0 already when SS, still ring 3's, turns out to be bad. */
	set_up(other_jmp);
	task_gdt[TASK_OTHER / 8] |= 3ull << 45;
	task_other.ss = SEL_CODE32;
	task_third = new_task(user_jmp);
	task_third.cs = USER_CODE;
	task_third.ss = task_third.ds = task_third.es = USER_DATA;
	expect_back_by_ts(main_user);
}

CASE("BUG-67", "TASK", "switch-bad-cs-from-vm86", task_bad_cs_vm86)
{
	set_up(other_jmp);
	memcpy((void *)VM86_CODE, (const u8[]){ 0xcd, VECTOR_GATE }, 2); /* INT, by IOPL 3 */
	task_other.cs = SEL_DATA;
	task_third = new_task(NULL);
	task_third.eflags = (u32)(2 | RFLAGS_VM | RFLAGS_IOPL3);
	task_third.cs = task_third.ss = task_third.ds = task_third.es = VM86_CODE / 16;
	expect_back_by_ts(main_vm86);
}

static void set_up_paging(void)
{
	set_up(other_jmp);
	for (u64 i = 0; i < ARRAY_SIZE(task_pd); i++)
		task_pd[i] = i * SIZE_2M | BIT(0) | BIT(1) | BIT(7);
	task_pdpt[0] = (u64)task_pd | BIT(0);
	bad_pdpt[0] = task_pdpt[0] | BIT(1); /* reserved */
}

CASE("BUG-67", "TASK", "switch-bad-pdpt-to-vm86", task_bad_pdpt)
{
	if (!under_torpor())
		case_skip("Bochs loads the CR3 that it refuses, and triple faults");
	set_up_paging();
	task_third = new_task(NULL);
	task_third.eflags = (u32)(2 | RFLAGS_VM);
	task_third.cs = task_third.ss = task_third.ds = task_third.es = VM86_CODE / 16;
	task_third.cr3 = (u32)(u64)bad_pdpt;
	run_task(main_paging);
	expect_equal(task_log.vector, GP, "vector");
	expect_equal(task_log.error, 0, "error code");
}

CASE("BUG-50", "EPT", "pdpt-in-no-memory", ept_pdpt)
{
	/* All ones are read: present entries with reserved bits, hence #GP (SDM 3A 4.4.1). */
	set_up_paging();
	run_task(main_pdpt);
	expect_equal(task_log.vector, GP, "vector");
	expect_equal(task_log.eip, (u64)main_pdpt_load, "EIP");
}
