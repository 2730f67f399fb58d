// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host's IDT and what its vectors do. Every exception runs on an IST stack: while the exit stub
 * stores the guest's registers, RSP is no stack (vmx/entry.asm). NMIs only count and ask for a
 * look.
 */
#include "hv/cpu/traps.h"

#include "hv/cpu/gdt.h"
#include "hv/cpu/hostapic.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/irq.h"
#include "hv/lib/log.h"

#define VECTORS		  256
#define EXCEPTIONS	  32
#define STUB_STRIDE	  16
#define GATE_INTERRUPT_64 0x8e00 /* present, DPL 0, 64-bit interrupt gate (SDM 3A 6.14.1) */

enum { NMI = 2, DOUBLE_FAULT = 8, MACHINE_CHECK = 18 };

struct gate {
	u16 offset_0;
	u16 selector;
	u16 ist_and_type;
	u16 offset_16;
	u32 offset_32;
	u32 reserved;
};
_Static_assert(sizeof(struct gate) == 16, "SDM 3A figure 6-8");
_Static_assert(STUB_STRIDE == 16, "traps.asm aligns its stubs to 16");

struct fixup {
	u64 fault, resume;
};

extern const char trap_stubs[];
extern const struct fixup __start___fixup[], __stop___fixup[];

/*
 * A page of its own: an IDTR limit of 0xffff (after an exit) shows nothing more, vectors end at
 * 255.
 */
static struct gate idt[VECTORS] __aligned(PAGE_SIZE);
static irq_handler *handlers[VECTORS];

static u32 ist_of(u32 vector)
{
	switch (vector) {
	case NMI:
		return IST_NMI;
	case DOUBLE_FAULT:
		return IST_DOUBLE_FAULT;
	case MACHINE_CHECK:
		return IST_MACHINE_CHECK;
	default:
		return vector < EXCEPTIONS ? IST_FAULT : 0;
	}
}

void traps_init(void)
{
	struct insn_table table = { .limit = sizeof(idt) - 1, .base = (u64)idt };

	for (u32 vector = 0; vector < VECTORS; vector++) {
		u64 stub = (u64)trap_stubs + vector * STUB_STRIDE;

		idt[vector] = (struct gate){
			.offset_0 = stub,
			.selector = SEL_HOST_CODE,
			.ist_and_type = GATE_INTERRUPT_64 | ist_of(vector),
			.offset_16 = stub >> 16,
			.offset_32 = stub >> 32,
		};
	}
	insn_lidt(&table);
}

void irq_set_handler(u32 vector, irq_handler *handler)
{
	handlers[vector] = handler;
}

void irq_dispatch(u32 vector)
{
	if (handlers[vector])
		handlers[vector]();
	/* SDM 3A 11.9: a spurious interrupt sets no ISR bit and takes no EOI. */
	if (vector != IRQ_VECTOR_SPURIOUS)
		hostapic_eoi();
}

/* An instruction with an entry in __fixup reports its #GP by going on elsewhere. */
static bool fix_up(struct trap_frame *frame)
{
	for (const struct fixup *f = __start___fixup; f < __stop___fixup; f++) {
		if (f->fault == frame->rip) {
			frame->rip = f->resume;
			return true;
		}
	}
	return false;
}

/*
 * An exception on the way to the end of a panic begins at the top of its stack again: it must not
 * fall on what the panic still uses.
 */
static void leave_room(struct trap_frame *frame)
{
	struct cpu *cpu = trap_ist_top(frame)->cpu;

	gdt_set_ist(cpu, IST_FAULT, (u8 *)trap_ist_top(frame) - CPU_STACK_SIZE / 2);
}

void trap_handle(struct trap_frame *frame)
{
	if (frame->vector == NMI) {
		struct cpu *cpu = trap_ist_top(frame)->cpu;

		cpu->nmi_count++;
		if (cpu->nmi_hook)
			cpu->nmi_hook(cpu);
	} else if (frame->vector >= EXCEPTIONS) {
		irq_dispatch(frame->vector);
	} else if (!fix_up(frame)) {
		leave_room(frame);
		panic_trap(frame);
	}
}
