/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every CPUID feature bit that a guest may see, one row a bit with the reason (SDM 2A CPUID, 1
 * chapter 20). What is not here reads 0: a bit that a future processor defines may need state, an
 * MSR or a control that Torpor does not know. The last part lists bits that are hidden on purpose;
 * their rows only document that.
 */
#ifndef VMX_CPUID_FEATURES_H
#define VMX_CPUID_FEATURES_H

#include "hv/lib/types.h"

enum cpuid_register { EAX, EBX, ECX, EDX };

/* When a guest sees the bit. All but FORCED and SMP also ask the host's bit. */
enum cpuid_need {
	HOST,	      /* instructions without state of their own, or state that the VMCS switches */
	FORCED,	      /* emulated: there whatever the host has */
	SMP,	      /* more than one vCPU */
	XSAVE,	      /* the host's XSAVE is in use */
	YMM,	      /* XCR0.AVX may be set by the guest */
	ZMM,	      /* XCR0.opmask, ZMM_Hi256, Hi16_ZMM may be set */
	PKRU,	      /* XCR0.PKRU may be set */
	RDTSCP_ON,    /* secondary control "enable RDTSCP" */
	INVPCID_ON,   /* secondary control "enable INVPCID" */
	XSAVES_ON,    /* secondary control "enable XSAVES/XRSTORS" */
	USER_WAIT_ON, /* secondary control "enable user wait and pause" */
	SPECULATION,  /* SPEC_CTRL is switched with the vCPU */
	LA57_ON,      /* the walkers know five levels */
	HIDDEN,
};

/* X(name, leaf, subleaf, register, bit, need, reason) */
#define CPUID_FEATURE_TABLE(X)                                                                     \
	X(SSE3, 1, 0, ECX, 0, HOST, "no state beyond SSE's")                                       \
	X(PCLMULQDQ, 1, 0, ECX, 1, HOST, "no state beyond SSE's")                                  \
	X(SSSE3, 1, 0, ECX, 9, HOST, "no state beyond SSE's")                                      \
	X(FMA, 1, 0, ECX, 12, YMM, "uses YMM")                                                     \
	X(CMPXCHG16B, 1, 0, ECX, 13, HOST, "no state")                                             \
	X(PCID, 1, 0, ECX, 17, HOST, "CR4.PCIDE and CR3 are the guest's; VPID tags the TLB")       \
	X(SSE4_1, 1, 0, ECX, 19, HOST, "no state beyond SSE's")                                    \
	X(SSE4_2, 1, 0, ECX, 20, HOST, "no state beyond SSE's")                                    \
	X(X2APIC, 1, 0, ECX, 21, FORCED, "the local APIC is emulated, both ways of access")        \
	X(MOVBE, 1, 0, ECX, 22, HOST, "no state")                                                  \
	X(POPCNT, 1, 0, ECX, 23, HOST, "no state")                                                 \
	X(TSC_DEADLINE, 1, 0, ECX, 24, FORCED, "a timer of the emulated local APIC")               \
	X(AES, 1, 0, ECX, 25, HOST, "no state beyond SSE's")                                       \
	X(XSAVE, 1, 0, ECX, 26, XSAVE, "XCR0 is switched with the vCPU")                           \
	X(OSXSAVE, 1, 0, ECX, 27, HIDDEN, "mirrors the guest's CR4 when CPUID executes")           \
	X(AVX, 1, 0, ECX, 28, YMM, "uses YMM")                                                     \
	X(F16C, 1, 0, ECX, 29, YMM, "uses YMM")                                                    \
	X(RDRAND, 1, 0, ECX, 30, HOST, "RDRAND exiting is off")                                    \
	X(HYPERVISOR, 1, 0, ECX, 31, FORCED, "leaves 0x40000000 and up exist")                     \
	X(FPU, 1, 0, EDX, 0, HOST, "the guest's while its vCPU is loaded")                         \
	X(VME, 1, 0, EDX, 1, HOST, "CR4.VME and PVI are the guest's")                              \
	X(DE, 1, 0, EDX, 2, HOST, "CR4.DE is the guest's")                                         \
	X(PSE, 1, 0, EDX, 3, HOST, "CR4.PSE is the guest's")                                       \
	X(TSC, 1, 0, EDX, 4, HOST, "TSC offsetting")                                               \
	X(MSR, 1, 0, EDX, 5, HOST, "the MSR table")                                                \
	X(PAE, 1, 0, EDX, 6, HOST, "the processor walks the guest's tables, EPT below")            \
	X(MCE, 1, 0, EDX, 7, HOST, "CR4.MCE is kept in the shadow; no bank ever reports")          \
	X(CMPXCHG8B, 1, 0, EDX, 8, HOST, "no state")                                               \
	X(APIC, 1, 0, EDX, 9, HIDDEN, "mirrors IA32_APIC_BASE.EN when CPUID executes")             \
	X(SEP, 1, 0, EDX, 11, HOST, "SYSENTER MSRs are in the VMCS")                               \
	X(MTRR, 1, 0, EDX, 12, FORCED, "stored; EPT decides the memory type")                      \
	X(PGE, 1, 0, EDX, 13, HOST, "CR4.PGE is the guest's")                                      \
	X(MCA, 1, 0, EDX, 14, HOST, "zero banks")                                                  \
	X(CMOV, 1, 0, EDX, 15, HOST, "no state")                                                   \
	X(PAT, 1, 0, EDX, 16, HOST, "IA32_PAT is in the VMCS; EPT leaves let it decide")           \
	X(PSE36, 1, 0, EDX, 17, HOST, "the processor walks the guest's tables")                    \
	X(CLFLUSH, 1, 0, EDX, 19, HOST, "harmless on the guest's own memory")                      \
	X(MMX, 1, 0, EDX, 23, HOST, "the FPU's state")                                             \
	X(FXSR, 1, 0, EDX, 24, HOST, "no control but CR4.OSFXSR, which is the guest's")            \
	X(SSE, 1, 0, EDX, 25, HOST, "the guest's while its vCPU is loaded")                        \
	X(SSE2, 1, 0, EDX, 26, HOST, "the guest's while its vCPU is loaded")                       \
	X(SS, 1, 0, EDX, 27, HOST, "a property of the caches")                                     \
	X(HTT, 1, 0, EDX, 28, SMP, "EBX[23:16] counts the vCPUs")                                  \
	X(ARAT, 6, 0, EAX, 2, FORCED, "the emulated APIC timer never stops")                       \
	X(FSGSBASE, 7, 0, EBX, 0, HOST, "the bases are in the VMCS or live")                       \
	X(TSC_ADJUST, 7, 0, EBX, 1, FORCED, "stored; part of the TSC offset")                      \
	X(BMI1, 7, 0, EBX, 3, HOST, "no state")                                                    \
	X(AVX2, 7, 0, EBX, 5, YMM, "uses YMM")                                                     \
	X(FDP_EXCPTN_ONLY, 7, 0, EBX, 6, HOST, "a property of the FPU")                            \
	X(SMEP, 7, 0, EBX, 7, HOST, "CR4.SMEP is the guest's")                                     \
	X(BMI2, 7, 0, EBX, 8, HOST, "no state")                                                    \
	X(ERMS, 7, 0, EBX, 9, HOST, "no state")                                                    \
	X(INVPCID, 7, 0, EBX, 10, INVPCID_ON, "#UD unless the control is on")                      \
	X(ZERO_FCS_FDS, 7, 0, EBX, 13, HOST, "a property of the FPU")                              \
	X(AVX512F, 7, 0, EBX, 16, ZMM, "uses ZMM")                                                 \
	X(AVX512DQ, 7, 0, EBX, 17, ZMM, "uses ZMM")                                                \
	X(RDSEED, 7, 0, EBX, 18, HOST, "RDSEED exiting is off")                                    \
	X(ADX, 7, 0, EBX, 19, HOST, "no state")                                                    \
	X(SMAP, 7, 0, EBX, 20, HOST, "CR4.SMAP is the guest's")                                    \
	X(AVX512_IFMA, 7, 0, EBX, 21, ZMM, "uses ZMM")                                             \
	X(CLFLUSHOPT, 7, 0, EBX, 23, HOST, "harmless on the guest's own memory")                   \
	X(CLWB, 7, 0, EBX, 24, HOST, "harmless on the guest's own memory")                         \
	X(AVX512PF, 7, 0, EBX, 26, ZMM, "uses ZMM")                                                \
	X(AVX512ER, 7, 0, EBX, 27, ZMM, "uses ZMM")                                                \
	X(AVX512CD, 7, 0, EBX, 28, ZMM, "uses ZMM")                                                \
	X(SHA, 7, 0, EBX, 29, HOST, "no state beyond SSE's")                                       \
	X(AVX512BW, 7, 0, EBX, 30, ZMM, "uses ZMM")                                                \
	X(AVX512VL, 7, 0, EBX, 31, ZMM, "uses ZMM")                                                \
	X(PREFETCHWT1, 7, 0, ECX, 0, HOST, "no state")                                             \
	X(AVX512_VBMI, 7, 0, ECX, 1, ZMM, "uses ZMM")                                              \
	X(UMIP, 7, 0, ECX, 2, HOST, "CR4.UMIP is the guest's")                                     \
	X(PKU, 7, 0, ECX, 3, PKRU, "CR4.PKE is the guest's, PKRU its state")                       \
	X(OSPKE, 7, 0, ECX, 4, HIDDEN, "mirrors the guest's CR4 when CPUID executes")              \
	X(WAITPKG, 7, 0, ECX, 5, USER_WAIT_ON, "#UD unless the control is on")                     \
	X(AVX512_VBMI2, 7, 0, ECX, 6, ZMM, "uses ZMM")                                             \
	X(GFNI, 7, 0, ECX, 8, HOST, "no state beyond SSE's")                                       \
	X(VAES, 7, 0, ECX, 9, YMM, "uses YMM")                                                     \
	X(VPCLMULQDQ, 7, 0, ECX, 10, YMM, "uses YMM")                                              \
	X(AVX512_VNNI, 7, 0, ECX, 11, ZMM, "uses ZMM")                                             \
	X(AVX512_BITALG, 7, 0, ECX, 12, ZMM, "uses ZMM")                                           \
	X(AVX512_VPOPCNTDQ, 7, 0, ECX, 14, ZMM, "uses ZMM")                                        \
	X(LA57, 7, 0, ECX, 16, LA57_ON, "CR4.LA57 would be the guest's")                           \
	X(RDPID, 7, 0, ECX, 22, RDTSCP_ON, "under the RDTSCP control (SDM 3C 26.3)")               \
	X(CLDEMOTE, 7, 0, ECX, 25, HOST, "a hint")                                                 \
	X(MOVDIRI, 7, 0, ECX, 27, HOST, "a store")                                                 \
	X(MOVDIR64B, 7, 0, ECX, 28, HOST, "a store")                                               \
	X(AVX512_4VNNIW, 7, 0, EDX, 2, ZMM, "uses ZMM")                                            \
	X(AVX512_4FMAPS, 7, 0, EDX, 3, ZMM, "uses ZMM")                                            \
	X(FSRM, 7, 0, EDX, 4, HOST, "no state")                                                    \
	X(AVX512_VP2INTERSECT, 7, 0, EDX, 8, ZMM, "uses ZMM")                                      \
	X(MD_CLEAR, 7, 0, EDX, 10, HOST, "VERW does not exit")                                     \
	X(SERIALIZE, 7, 0, EDX, 14, HOST, "no state")                                              \
	X(AVX512_FP16, 7, 0, EDX, 23, ZMM, "uses ZMM")                                             \
	X(IBRS_IBPB, 7, 0, EDX, 26, SPECULATION, "SPEC_CTRL stored, PRED_CMD a command")           \
	X(STIBP, 7, 0, EDX, 27, SPECULATION, "a bit of SPEC_CTRL")                                 \
	X(ARCH_CAPABILITIES, 7, 0, EDX, 29, HOST, "a constant, filtered")                          \
	X(SSBD, 7, 0, EDX, 31, SPECULATION, "a bit of SPEC_CTRL")                                  \
	X(AVX_VNNI, 7, 1, EAX, 4, YMM, "uses YMM")                                                 \
	X(AVX512_BF16, 7, 1, EAX, 5, ZMM, "uses ZMM")                                              \
	X(FZRM, 7, 1, EAX, 10, HOST, "no state")                                                   \
	X(FSRS, 7, 1, EAX, 11, HOST, "no state")                                                   \
	X(FSRC, 7, 1, EAX, 12, HOST, "no state")                                                   \
	X(XSAVEOPT, 0xd, 1, EAX, 0, XSAVE, "does not exit")                                        \
	X(XSAVEC, 0xd, 1, EAX, 1, XSAVE, "does not exit")                                          \
	X(XGETBV1, 0xd, 1, EAX, 2, XSAVE, "does not exit")                                         \
	X(XSAVES, 0xd, 1, EAX, 3, XSAVES_ON, "#UD unless the control is on")                       \
	X(LAHF64, 0x80000001, 0, ECX, 0, HOST, "no state")                                         \
	X(LZCNT, 0x80000001, 0, ECX, 5, HOST, "no state")                                          \
	X(PREFETCHW, 0x80000001, 0, ECX, 8, HOST, "a hint")                                        \
	X(SYSCALL, 0x80000001, 0, EDX, 11, HOST, "its MSRs are live while the vCPU is loaded")     \
	X(NX, 0x80000001, 0, EDX, 20, HOST, "EFER is in the VMCS")                                 \
	X(PAGE_1G, 0x80000001, 0, EDX, 26, HOST, "the processor walks the guest's tables")         \
	X(RDTSCP, 0x80000001, 0, EDX, 27, RDTSCP_ON, "#UD unless the control is on")               \
	X(LM, 0x80000001, 0, EDX, 29, HOST, "entry control \"IA-32e mode guest\"")                 \
	X(INVARIANT_TSC, 0x80000007, 0, EDX, 8, HOST,                                              \
		"the guest's TSC is the host's less a constant")                                   \
	/* Hidden on purpose. */                                                                   \
	X(DTES64, 1, 0, ECX, 2, HIDDEN, "debug store would need the host's addresses")             \
	X(MONITOR, 1, 0, ECX, 3, HIDDEN, "MWAIT would stop the processor under the host")          \
	X(VMX, 1, 0, ECX, 5, HIDDEN, "no nested virtualisation")                                   \
	X(SMX, 1, 0, ECX, 6, HIDDEN, "GETSEC measures the machine, not a VM")                      \
	X(EIST, 1, 0, ECX, 7, HIDDEN, "frequency is the host's")                                   \
	X(PDCM, 1, 0, ECX, 15, HIDDEN, "no PMU")                                                   \
	X(ACPI_THERMAL, 1, 0, EDX, 22, HIDDEN, "thermal MSRs are the host's")                      \
	X(DS, 1, 0, EDX, 21, HIDDEN, "debug store, see DTES64")                                    \
	X(SGX, 7, 0, EBX, 2, HIDDEN, "enclave memory is not virtualised")                          \
	X(HLE, 7, 0, EBX, 4, HIDDEN, "TSX: side channels, and TSX_CTRL would have to be switched") \
	X(RTM, 7, 0, EBX, 11, HIDDEN, "as HLE")                                                    \
	X(MPX, 7, 0, EBX, 14, HIDDEN, "withdrawn; BNDCFGS would have to be switched")              \
	X(INTEL_PT, 7, 0, EBX, 25, HIDDEN, "trace buffers take host addresses")                    \
	X(CET_SS, 7, 0, ECX, 7, HIDDEN, "needs VMCS fields and XSS state that are not switched")   \
	X(KEY_LOCKER, 7, 0, ECX, 23, HIDDEN, "the wrapping key is not switched")                   \
	X(BUS_LOCK_DETECT, 7, 0, ECX, 24, HIDDEN, "DEBUGCTL bit 2 is not offered")                 \
	X(ENQCMD, 7, 0, ECX, 29, HIDDEN, "needs PASID translation")                                \
	X(PKS, 7, 0, ECX, 31, HIDDEN, "IA32_PKRS is not switched")                                 \
	X(UINTR, 7, 0, EDX, 5, HIDDEN, "state that is not switched")                               \
	X(HYBRID, 7, 0, EDX, 15, HIDDEN, "a vCPU has no fixed kind of core")                       \
	X(ARCH_LBR, 7, 0, EDX, 19, HIDDEN, "state that is not switched")                           \
	X(CET_IBT, 7, 0, EDX, 20, HIDDEN, "as CET_SS")                                             \
	X(AMX_TILE, 7, 0, EDX, 24, HIDDEN, "XFD is not switched")                                  \
	X(L1D_FLUSH, 7, 0, EDX, 28, HIDDEN, "flushing at entries is the host's business")          \
	X(XFD, 0xd, 1, EAX, 4, HIDDEN, "as AMX_TILE")

#define CPUID_BIT(leaf, subleaf, register, bit)                                                \
	(((u32)(leaf)&0x80000000u) | ((leaf)&0xff) << 16 | (subleaf) << 12 | (register) << 8 | \
		(bit))

enum cpuid_feature {
#define CPUID_FEATURE_ENUM(name, leaf, subleaf, register, bit, need, reason) \
	FEATURE_##name = CPUID_BIT(leaf, subleaf, register, bit),
	CPUID_FEATURE_TABLE(CPUID_FEATURE_ENUM)
#undef CPUID_FEATURE_ENUM
};

#endif
