/* SPDX-License-Identifier: BSD-2-Clause */
/* The only code that touches x87 and vector state: fpu.asm. */
#ifndef VMX_FPU_H
#define VMX_FPU_H

/* Every component that XCR0 enables gets its initial state (SDM 1 13.8). CR4.OSXSAVE is set, CR0.TS
 * clear. */
void fpu_init_xsave(void);
/* x87 and SSE get their initial state. CR4.OSFXSR is set, CR0.TS and EM clear. */
void fpu_init_fxsave(void);

#endif
