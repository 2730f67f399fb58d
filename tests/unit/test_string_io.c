// SPDX-License-Identifier: BSD-2-Clause
/*
 * INS and OUTS against a model that moves one element at a time (BUG-26): width, REP, direction,
 * address size, mode, how the processor describes the instruction, and where the buffer lies, all
 * combinations. Ports are the test device's latch.
 */
#include "emulation_fixture.h"

#include "vmx/string_io.h"

#define FLAG_DF	   BIT(10)
#define IO_IN	   BIT(3)
#define IO_STRING  BIT(4)
#define IO_REPEAT  BIT(5)
#define SEGMENT_ES 0
#define SEGMENT_DS 3
#define SEGMENT_FS 4

struct combination {
	bool in, rep, down, described;
	u32 size, address_size;
	u64 count;
	u32 segment; /* of OUTS */
	bool at_end; /* the buffer reaches a page that is not there */
};

static u32 latch_value;

static void set_latch(u32 value)
{
	latch_value = value;
	platform_io_write(vm.platform, PORT_TEST_LATCH, 4, value);
}

static u64 size_bits(u32 size)
{
	return size == 8 ? ~0ull : BIT(8 * size) - 1;
}

/* 64-bit code for address sizes 4 and 8; 16-bit segments for 2. The prefixes as they would be. */
static void prepare(const struct combination *c)
{
	u8 code[8];
	u32 n = 0;

	fixture_begin();
	vmx_machine.capabilities.basic = c->described ? VMX_BASIC_INS_OUTS_INFO : 0;
	if (c->rep)
		code[n++] = 0xf3;
	if (c->segment == SEGMENT_FS)
		code[n++] = 0x64;
	if (c->size == 2 && c->address_size != 2)
		code[n++] = 0x66;
	if (c->size == 4 && c->address_size == 2)
		code[n++] = 0x66;
	if (c->address_size == 4)
		code[n++] = 0x67;
	code[n++] = (c->in ? 0x6c : 0x6e) | (c->size != 1);
	fixture_code(code, n);
	if (c->address_size == 2) {
		fake_vmcs_put(VMCS_GUEST_CR0, 0x10);
		fake_vmcs_put(VMCS_ENTRY_CONTROLS, 0);
		fake_vmcs_put(VMCS_GUEST_EFER, 0);
		for (u32 s = 0; s < 6; s++)
			put_segment(VMCS_GUEST_ES_RIGHTS + 2 * s, DATA, 0xffff, 0x93);
		put_segment(VMCS_GUEST_CS_RIGHTS, CODE, 0xffff, 0x93);
		fake_vmcs_put(VMCS_GUEST_RIP, 0);
	}
	fake_vmcs_put(VMCS_GUEST_FS_BASE, c->address_size == 2 ? DATA + 0x100 : 0x100);
	fake_vmcs_put(VMCS_EXIT_INSTRUCTION_LENGTH, n);
	fake_vmcs_put(VMCS_EXIT_INSTRUCTION_INFO, (u64)(c->address_size == 2	 ? 0
							  : c->address_size == 4 ? 1
										 : 2)
								  << 7 |
							  (u64)c->segment << 15);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | (c->down ? FLAG_DF : 0));
}

static u64 qualification_of(const struct combination *c)
{
	return (c->size - 1) | (c->in ? IO_IN : 0) | IO_STRING | (c->rep ? IO_REPEAT : 0) |
	       (u64)PORT_TEST_LATCH << 16;
}

/* Host byte of an element's offset, as the instruction addresses it; NULL: not present. */
static u8 *byte_at(const struct combination *c, u64 offset)
{
	u64 address = c->address_size == 2 ? DATA + (u16)offset : offset;

	if (!c->in && c->segment == SEGMENT_FS)
		address += 0x100;
	return address < RAM_SIZE ? &ram[address] : NULL;
}

struct result {
	u64 index, count;
	u32 latch;
	bool fault;
};

/* The model: one element at a time on a copy. */
static struct result model(const struct combination *c, u64 index, u64 count, u8 *shadow)
{
	struct result r = { index, count, latch_value, false };
	u64 mask = size_bits(c->address_size);
	u64 left = c->rep ? count & mask : 1;

	for (; left; left--) {
		u64 offset = r.index & mask, step = c->down ? -(u64)c->size : c->size;

		for (u32 i = 0; i < c->size; i++)
			r.fault |= !byte_at(c, offset + i) ||
				   (c->address_size == 2 && (offset & 0xffff) + i > 0xffff);
		if (r.fault)
			break;
		if (!c->in)
			memcpy(&r.latch, shadow + (byte_at(c, offset) - ram), c->size);
		else
			memcpy(shadow + (byte_at(c, offset) - ram), &r.latch, c->size);
		if (c->address_size == 2)
			r.index = (r.index & ~mask) | ((r.index + step) & mask);
		else
			r.index = (r.index + step) & mask;
		if (!c->rep)
			continue;
		r.count = c->address_size == 2 ? (r.count & ~mask) | ((r.count - 1) & mask)
					       : (r.count - 1) & mask;
	}
	return r;
}

static u8 shadow[RAM_SIZE];

static void run_one(const struct combination *c)
{
	u64 junk = c->address_size == 2	  ? 0xabcd12340000
		   : c->address_size == 4 ? 0x1234ull << 32
					  : 0;
	u64 start = c->address_size == 2 ? (c->at_end ? 0xfff9 : 0x1000)
		    : c->at_end ? RAM_SIZE - 7 - (c->segment == SEGMENT_FS && !c->in ? 0x100 : 0)
				: DATA + 0x1000;
	u32 index_register = c->in ? RDI : RSI, length;
	struct result r;
	u64 rip;

	prepare(c);
	rip = fake_vmcs_get(VMCS_GUEST_RIP);
	length = fake_vmcs_get(VMCS_EXIT_INSTRUCTION_LENGTH);
	for (u32 i = 0; i < 0x3000; i++)
		ram[DATA + i] = random_u64();
	for (u32 i = 0; i < 0x200; i++)
		ram[RAM_SIZE - 0x200 + i] = random_u64();
	set_latch(random_u64());
	memcpy(shadow + DATA, ram + DATA, DATA_SIZE);
	memcpy(shadow + RAM_SIZE - PAGE_SIZE, ram + RAM_SIZE - PAGE_SIZE, PAGE_SIZE);
	vcpu.gpr[index_register] = junk | start;
	vcpu.gpr[RCX] = junk | c->count;
	vcpu.gpr[RAX] = 0x1122334455667788;
	r = model(c, vcpu.gpr[index_register], vcpu.gpr[RCX], shadow);

	for (u32 turns = 0; fake_vmcs_get(VMCS_GUEST_RIP) == rip && !vcpu.events.info; turns++) {
		assert_in_range(turns, 0, 50);
		assert_int_equal(emulate_string_io(&vcpu, qualification_of(c)), EXIT_RESUME);
	}
	assert_int_equal(!!vcpu.events.info, r.fault);
	if (r.fault) {
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), rip);
		assert_true(exception_queued(c->address_size == 2 ? VECTOR_GP : VECTOR_PF));
		if (c->address_size != 2)
			assert_int_equal(fake_cpu->cr2,
				MAX(RAM_SIZE,
					(r.index & size_bits(c->address_size)) +
						(c->segment == SEGMENT_FS && !c->in ? 0x100 : 0)));
	} else {
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), rip + length);
	}
	assert_int_equal(vcpu.gpr[index_register], r.index);
	assert_int_equal(vcpu.gpr[RCX], r.count);
	assert_int_equal(vcpu.gpr[RAX], 0x1122334455667788);
	if (!c->in)
		assert_int_equal(platform_io_read(vm.platform, PORT_TEST_LATCH, 4), r.latch);
	assert_memory_equal(ram + DATA, shadow + DATA, DATA_SIZE - PAGE_SIZE);
	assert_memory_equal(ram + RAM_SIZE - PAGE_SIZE, shadow + RAM_SIZE - PAGE_SIZE, PAGE_SIZE);
}

static void test_matrix(void **state)
{
	static const u32 sizes[] = { 1, 2, 4 }, address_sizes[] = { 2, 4, 8 };
	static const u64 counts[] = { 0, 1, 2, 5, 2500 };

	(void)state;
	for (u32 i = 0; i < 3 * 3 * 5 * 64; i++) {
		struct combination c = {
			.size = sizes[i % 3],
			.address_size = address_sizes[i / 3 % 3],
			.count = counts[i / 9 % 5],
			.in = i / 45 & 1,
			.rep = i / 45 & 2,
			.down = i / 45 & 4,
			.described = i / 45 & 8,
			.at_end = i / 45 & 16,
			.segment = i / 45 & 32 ? SEGMENT_FS : SEGMENT_DS,
		};

		/* With REP the long count is worth its time only away from the edge. */
		if (c.count == 2500 && (!c.rep || c.at_end || c.down))
			continue;
		run_one(&c);
	}
}

/* The segment of OUTS counts, INS has ES whatever the field says (SDM 2A INS). */
static void test_ins_ignores_override(void **state)
{
	struct combination c = {
		.in = true, .described = true, .size = 1, .address_size = 2, .segment = SEGMENT_FS
	};

	(void)state;
	prepare(&c);
	set_latch(0x77);
	vcpu.gpr[RDI] = 0x10;
	put_segment(VMCS_GUEST_ES_RIGHTS, DATA + 0x800, 0xffff, 0x93);
	emulate_string_io(&vcpu, qualification_of(&c));
	assert_int_equal(ram[DATA + 0x810], 0x77);
}

/* Faults come before the port is touched. */
static void test_fault_before_port(void **state)
{
	struct combination c = { .in = true, .described = true, .size = 4, .address_size = 8 };

	(void)state;
	prepare(&c);
	vcpu.gpr[RDI] = 0x0000800000000000;
	emulate_string_io(&vcpu, qualification_of(&c));
	assert_true(exception_queued(VECTOR_GP));
	c.in = false;
	prepare(&c);
	set_latch(0x1234);
	vcpu.gpr[RSI] = RAM_SIZE;
	emulate_string_io(&vcpu, qualification_of(&c));
	assert_true(exception_queued(VECTOR_PF));
	assert_int_equal(platform_io_read(vm.platform, PORT_TEST_LATCH, 4), 0x1234);
}

static void test_single_step(void **state)
{
	struct combination c = {
		.in = true, .rep = true, .described = true, .size = 1, .address_size = 8
	};

	(void)state;
	prepare(&c);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2 | BIT(8));
	vcpu.gpr[RDI] = DATA;
	vcpu.gpr[RCX] = 2;
	emulate_string_io(&vcpu, qualification_of(&c));
	assert_int_equal(vcpu.gpr[RCX], 1);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_PENDING_DEBUG), BIT(14));
	emulate_string_io(&vcpu, qualification_of(&c));
	assert_int_equal(vcpu.gpr[RCX], 0);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE + 2);
}

/*
 * The instruction was changed before it could be read again: what is there now is not string I/O.
 */
static void test_changed_instruction(void **state)
{
	struct combination c = { .size = 1, .address_size = 8 };

	(void)state;
	prepare(&c);
	fixture_code("\x0f\x0b", 2);
	vcpu.gpr[RSI] = DATA;
	assert_int_equal(emulate_string_io(&vcpu, qualification_of(&c)), EXIT_RESUME);
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), CODE);
	assert_int_equal(vcpu.gpr[RSI], DATA);
	assert_int_equal(vcpu.events.info, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_ins_ignores_override),
		cmocka_unit_test(test_fault_before_port),
		cmocka_unit_test(test_single_step),
		cmocka_unit_test(test_changed_instruction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
