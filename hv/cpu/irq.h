/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host interrupts by vector. They arrive through the IDT while the host idles, and as exits while a
 * guest runs.
 */
#ifndef HV_CPU_IRQ_H
#define HV_CPU_IRQ_H

#include "hv/lib/types.h"

/* Vectors of the host's own interrupts. */
enum { IRQ_VECTOR_SERIAL = 0x40, IRQ_VECTOR_TIMER = 0xf0, IRQ_VECTOR_SPURIOUS = 0xff };

typedef void irq_handler(void);

/* vector >= 32. The handler does not signal EOI, irq_dispatch() does. */
void irq_set_handler(u32 vector, irq_handler *handler);

/*
 * Runs the handler and signals EOI to the local APIC. Interrupts off. A vector without a
 * handler is only acknowledged.
 */
void irq_dispatch(u32 vector);

/*
 * An NMI (or the exit for one) blocks further NMIs until the next IRET (SDM 3A 6.7.1): executes one
 * that goes nowhere.
 */
void nmi_unblock(void);

#endif
