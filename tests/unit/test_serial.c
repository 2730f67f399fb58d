// SPDX-License-Identifier: BSD-2-Clause
// The host's console against a model of a 16550 (PC16550D data sheet): 16-byte FIFOs, a byte takes
// its time, the transmitter's interrupt is raised when its FIFO runs empty.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "hv/cpu/irq.h"
#include "hv/cpu/serial.h"

#define PORT	  0x3f8
#define FIFO_SIZE 16
#define WIRE_MAX  (1u << 18)
#define RING	  32768u

static struct {
	bool present;
	bool stuck;  /* the transmitter never empties */
	bool babble; /* the receiver always has data */
	u8 ier, lcr, mcr, fcr, scratch, divisor_low, divisor_high;
	u8 fifo[FIFO_SIZE], typed[64];
	u32 fifo_count, typed_count, typed_next;
	bool empty_pending;
	u32 accesses, byte_time, clock;
	u8 wire[WIRE_MAX];
	u32 wire_count;
} model;
static irq_handler *handler;

void irq_set_handler(u32 vector, irq_handler *function)
{
	assert_int_equal(vector, IRQ_VECTOR_SERIAL);
	handler = function;
}

/* Each access to a port passes a little time; after byte_time of it a byte is on the wire. */
static void pass_time(void)
{
	model.accesses++;
	if (!model.fifo_count || model.stuck || ++model.clock < model.byte_time)
		return;
	model.clock = 0;
	assert_true(model.wire_count < WIRE_MAX);
	model.wire[model.wire_count++] = model.fifo[0];
	memmove(model.fifo, model.fifo + 1, --model.fifo_count);
	model.empty_pending = model.fifo_count == 0;
}

static u8 line_status(void)
{
	return (model.typed_next < model.typed_count || model.babble ? 0x01 : 0) |
	       (model.fifo_count || model.stuck ? 0 : 0x60);
}

static u8 interrupt_identification(void)
{
	if ((model.ier & 1) && (line_status() & 1))
		return 0xc4;
	if ((model.ier & 2) && model.empty_pending) {
		model.empty_pending = false;
		return 0xc2;
	}
	return 0xc1;
}

static u32 port_read(struct fake_cpu *cpu, u16 port, u32 size)
{
	(void)cpu;
	assert_int_equal(size, 1);
	assert_in_range(port, PORT, PORT + 7);
	pass_time();
	if (!model.present)
		return 0xff;
	switch (port - PORT) {
	case 0:
		if (model.babble)
			return 'b';
		return model.typed_next < model.typed_count ? model.typed[model.typed_next++] : 0;
	case 2:
		return interrupt_identification();
	case 5:
		return line_status();
	case 7:
		return model.scratch;
	default:
		return 0;
	}
}

static void port_write(struct fake_cpu *cpu, u16 port, u32 size, u32 value)
{
	(void)cpu;
	assert_int_equal(size, 1);
	assert_in_range(port, PORT, PORT + 7);
	pass_time();
	switch (port - PORT) {
	case 0:
		if (model.lcr & 0x80) {
			model.divisor_low = value;
			break;
		}
		/* A byte into a full FIFO is lost (data sheet, 8.5). */
		assert_true(model.fifo_count < FIFO_SIZE);
		model.fifo[model.fifo_count++] = value;
		model.empty_pending = false;
		break;
	case 1:
		if (model.lcr & 0x80) {
			model.divisor_high = value;
			break;
		}
		/* Enabling the interrupt with the transmitter empty raises it. */
		if (!(model.ier & 2) && (value & 2) && !model.fifo_count)
			model.empty_pending = true;
		model.ier = value;
		break;
	case 2:
		model.fcr = value;
		break;
	case 3:
		model.lcr = value;
		break;
	case 4:
		model.mcr = value;
		break;
	case 7:
		model.scratch = value;
		break;
	}
}

static int begin(void **state)
{
	(void)state;
	fake_cpu_reset();
	fake_cpu->port_read = port_read;
	fake_cpu->port_write = port_write;
	memset(&model, 0, sizeof(model));
	model.present = true;
	model.byte_time = 3;
	handler = NULL;
	console_init(PORT, 115200);
	return 0;
}

/* Interrupts are taken while the line is up, as the idling host does. */
static void take_interrupts(void)
{
	for (u32 i = 0; i < 100000; i++) {
		u32 before = model.accesses;

		pass_time();
		if (((model.ier & 2) && model.empty_pending) ||
			((model.ier & 1) && (line_status() & 1)))
			handler();
		if (!model.fifo_count && model.accesses == before + 1)
			return;
	}
	fail_msg("the interrupt never ends");
}

static void write_text(const char *text)
{
	console_write(text, strlen(text));
}

static void set_up(void **state)
{
	(void)state;
	assert_int_equal(model.divisor_low | model.divisor_high << 8, 1);
	assert_int_equal(model.lcr, 0x03);
	assert_int_equal(model.fcr & 1, 1);
	assert_int_equal(model.mcr & 0x0b, 0x0b);
	console_init(PORT, 9600);
	assert_int_equal(model.divisor_low | model.divisor_high << 8, 12);
	console_init(PORT, 0); /* must not divide by it */
}

static void polled_before_interrupts(void **state)
{
	(void)state;
	write_text("torpor: first line\r\n");
	assert_int_equal(model.ier, 0);
	console_flush();
	assert_memory_equal(model.wire, "torpor: first line\r\n", 20);
	assert_int_equal(model.wire_count, 20);
}

static void bytes_leave_in_order(void **state)
{
	u32 sent = 0;

	(void)state;
	console_use_interrupts();
	for (u32 round = 0; round < 300; round++) {
		for (u32 i = 0; i < round % 50; i++)
			assert_true(console_putc((u8)sent++));
		take_interrupts();
	}
	console_flush();
	assert_int_equal(model.wire_count, sent);
	for (u32 i = 0; i < sent; i++)
		assert_int_equal(model.wire[i], (u8)i);
}

/* One interrupt moves a whole FIFO: that is what makes output cheap. */
static void few_accesses_a_byte(void **state)
{
	u32 accesses;

	(void)state;
	console_use_interrupts();
	for (u32 i = 0; i < 1600; i++)
		assert_true(console_putc('x'));
	model.byte_time = 0;
	accesses = model.accesses;
	for (u32 i = 0; i < 200 && (model.ier & 2); i++) {
		model.wire_count += model.fifo_count;
		model.fifo_count = 0;
		model.empty_pending = true;
		model.byte_time = 1000;
		handler();
	}
	assert_in_range(model.accesses - accesses, 1600, 1600 * 3 / 2);
}

static void a_full_ring_says_so(void **state)
{
	u32 sent = 0;

	(void)state;
	console_use_interrupts();
	model.stuck = true;
	while (console_putc((u8)sent))
		assert_true(++sent <= RING + FIFO_SIZE);
	assert_true(sent >= RING);
	assert_false(console_has_room());
	model.stuck = false;
	take_interrupts();
	console_flush();
	assert_true(console_has_room());
	assert_int_equal(model.wire_count, sent);
	for (u32 i = 0; i < sent; i++)
		assert_int_equal(model.wire[i], (u8)i);
}

/* The log waits for room rather than lose a line. */
static void log_lines_are_not_lost(void **state)
{
	(void)state;
	console_use_interrupts();
	for (u32 i = 0; i < RING / 8; i++)
		write_text("0123456789\r\n");
	console_flush();
	assert_int_equal(model.wire_count, RING / 8 * 12);
}

static void a_dead_transmitter_holds_nobody(void **state)
{
	u32 accesses;

	(void)state;
	model.stuck = true;
	write_text("x"); /* the one wait */
	accesses = model.accesses;
	for (u32 i = 0; i < 1000; i++)
		write_text("swallowed\r\n");
	console_flush();
	assert_true(console_putc('x'));
	assert_true(model.accesses - accesses < 100);
}

static void no_uart_there(void **state)
{
	(void)state;
	model.present = false;
	console_init(PORT, 115200);
	console_use_interrupts();
	assert_null(handler);
	write_text("nothing");
	console_flush();
	assert_true(console_putc('x'));
	assert_int_equal(console_getc(), -1);
	assert_int_equal(model.wire_count, 0);
	console_init(0, 115200);
	write_text("nothing");
	assert_true(console_putc('x'));
}

static void typed_bytes_arrive(void **state)
{
	(void)state;
	console_use_interrupts();
	assert_int_equal(console_getc(), -1);
	memcpy(model.typed, "date\n", 5);
	model.typed_count = 5;
	handler();
	assert_int_equal(console_peek(), 'd');
	assert_int_equal(console_peek(), 'd');
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(console_getc(), "date\n"[i]);
	assert_int_equal(console_getc(), -1);
	assert_int_equal(console_peek(), -1);
}

/* Typed while the host sends: neither direction loses a byte. */
static void both_directions(void **state)
{
	(void)state;
	console_use_interrupts();
	for (u32 i = 0; i < 100; i++)
		assert_true(console_putc('o'));
	memcpy(model.typed, "abc", 3);
	model.typed_count = 3;
	take_interrupts();
	console_flush();
	assert_int_equal(model.wire_count, 100);
	assert_int_equal(console_getc(), 'a');
	assert_int_equal(console_getc(), 'b');
	assert_int_equal(console_getc(), 'c');
}

/* A UART that always claims data, as a floating bus may: the handler returns. */
static void babble_ends(void **state)
{
	u32 count = 0;

	(void)state;
	console_use_interrupts();
	model.babble = true;
	handler();
	assert_true(model.accesses < 100000);
	while (console_getc() == 'b')
		count++;
	assert_in_range(count, 1, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(set_up, begin),
		cmocka_unit_test_setup(polled_before_interrupts, begin),
		cmocka_unit_test_setup(bytes_leave_in_order, begin),
		cmocka_unit_test_setup(few_accesses_a_byte, begin),
		cmocka_unit_test_setup(a_full_ring_says_so, begin),
		cmocka_unit_test_setup(log_lines_are_not_lost, begin),
		cmocka_unit_test_setup(a_dead_transmitter_holds_nobody, begin),
		cmocka_unit_test_setup(no_uart_there, begin),
		cmocka_unit_test_setup(typed_bytes_arrive, begin),
		cmocka_unit_test_setup(both_directions, begin),
		cmocka_unit_test_setup(babble_ends, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
