// SPDX-License-Identifier: BSD-2-Clause
// The fake processor's descriptor tables, task register, ports and interrupt flag.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_cpu.h"

#define VECTOR_NP 11
#define VECTOR_GP 13
#define VECTOR_PF 14

/* ---------------------------------------------------------------- descriptor tables */

void insn_lgdt(const struct insn_table *t)
{
	fake_cpu->lgdt_count++;
	fake_cpu->gdtr = (struct fake_table){ t->base, t->limit };
}

void insn_lidt(const struct insn_table *t)
{
	fake_cpu->lidt_count++;
	fake_cpu->idtr = (struct fake_table){ t->base, t->limit };
}

void insn_sgdt(struct insn_table *t)
{
	*t = (struct insn_table){ .limit = fake_cpu->gdtr.limit, .base = fake_cpu->gdtr.base };
}

void insn_sidt(struct insn_table *t)
{
	*t = (struct insn_table){ .limit = fake_cpu->idtr.limit, .base = fake_cpu->idtr.base };
}

/* A 16-byte system descriptor of the given type, out of the GDT in memory; NULL after a fault. */
static u64 *system_descriptor(u16 selector, u32 type)
{
	u64 *descriptor = (u64 *)fake_cpu->gdtr.base + (selector >> 3);
	u32 error = selector & 0xfffc;

	if ((selector & 4) || (selector & 0xfff8u) + 15 > fake_cpu->gdtr.limit) {
		fake_fault(VECTOR_GP, error);
		return NULL;
	}
	if (((descriptor[0] >> 40) & 0x1f) != type) {
		fake_fault(VECTOR_GP, error);
		return NULL;
	}
	if (!(descriptor[0] & BIT(47))) {
		fake_fault(VECTOR_NP, error);
		return NULL;
	}
	return descriptor;
}

static struct fake_segment segment_of(u16 selector, const u64 *d)
{
	u32 limit = (d[0] & 0xffff) | ((d[0] >> 32) & 0xf0000);

	return (struct fake_segment){
		.selector = selector,
		.base = ((d[0] >> 16) & 0xffffff) | ((d[0] >> 32) & 0xff000000) | d[1] << 32,
		.limit = d[0] & BIT(55) ? limit << 12 | 0xfff : limit,
	};
}

/* SDM 2A LTR: #GP(selector) on a TSS that is not an available one; sets the busy bit in memory. */
void insn_ltr(u16 selector)
{
	u64 *descriptor;

	fake_cpu->ltr_count++;
	if (!(selector & 0xfffc)) {
		fake_fault(VECTOR_GP, 0);
		return;
	}
	descriptor = system_descriptor(selector, 9);
	if (!descriptor)
		return;
	if (fake_cpu->gdt_read_only) {
		fake_fault(VECTOR_PF, 3);
		return;
	}
	descriptor[0] |= BIT(41);
	fake_cpu->tr = segment_of(selector, descriptor);
}

void insn_lldt(u16 selector)
{
	u64 *descriptor;

	fake_cpu->lldt_count++;
	if (!(selector & 0xfffc)) {
		fake_cpu->ldtr = (struct fake_segment){ .selector = selector, .unusable = true };
		return;
	}
	descriptor = system_descriptor(selector, 2);
	if (descriptor)
		fake_cpu->ldtr = segment_of(selector, descriptor);
}

/* ---------------------------------------------------------------- ports */

static u32 port_in(u16 port, u32 size)
{
	u32 value = fake_cpu->port_read ? fake_cpu->port_read(fake_cpu, port, size) : ~0u;

	return size == 4 ? value : value & ((1u << (8 * size)) - 1);
}

static void port_out(u16 port, u32 size, u32 value)
{
	fake_cpu->last_out.port = port;
	fake_cpu->last_out.size = size;
	fake_cpu->last_out.value = value;
	if (fake_cpu->port_write)
		fake_cpu->port_write(fake_cpu, port, size, value);
}

#define FAKE_PORT(suffix, type)                      \
	type insn_in##suffix(u16 port)               \
	{                                            \
		return port_in(port, sizeof(type));  \
	}                                            \
	void insn_out##suffix(u16 port, type value)  \
	{                                            \
		port_out(port, sizeof(type), value); \
	}
FAKE_PORT(b, u8)
FAKE_PORT(w, u16)
FAKE_PORT(l, u32)

/* ---------------------------------------------------------------- the rest */

void insn_invlpg(u64 address)
{
	fake_cpu->invlpg_count++;
	fake_cpu->last_invlpg = address;
}

void insn_wbinvd(void)
{
	fake_cpu->wbinvd_count++;
}

void insn_cli(void)
{
	fake_cpu->interrupts_on = false;
}

void insn_sti(void)
{
	fake_cpu->interrupts_on = true;
}

void insn_halt(void)
{
	if (!fake_cpu->halted)
		fail_msg("HLT, and the test has no fake_cpu->halted hook");
	fake_cpu->halted(fake_cpu);
}

void insn_take_interrupts(void)
{
	insn_sti();
	insn_cli();
}

void insn_wait_for_interrupt(void)
{
	insn_sti();
	insn_halt();
	insn_cli();
}

void insn_pause(void) {}

u64 insn_read_flags(void)
{
	return 2 | (fake_cpu->interrupts_on ? BIT(9) : 0);
}
