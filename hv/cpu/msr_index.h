/* SPDX-License-Identifier: BSD-2-Clause */
/* Indices of the MSRs that the hypervisor names (SDM 4 chapter 2), by ascending index. */
#ifndef HV_CPU_MSR_INDEX_H
#define HV_CPU_MSR_INDEX_H

#define MSR_TSC		      0x010
#define MSR_PLATFORM_ID	      0x017
#define MSR_APIC_BASE	      0x01b
#define MSR_SMI_COUNT	      0x034
#define MSR_FEATURE_CONTROL   0x03a
#define MSR_TSC_ADJUST	      0x03b
#define MSR_SPEC_CTRL	      0x048
#define MSR_PRED_CMD	      0x049
#define MSR_BIOS_UPDT_TRIG    0x079
#define MSR_BIOS_SIGN_ID      0x08b
#define MSR_PLATFORM_INFO     0x0ce
#define MSR_UMWAIT_CONTROL    0x0e1
#define MSR_MTRR_CAP	      0x0fe
#define MSR_ARCH_CAPABILITIES 0x10a
#define MSR_MISC_FEATURES     0x140
#define MSR_SYSENTER_CS	      0x174
#define MSR_SYSENTER_ESP      0x175
#define MSR_SYSENTER_EIP      0x176
#define MSR_MCG_CAP	      0x179
#define MSR_MCG_STATUS	      0x17a
#define MSR_MISC_ENABLE	      0x1a0
#define MSR_DEBUGCTL	      0x1d9
#define MSR_MTRR_PHYSBASE0    0x200
#define MSR_MTRR_FIX64K_00000 0x250
#define MSR_MTRR_FIX16K_80000 0x258
#define MSR_MTRR_FIX16K_A0000 0x259
#define MSR_MTRR_FIX4K_C0000  0x268
#define MSR_PAT		      0x277
#define MSR_MTRR_DEF_TYPE     0x2ff
#define MSR_VMX_BASIC	      0x480
#define MSR_VMX_PIN	      0x481
#define MSR_VMX_PRIMARY	      0x482
#define MSR_VMX_EXIT	      0x483
#define MSR_VMX_ENTRY	      0x484
#define MSR_VMX_MISC	      0x485
#define MSR_VMX_CR0_FIXED0    0x486
#define MSR_VMX_CR0_FIXED1    0x487
#define MSR_VMX_CR4_FIXED0    0x488
#define MSR_VMX_CR4_FIXED1    0x489
#define MSR_VMX_SECONDARY     0x48b
#define MSR_VMX_EPT_VPID_CAP  0x48c
#define MSR_VMX_TRUE_PIN      0x48d
#define MSR_VMX_TRUE_PRIMARY  0x48e
#define MSR_VMX_TRUE_EXIT     0x48f
#define MSR_VMX_TRUE_ENTRY    0x490
#define MSR_TSC_DEADLINE      0x6e0
#define MSR_X2APIC_FIRST      0x800
#define MSR_X2APIC_LAST	      0x8ff
#define MSR_XSS		      0xda0
#define MSR_EFER	      0xc0000080
#define MSR_STAR	      0xc0000081
#define MSR_LSTAR	      0xc0000082
#define MSR_CSTAR	      0xc0000083
#define MSR_FMASK	      0xc0000084
#define MSR_FS_BASE	      0xc0000100
#define MSR_GS_BASE	      0xc0000101
#define MSR_KERNEL_GS_BASE    0xc0000102
#define MSR_TSC_AUX	      0xc0000103

#endif
