/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every basic exit reason of SDM 3D appendix C with the name that the exit table shows. A reason
 * that the manual does not define (32..70 have gaps) has no row; the dispatch table sends it to
 * "unexpected".
 */
#ifndef VMX_EXIT_REASONS_H
#define VMX_EXIT_REASONS_H

#define EXIT_REASON_TABLE(X)                                \
	X(EXCEPTION_OR_NMI, 0, "exception-or-nmi")          \
	X(EXTERNAL_INTERRUPT, 1, "external-interrupt")      \
	X(TRIPLE_FAULT, 2, "triple-fault")                  \
	X(INIT, 3, "init")                                  \
	X(SIPI, 4, "sipi")                                  \
	X(IO_SMI, 5, "io-smi")                              \
	X(OTHER_SMI, 6, "other-smi")                        \
	X(INTERRUPT_WINDOW, 7, "interrupt-window")          \
	X(NMI_WINDOW, 8, "nmi-window")                      \
	X(TASK_SWITCH, 9, "task-switch")                    \
	X(CPUID, 10, "cpuid")                               \
	X(GETSEC, 11, "getsec")                             \
	X(HLT, 12, "hlt")                                   \
	X(INVD, 13, "invd")                                 \
	X(INVLPG, 14, "invlpg")                             \
	X(RDPMC, 15, "rdpmc")                               \
	X(RDTSC, 16, "rdtsc")                               \
	X(RSM, 17, "rsm")                                   \
	X(VMCALL, 18, "vmcall")                             \
	X(VMCLEAR, 19, "vmclear")                           \
	X(VMLAUNCH, 20, "vmlaunch")                         \
	X(VMPTRLD, 21, "vmptrld")                           \
	X(VMPTRST, 22, "vmptrst")                           \
	X(VMREAD, 23, "vmread")                             \
	X(VMRESUME, 24, "vmresume")                         \
	X(VMWRITE, 25, "vmwrite")                           \
	X(VMXOFF, 26, "vmxoff")                             \
	X(VMXON, 27, "vmxon")                               \
	X(CR_ACCESS, 28, "cr-access")                       \
	X(DR_ACCESS, 29, "dr-access")                       \
	X(IO, 30, "io")                                     \
	X(RDMSR, 31, "rdmsr")                               \
	X(WRMSR, 32, "wrmsr")                               \
	X(ENTRY_GUEST_STATE, 33, "entry-guest-state")       \
	X(ENTRY_MSR_LOAD, 34, "entry-msr-load")             \
	X(MWAIT, 36, "mwait")                               \
	X(MONITOR_TRAP, 37, "monitor-trap")                 \
	X(MONITOR, 39, "monitor")                           \
	X(PAUSE, 40, "pause")                               \
	X(ENTRY_MACHINE_CHECK, 41, "entry-machine-check")   \
	X(TPR_BELOW_THRESHOLD, 43, "tpr-below-threshold")   \
	X(APIC_ACCESS, 44, "apic-access")                   \
	X(VIRTUALIZED_EOI, 45, "virtualized-eoi")           \
	X(GDTR_IDTR_ACCESS, 46, "gdtr-idtr-access")         \
	X(LDTR_TR_ACCESS, 47, "ldtr-tr-access")             \
	X(EPT_VIOLATION, 48, "ept-violation")               \
	X(EPT_MISCONFIGURATION, 49, "ept-misconfiguration") \
	X(INVEPT, 50, "invept")                             \
	X(RDTSCP, 51, "rdtscp")                             \
	X(PREEMPTION_TIMER, 52, "preemption-timer")         \
	X(INVVPID, 53, "invvpid")                           \
	X(WBINVD, 54, "wbinvd")                             \
	X(XSETBV, 55, "xsetbv")                             \
	X(APIC_WRITE, 56, "apic-write")                     \
	X(RDRAND, 57, "rdrand")                             \
	X(INVPCID, 58, "invpcid")                           \
	X(VMFUNC, 59, "vmfunc")                             \
	X(ENCLS, 60, "encls")                               \
	X(RDSEED, 61, "rdseed")                             \
	X(PML_FULL, 62, "pml-full")                         \
	X(XSAVES, 63, "xsaves")                             \
	X(XRSTORS, 64, "xrstors")                           \
	X(PCONFIG, 65, "pconfig")                           \
	X(SPP_EVENT, 66, "spp-event")                       \
	X(UMWAIT, 67, "umwait")                             \
	X(TPAUSE, 68, "tpause")                             \
	X(LOADIWKEY, 69, "loadiwkey")                       \
	X(ENCLV, 70, "enclv")                               \
	X(ENQCMD_PASID, 72, "enqcmd-pasid")                 \
	X(ENQCMDS_PASID, 73, "enqcmds-pasid")               \
	X(BUS_LOCK, 74, "bus-lock")                         \
	X(NOTIFY, 75, "notify")

enum exit_reason {
#define EXIT_REASON_ENUM(name, number, text) EXIT_##name = number,
	EXIT_REASON_TABLE(EXIT_REASON_ENUM)
#undef EXIT_REASON_ENUM
		EXIT_REASONS = 76,
};

#endif
