/* SPDX-License-Identifier: BSD-2-Clause */
/* The access-rights fields of the guest's segments in the VMCS (SDM 3C table 25-2). */
#ifndef VMX_ACCESS_RIGHTS_H
#define VMX_ACCESS_RIGHTS_H

#include "hv/lib/types.h"

#define RIGHTS_TYPE(rights) ((rights)&0xf)
#define RIGHTS_ACCESS_RIGHT BIT(1) /* data: writable; code: readable */
#define RIGHTS_EXPAND_DOWN  BIT(2) /* data */
#define RIGHTS_CODE	    BIT(3)
#define RIGHTS_S	    BIT(4) /* code or data */
#define RIGHTS_DPL_SHIFT    5
#define RIGHTS_DPL(rights)  ((rights) >> RIGHTS_DPL_SHIFT & 3)
#define RIGHTS_P	    BIT(7)
#define RIGHTS_L	    BIT(13)
#define RIGHTS_DB	    BIT(14)
#define RIGHTS_G	    BIT(15)
#define RIGHTS_UNUSABLE	    BIT(16)
#define RIGHTS_VM86	    0xf3 /* of every segment in virtual-8086 mode (SDM 3C 27.3.1.2) */

#endif
