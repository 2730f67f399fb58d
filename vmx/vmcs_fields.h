/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The VMCS fields that Torpor knows, by width and area (SDM 3D appendix B). One table: it yields
 * the constants VMCS_..., the names that a failed entry prints, and the fields of the tests' fake
 * processor.
 */
#ifndef VMX_VMCS_FIELDS_H
#define VMX_VMCS_FIELDS_H

/* X(name, encoding) */
#define VMCS_FIELD_TABLE(X)                            \
	/* 16-bit control */                           \
	X(VPID, 0x0000)                                \
	X(POSTED_INTERRUPT_VECTOR, 0x0002)             \
	X(EPTP_INDEX, 0x0004)                          \
	/* 16-bit guest state */                       \
	X(GUEST_ES_SELECTOR, 0x0800)                   \
	X(GUEST_CS_SELECTOR, 0x0802)                   \
	X(GUEST_SS_SELECTOR, 0x0804)                   \
	X(GUEST_DS_SELECTOR, 0x0806)                   \
	X(GUEST_FS_SELECTOR, 0x0808)                   \
	X(GUEST_GS_SELECTOR, 0x080a)                   \
	X(GUEST_LDTR_SELECTOR, 0x080c)                 \
	X(GUEST_TR_SELECTOR, 0x080e)                   \
	X(GUEST_INTERRUPT_STATUS, 0x0810)              \
	/* 16-bit host state */                        \
	X(HOST_ES_SELECTOR, 0x0c00)                    \
	X(HOST_CS_SELECTOR, 0x0c02)                    \
	X(HOST_SS_SELECTOR, 0x0c04)                    \
	X(HOST_DS_SELECTOR, 0x0c06)                    \
	X(HOST_FS_SELECTOR, 0x0c08)                    \
	X(HOST_GS_SELECTOR, 0x0c0a)                    \
	X(HOST_TR_SELECTOR, 0x0c0c)                    \
	/* 64-bit control */                           \
	X(IO_BITMAP_A, 0x2000)                         \
	X(IO_BITMAP_B, 0x2002)                         \
	X(MSR_BITMAP, 0x2004)                          \
	X(EXIT_MSR_STORE_ADDRESS, 0x2006)              \
	X(EXIT_MSR_LOAD_ADDRESS, 0x2008)               \
	X(ENTRY_MSR_LOAD_ADDRESS, 0x200a)              \
	X(EXECUTIVE_VMCS_POINTER, 0x200c)              \
	X(PML_ADDRESS, 0x200e)                         \
	X(TSC_OFFSET, 0x2010)                          \
	X(VIRTUAL_APIC_ADDRESS, 0x2012)                \
	X(APIC_ACCESS_ADDRESS, 0x2014)                 \
	X(POSTED_INTERRUPT_DESCRIPTOR_ADDRESS, 0x2016) \
	X(EPT_POINTER, 0x201a)                         \
	X(EOI_EXIT_BITMAP_0, 0x201c)                   \
	X(EOI_EXIT_BITMAP_1, 0x201e)                   \
	X(EOI_EXIT_BITMAP_2, 0x2020)                   \
	X(EOI_EXIT_BITMAP_3, 0x2022)                   \
	X(XSS_EXITING_BITMAP, 0x202c)                  \
	X(ENCLS_EXITING_BITMAP, 0x202e)                \
	X(TSC_MULTIPLIER, 0x2032)                      \
	/* 64-bit read-only */                         \
	X(GUEST_PHYSICAL_ADDRESS, 0x2400)              \
	/* 64-bit guest state */                       \
	X(VMCS_LINK_POINTER, 0x2800)                   \
	X(GUEST_DEBUGCTL, 0x2802)                      \
	X(GUEST_PAT, 0x2804)                           \
	X(GUEST_EFER, 0x2806)                          \
	X(GUEST_PERF_GLOBAL_CTRL, 0x2808)              \
	X(GUEST_PDPTE0, 0x280a)                        \
	X(GUEST_PDPTE1, 0x280c)                        \
	X(GUEST_PDPTE2, 0x280e)                        \
	X(GUEST_PDPTE3, 0x2810)                        \
	X(GUEST_BNDCFGS, 0x2812)                       \
	/* 64-bit host state */                        \
	X(HOST_PAT, 0x2c00)                            \
	X(HOST_EFER, 0x2c02)                           \
	X(HOST_PERF_GLOBAL_CTRL, 0x2c04)               \
	/* 32-bit control */                           \
	X(PIN_BASED_CONTROLS, 0x4000)                  \
	X(PRIMARY_CONTROLS, 0x4002)                    \
	X(EXCEPTION_BITMAP, 0x4004)                    \
	X(PAGE_FAULT_ERROR_MASK, 0x4006)               \
	X(PAGE_FAULT_ERROR_MATCH, 0x4008)              \
	X(CR3_TARGET_COUNT, 0x400a)                    \
	X(EXIT_CONTROLS, 0x400c)                       \
	X(EXIT_MSR_STORE_COUNT, 0x400e)                \
	X(EXIT_MSR_LOAD_COUNT, 0x4010)                 \
	X(ENTRY_CONTROLS, 0x4012)                      \
	X(ENTRY_MSR_LOAD_COUNT, 0x4014)                \
	X(ENTRY_INTERRUPTION_INFO, 0x4016)             \
	X(ENTRY_ERROR_CODE, 0x4018)                    \
	X(ENTRY_INSTRUCTION_LENGTH, 0x401a)            \
	X(TPR_THRESHOLD, 0x401c)                       \
	X(SECONDARY_CONTROLS, 0x401e)                  \
	/* 32-bit read-only */                         \
	X(INSTRUCTION_ERROR, 0x4400)                   \
	X(EXIT_REASON, 0x4402)                         \
	X(EXIT_INTERRUPTION_INFO, 0x4404)              \
	X(EXIT_INTERRUPTION_ERROR_CODE, 0x4406)        \
	X(IDT_VECTORING_INFO, 0x4408)                  \
	X(IDT_VECTORING_ERROR_CODE, 0x440a)            \
	X(EXIT_INSTRUCTION_LENGTH, 0x440c)             \
	X(EXIT_INSTRUCTION_INFO, 0x440e)               \
	/* 32-bit guest state */                       \
	X(GUEST_ES_LIMIT, 0x4800)                      \
	X(GUEST_CS_LIMIT, 0x4802)                      \
	X(GUEST_SS_LIMIT, 0x4804)                      \
	X(GUEST_DS_LIMIT, 0x4806)                      \
	X(GUEST_FS_LIMIT, 0x4808)                      \
	X(GUEST_GS_LIMIT, 0x480a)                      \
	X(GUEST_LDTR_LIMIT, 0x480c)                    \
	X(GUEST_TR_LIMIT, 0x480e)                      \
	X(GUEST_GDTR_LIMIT, 0x4810)                    \
	X(GUEST_IDTR_LIMIT, 0x4812)                    \
	X(GUEST_ES_RIGHTS, 0x4814)                     \
	X(GUEST_CS_RIGHTS, 0x4816)                     \
	X(GUEST_SS_RIGHTS, 0x4818)                     \
	X(GUEST_DS_RIGHTS, 0x481a)                     \
	X(GUEST_FS_RIGHTS, 0x481c)                     \
	X(GUEST_GS_RIGHTS, 0x481e)                     \
	X(GUEST_LDTR_RIGHTS, 0x4820)                   \
	X(GUEST_TR_RIGHTS, 0x4822)                     \
	X(GUEST_INTERRUPTIBILITY, 0x4824)              \
	X(GUEST_ACTIVITY_STATE, 0x4826)                \
	X(GUEST_SMBASE, 0x4828)                        \
	X(GUEST_SYSENTER_CS, 0x482a)                   \
	X(PREEMPTION_TIMER_VALUE, 0x482e)              \
	/* 32-bit host state */                        \
	X(HOST_SYSENTER_CS, 0x4c00)                    \
	/* natural-width control */                    \
	X(CR0_MASK, 0x6000)                            \
	X(CR4_MASK, 0x6002)                            \
	X(CR0_SHADOW, 0x6004)                          \
	X(CR4_SHADOW, 0x6006)                          \
	/* natural-width read-only */                  \
	X(EXIT_QUALIFICATION, 0x6400)                  \
	X(IO_RCX, 0x6402)                              \
	X(IO_RSI, 0x6404)                              \
	X(IO_RDI, 0x6406)                              \
	X(IO_RIP, 0x6408)                              \
	X(GUEST_LINEAR_ADDRESS, 0x640a)                \
	/* natural-width guest state */                \
	X(GUEST_CR0, 0x6800)                           \
	X(GUEST_CR3, 0x6802)                           \
	X(GUEST_CR4, 0x6804)                           \
	X(GUEST_ES_BASE, 0x6806)                       \
	X(GUEST_CS_BASE, 0x6808)                       \
	X(GUEST_SS_BASE, 0x680a)                       \
	X(GUEST_DS_BASE, 0x680c)                       \
	X(GUEST_FS_BASE, 0x680e)                       \
	X(GUEST_GS_BASE, 0x6810)                       \
	X(GUEST_LDTR_BASE, 0x6812)                     \
	X(GUEST_TR_BASE, 0x6814)                       \
	X(GUEST_GDTR_BASE, 0x6816)                     \
	X(GUEST_IDTR_BASE, 0x6818)                     \
	X(GUEST_DR7, 0x681a)                           \
	X(GUEST_RSP, 0x681c)                           \
	X(GUEST_RIP, 0x681e)                           \
	X(GUEST_RFLAGS, 0x6820)                        \
	X(GUEST_PENDING_DEBUG, 0x6822)                 \
	X(GUEST_SYSENTER_ESP, 0x6824)                  \
	X(GUEST_SYSENTER_EIP, 0x6826)                  \
	/* natural-width host state */                 \
	X(HOST_CR0, 0x6c00)                            \
	X(HOST_CR3, 0x6c02)                            \
	X(HOST_CR4, 0x6c04)                            \
	X(HOST_FS_BASE, 0x6c06)                        \
	X(HOST_GS_BASE, 0x6c08)                        \
	X(HOST_TR_BASE, 0x6c0a)                        \
	X(HOST_GDTR_BASE, 0x6c0c)                      \
	X(HOST_IDTR_BASE, 0x6c0e)                      \
	X(HOST_SYSENTER_ESP, 0x6c10)                   \
	X(HOST_SYSENTER_EIP, 0x6c12)                   \
	X(HOST_RSP, 0x6c14)                            \
	X(HOST_RIP, 0x6c16)

enum vmcs_field {
#define VMCS_FIELD_ENUM(name, encoding) VMCS_##name = encoding,
	VMCS_FIELD_TABLE(VMCS_FIELD_ENUM)
#undef VMCS_FIELD_ENUM
};

#endif
