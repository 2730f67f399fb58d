// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area DEV, port instructions: IN/OUT merging and INS/OUTS in all forms over a scratch port that
 * reads back what was written: the test device's latch, else the UART's scratch register (bytes)
 * and PCI's address register (dwords).
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/string.h"

#define UART_SCRATCH 0x3ff
#define PCI_ADDRESS  0xcf8
#define LATCH	     0xe0
#define WINDOW	     0x500000000000ull
#define COUNT	     5

/* 0 if no scratch port of this width is there. */
static u16 scratch_port(u32 width)
{
	if (have_test_device())
		return LATCH;
	return width == 1 ? UART_SCRATCH : width == 4 ? PCI_ADDRESS : 0;
}

static u32 port_read(u32 width, u16 port)
{
	return width == 1 ? inb(port) : width == 2 ? inw(port) : inl(port);
}

static void port_write(u32 width, u16 port, u32 value)
{
	if (width == 1)
		outb(port, (u8)value);
	else if (width == 2)
		outw(port, (u16)value);
	else
		outl(port, value);
}

SNIPPET(in_al, "inb %dx, %al\n");
SNIPPET(in_ax, "inw %dx, %ax\n");
SNIPPET(in_eax, "inl %dx, %eax\n");

CASE("BUG-26", "DEV", "in-merges", ports_in)
{
	static const struct {
		const u8 *code;
		u32 width;
		u64 keep;
	} table[] = { { in_al, 1, ~0xffull }, { in_ax, 2, ~0xffffull }, { in_eax, 4, 0 } };

	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct trap_frame frame = frame_kernel(table[i].code);
		u16 port = scratch_port(table[i].width);
		u64 mask = table[i].width == 4 ? 0xffffffff : ~table[i].keep;

		if (!port)
			continue;
		port_write(table[i].width, port, 0x80123454);
		frame.rdx = 0xffffffffffff0000 | port;
		frame.rax = 0x1122334455667788;
		run_frame(&frame);
		expect_equal(frame.rax, (0x1122334455667788 & table[i].keep) | (0x80123454 & mask),
			"IN of %u bytes", table[i].width);
	}
	outl(PCI_ADDRESS, 0);
}

/* One form of a string instruction: prefixes and direction. */
struct form {
	bool input, rep, down;
	u32 width;
	u32 address_size; /* 32 or 64 */
	bool override;	  /* FS, with base 0x10: OUTS only */
};

static u8 code[16];

static void emit(const struct form *f)
{
	u8 *at = code;

	if (f->address_size == 32)
		*at++ = 0x67;
	if (f->override)
		*at++ = 0x64;
	if (f->rep)
		*at++ = 0xf3;
	if (f->width == 2)
		*at++ = 0x66;
	*at++ = (u8)((f->input ? 0x6c : 0x6e) | (f->width > 1));
	*at++ = 0xcd;
	*at = VECTOR_DONE;
}

static u8 buffer[256] __aligned(64);

static u32 element(const u8 *at, u32 width)
{
	u32 value = 0;

	memcpy(&value, at, width);
	return value;
}

static void check_form(const struct form *f)
{
	struct trap_frame frame = frame_kernel(code);
	u16 port = scratch_port(f->width);
	u32 count = f->rep ? COUNT : 1, step = f->width;
	u64 start = (u64)buffer + 128, upper = f->address_size == 32 ? 0xabcd000000000000 : 0;
	u64 index, last;

	if (!port)
		return;
	emit(f);
	for (u32 i = 0; i < sizeof(buffer); i++)
		buffer[i] = (u8)(i * 7 + 3);
	port_write(step, port, 0x80c3a55c);
	frame.rdx = port;
	frame.rcx = upper | count;
	frame.rflags |= f->down ? RFLAGS_DF : 0;
	index = upper | (start - (f->override ? 0x10 : 0));
	*(f->input ? &frame.rdi : &frame.rsi) = index;
	*(f->input ? &frame.rsi : &frame.rdi) = 0x7777;
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end (input %d width %u)", f->input, step);
	last = (f->down ? index - (u64)step * count : index + (u64)step * count);
	if (f->address_size == 32)
		last = (u32)last; /* a 32-bit result zero-extends */
	expect_equal(f->input ? frame.rdi : frame.rsi, last,
		"index (in %d w %u as %u rep %d df %d)", f->input, step, f->address_size, f->rep,
		f->down);
	expect_equal(f->input ? frame.rsi : frame.rdi, 0x7777, "the other index");
	if (f->rep)
		expect_equal(
			f->address_size == 32 ? (u32)frame.rcx : frame.rcx, 0, "RCX after REP");
	else
		expect_equal(frame.rcx, upper | 1, "RCX without REP");
	for (u32 i = 0; i < count; i++) {
		u8 *at = f->down ? buffer + 128 - i * step : buffer + 128 + i * step;

		if (f->input)
			expect_equal(element(at, step),
				0x80c3a55c & (step == 4 ? ~0u : (1u << 8 * step) - 1),
				"element %u (w %u)", i, step);
		else if (i == count - 1 && port != PCI_ADDRESS)
			expect_equal(
				port_read(step, port), element(at, step), "port holds the last");
	}
	if (f->input)
		expect_equal(buffer[128 + (f->down ? step : count * step)],
			(u8)((128 + (f->down ? step : count * step)) * 7 + 3),
			"byte behind the buffer");
}

CASE("BUG-26", "DEV", "string-forms", ports_strings)
{
	static const u32 widths[] = { 1, 2, 4 };
	u64 fs = rdmsr(MSR_FS_BASE);

	wrmsr(MSR_FS_BASE, 0x10);
	for (u32 bits = 0; bits < 32; bits++)
		for (u32 w = 0; w < ARRAY_SIZE(widths); w++) {
			struct form f = { .input = bits & 1,
				.rep = bits & 2,
				.down = bits & 4,
				.width = widths[w],
				.address_size = bits & 8 ? 32 : 64,
				.override = bits & 16 };

			if (!(f.input && f.override)) /* INS ignores overrides */
				check_form(&f);
		}
	wrmsr(MSR_FS_BASE, fs);
	outl(PCI_ADDRESS, 0);
}

CASE("BUG-26", "DEV", "rep-count-0", ports_rep_zero)
{
	struct form f = { .input = true, .rep = true, .width = 1, .address_size = 64 };
	struct trap_frame frame = frame_kernel(code);

	emit(&f);
	frame.rdx = scratch_port(1);
	frame.rdi = WINDOW; /* not mapped: nothing may be touched */
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "REP INSB with RCX=0");
	expect_equal(frame.rdi, WINDOW, "RDI");
}

/* The buffer runs into a page that is not there: what came before is done, the rest is not. */
static void check_page_end(bool input, u32 width)
{
	static u8 page[PAGE_SIZE] __aligned(4096);
	struct form f = { .input = input, .rep = true, .width = width, .address_size = 64 };
	struct trap_frame frame = frame_kernel(code);
	u16 port = scratch_port(width);
	u64 start = WINDOW + PAGE_SIZE - 3 * width;

	if (!port)
		return;
	memset(page, 0, sizeof(page));
	port_write(width, port, 0x80c3a55c);
	paging_map(WINDOW, (u64)page, PTE_P | PTE_W);
	paging_map(WINDOW + PAGE_SIZE, 0, 0);
	emit(&f);
	frame.rdx = port;
	frame.rcx = COUNT;
	frame.rdi = frame.rsi = start;
	run_frame(&frame);
	expect_equal(frame.vector, PF, "in %d w %u: at the page's end", input, width);
	expect_equal(last_fault.cr2, WINDOW + PAGE_SIZE, "in %d w %u: CR2", input, width);
	expect_equal(frame.error, input ? PF_W : 0, "in %d w %u: error code", input, width);
	expect_equal(frame.rip, (u64)code, "RIP at the instruction");
	expect_equal(frame.rcx, COUNT - 3, "in %d w %u: RCX", input, width);
	expect_equal(input ? frame.rdi : frame.rsi, WINDOW + PAGE_SIZE, "in %d w %u: index", input,
		width);
	if (input)
		expect_equal(page[PAGE_SIZE - width], 0x5c, "last element");
}

CASE("BUG-26", "DEV", "string-page-end", ports_page_end)
{
	for (u32 width = 1; width <= 4; width *= 2) {
		check_page_end(true, width);
		check_page_end(false, width);
	}
	outl(PCI_ADDRESS, 0);
}

CASE("BUG-26", "DEV", "ins-read-only-page", ports_read_only)
{
	static u8 page[PAGE_SIZE] __aligned(4096);
	struct form f = { .input = true, .width = 1, .address_size = 64 };
	struct trap_frame frame = frame_kernel(code);

	emit(&f);
	paging_map(WINDOW, (u64)page, PTE_P);
	frame.rdx = scratch_port(1);
	frame.rdi = WINDOW;
	run_frame(&frame);
	expect_equal(frame.vector, PF, "INSB to a read-only page");
	expect_equal(frame.error, PF_P | PF_W, "error code");
	frame = frame_kernel(code);
	frame.rdx = scratch_port(1);
	frame.rdi = 0x0000800000000000;
	run_frame(&frame);
	expect_equal(frame.vector, GP, "INSB to a non-canonical address");
	expect_equal(frame.rip, (u64)code, "RIP");
}

CASE("BUG-26", "DEV", "unclaimed-ports", ports_unclaimed)
{
	static const u16 nobody[] = { 0x1234, 0x5000, 0xfff0 };

	for (u32 i = 0; i < ARRAY_SIZE(nobody); i++) {
		outl(nobody[i], 0x12345678);
		expect_equal(inb(nobody[i]), 0xff, "IN byte of port %x", nobody[i]);
		expect_equal(inw(nobody[i]), 0xffff, "IN word of port %x", nobody[i]);
		expect_equal(inl(nobody[i]), 0xffffffff, "IN dword of port %x", nobody[i]);
	}
	inl(0xffff); /* beyond the last port: whatever comes, it comes back */
	outl(0xfffe, 0);
}
