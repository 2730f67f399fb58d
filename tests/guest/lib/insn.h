/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Privileged instructions for payload kernels: the plain ones, and the try_ ones that report a
 * fault. They are written apart from the hypervisor's, so that both are not wrong in the same way.
 */
#ifndef TESTS_GUEST_LIB_INSN_H
#define TESTS_GUEST_LIB_INSN_H

#include "tests/guest/lib/trap.h"

#define DEFINE_PORT(name, type, suffix)                                             \
	static inline type in##name(u16 port)                                       \
	{                                                                           \
		type value;                                                         \
		__asm__ volatile("in" suffix " %1, %0" : "=a"(value) : "Nd"(port)); \
		return value;                                                       \
	}                                                                           \
	static inline void out##name(u16 port, type value)                          \
	{                                                                           \
		__asm__ volatile("out" suffix " %0, %1" ::"a"(value), "Nd"(port));  \
	}
DEFINE_PORT(b, u8, "b")
DEFINE_PORT(w, u16, "w")
DEFINE_PORT(l, u32, "l")

#define DEFINE_REGISTER(name)                                                     \
	static inline u64 read_##name(void)                                       \
	{                                                                         \
		u64 value;                                                        \
		__asm__ volatile("mov %%" #name ", %0" : "=r"(value)::"memory");  \
		return value;                                                     \
	}                                                                         \
	static inline void write_##name(u64 value)                                \
	{                                                                         \
		__asm__ volatile("mov %0, %%" #name ::"r"(value) : "memory");     \
	}                                                                         \
	/* The exception, or NO_FAULT. */                                         \
	static inline int try_write_##name(u64 value)                             \
	{                                                                         \
		fault_clear();                                                    \
		__asm__ volatile(TRY("mov %0, %%" #name)::"r"(value) : "memory"); \
		return last_fault.vector;                                         \
	}
DEFINE_REGISTER(cr0)
DEFINE_REGISTER(cr2)
DEFINE_REGISTER(cr3)
DEFINE_REGISTER(cr4)
DEFINE_REGISTER(cr8)
DEFINE_REGISTER(dr0)
DEFINE_REGISTER(dr1)
DEFINE_REGISTER(dr2)
DEFINE_REGISTER(dr3)
DEFINE_REGISTER(dr6)
DEFINE_REGISTER(dr7)

struct cpuid {
	u32 eax, ebx, ecx, edx;
};

static inline struct cpuid cpuid(u32 leaf, u32 subleaf)
{
	struct cpuid r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

static inline u64 rdmsr(u32 index)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(index));
	return (u64)high << 32 | low;
}

static inline void wrmsr(u32 index, u64 value)
{
	__asm__ volatile("wrmsr" ::"c"(index), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline int try_rdmsr(u32 index, u64 *value)
{
	u32 low = (u32)*value, high = (u32)(*value >> 32);

	fault_clear();
	__asm__ volatile(TRY("rdmsr") : "+a"(low), "+d"(high) : "c"(index) : "memory");
	*value = (u64)high << 32 | low;
	return last_fault.vector;
}

static inline int try_wrmsr(u32 index, u64 value)
{
	fault_clear();
	__asm__ volatile(TRY("wrmsr")::"c"(index), "a"((u32)value), "d"((u32)(value >> 32))
			 : "memory");
	return last_fault.vector;
}

static inline int try_xsetbv(u64 rcx, u64 value)
{
	fault_clear();
	__asm__ volatile(
		TRY(".byte 0x0f, 0x01, 0xd1")::"c"(rcx), "a"((u32)value), "d"((u32)(value >> 32))
		: "memory");
	return last_fault.vector;
}

static inline int try_xgetbv(u32 index, u64 *value)
{
	u32 low = 0, high = 0;

	fault_clear();
	__asm__ volatile(TRY(".byte 0x0f, 0x01, 0xd0")
			 : "+a"(low), "+d"(high)
			 : "c"(index)
			 : "memory");
	*value = (u64)high << 32 | low;
	return last_fault.vector;
}

static inline u64 rdtsc(void)
{
	u32 low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (u64)high << 32 | low;
}

static inline void invlpg(const volatile void *address)
{
	__asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
}

static inline void cli(void)
{
	__asm__ volatile("cli" ::: "memory");
}

static inline void sti(void)
{
	__asm__ volatile("sti; nop" ::: "memory");
}

/* CPUID.1:ECX, CPUID.7.0:EBX and others by bit. */
static inline bool cpuid_ecx(u32 leaf, u32 bit)
{
	return cpuid(leaf, 0).ecx >> bit & 1;
}

static inline bool cpuid_ebx(u32 leaf, u32 bit)
{
	return cpuid(leaf, 0).ebx >> bit & 1;
}

static inline bool cpuid_edx(u32 leaf, u32 bit)
{
	return cpuid(leaf, 0).edx >> bit & 1;
}

#define MSR_APIC_BASE	    0x1b
#define MSR_FEATURE_CONTROL 0x3a
#define MSR_SYSENTER_CS	    0x174
#define MSR_DEBUGCTL	    0x1d9
#define MSR_PAT		    0x277
#define MSR_TSC_DEADLINE    0x6e0
#define MSR_EFER	    0xc0000080
#define MSR_STAR	    0xc0000081
#define MSR_LSTAR	    0xc0000082
#define MSR_CSTAR	    0xc0000083
#define MSR_FMASK	    0xc0000084
#define MSR_FS_BASE	    0xc0000100
#define MSR_GS_BASE	    0xc0000101
#define MSR_KERNEL_GS_BASE  0xc0000102
#define MSR_TSC_AUX	    0xc0000103

#define EFER_SCE BIT(0)
#define EFER_LME BIT(8)
#define EFER_LMA BIT(10)
#define EFER_NXE BIT(11)

#define CR0_PE BIT(0)
#define CR0_MP BIT(1)
#define CR0_EM BIT(2)
#define CR0_TS BIT(3)
#define CR0_ET BIT(4)
#define CR0_NE BIT(5)
#define CR0_WP BIT(16)
#define CR0_AM BIT(18)
#define CR0_NW BIT(29)
#define CR0_CD BIT(30)
#define CR0_PG BIT(31)

#define CR4_TSD	    BIT(2)
#define CR4_DE	    BIT(3)
#define CR4_PAE	    BIT(5)
#define CR4_PGE	    BIT(7)
#define CR4_OSFXSR  BIT(9)
#define CR4_UMIP    BIT(11)
#define CR4_PCIDE   BIT(17)
#define CR4_OSXSAVE BIT(18)
#define CR4_PKE	    BIT(22)

#endif
