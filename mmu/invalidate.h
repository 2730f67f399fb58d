/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INVEPT and INVVPID with the narrowest type that the processor has (SDM 3C 29.4.3, 31.3). Every
 * function invalidates at least what its name says, on this CPU only; a processor that refuses is a
 * panic, since going on would mean stale translations. Interrupts off, in VMX operation.
 */
#ifndef MMU_INVALIDATE_H
#define MMU_INVALIDATE_H

#include "hv/lib/types.h"
#include "mmu/ept.h"

/* IA32_VMX_EPT_VPID_CAP, once, before anything else here. */
void invalidate_init(u64 ept_vpid_capabilities);

/* Whether EPT or VPID may be used at all: something must be able to invalidate them. */
bool invalidate_ept_usable(void);
bool invalidate_vpid_usable(void);

/* Guest-physical and combined mappings of one EPTP, or of all. */
void invalidate_ept(const struct ept *ept);
void invalidate_ept_all(void);

/*
 * Linear and combined mappings of one VPID: of one address, all but global pages, all; and those of
 * every VPID but 0. vpid must not be 0, which is the host's (SDM 3C 29.1).
 */
void invalidate_vpid_address(u16 vpid, gva_t address);
void invalidate_vpid_keep_global(u16 vpid);
void invalidate_vpid(u16 vpid);
void invalidate_vpid_all(void);

#endif
