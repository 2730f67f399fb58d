// SPDX-License-Identifier: BSD-2-Clause
// The host's descriptor tables as the processor reads them, and what each vector does: NMIs are
// counted for the CPU whose stack they are on (BUG-36), interrupts are dispatched and acknowledged,
// faults at instructions with a fixup go on elsewhere.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "hv/cpu/gdt.h"
#include "hv/cpu/hostapic.h"
#include "hv/cpu/irq.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/traps.h"

/* What assembly and the APIC are in the hypervisor. */
const char trap_stubs[256 * 16];
static struct {
	u64 fault, resume;
} fixups[] __attribute__((section("__fixup"), used)) = { { 0x1000, 0x2000 }, { 0x1010, 0x2010 } };

static u32 eois, handled, last_panic;
static jmp_buf panic_jump;

void hostapic_eoi(void)
{
	eois++;
}

void panic_trap(const struct trap_frame *frame)
{
	last_panic = frame->vector;
	longjmp(panic_jump, 1);
}

void load_segments(u64 code, u64 data);
void load_segments(u64 code, u64 data)
{
	assert_int_equal(code, SEL_HOST_CODE);
	assert_int_equal(data, SEL_HOST_DATA);
}

static struct {
	struct cpu cpu;
	struct tss_area tss;
	u64 gdt[65536 / 8];
	u8 stacks[4][CPU_STACK_SIZE] __aligned(16);
} host;

/* An interrupt stack with a frame on it. */
static struct trap_frame *frame_on(u32 ist, u64 vector, u64 rip)
{
	struct trap_frame *frame = (struct trap_frame *)host.tss.tss.ist[ist - 1] - 1;

	memset(frame, 0, sizeof(*frame));
	frame->vector = vector;
	frame->rip = rip;
	return frame;
}

static int begin(void **state)
{
	(void)state;
	fake_cpu_reset();
	memset(&host, 0, sizeof(host));
	host.cpu.gdt = host.gdt;
	host.cpu.tss = &host.tss;
	for (u32 ist = IST_NMI; ist <= IST_FAULT; ist++)
		gdt_set_ist(&host.cpu, ist, host.stacks[ist - 1] + CPU_STACK_SIZE);
	gdt_load(&host.cpu, GDT_LIMIT);
	traps_init();
	eois = handled = 0;
	return 0;
}

/* SDM 3A 3.4.5, figures 5-1 and 8-4. */
static void descriptors(void **state)
{
	static const struct {
		u16 selector;
		u8 access; /* present, DPL, type */
		bool code;
	} rows[] = {
		{ SEL_HOST_CODE, 0x9b, true },
		{ SEL_HOST_DATA, 0x93, false },
		{ SEL_USER_DATA, 0xf3, false },
		{ SEL_USER_CODE, 0xfb, true },
	};
	u64 low = host.gdt[SEL_TSS / 8], high = host.gdt[SEL_TSS / 8 + 1];
	u64 base = (low >> 16 & 0xffffff) | (low >> 56) << 24 | high << 32;

	(void)state;
	assert_int_equal(host.gdt[0], 0);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 d = host.gdt[rows[i].selector / 8];

		assert_int_equal(d >> 40 & 0xff, rows[i].access);
		if (rows[i].code)
			assert_int_equal(d >> 53 & 3, 1); /* L set, D clear */
	}
	/* SYSRET: SS is the selector before CS (SDM 2B). */
	assert_int_equal((SEL_USER_DATA & ~3) + 8, SEL_USER_CODE & ~3);
	assert_int_equal(base, (u64)&host.tss);
	assert_int_equal((low & 0xffff) | (low >> 48 & 0xf) << 16, TSS_LIMIT);
	assert_int_equal(low >> 40 & 0xff, 0x8b); /* busy: LTR was executed */
	/* BUG-05: what a limit of 0xffff shows beyond the table is zero. */
	for (u32 i = GDT_ENTRIES; i < ARRAY_SIZE(host.gdt); i++)
		assert_int_equal(host.gdt[i], 0);
	assert_int_equal(fake_cpu->gdtr.limit, 0xffff);
	assert_int_equal(fake_cpu->gdtr.base, (u64)host.gdt);
	assert_int_equal(fake_msr(MSR_GS_BASE)->value, (u64)&host.cpu);
	assert_ptr_equal(host.cpu.self, &host.cpu);
}

static void no_port_is_granted(void **state)
{
	(void)state;
	assert_true(host.tss.tss.io_bitmap_base > TSS_LIMIT);
	for (u32 i = 0; i < IO_BITMAP_BYTES; i++)
		assert_int_equal(host.tss.io_bitmap[i], 0xff);
	for (u32 i = 0; i < IO_BITMAP_TERMINATOR; i++)
		assert_int_equal(host.tss.terminator[i], 0xff);
}

/* SDM 3A figure 6-8: each vector has its stub, exceptions an interrupt stack. */
static void gates(void **state)
{
	const u8 *idt = (const u8 *)fake_cpu->idtr.base;

	(void)state;
	assert_int_equal(fake_cpu->idtr.limit, 4095);
	assert_true(IS_ALIGNED(fake_cpu->idtr.base, PAGE_SIZE));
	for (u32 vector = 0; vector < 256; vector++, idt += 16) {
		u64 offset = idt[0] | idt[1] << 8 | (u64)idt[6] << 16 | (u64)idt[7] << 24 |
			     (u64)idt[8] << 32 | (u64)idt[9] << 40 | (u64)idt[10] << 48 |
			     (u64)idt[11] << 56;
		u32 ist = vector == 2	 ? IST_NMI
			  : vector == 8	 ? IST_DOUBLE_FAULT
			  : vector == 18 ? IST_MACHINE_CHECK
			  : vector < 32	 ? IST_FAULT
					 : 0;

		assert_int_equal(offset, (u64)trap_stubs + vector * 16);
		assert_int_equal(idt[2] | idt[3] << 8, SEL_HOST_CODE);
		assert_int_equal(idt[4], ist);
		assert_int_equal(idt[5], 0x8e);
	}
}

static void count_hook(struct cpu *cpu)
{
	assert_ptr_equal(cpu, &host.cpu);
	handled++;
}

/* BUG-36: the CPU is found by the stack; a guest's GS base may still be live. */
static void nmi(void **state)
{
	(void)state;
	fake_cpu->block = NULL; /* this_cpu() would fail the test */
	for (u32 i = 1; i < 4; i++) {
		trap_handle(frame_on(IST_NMI, 2, 0x1000));
		assert_int_equal(host.cpu.nmi_count, i);
	}
	host.cpu.nmi_hook = count_hook;
	trap_handle(frame_on(IST_NMI, 2, 0x1000));
	assert_int_equal(host.cpu.nmi_count, 4);
	assert_int_equal(handled, 1);
	assert_int_equal(eois, 0);
}

static void handler(void)
{
	assert_int_equal(eois, handled);
	handled++;
}

static void interrupts(void **state)
{
	(void)state;
	irq_set_handler(IRQ_VECTOR_SERIAL, handler);
	for (u32 i = 0; i < 3; i++) {
		trap_handle(frame_on(IST_FAULT, IRQ_VECTOR_SERIAL, 0x5000));
		assert_int_equal(handled, i + 1);
		assert_int_equal(eois, i + 1);
	}
	irq_dispatch(200); /* nobody's: acknowledged, or it blocks all below it */
	assert_int_equal(eois, 4);
	irq_dispatch(IRQ_VECTOR_SPURIOUS); /* SDM 3A 11.9: none */
	assert_int_equal(eois, 4);
	assert_int_equal(handled, 3);
}

static void fixups_resume(void **state)
{
	struct trap_frame *frame;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(fixups); i++) {
		frame = frame_on(IST_FAULT, 13, fixups[i].fault);
		trap_handle(frame);
		assert_int_equal(frame->rip, fixups[i].resume);
	}
}

/* A fault without a fixup ends everything; the next one must not land on its frame. */
static void faults_end(void **state)
{
	for (u32 vector = 0; vector < 32; vector++) {
		u64 top;

		if (vector == 2)
			continue;
		begin(state);
		top = host.tss.tss.ist[IST_FAULT - 1];
		last_panic = ~0u;
		if (setjmp(panic_jump) == 0)
			trap_handle(frame_on(IST_FAULT, vector, 0x1001));
		assert_int_equal(last_panic, vector);
		assert_in_range(host.tss.tss.ist[IST_FAULT - 1], top - CPU_STACK_SIZE * 3 / 4,
			top - CPU_STACK_SIZE / 4);
		assert_true(IS_ALIGNED(host.tss.tss.ist[IST_FAULT - 1], 16));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(descriptors, begin),
		cmocka_unit_test_setup(no_port_is_granted, begin),
		cmocka_unit_test_setup(gates, begin),
		cmocka_unit_test_setup(nmi, begin),
		cmocka_unit_test_setup(interrupts, begin),
		cmocka_unit_test_setup(fixups_resume, begin),
		cmocka_unit_test_setup(faults_end, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
