/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instruction seam for hosted tests: the functions of the shipping hv/cpu/insn.h, executed by
 * the fake processor of fake_cpu.h. This directory stands ahead on the include path, so the files
 * under test are the ones that ship.
 */
#ifndef HV_CPU_INSN_H
#define HV_CPU_INSN_H

#include "hv/lib/types.h"

struct cpuid_regs {
	u32 eax, ebx, ecx, edx;
};

struct insn_table {
	u16 limit;
	u64 base;
} __packed;

enum vmx_result { VMX_SUCCEED, VMX_FAIL_INVALID, VMX_FAIL_VALID };

struct insn_inv_descriptor {
	u64 first, second;
};

struct cpuid_regs insn_cpuid(u32 leaf, u32 subleaf);
u64 insn_rdmsr(u32 index);
void insn_wrmsr(u32 index, u64 value);
bool __must_check insn_rdmsr_safe(u32 index, u64 *value);
bool __must_check insn_wrmsr_safe(u32 index, u64 value);
u64 insn_rdtsc(void);

u64 insn_read_cr0(void);
u64 insn_read_cr2(void);
u64 insn_read_cr3(void);
u64 insn_read_cr4(void);
u64 insn_read_cr8(void);
void insn_write_cr0(u64 value);
void insn_write_cr2(u64 value);
void insn_write_cr3(u64 value);
void insn_write_cr4(u64 value);
void insn_write_cr8(u64 value);

u64 insn_read_dr0(void);
u64 insn_read_dr1(void);
u64 insn_read_dr2(void);
u64 insn_read_dr3(void);
u64 insn_read_dr6(void);
u64 insn_read_dr7(void);
void insn_write_dr0(u64 value);
void insn_write_dr1(u64 value);
void insn_write_dr2(u64 value);
void insn_write_dr3(u64 value);
void insn_write_dr6(u64 value);
void insn_write_dr7(u64 value);

u8 insn_inb(u16 port);
u16 insn_inw(u16 port);
u32 insn_inl(u16 port);
void insn_outb(u16 port, u8 value);
void insn_outw(u16 port, u16 value);
void insn_outl(u16 port, u32 value);

void insn_lgdt(const struct insn_table *t);
void insn_lidt(const struct insn_table *t);
void insn_sgdt(struct insn_table *t);
void insn_sidt(struct insn_table *t);
void insn_ltr(u16 selector);
void insn_lldt(u16 selector);
void insn_xsetbv(u32 index, u64 value);
u64 insn_xgetbv(u32 index);
u32 insn_rdpkru(void);
void insn_invlpg(u64 address);
void insn_wbinvd(void);
void insn_cli(void);
void insn_sti(void);
void insn_take_interrupts(void);
void insn_wait_for_interrupt(void);
void insn_halt(void);
void insn_pause(void);
u64 insn_read_flags(void);

enum vmx_result __must_check insn_vmxon(hpa_t address);
enum vmx_result __must_check insn_vmclear(hpa_t address);
enum vmx_result __must_check insn_vmptrld(hpa_t address);
void insn_vmxoff(void);
u64 insn_vmread(u64 field);
void insn_vmwrite(u64 field, u64 value);
bool __must_check insn_vmread_safe(u64 field, u64 *value);
bool __must_check insn_vmwrite_safe(u64 field, u64 value);
enum vmx_result __must_check insn_invept(u64 type, const struct insn_inv_descriptor *descriptor);
enum vmx_result __must_check insn_invvpid(u64 type, const struct insn_inv_descriptor *descriptor);

#endif
