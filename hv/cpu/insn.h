/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every privileged or special instruction that C code of the hypervisor executes: the one seam for
 * testing. Hosted tests put tests/unit/fake/ ahead on the include path and get a fake processor
 * with the same functions. Nothing else in C contains inline assembly of these instructions.
 */
#ifndef HV_CPU_INSN_H
#define HV_CPU_INSN_H

#include "hv/lib/types.h"

struct cpuid_regs {
	u32 eax, ebx, ecx, edx;
};

static inline struct cpuid_regs insn_cpuid(u32 leaf, u32 subleaf)
{
	struct cpuid_regs r;
	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

static inline u64 insn_rdmsr(u32 index)
{
	u32 low, high;
	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(index));
	return (u64)high << 32 | low;
}

static inline void insn_wrmsr(u32 index, u64 value)
{
	__asm__ volatile("wrmsr" ::"c"(index), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

/*
 * RDMSR and WRMSR that survive a #GP: false if the processor refused. The trap handler resumes at
 * the address that the __fixup section pairs with the faulting one.
 */
static inline bool __must_check insn_rdmsr_safe(u32 index, u64 *value)
{
	u32 low, high;
	bool ok;
	__asm__ volatile("1: rdmsr\n"
			 "   movb $1, %2\n"
			 "   jmp 3f\n"
			 "2: xorl %%eax, %%eax\n"
			 "   xorl %%edx, %%edx\n"
			 "   movb $0, %2\n"
			 "3:\n"
			 ".pushsection __fixup, \"a\"\n"
			 ".quad 1b, 2b\n"
			 ".popsection"
			 : "=&a"(low), "=&d"(high), "=&q"(ok)
			 : "c"(index));
	*value = (u64)high << 32 | low;
	return ok;
}

static inline bool __must_check insn_wrmsr_safe(u32 index, u64 value)
{
	bool ok;
	__asm__ volatile("1: wrmsr\n"
			 "   movb $1, %0\n"
			 "   jmp 3f\n"
			 "2: movb $0, %0\n"
			 "3:\n"
			 ".pushsection __fixup, \"a\"\n"
			 ".quad 1b, 2b\n"
			 ".popsection"
			 : "=&q"(ok)
			 : "c"(index), "a"((u32)value), "d"((u32)(value >> 32))
			 : "memory");
	return ok;
}

static inline u64 insn_rdtsc(void)
{
	u32 low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

#define INSN_CR(n)                                                              \
	static inline u64 insn_read_cr##n(void)                                 \
	{                                                                       \
		u64 value;                                                      \
		__asm__ volatile("mov %%cr" #n ", %0" : "=r"(value)::"memory"); \
		return value;                                                   \
	}                                                                       \
	static inline void insn_write_cr##n(u64 value)                          \
	{                                                                       \
		__asm__ volatile("mov %0, %%cr" #n ::"r"(value) : "memory");    \
	}
INSN_CR(0)
INSN_CR(2)
INSN_CR(3)
INSN_CR(4)
INSN_CR(8)
#undef INSN_CR

#define INSN_DR(n)                                                    \
	static inline u64 insn_read_dr##n(void)                       \
	{                                                             \
		u64 value;                                            \
		__asm__ volatile("mov %%dr" #n ", %0" : "=r"(value)); \
		return value;                                         \
	}                                                             \
	static inline void insn_write_dr##n(u64 value)                \
	{                                                             \
		__asm__ volatile("mov %0, %%dr" #n ::"r"(value));     \
	}
INSN_DR(0)
INSN_DR(1)
INSN_DR(2)
INSN_DR(3)
INSN_DR(6)
INSN_DR(7)
#undef INSN_DR

#define INSN_PORT(suffix, type)                                                      \
	static inline type insn_in##suffix(u16 port)                                 \
	{                                                                            \
		type value;                                                          \
		__asm__ volatile("in" #suffix " %1, %0" : "=a"(value) : "Nd"(port)); \
		return value;                                                        \
	}                                                                            \
	static inline void insn_out##suffix(u16 port, type value)                    \
	{                                                                            \
		__asm__ volatile("out" #suffix " %0, %1" ::"a"(value), "Nd"(port));  \
	}
INSN_PORT(b, u8)
INSN_PORT(w, u16)
INSN_PORT(l, u32)
#undef INSN_PORT

/* Pseudo-descriptor of LGDT, LIDT, SGDT, SIDT in 64-bit mode (SDM 3A 2.4). */
struct insn_table {
	u16 limit;
	u64 base;
} __packed;

static inline void insn_lgdt(const struct insn_table *t)
{
	__asm__ volatile("lgdt %0" ::"m"(*t) : "memory");
}

static inline void insn_lidt(const struct insn_table *t)
{
	__asm__ volatile("lidt %0" ::"m"(*t) : "memory");
}

static inline void insn_sgdt(struct insn_table *t)
{
	__asm__ volatile("sgdt %0" : "=m"(*t));
}

static inline void insn_sidt(struct insn_table *t)
{
	__asm__ volatile("sidt %0" : "=m"(*t));
}

static inline void insn_ltr(u16 selector)
{
	__asm__ volatile("ltr %0" ::"r"(selector) : "memory");
}

static inline void insn_lldt(u16 selector)
{
	__asm__ volatile("lldt %0" ::"r"(selector));
}

static inline void insn_xsetbv(u32 index, u64 value)
{
	__asm__ volatile("xsetbv" ::"c"(index), "a"((u32)value), "d"((u32)(value >> 32)));
}

static inline u64 insn_xgetbv(u32 index)
{
	u32 low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(index));
	return (u64)high << 32 | low;
}

/* Needs CR4.PKE. */
static inline u32 insn_rdpkru(void)
{
	u32 value;
	__asm__ volatile("rdpkru" : "=a"(value) : "c"(0) : "rdx");
	return value;
}

static inline void insn_invlpg(u64 address)
{
	__asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
}

static inline void insn_wbinvd(void)
{
	__asm__ volatile("wbinvd" ::: "memory");
}

static inline void insn_cli(void)
{
	__asm__ volatile("cli" ::: "memory");
}

static inline void insn_sti(void)
{
	__asm__ volatile("sti" ::: "memory");
}

/* Takes the interrupts that wait now: STI, its shadow, CLI. */
static inline void insn_take_interrupts(void)
{
	__asm__ volatile("sti; nop; cli" ::: "memory");
}

/* STI;HLT without a window between the two, then CLI: returns after the next interrupt. */
static inline void insn_wait_for_interrupt(void)
{
	__asm__ volatile("sti; hlt; cli" ::: "memory");
}

static inline void insn_halt(void)
{
	__asm__ volatile("hlt" ::: "memory");
}

static inline void insn_pause(void)
{
	__asm__ volatile("pause");
}

static inline u64 insn_read_flags(void)
{
	u64 flags;
	__asm__ volatile("pushfq; pop %0" : "=r"(flags));
	return flags;
}

/*
 * The VMX instructions (SDM 3C chapter 31). enum vmx_result: VMsucceed, VMfailInvalid (CF),
 * VMfailValid (ZF; the reason is in the VM-instruction error field).
 */
enum vmx_result { VMX_SUCCEED, VMX_FAIL_INVALID, VMX_FAIL_VALID };

#define VMX_RESULT(cf, zf) ((cf) ? VMX_FAIL_INVALID : (zf) ? VMX_FAIL_VALID : VMX_SUCCEED)

#define INSN_VMX_POINTER(name)                                                \
	static inline enum vmx_result __must_check insn_##name(hpa_t address) \
	{                                                                     \
		bool cf, zf;                                                  \
		__asm__ volatile(#name " %2"                                  \
				 : "=@ccc"(cf), "=@ccz"(zf)                   \
				 : "m"(address.value)                         \
				 : "memory");                                 \
		return VMX_RESULT(cf, zf);                                    \
	}
INSN_VMX_POINTER(vmxon)
INSN_VMX_POINTER(vmclear)
INSN_VMX_POINTER(vmptrld)
#undef INSN_VMX_POINTER

static inline void insn_vmxoff(void)
{
	__asm__ volatile("vmxoff" ::: "cc", "memory");
}

/* VMREAD of a field that exists while a VMCS is current: it cannot fail. */
static inline u64 insn_vmread(u64 field)
{
	u64 value;
	__asm__ volatile("vmread %1, %0" : "=r"(value) : "r"(field) : "cc");
	return value;
}

/* VMREAD of a field that the processor may not have. */
static inline bool __must_check insn_vmread_safe(u64 field, u64 *value)
{
	bool failed;
	__asm__ volatile("vmread %2, %1" : "=@ccbe"(failed), "=r"(*value) : "r"(field));
	return !failed;
}

static inline bool __must_check insn_vmwrite_safe(u64 field, u64 value)
{
	bool failed;
	__asm__ volatile("vmwrite %2, %1" : "=@ccbe"(failed) : "r"(field), "r"(value));
	return !failed;
}

static inline void insn_vmwrite(u64 field, u64 value)
{
	__asm__ volatile("vmwrite %1, %0" ::"r"(field), "r"(value) : "cc");
}

struct insn_inv_descriptor {
	u64 first, second;
};

static inline enum vmx_result __must_check insn_invept(
	u64 type, const struct insn_inv_descriptor *descriptor)
{
	bool cf, zf;
	__asm__ volatile("invept %2, %3"
			 : "=@ccc"(cf), "=@ccz"(zf)
			 : "m"(*descriptor), "r"(type)
			 : "memory");
	return VMX_RESULT(cf, zf);
}

static inline enum vmx_result __must_check insn_invvpid(
	u64 type, const struct insn_inv_descriptor *descriptor)
{
	bool cf, zf;
	__asm__ volatile("invvpid %2, %3"
			 : "=@ccc"(cf), "=@ccz"(zf)
			 : "m"(*descriptor), "r"(type)
			 : "memory");
	return VMX_RESULT(cf, zf);
}

#endif
