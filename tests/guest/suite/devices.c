// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area DEV: UART, 8259 pair, PCI host bridge, keyboard controller, CMOS as guests' drivers probe
 * them.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/string.h"

#define COM1	 0x3f8
#define COM_DATA COM1
#define COM_IER	 (COM1 + 1)
#define COM_IIR	 (COM1 + 2)
#define COM_LCR	 (COM1 + 3)
#define COM_MCR	 (COM1 + 4)
#define COM_LSR	 (COM1 + 5)
#define COM_MSR	 (COM1 + 6)
#define COM_SCR	 (COM1 + 7)
#define IER_RX	 1
#define IER_THRE 2
#define IIR_NONE 1
#define IIR_THRE 2
#define IIR_RX	 4
#define IIR_ID	 0x0f
#define LSR_DR	 1
#define LSR_OE	 2
#define LSR_THRE 0x20
#define LSR_TEMT 0x40
#define MCR_LOOP 0x10
#define MCR_OUT2 8
#define IRQ_COM1 4

static bool lsr_becomes(u32 bits)
{
	for (u64 start = rdtsc(); rdtsc() - start < WAIT_LONG;)
		if ((inb(COM_LSR) & bits) == bits)
			return true;
	return false;
}

static void uart_quiet(void)
{
	lsr_becomes(LSR_TEMT | LSR_THRE);
	outb(COM_IER, 0);
	outb(COM_LCR, 3);
	outb(COM_MCR, 3);
	outb(COM_IIR, 0);
	while (inb(COM_LSR) & LSR_DR)
		inb(COM_DATA);
	inb(COM_IIR);
}

CASE("BUG-46", "DEV", "uart-registers", uart_registers)
{
	uart_quiet();
	for (u32 value = 0; value < 256; value += 15) {
		outb(COM_SCR, (u8)value);
		expect_equal(inb(COM_SCR), value, "scratch register");
	}
	outb(COM_LCR, 0x83);
	outb(COM_DATA, 0x34);
	outb(COM_IER, 0x12);
	expect_equal(inb(COM_DATA), 0x34, "divisor, low");
	expect_equal(inb(COM_IER), 0x12, "divisor, high");
	outb(COM_DATA, 1);
	outb(COM_IER, 0);
	outb(COM_LCR, 3);
	expect_equal(inb(COM_LCR), 3, "LCR");
	expect_equal(inb(COM_IER), 0, "IER is apart from the divisor");
	outb(COM_IER, 0xff);
	expect_equal(inb(COM_IER), 0x0f, "IER: upper half reads 0");
	outb(COM_IER, 0);
	outb(COM_IIR, 1);
	expect_equal(inb(COM_IIR) & 0xc0, 0xc0, "IIR: FIFOs on");
	outb(COM_IIR, 0);
	expect_equal(inb(COM_IIR) & 0xc0, 0, "IIR: FIFOs off");
	expect_equal(inb(COM_LSR) & (LSR_THRE | LSR_TEMT), LSR_THRE | LSR_TEMT, "LSR when idle");
}

CASE("BUG-46", "DEV", "uart-loopback", uart_loopback)
{
	uart_quiet();
	outb(COM_MCR, MCR_LOOP | 0x0f);
	expect_equal(inb(COM_MSR) & 0xf0, 0xf0, "MSR mirrors MCR in loopback");
	outb(COM_MCR, MCR_LOOP | 0x05); /* DTR, OUT1 */
	expect_equal(inb(COM_MSR) & 0xf0, 0x60, "MSR: DSR and RI");
	inb(COM_MSR);
	expect_equal(inb(COM_MSR) & 0x0f, 0, "deltas clear by reading");
	for (u32 i = 0; i < 3; i++) {
		outb(COM_DATA, (u8)(0xa0 + i));
		if (!expect(lsr_becomes(LSR_DR), "byte %u comes back", i))
			break;
		expect_equal(inb(COM_DATA), 0xa0 + i, "byte");
		expect_equal(inb(COM_LSR) & LSR_DR, 0, "DR clears by reading");
	}
	uart_quiet();
}

CASE("BUG-46", "DEV", "uart-thre-interrupt", uart_thre)
{
	uart_quiet();
	outb(COM_MCR, MCR_LOOP | MCR_OUT2);
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_NONE, "IIR when nothing is enabled");
	outb(COM_IER, IER_THRE);
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_THRE, "THRE when enabled with THR empty");
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_NONE, "reading IIR clears it");
	outb(COM_DATA, 'x');
	lsr_becomes(LSR_TEMT | LSR_THRE);
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_THRE, "THRE after a byte drained");
	lsr_becomes(LSR_DR);
	outb(COM_IER, IER_THRE | IER_RX);
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_RX, "received data has priority");
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_RX, "and stays until read");
	inb(COM_DATA);
	expect(inb(COM_IIR) != IIR_RX, "gone after the read");
	outb(COM_IER, 0);
	outb(COM_IER, IER_THRE);
	expect_equal(inb(COM_IIR) & IIR_ID, IIR_THRE, "THRE again on enable 0 to 1");
	uart_quiet();
}

static u32 uart_interrupts;

static bool uart_interrupt(struct trap_frame *frame)
{
	(void)frame;
	inb(COM_IIR);
	uart_interrupts++;
	pic_eoi(IRQ_COM1);
	return true;
}

CASE("BUG-46", "DEV", "uart-irq", uart_irq)
{
	uart_quiet();
	trap_handle(IRQ_BASE + IRQ_COM1, uart_interrupt);
	lapic_write(LAPIC_LVT_LINT0, LVT_EXTINT);
	pic_unmask(IRQ_COM1);
	outb(COM_MCR, 3 | MCR_OUT2);
	uart_interrupts = 0;
	sti();
	outb(COM_IER, IER_THRE);
	wait_counter(&trap_counts[IRQ_BASE + IRQ_COM1], 1, WAIT_LONG);
	expect_equal(uart_interrupts, 1, "interrupts after enabling THRE");
	for (u32 i = 2; i <= 20; i++) {
		outb(COM_DATA, '.');
		if (!expect(wait_counter(&trap_counts[IRQ_BASE + IRQ_COM1], i, WAIT_LONG),
			    "interrupt %u", i))
			break;
	}
	outb(COM_DATA, '\r');
	wait_counter(&trap_counts[IRQ_BASE + IRQ_COM1], 21, WAIT_LONG);
	outb(COM_DATA, '\n');
	wait_counter(&trap_counts[IRQ_BASE + IRQ_COM1], 22, WAIT_LONG);
	outb(COM_IER, 0);
	cli();
	pic_mask_all();
	uart_quiet();
}

CASE("BUG-46", "DEV", "uart-fifo", uart_fifo)
{
	uart_quiet();
	outb(COM_IIR, 0x07); /* FIFOs on and cleared, trigger at 1 */
	outb(COM_MCR, MCR_LOOP);
	for (u32 i = 0; i < 16; i++) {
		lsr_becomes(LSR_THRE);
		outb(COM_DATA, (u8)(0x40 + i));
	}
	lsr_becomes(LSR_TEMT);
	for (u32 i = 0; i < 16; i++) {
		if (!expect(lsr_becomes(LSR_DR), "byte %u is in the FIFO", i))
			break;
		expect_equal(inb(COM_DATA), 0x40 + i, "byte %u", i);
	}
	expect_equal(inb(COM_LSR) & (LSR_DR | LSR_OE), 0, "empty, no overrun");
	uart_quiet();
}

CASE("PIC-01", "DEV", "pic-masks", pic_masks)
{
	for (u32 value = 0; value < 256; value += 17) {
		outb(0x21, (u8)value);
		outb(0xa1, (u8)~value);
		expect_equal(inb(0x21), value, "master mask");
		expect_equal(inb(0xa1), (u8)~value, "slave mask");
	}
	pic_mask_all();
	outb(0x20, 0x0a); /* read IRR */
	inb(0x20);
	outb(0x20, 0x0b); /* read ISR */
	expect_equal(inb(0x20), 0, "nothing in service");
}

CASE("PIC-01", "DEV", "pic-irr-isr", pic_irr)
{
	pit_start(0, 100); /* one edge on line 0, masked */
	for (u64 start = rdtsc(); rdtsc() - start < WAIT_LONG;) {
		outb(0x20, 0x0a);
		if (inb(0x20) & 1)
			return;
	}
	case_fail("IRR bit 0 does not follow the PIT");
}

static u32 pci_read(u32 device, u32 offset)
{
	outl(0xcf8, 0x80000000 | device << 11 | offset);
	return inl(0xcfc);
}

CASE("PCI-01", "DEV", "pci-config", pci_config)
{
	u32 bridges = 0;

	outl(0xcf8, 0x80001234 & ~3u);
	expect_equal(inl(0xcf8), 0x80001234 & ~3u, "address register reads back");
	for (u32 device = 0; device < 32; device++) {
		u32 id = pci_read(device, 0);

		if (id == 0xffffffff)
			expect_equal(pci_read(device, 8), 0xffffffff, "absent device %u", device);
		else if (pci_read(device, 8) >> 16 == 0x0600)
			bridges++;
	}
	expect(bridges >= 1, "a host bridge (class 0600)");
	outl(0xcf8, 0x80000000);
	expect_equal(inw(0xcfc), pci_read(0, 0) & 0xffff, "16-bit read of the vendor");
	expect_equal(inw(0xcfe), pci_read(0, 0) >> 16, "16-bit read at offset 2");
	expect_equal(inb(0xcfd), pci_read(0, 0) >> 8 & 0xff, "byte read at offset 1");
	outl(0xcf8, 0);
	expect_equal(inl(0xcfc), 0xffffffff, "data without the enable bit");
}

CASE("KBD-01", "DEV", "keyboard-self-test", keyboard)
{
	u64 start;

	if (inb(0x64) == 0xff)
		case_skip("no keyboard controller");
	for (start = rdtsc(); (inb(0x64) & 1) && rdtsc() - start < WAIT_LONG;)
		inb(0x60);
	outb(0x64, 0xaa);
	for (start = rdtsc(); !(inb(0x64) & 1) && rdtsc() - start < WAIT_LONG;)
		;
	expect_equal(inb(0x60), 0x55, "self test");
	expect_equal(inb(0x64) & 2, 0, "input buffer empty");
}
