// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area XCR: XSETBV and XGETBV (SDM 1 13.3). The oracle of legal values is computed from CPUID leaf
 * 0xD.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"

#define X87	BIT(0)
#define SSE	BIT(1)
#define AVX	BIT(2)
#define MPX	(BIT(3) | BIT(4))
#define AVX512	(BIT(5) | BIT(6) | BIT(7))
#define AMX	(BIT(17) | BIT(18))
#define GARBAGE 0xdeadbeef00000000ull

static u64 supported_xcr0(void)
{
	struct cpuid r = cpuid(0xd, 0);

	return (u64)r.edx << 32 | r.eax;
}

static bool legal(u64 value, u64 supported)
{
	if (!(value & X87) || (value & ~supported))
		return false;
	if ((value & AVX) && !(value & SSE))
		return false;
	if ((value & MPX) && (value & MPX) != MPX)
		return false;
	if ((value & AVX512) && ((value & AVX512) != AVX512 || !(value & AVX)))
		return false;
	return !(value & AMX) || (value & AMX) == AMX;
}

static u64 xsave_on(void)
{
	if (!cpuid_ecx(1, 26))
		case_skip("no XSAVE");
	write_cr4(read_cr4() | CR4_OSXSAVE);
	return supported_xcr0();
}

static void check_value(u64 value, u64 supported)
{
	u64 before = 0, after = 0;
	bool ok = legal(value, supported);

	try_xgetbv(0, &before);
	expect_equal((u64)try_xsetbv(0, value), (u64)(ok ? NO_FAULT : GP), "XSETBV %lx", value);
	if (!ok)
		expect_equal(last_fault.error, 0, "error code for %lx", value);
	try_xgetbv(0, &after);
	expect_equal(after, ok ? value : before, "XCR0 after XSETBV %lx", value);
}

CASE("BUG-39", "XCR", "legal-values", xcr0_values)
{
	u64 supported = xsave_on();

	expect_equal(supported & (X87 | SSE), X87 | SSE, "CPUID.D: x87 and SSE");
	for (u32 a = 0; a < 64; a++)
		for (u32 b = a; b < 64; b++) {
			check_value(BIT(a) | BIT(b), supported);
			check_value(X87 | BIT(a) | BIT(b), supported);
			check_value(supported & ~BIT(a) & ~BIT(b), supported);
		}
	check_value(supported, supported);
	check_value(0, supported);
	check_value(X87, supported);
}

CASE("BUG-39", "XCR", "index-and-upper-halves", xcr_index)
{
	u64 value = 0, supported = xsave_on();

	for (u32 index = 1; index < 4; index++)
		expect_equal((u64)try_xsetbv(index, X87), GP, "XSETBV index %u", index);
	expect_equal((u64)try_xsetbv(0xffffffff, X87), GP, "XSETBV index ffffffff");
	expect_equal((u64)try_xsetbv(GARBAGE, supported), (u64)NO_FAULT, "RCX[63:32] is ignored");
	fault_clear();
	__asm__ volatile(TRY(".byte 0x0f, 0x01, 0xd1")::"c"(0), "a"(GARBAGE | (u32)supported),
			 "d"(GARBAGE | supported >> 32)
			 : "memory");
	expect_equal((u64)last_fault.vector, (u64)NO_FAULT, "RAX and RDX[63:32] are ignored");
	try_xgetbv(0, &value);
	expect_equal(value, supported, "XCR0");
	expect_equal((u64)try_xgetbv(2, &value), GP, "XGETBV index 2");
}

CASE("BUG-39", "XCR", "osxsave-off", xcr_ud)
{
	u64 value;

	xsave_on();
	write_cr4(read_cr4() & ~CR4_OSXSAVE);
	expect_equal((u64)try_xsetbv(0, X87), UD, "XSETBV with OSXSAVE=0");
	expect_equal((u64)try_xsetbv(7, 0), UD, "bad XSETBV with OSXSAVE=0");
	expect_equal((u64)try_xgetbv(0, &value), UD, "XGETBV with OSXSAVE=0");
}

SNIPPET(user_xsetbv, "xor %ecx, %ecx; xor %edx, %edx; mov $1, %eax\n"
		     "user_xsetbv_at: .byte 0x0f, 0x01, 0xd1\n");
extern const u8 user_xsetbv_at[];

CASE("BUG-39", "XCR", "ring3", xcr_ring3)
{
	struct trap_frame frame = frame_user(user_xsetbv, user_xsetbv_end);

	xsave_on();
	run_frame(&frame);
	expect_equal(frame.vector, GP, "XSETBV at CPL 3");
	expect_equal(frame.rip, user_copy_address(user_xsetbv, user_xsetbv_at), "RIP");
}
