// SPDX-License-Identifier: BSD-2-Clause
/*
 * hostile.elf: random privileged operations with every fault caught, to show that a guest harms
 * only itself. Options: seed=NUMBER (default from the TSC; printed), rounds=NUMBER. Same seed, same
 * operations. Ends through the exit port with 0 if the kernel's own state still is what it put
 * there.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/interrupt.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define ROUNDS_DEFAULT 20000
#define PROGRESS_EVERY 2000
#define CANARY_WORDS   4096
#define PORT_UNMAP     0xe4

void __noreturn guest_main(u32 magic, u32 info);

static u64 random_state;
static u64 canary[CANARY_WORDS];
static u32 fault_count;

/* xorshift64 */
static u64 random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static u32 below(u32 limit)
{
	return (u32)(random64() >> 33) % limit;
}

/* A number of a kind that finds edges: one bit, few bits, small, all ones, or anything. */
static u64 random_value(void)
{
	switch (below(6)) {
	case 0:
		return BIT(below(64));
	case 1:
		return BIT(below(64)) | BIT(below(64));
	case 2:
		return below(256);
	case 3:
		return ~BIT(below(64));
	case 4:
		return (u32)random64();
	default:
		return random64();
	}
}

static void counted(int vector)
{
	fault_count += vector != NO_FAULT;
}

static u32 random_msr(void)
{
	static const u32 bases[] = { 0, 0x10, 0x30, 0x200, 0x480, 0x800, 0xc0000080, 0xc0000100,
		0xc0010000, 0x40000000, 0x1fff, 0xc0001fff, 0x174, 0x277, 0x6e0, 0xda0 };

	return below(8) ? bases[below(ARRAY_SIZE(bases))] + below(0x20) : (u32)random64();
}

static void op_rdmsr(void)
{
	u64 value = 0;

	counted(try_rdmsr(random_msr(), &value));
}

static void op_wrmsr(void)
{
	u32 index = random_msr();
	u64 old = 0;
	bool readable = try_rdmsr(index, &old) == NO_FAULT;

	/* These end the kernel itself when they succeed. */
	if (index == MSR_EFER || index == MSR_APIC_BASE || index == MSR_TSC_DEADLINE)
		return;
	counted(try_wrmsr(index, random_value()));
	if (readable)
		try_wrmsr(index, old);
}

static void op_efer(void)
{
	u64 old = rdmsr(MSR_EFER);

	/* NXE off is safe: no entry uses it. LME may not be cleared while paging is on. */
	counted(try_wrmsr(MSR_EFER, old ^ BIT(below(64))));
	wrmsr(MSR_EFER, old);
}

static void op_apic_base(void)
{
	u64 old = rdmsr(MSR_APIC_BASE);

	if (!cpuid_ecx(1, 31)) /* bare Bochs never enables it again */
		return;
	counted(try_wrmsr(MSR_APIC_BASE, old | random_value()));
	interrupt_reset();
}

static void op_cr0(void)
{
	u64 old = read_cr0();

	/* PG and PE cannot be cleared here by rule: #GP */
	counted(try_write_cr0(below(2) ? old ^ BIT(below(64)) : old | random_value()));
	write_cr0(old);
}

static void op_cr4(void)
{
	u64 old = read_cr4();

	counted(try_write_cr4(old ^ BIT(below(64))));
	write_cr4(old);
}

static void op_cr3(void)
{
	u64 old = read_cr3();

	/* flag and reserved bits only: another address would be another kernel */
	counted(try_write_cr3(old | (BIT(3) | BIT(4)) | (below(2) ? BIT(52 + below(11)) : 0)));
	write_cr3(old);
}

static void op_cr8(void)
{
	counted(try_write_cr8(random_value()));
	write_cr8(0);
}

static void op_dr(void)
{
	u64 value = random_value();

	switch (below(4)) {
	case 0:
		counted(try_write_dr0(value));
		break;
	case 1:
		counted(try_write_dr3(value));
		break;
	case 2:
		counted(try_write_dr6(value));
		break;
	default:
		/* no enabled breakpoints, no GD */
		counted(try_write_dr7(value & ~0x20ffull));
	}
	write_dr7(0x400);
	write_dr6(DR6_FIXED);
}

static void op_xsetbv(void)
{
	u64 old = 0;

	write_cr4(read_cr4() | CR4_OSXSAVE);
	if (try_xgetbv(0, &old) == NO_FAULT) {
		counted(try_xsetbv(below(4) ? 0 : random_value(), random_value()));
		try_xsetbv(0, old);
	}
	write_cr4(read_cr4() & ~CR4_OSXSAVE);
}

static void op_cpuid(void)
{
	static const u32 bases[] = { 0, 0x80000000, 0x40000000, 0xffffffe0, 0x20000000 };

	cpuid(bases[below(ARRAY_SIZE(bases))] + below(0x20),
		below(2) ? below(64) : (u32)random64());
}

/* Ports that end or reset the machine, or steer what the kernel stands on. */
static bool port_excluded(u16 port, u32 width)
{
	static const struct {
		u16 first, last;
	} table[] = {
		{ 0xe4, 0xe7 },
		{ PORT_EXIT, PORT_EXIT }, /* unmap by a random address; exit */
		{ 0x60, 0x6f },
		{ 0x92, 0x92 }, /* resets */
		{ 0x600, 0x607 },
		{ 0xcf9, 0xcf9 }, /* power, reset */
		{ 0x3f8, 0x3ff },
		{ 0x8900, 0x8900 }, /* our console; Bochs's power */
		{ 0x1f0, 0x1f7 },
		{ 0x170, 0x177 }, /* a bare machine's disks */
		{ 0x20, 0x21 },
		{ 0xa0, 0xa1 }, /* 8259: interrupt_reset() is slow */
		{ 0x400, 0x4cf },
		{ 0xb000, 0xb0ff }, /* a bare machine's ELCR, power, SMI */
		{ 0xb0, 0xbf },
		{ 0x500, 0x5ff },
	};

	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		if (port <= table[i].last && port + width > table[i].first)
			return true;
	return false;
}

static void op_port(void)
{
	u16 port = below(2) ? (u16)below(0x1000) : (u16)random64();
	u32 width = 1u << below(3);
	u32 value = (u32)random_value();

	if (port_excluded(port, width))
		return;
	if (below(2)) {
		if (width == 1)
			inb(port);
		else if (width == 2)
			inw(port);
		else
			inl(port);
	} else if (width == 1) {
		outb(port, (u8)value);
	} else if (width == 2) {
		outw(port, (u16)value);
	} else {
		outl(port, value);
	}
}

static void op_mmio(void)
{
	static const u64 bases[] = { IOAPIC_BASE, LAPIC_BASE, 0xff000000, 0xfed00000, 0xd0000000 };
	u64 base = bases[below(ARRAY_SIZE(bases))];
	u64 address = base + below(below(2) ? 0x100 : 0x1000);
	u32 kind = below(6);
	u64 value = random_value();

	if (!under_torpor()) /* bare Bochs gives up at what its devices do not expect */
		return;
	if (base == LAPIC_BASE && kind >= 3) /* an ICR write might be INIT to ourselves */
		address = LAPIC_BASE + LAPIC_TPR;
	fault_clear();
	switch (kind) {
	case 0:
		__asm__ volatile(TRY("movb (%1), %%al") : "=a"(value) : "r"(address) : "memory");
		break;
	case 1:
		__asm__ volatile(TRY("movzwl (%1), %%eax") : "=a"(value) : "r"(address) : "memory");
		break;
	case 2:
		__asm__ volatile(TRY("mov (%1), %0") : "=r"(value) : "r"(address) : "memory");
		break;
	case 3:
		__asm__ volatile(TRY("movl %k0, (%1)")::"r"(value), "r"(address) : "memory");
		break;
	case 4:
		__asm__ volatile(TRY("movb %b0, (%1)")::"r"(value), "r"(address) : "memory");
		break;
	default:
		__asm__ volatile(TRY("orl %k0, (%1)")::"r"(value), "r"(address) : "memory");
	}
	counted(last_fault.vector);
	lapic_write(LAPIC_TPR, 0);
}

static void op_hypercall(void)
{
	u64 rax = random_value();

	fault_clear();
	__asm__ volatile(TRY("vmcall")
			 : "+a"(rax)
			 : "b"(random_value()), "c"(random_value()), "d"(random_value())
			 : "memory");
	counted(last_fault.vector);
}

static void op_vmx(void)
{
	u64 operand = random_value();

	fault_clear();
	switch (below(5)) {
	case 0:
		__asm__ volatile(TRY("vmxoff")::: "memory");
		break;
	case 1:
		__asm__ volatile(TRY("vmclear %0")::"m"(operand) : "memory");
		break;
	case 2:
		__asm__ volatile(TRY("vmread %0, %0") : "+r"(operand)::"memory");
		break;
	case 3:
		__asm__ volatile(TRY("invept (%0), %1")::"r"(&operand), "r"(1ull) : "memory");
		break;
	default:
		__asm__ volatile(TRY("vmlaunch")::: "memory");
	}
	counted(last_fault.vector);
}

static void op_cache(void)
{
	fault_clear();
	if (below(2) && under_torpor())
		__asm__ volatile(TRY("invd")::: "memory");
	else
		__asm__ volatile(TRY("wbinvd")::: "memory");
	counted(last_fault.vector);
}

static u8 code[32];

/*
 * Random bytes as an instruction in ring 3: it can do nothing but trap or spin until the timer
 * comes.
 */
static void op_random_code(void)
{
	struct trap_frame frame;

	for (u32 i = 0; i < sizeof(code); i++)
		code[i] = (u8)random64();
	code[sizeof(code) - 2] = 0xcd;
	code[sizeof(code) - 1] = VECTOR_DONE;
	frame = frame_user(code, code + sizeof(code));
	for (u32 i = 0; i < 16; i++)
		if (i != 4)
			*frame_register(&frame, i) = random_value();
	/* 32-bit code as well, every flag that ring 3 may have been given; no NT: IRETQ refuses. */
	if (below(2))
		frame.cs = SEL_USER_CODE32;
	frame.rflags |= random_value() & 0x250dd5;
	frame.rflags |= RFLAGS_IF;
	lapic_timer_start(VECTOR_WATCHDOG, 2000);
	run_frame(&frame);
	lapic_timer_start(VECTOR_WATCHDOG, 0);
	lapic_eoi();
	counted((int)frame.vector);
}

/* Short enough to stand behind one another; each may trap, and then the rest is not run. */
static const struct {
	u8 length, bytes[4];
} pieces[] = {
	{ 2, { 0x8e, 0xd0 } }, /* mov ss, eax: a shadow */
	{ 1, { 0xfb } },       /* sti: another */
	{ 1, { 0xfa } },
	{ 1, { 0xf1 } }, /* int1, int3 */
	{ 1, { 0xcc } },
	{ 2, { 0xcd, 0x30 } },
	{ 2, { 0x0f, 0xa2 } },	     /* cpuid */
	{ 3, { 0x0f, 0x01, 0xc1 } }, /* vmcall */
	{ 2, { 0xe4, 0x61 } },	     /* in, out */
	{ 2, { 0xe6, 0x80 } },
	{ 3, { 0x0f, 0x21, 0xf8 } }, /* mov rax, dr7, cr0, cr8 */
	{ 3, { 0x0f, 0x20, 0xc0 } },
	{ 4, { 0x44, 0x0f, 0x20, 0xc0 } },
	{ 2, { 0x0f, 0x06 } }, /* clts */
	{ 2, { 0x0f, 0x0b } }, /* ud2 */
	{ 2, { 0xf3, 0x90 } }, /* pause */
	{ 1, { 0x9c } },       /* pushf, popf */
	{ 1, { 0x9d } },
	{ 2, { 0x8b, 0x07 } }, /* mov eax, [rdi]: device memory */
	{ 2, { 0x89, 0x07 } },
	{ 2, { 0x0f, 0x33 } }, /* rdpmc */
	{ 1, { 0x90 } },
};

/*
 * Ring 0: what emulates, traps and holds traps back, in any order, single-stepped or with a
 * breakpoint in its midst.
 */
static void op_traps(void)
{
	static u32 scratch;
	static u8 text[64];
	struct trap_frame frame;
	u32 used = 0;

	for (u32 n = 1 + below(8); n; n--) {
		u32 piece = below(ARRAY_SIZE(pieces));

		memcpy(text + used, pieces[piece].bytes, pieces[piece].length);
		used += pieces[piece].length;
	}
	text[used++] = 0xfa; /* cli */
	text[used++] = 0xcd;
	text[used] = VECTOR_DONE;
	frame = frame_kernel(text);
	frame.rax = SEL_DATA;
	/* Bare Bochs gives up at what its device does not expect. */
	frame.rdi = under_torpor() ? IOAPIC_BASE + 0x10 * below(2) : (u64)&scratch;
	frame.rflags |= below(2) ? RFLAGS_TF : 0;
	if (below(2)) {
		write_dr0((u64)text + below(used));
		write_dr7(0x402); /* G0: execution */
	}
	run_frame(&frame);
	write_dr7(0x400);
	write_dr6(DR6_FIXED);
	write_cr0(read_cr0() | CR0_MP);
	counted((int)frame.vector);
}

/* A page that the processor needs goes away and comes back: tables, stack, code. */
static void op_unmap(void)
{
	const void *const pages[] = { gdt, &tss, paging_pml4, &random_state, code, canary,
		__builtin_frame_address(0), (void *)op_traps, user_arena };

	if (!have_test_device())
		return;
	outl(PORT_UNMAP, (u32)(u64)pages[below(ARRAY_SIZE(pages))]);
	if (below(2))
		op_traps();
	else
		op_random_code();
}

/* The local APIC's timer in every mode with every count, masked; it reads what it likes. */
static void op_apic_timer(void)
{
	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED | below(4) << 17 | below(256));
	lapic_write(LAPIC_TIMER_DIVIDE, below(16));
	lapic_write(LAPIC_TIMER_INITIAL, (u32)random_value());
	try_wrmsr(MSR_TSC_DEADLINE, random_value());
	lapic_read(LAPIC_TIMER_CURRENT);
	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED | below(4) << 17);
	lapic_read(LAPIC_TIMER_CURRENT);
	lapic_write(LAPIC_TIMER_DIVIDE, below(16));
	if (below(2))
		lapic_timer_start(VECTOR_WATCHDOG, 0);
}

static void op_selectors(void)
{
	u16 selector = (u16)(below(2) ? below(0x80) : random64());

	fault_clear();
	switch (below(5)) {
	case 0:
		__asm__ volatile(TRY("ltr %0")::"r"(selector) : "memory");
		break;
	case 1:
		__asm__ volatile(TRY("lldt %0")::"r"(selector) : "memory");
		break;
	case 2:
		__asm__ volatile(TRY("mov %0, %%fs")::"r"(selector) : "memory");
		break;
	case 3:
		__asm__ volatile(TRY("mov %0, %%ds")::"r"(selector) : "memory");
		break;
	default:
		__asm__ volatile(TRY("mov %0, %%es")::"r"(selector) : "memory");
	}
	counted(last_fault.vector);
	segments_reset();
}

/* INIT and SIPI to the only processor: nobody takes them, and the host's log stays readable. */
static void op_init(void)
{
	if (!under_torpor())
		return;
	lapic_write(LAPIC_ICR_HIGH, lapic_read(LAPIC_ID));
	lapic_write(LAPIC_ICR, ICR_ASSERT | (5 + below(2)) << 8 | below(256));
}

static void op_self_ipi(void)
{
	u32 vector = 0x20 + below(0xd0);

	if (vector != VECTOR_DONE)
		lapic_self_ipi(vector);
}

static void (*const operations[])(void) = {
	op_rdmsr,
	op_wrmsr,
	op_efer,
	op_apic_base,
	op_cr0,
	op_cr4,
	op_cr3,
	op_cr8,
	op_dr,
	op_xsetbv,
	op_cpuid,
	op_port,
	op_mmio,
	op_hypercall,
	op_vmx,
	op_cache,
	op_random_code,
	op_traps,
	op_unmap,
	op_apic_timer,
	op_selectors,
	op_init,
	op_self_ipi,
};

static bool sane(void)
{
	for (u32 i = 0; i < CANARY_WORDS; i++)
		if (canary[i] != i * 0x9e3779b97f4a7c15ull)
			return false;
	return !case_failed();
}

static u64 rounds;

static void attack(void)
{
	for (u64 round = 0; round < rounds; round++) {
		if (round % PROGRESS_EVERY == 0)
			print("HOSTILE round=%lu faults=%u\n", round, fault_count);
		operations[below(ARRAY_SIZE(operations))]();
	}
}

void __noreturn guest_main(u32 magic, u32 info)
{
	boot_read(magic, info);
	random_state = option_number("seed", rdtsc() | 1);
	rounds = option_number("rounds", ROUNDS_DEFAULT);
	machine_reset();
	for (u32 i = 0; i < CANARY_WORDS; i++)
		canary[i] = i * 0x9e3779b97f4a7c15ull;
	print("HOSTILE seed=0x%lx rounds=%lu torpor=%d\n", random_state, rounds, under_torpor());
	if (!random_state)
		random_state = 1;
	call_guarded(attack);
	machine_reset();
	print("HOSTILE %s faults=%u %s\n", sane() ? "still sane" : "NOT SANE", fault_count,
		case_message());
	guest_exit(sane() ? 0 : 1);
}
