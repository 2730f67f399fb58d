// SPDX-License-Identifier: BSD-2-Clause
/* Area CPUID: what CPUID says and what instructions, MSRs and control registers do must agree. */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/string.h"

#define OSXSAVE_BIT 27
#define OSPKE_BIT   4

CASE("BUG-38", "CPUID", "osxsave-mirrors-cr4", cpuid_osxsave)
{
	u64 value;

	if (!cpuid_ecx(1, 26))
		case_skip("no XSAVE");
	for (u32 round = 0; round < 4; round++) {
		bool on = round & 1;

		write_cr4(on ? read_cr4() | CR4_OSXSAVE : read_cr4() & ~CR4_OSXSAVE);
		expect_equal(cpuid_ecx(1, OSXSAVE_BIT), on, "CPUID.1:ECX.OSXSAVE");
		expect_equal((u64)try_xgetbv(0, &value), (u64)(on ? NO_FAULT : UD),
			"XGETBV, OSXSAVE=%d", on);
	}
}

CASE("BUG-38", "CPUID", "ospke-mirrors-cr4", cpuid_ospke)
{
	if (cpuid(0, 0).eax < 7 || !cpuid_ecx(7, 3))
		case_skip("no PKU");
	for (u32 round = 0; round < 4; round++) {
		bool on = round & 1;

		write_cr4(on ? read_cr4() | CR4_PKE : read_cr4() & ~CR4_PKE);
		expect_equal(cpuid_ecx(7, OSPKE_BIT), on, "CPUID.7:ECX.OSPKE");
		fault_clear();
		__asm__ volatile(TRY(".byte 0x0f, 0x01, 0xee")::"c"(0) : "rax", "rdx"); /* RDPKRU */
		expect_equal(
			(u64)last_fault.vector, (u64)(on ? NO_FAULT : UD), "RDPKRU, PKE=%d", on);
	}
}

/* Feature bits and an instruction that is #UD without the feature. All are run in a sane state. */
SNIPPET(i_rdtscp, "rdtscp\n");
SNIPPET(i_invpcid, "mov $2, %eax; invpcid (%rsp), %rax\n");
SNIPPET(i_xsaves, "xsaves (%rdi)\n");
SNIPPET(i_xsavec, "xsavec (%rdi)\n");
SNIPPET(i_xsaveopt, "xsaveopt (%rdi)\n");
SNIPPET(i_rdrand, "rdrand %rax\n");
SNIPPET(i_rdseed, "rdseed %rax\n");
SNIPPET(i_monitor, "lea (%rdi), %rax; xor %ecx, %ecx; xor %edx, %edx; monitor\n");
SNIPPET(i_rdpid, "rdpid %rax\n");
SNIPPET(i_rdfsbase, "rdfsbase %rax\n");
SNIPPET(i_movbe, "movbe (%rdi), %rax\n");
SNIPPET(i_popcnt, "popcnt %rax, %rax\n");
SNIPPET(i_lzcnt, "crc32 %rax, %rax\n");
SNIPPET(i_adx, "adcx %rax, %rax\n");
SNIPPET(i_bmi1, "andn %rax, %rax, %rax\n");
SNIPPET(i_bmi2, "rorx $1, %rax, %rax\n");
SNIPPET(i_cx16, "cmpxchg16b (%rdi)\n");
SNIPPET(i_clflushopt, "clflushopt (%rdi)\n");
SNIPPET(i_clwb, "clwb (%rdi)\n");
SNIPPET(i_sha, "sha1nexte %xmm0, %xmm0\n");
SNIPPET(i_aes, "aesenc %xmm0, %xmm0\n");
SNIPPET(i_ssse3, "pshufb %xmm0, %xmm0\n");
SNIPPET(i_sse41, "ptest %xmm0, %xmm0\n");
SNIPPET(i_avx, "vaddps %ymm0, %ymm0, %ymm0\n");
SNIPPET(i_avx2, "vpaddd %ymm0, %ymm0, %ymm0\n");
SNIPPET(i_fma, "vfmadd213ps %ymm0, %ymm0, %ymm0\n");
SNIPPET(i_avx512f, "vpaddd %zmm0, %zmm0, %zmm0\n");
SNIPPET(i_tpause, "xor %ecx, %ecx; xor %eax, %eax; xor %edx, %edx; .byte 0x66, 0x0f, 0xae, 0xf1\n");
SNIPPET(i_stac, "stac; clac\n");
SNIPPET(i_xgetbv1, "mov $1, %ecx; xgetbv\n");
SNIPPET(i_vmcall, "vmxon (%rdi)\n");
SNIPPET(i_pclmul, "pclmulqdq $0, %xmm0, %xmm0\n");
SNIPPET(i_f16c, "vcvtph2ps %xmm0, %ymm0\n");
SNIPPET(i_getsec, "xor %eax, %eax; getsec\n");
SNIPPET(i_movdiri, "movdiri %eax, (%rdi)\n");
SNIPPET(i_gfni, "gf2p8mulb %xmm0, %xmm0\n");

enum { LEAF1_ECX, LEAF7_EBX, LEAF7_ECX, LEAF7_EDX, LEAFD1_EAX, EXT1_ECX, EXT1_EDX };

static const struct feature {
	const char *name;
	u32 word, bit;
	const u8 *code;
} features[] = {
	{ "MONITOR", LEAF1_ECX, 3, i_monitor },
	{ "VMX", LEAF1_ECX, 5, i_vmcall },
	{ "SMX", LEAF1_ECX, 6, i_getsec },
	{ "PCLMULQDQ", LEAF1_ECX, 1, i_pclmul },
	{ "SSSE3", LEAF1_ECX, 9, i_ssse3 },
	{ "FMA", LEAF1_ECX, 12, i_fma },
	{ "CMPXCHG16B", LEAF1_ECX, 13, i_cx16 },
	{ "SSE4.1", LEAF1_ECX, 19, i_sse41 },
	{ "SSE4.2", LEAF1_ECX, 20, i_lzcnt },
	{ "MOVBE", LEAF1_ECX, 22, i_movbe },
	{ "POPCNT", LEAF1_ECX, 23, i_popcnt },
	{ "AES", LEAF1_ECX, 25, i_aes },
	{ "AVX", LEAF1_ECX, 28, i_avx },
	{ "F16C", LEAF1_ECX, 29, i_f16c },
	{ "RDRAND", LEAF1_ECX, 30, i_rdrand },
	{ "BMI1", LEAF7_EBX, 3, i_bmi1 },
	{ "AVX2", LEAF7_EBX, 5, i_avx2 },
	{ "BMI2", LEAF7_EBX, 8, i_bmi2 },
	{ "INVPCID", LEAF7_EBX, 10, i_invpcid },
	{ "AVX512F", LEAF7_EBX, 16, i_avx512f },
	{ "RDSEED", LEAF7_EBX, 18, i_rdseed },
	{ "ADX", LEAF7_EBX, 19, i_adx },
	{ "SMAP", LEAF7_EBX, 20, i_stac },
	{ "CLFLUSHOPT", LEAF7_EBX, 23, i_clflushopt },
	{ "SHA", LEAF7_EBX, 29, i_sha },
	{ "FSGSBASE", LEAF7_EBX, 0, i_rdfsbase },
	{ "WAITPKG", LEAF7_ECX, 5, i_tpause },
	{ "GFNI", LEAF7_ECX, 8, i_gfni },
	{ "RDPID", LEAF7_ECX, 22, i_rdpid },
	{ "MOVDIRI", LEAF7_ECX, 27, i_movdiri },
	{ "XSAVEOPT", LEAFD1_EAX, 0, i_xsaveopt },
	{ "XSAVEC", LEAFD1_EAX, 1, i_xsavec },
	{ "XGETBV1", LEAFD1_EAX, 2, i_xgetbv1 },
	{ "XSAVES", LEAFD1_EAX, 3, i_xsaves },
	{ "RDTSCP", EXT1_EDX, 27, i_rdtscp },
};

static u32 feature_word(u32 word)
{
	bool seven = cpuid(0, 0).eax >= 7, d = cpuid_ecx(1, 26);

	switch (word) {
	case LEAF1_ECX:
		return cpuid(1, 0).ecx;
	case LEAF7_EBX:
		return seven ? cpuid(7, 0).ebx : 0;
	case LEAF7_ECX:
		return seven ? cpuid(7, 0).ecx : 0;
	case LEAF7_EDX:
		return seven ? cpuid(7, 0).edx : 0;
	case LEAFD1_EAX:
		return d ? cpuid(0xd, 1).eax : 0;
	case EXT1_ECX:
		return cpuid(0x80000001, 0).ecx;
	default:
		return cpuid(0x80000001, 0).edx;
	}
}

static void enable_everything(void)
{
	u64 cr4 = read_cr4() | CR4_OSFXSR | BIT(10);

	if (feature_word(LEAF7_EBX) & 1)
		cr4 |= BIT(16); /* FSGSBASE */
	if (cpuid_ecx(1, 26)) {
		struct cpuid components;

		write_cr4(cr4 |= CR4_OSXSAVE);
		components = cpuid(0xd, 0);
		try_xsetbv(0, (u64)components.edx << 32 | components.eax);
	}
	write_cr4(cr4);
}

CASE("BUG-41", "CPUID", "features-work", cpuid_features)
{
	static u8 area[PAGE_SIZE] __aligned(64);

	enable_everything();
	for (u32 i = 0; i < ARRAY_SIZE(features); i++) {
		const struct feature *f = &features[i];
		struct trap_frame frame = frame_kernel(f->code);
		bool advertised = feature_word(f->word) >> f->bit & 1, works;

		memset(area, 0, sizeof(area));
		frame.rdi = (u64)area;
		frame.rsp -= 256;
		run_frame(&frame);
		/* An instruction that is not there is #UD; XGETBV of XINUSE alone is #GP (SDM 2D).
		 */
		works = frame.vector == VECTOR_DONE;
		/* #UD is also VMXON's and GETSEC's answer while CR4 does not enable them. */
		if (!strcmp(f->name, "VMX") || !strcmp(f->name, "SMX"))
			expect(!works, "%s without CR4 bit", f->name);
		else if (advertised || under_torpor())
			expect_equal(works, advertised, "%s: advertised and works", f->name);
	}
}

CASE("BUG-41", "CPUID", "vmx-hidden", cpuid_vmx_hidden)
{
	if (!under_torpor())
		case_skip("not under Torpor");
	expect_equal(cpuid_ecx(1, 5), 0, "CPUID.1:ECX.VMX");
	expect_equal(cpuid_ecx(1, 31), 1, "CPUID.1:ECX.hypervisor");
	expect_equal(cpuid_ecx(1, 15), 0, "CPUID.1:ECX.PDCM");
	for (u32 index = 0x480; index <= 0x491; index++) {
		u64 value = 0;

		expect_equal((u64)try_rdmsr(index, &value), GP, "RDMSR %x", index);
	}
}

CASE("BUG-41", "CPUID", "leaves", cpuid_leaves)
{
	struct cpuid r = cpuid(0, 0), over, highest, extended = cpuid(0x80000000, 0);
	u32 width = cpuid(0x80000008, 0).eax;

	expect(r.eax >= 1 && r.eax < 0x100, "highest leaf %x", r.eax);
	expect(extended.eax >= 0x80000008 && extended.eax < 0x80000100, "highest extended leaf %x",
		extended.eax);
	expect((width & 0xff) >= 36 && (width & 0xff) <= 52, "MAXPHYADDR %u", width & 0xff);
	expect_equal(cpuid_edx(0x80000001, 29), 1, "long mode");
	if (!under_torpor())
		return;
	/* SDM 2A CPUID: beyond the highest basic leaf its data are returned. */
	over = cpuid(r.eax + 1, 0);
	highest = cpuid(r.eax, 0);
	expect(!memcmp(&over, &highest, sizeof(over)), "a leaf above the highest");
	if (r.eax >= 0xa) {
		r = cpuid(0xa, 0);
		expect_equal(r.eax | r.ebx | r.ecx | r.edx, 0, "leaf 0xA: no PMU");
	}
	r = cpuid(0x40000000, 0);
	expect(r.eax >= 0x40000000 && r.eax < 0x40000100, "highest hypervisor leaf %x", r.eax);
}

CASE("BUG-41", "CPUID", "upper-halves", cpuid_upper_halves)
{
	u64 rax = 0xffffffff00000000, rbx = ~0ull, rcx = 0xffffffff00000000, rdx = ~0ull;

	__asm__ volatile("cpuid" : "+a"(rax), "+b"(rbx), "+c"(rcx), "+d"(rdx));
	expect_equal((rax | rbx | rcx | rdx) >> 32, 0, "upper halves after CPUID");
	expect_equal(rax, cpuid(0, 0).eax, "leaf 0 by EAX alone");
}

CASE("BUG-41", "CPUID", "xsave-sizes", cpuid_xsave_sizes)
{
	struct cpuid d0;

	if (!cpuid_ecx(1, 26))
		case_skip("no XSAVE");
	write_cr4(read_cr4() | CR4_OSXSAVE);
	d0 = cpuid(0xd, 0);
	try_xsetbv(0, 1);
	expect_equal(cpuid(0xd, 0).ebx, 576, "XSAVE area for x87 alone");
	expect_equal(cpuid(0xd, 0).ecx, d0.ecx, "largest area does not depend on XCR0");
	if (d0.eax & BIT(2)) {
		try_xsetbv(0, 7);
		expect_equal(cpuid(0xd, 0).ebx, 832, "XSAVE area for x87, SSE, AVX");
		expect_equal(cpuid(0xd, 2).eax, 256, "size of AVX");
		expect_equal(cpuid(0xd, 2).ebx, 576, "offset of AVX");
	}
	try_xsetbv(0, 1);
}

CASE("BUG-41", "CPUID", "hypercalls", cpuid_hypercalls)
{
	u64 rax = 0;

	if (!under_torpor())
		case_skip("not under Torpor");
	__asm__ volatile("vmcall" : "+a"(rax)::"memory");
	expect_equal((u32)rax, 0, "hypercall 0");
	rax = 0x7fffffff;
	__asm__ volatile("vmcall" : "+a"(rax)::"memory");
	expect_equal((u32)rax, 0xffffffff, "unknown hypercall");
}
