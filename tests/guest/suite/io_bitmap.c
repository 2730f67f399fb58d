// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area TASK, the guest's own I/O permission bitmap: which port instructions ring 3 may use (SDM
 * 1 19.5.2). A model decides what each access must do; the matrix runs instruction x width x IOPL x
 * bitmap x port, on ports that a hypervisor intercepts and others.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define ALL_PORTS_LIMIT (sizeof(struct tss) - 1)
#define BUFFER		((u64)user_arena + 0x1000)

SNIPPET(u_inb, "inb %dx, %al\n");
SNIPPET(u_inw, "inw %dx, %ax\n");
SNIPPET(u_inl, "inl %dx, %eax\n");
SNIPPET(u_outb, "outb %al, %dx\n");
SNIPPET(u_outw, "outw %ax, %dx\n");
SNIPPET(u_outl, "outl %eax, %dx\n");
SNIPPET(u_insb, "insb\n");
SNIPPET(u_insw, "insw\n");
SNIPPET(u_insl, "insl\n");
SNIPPET(u_outsb, "outsb\n");
SNIPPET(u_outsw, "outsw\n");
SNIPPET(u_outsl, "outsl\n");
SNIPPET(u_rep_insb, "mov $2, %ecx; rep insb\n");
SNIPPET(u_in80, "inb $0x80, %al\n");

static const struct access {
	const char *name;
	const u8 *code, *end;
	u32 width, offset; /* offset of the port instruction in the code */
} accesses[] = {
#define ROW(n, width, offset)                         \
	{                                             \
#n, u_##n, u_##n##_end, width, offset \
	}
	ROW(inb, 1, 0),
	ROW(inw, 2, 0),
	ROW(inl, 4, 0),
	ROW(outb, 1, 0),
	ROW(outw, 2, 0),
	ROW(outl, 4, 0),
	ROW(insb, 1, 0),
	ROW(insw, 2, 0),
	ROW(insl, 4, 0),
	ROW(outsb, 1, 0),
	ROW(outsw, 2, 0),
	ROW(outsl, 4, 0),
	ROW(rep_insb, 1, 5),
#undef ROW
};

static void bitmap_set(u32 port, bool denied)
{
	u8 bit = (u8)(1u << (port & 7));

	if (denied)
		tss.io_bitmap[port / 8] |= bit;
	else
		tss.io_bitmap[port / 8] &= (u8)~bit;
}

/* The rule: IOPL, then two bitmap bytes, both within the limit, all bits of the access clear. */
static bool allowed(u32 iopl, u32 limit, u32 base, u32 port, u32 width)
{
	u32 at = base + port / 8;
	u32 bits;

	if (iopl >= 3)
		return true;
	if (at + 1 > limit)
		return false;
	bits = ((u8 *)&tss)[at] | (u32)((u8 *)&tss)[at + 1] << 8;
	return !(bits >> (port & 7) & ((1u << width) - 1));
}

static void check(const struct access *a, u32 port, u32 iopl, u32 limit)
{
	struct trap_frame frame = frame_user(a->code, a->end);
	u64 start = frame.rip + a->offset;
	bool ok = allowed(iopl, limit, tss.io_bitmap_base, port, a->width);

	frame.rflags |= (u64)iopl << 12;
	frame.rdx = port;
	frame.rax = 0x11223344;
	frame.rsi = frame.rdi = BUFFER;
	run_frame(&frame);
	if (!expect_equal(frame.vector, ok ? VECTOR_DONE : GP, "%s port %x IOPL %u limit %x",
		    a->name, port, iopl, limit) ||
		ok)
		return;
	expect_equal(frame.error, 0, "%s port %x: error code", a->name, port);
	expect_equal(frame.rip, start, "%s port %x: RIP", a->name, port);
	expect_equal(frame.rax, 0x11223344, "%s port %x: RAX", a->name, port);
	expect_equal(frame.rdi, BUFFER, "%s port %x: RDI", a->name, port);
}

/*
 * Harmless ports: DMA page register, 8259 mask, POST, nobody's, IOAPIC-less test area, straddling a
 * byte.
 */
static const u16 ports[] = { 0x80, 0x87, 0x21, 0x1234, 0x1237, 0xcfc, 0xe0, 0x5fe };

static void all_accesses(u32 port, u32 iopl, u32 limit)
{
	for (u32 i = 0; i < ARRAY_SIZE(accesses); i++)
		check(&accesses[i], port, iopl, limit);
}

static void set_up(u32 limit, u8 fill)
{
	tss.io_bitmap_base = TSS_FIXED_SIZE;
	memset(tss.io_bitmap, fill, sizeof(tss.io_bitmap));
	tss.io_bitmap[sizeof(tss.io_bitmap) - 1] = 0xff;
	segments_load_tss(limit);
}

CASE("IO-BITMAP", "TASK", "iopl", io_iopl)
{
	set_up(ALL_PORTS_LIMIT, 0xff);
	for (u32 iopl = 0; iopl <= 3; iopl++)
		for (u32 i = 0; i < ARRAY_SIZE(ports); i++)
			all_accesses(ports[i], iopl, ALL_PORTS_LIMIT);
}

CASE("IO-BITMAP", "TASK", "each-bit", io_bits)
{
	/*
	 * Every pattern of the four bits from the port on, so that each width meets each straddle.
	 */
	for (u32 i = 0; i < ARRAY_SIZE(ports); i++) {
		set_up(ALL_PORTS_LIMIT, 0xff);
		for (u32 pattern = 0; pattern < 16; pattern++) {
			for (u32 bit = 0; bit < 4; bit++)
				bitmap_set(ports[i] + bit, pattern >> bit & 1);
			all_accesses(ports[i], 0, ALL_PORTS_LIMIT);
		}
	}
}

CASE("IO-BITMAP", "TASK", "limit", io_limit)
{
	/* The byte behind the one tested counts too: the limit must cover both. */
	for (u32 i = 0; i < ARRAY_SIZE(ports); i++) {
		u32 at = TSS_FIXED_SIZE + ports[i] / 8u;

		for (u32 limit = at - 1; limit <= at + 2; limit++) {
			set_up(limit, 0);
			all_accesses(ports[i], 0, limit);
		}
	}
	set_up(TSS_FIXED_SIZE - 1, 0); /* what a VM exit leaves of the host's */
	all_accesses(0x80, 0, TSS_FIXED_SIZE - 1);
}

CASE("IO-BITMAP", "TASK", "base", io_base)
{
	set_up(ALL_PORTS_LIMIT, 0);
	tss.io_bitmap_base = 0xffff; /* beyond any limit: no bitmap */
	all_accesses(0x80, 0, ALL_PORTS_LIMIT);
	tss.io_bitmap_base = ALL_PORTS_LIMIT; /* one byte only */
	all_accesses(0, 0, ALL_PORTS_LIMIT);
}

CASE("IO-BITMAP", "TASK", "last-port", io_last_port)
{
	set_up(ALL_PORTS_LIMIT, 0);
	check(&accesses[0], 0xffff, 0, ALL_PORTS_LIMIT);
	check(&accesses[1], 0xffff, 0, ALL_PORTS_LIMIT); /* the terminator denies it */
	check(&accesses[2], 0xfffd, 0, ALL_PORTS_LIMIT);
	check(&accesses[2], 0xfffc, 0, ALL_PORTS_LIMIT);
	check(&accesses[1], 0xfffe, 0, ALL_PORTS_LIMIT);
}

CASE("IO-BITMAP", "TASK", "after-exits", io_after_exits)
{
	/* An exit must not cost the guest its own TR limit. */
	set_up(ALL_PORTS_LIMIT, 0xff);
	bitmap_set(0x1234, false);
	for (u32 i = 0; i < 100; i++) {
		cpuid(0, 0);
		check(&accesses[0], 0x1234, 0, ALL_PORTS_LIMIT);
		check(&accesses[0], 0x1235, 0, ALL_PORTS_LIMIT);
	}
}
