// SPDX-License-Identifier: BSD-2-Clause
/*
 * Area MODE: out of 64-bit mode and back, by way of compatibility mode, 32-bit PAE paging, no
 * paging and real mode (SDM 3A 10.8.5). The excursions are in mode_switch.asm.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/insn.h"
#include "tests/guest/lib/paging.h"
#include "tests/guest/lib/segments.h"
#include "tests/guest/lib/string.h"

#define ROUNDS	     1000
#define ROUNDS_REAL  100
#define LOW_CODE     0x8000 /* the real-mode part is copied there */
#define LOW_CODE_MAX 0x1000

/* What an excursion saw on its way; mode_switch.asm knows the order. */
struct mode_log {
	u32 efer_unpaged; /* EFER with PG=0, LME=0 */
	u32 efer_pae;	  /* EFER with 32-bit PAE paging on */
	u32 cr0_unpaged;
	u32 value;	/* read through PAE paging, or what real mode computed */
	u32 interrupts; /* INT calls taken in real mode */
	u32 cpuid_eax;
};

void mode_excursion_pae(u32 pdpt, struct mode_log *log);
void mode_excursion_real(struct mode_log *log);
extern const u8 mode_low_start[], mode_low_end[];

static struct mode_log mode_log;
static u64 pae_pdpt[4] __aligned(32);
static u64 pae_pd[512] __aligned(4096);

SNIPPET32(compat_code, "mov $0x12345678, %eax; push %eax; pop %ebx; xor %eax, %eax; cpuid\n");

CASE("BUG-19", "MODE", "compatibility-mode", mode_compat)
{
	struct trap_frame frame = frame_kernel(compat_code);

	frame.cs = SEL_CODE32;
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end");
	expect_equal(frame.rax, cpuid(0, 0).eax, "CPUID in compatibility mode");
	expect_equal(frame.cs, SEL_CODE32, "CS");
	frame = frame_user(compat_code, compat_code_end);
	frame.cs = SEL_USER_CODE32;
	run_frame(&frame);
	expect_equal(frame.vector, VECTOR_DONE, "end in ring 3");
	expect_equal(frame.cs, SEL_USER_CODE32, "CS in ring 3");
}

CASE("BUG-19", "MODE", "long-to-pae-and-back", mode_pae)
{
	const u32 lme = EFER_LME | EFER_LMA;

	for (u64 i = 0; i < 512; i++)
		pae_pd[i] = i * SIZE_2M | PTE_P | PTE_W | PTE_PS;
	pae_pdpt[0] = (u64)pae_pd | PTE_P;
	for (u32 round = 0; round < ROUNDS; round++) {
		memset(&mode_log, 0, sizeof(mode_log));
		mode_excursion_pae((u32)(u64)pae_pdpt, &mode_log);
		expect_equal(mode_log.efer_unpaged & lme, 0, "LMA and LME without paging");
		expect_equal(mode_log.cr0_unpaged & CR0_PG, 0, "CR0.PG");
		expect_equal(mode_log.efer_pae & lme, 0, "LMA and LME in PAE mode");
		expect_equal(mode_log.value, 0x600df00d, "memory through PAE paging");
		if (!expect_equal(rdmsr(MSR_EFER) & lme, lme, "LMA and LME at the end"))
			return;
	}
	expect_equal(read_cr3(), (u64)paging_pml4, "CR3 at the end");
}

CASE("BUG-19", "MODE", "long-to-real-and-back", mode_real)
{
	expect((u64)(mode_low_end - mode_low_start) < LOW_CODE_MAX, "real-mode code fits");
	for (u32 round = 0; round < ROUNDS_REAL; round++) {
		memset(&mode_log, 0, sizeof(mode_log));
		memcpy((void *)LOW_CODE, mode_low_start, (size_t)(mode_low_end - mode_low_start));
		mode_excursion_real(&mode_log);
		expect_equal(mode_log.cr0_unpaged & (CR0_PG | CR0_PE), 0, "CR0 in real mode");
		expect_equal(mode_log.value, 0x1234 + 0x1111, "what real mode computed");
		expect_equal(mode_log.interrupts, 3, "real-mode INT calls");
		if (!expect_equal(mode_log.cpuid_eax, cpuid(0, 0).eax, "CPUID in real mode"))
			return;
	}
}
