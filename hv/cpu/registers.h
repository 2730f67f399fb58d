/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bits of CR0, CR4 (SDM 3A 2.5), EFER (2.2.1), RFLAGS (2.3), DR6 and DR7 (3B 18.2) that the
 * hypervisor names, whether the register is the host's or a guest's.
 */
#ifndef HV_CPU_REGISTERS_H
#define HV_CPU_REGISTERS_H

#include "hv/lib/types.h"

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

#define CR4_VME	       BIT(0)
#define CR4_PVI	       BIT(1)
#define CR4_TSD	       BIT(2)
#define CR4_DE	       BIT(3)
#define CR4_PSE	       BIT(4)
#define CR4_PAE	       BIT(5)
#define CR4_MCE	       BIT(6)
#define CR4_PGE	       BIT(7)
#define CR4_PCE	       BIT(8)
#define CR4_OSFXSR     BIT(9)
#define CR4_OSXMMEXCPT BIT(10)
#define CR4_UMIP       BIT(11)
#define CR4_LA57       BIT(12)
#define CR4_VMXE       BIT(13)
#define CR4_FSGSBASE   BIT(16)
#define CR4_PCIDE      BIT(17)
#define CR4_OSXSAVE    BIT(18)
#define CR4_SMEP       BIT(20)
#define CR4_SMAP       BIT(21)
#define CR4_PKE	       BIT(22)

#define EFER_SCE     BIT(0)
#define EFER_LME     BIT(8)
#define EFER_LMA     BIT(10)
#define EFER_NXE     BIT(11)
#define EFER_DEFINED (EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE)

#define RFLAGS_FIXED 0x2ull /* bit 1 reads 1 */
#define RFLAGS_TF    BIT(8)
#define RFLAGS_IF    BIT(9)
#define RFLAGS_NT    BIT(14)
#define RFLAGS_RF    BIT(16)
#define RFLAGS_VM    BIT(17)
#define RFLAGS_AC    BIT(18)

/* The fixed values are also those after a reset (SDM 3A table 10-1): all else is 0 then. */
#define DR6_BD	  BIT(13)
#define DR6_BT	  BIT(15)
#define DR6_FIXED 0xffff0ff0ull
#define DR7_GD	  BIT(13)
#define DR7_FIXED 0x400ull

#endif
