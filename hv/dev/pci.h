/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCI configuration space by mechanism 1 (ports 0xcf8, 0xcfc) and by memory (PCI_ECAM_BASE), with
 * one function on the bus, a host bridge, and the reset control register 0xcf9 that lies among the
 * ports.
 */
#ifndef HV_DEV_PCI_H
#define HV_DEV_PCI_H

#include "hv/lib/types.h"

struct platform;

struct pci {
	u32 address; /* CONFIG_ADDRESS */
	u8 reset;    /* port 0xcf9 */
	u8 host_bridge[256];
};

void pci_reset(struct platform *platform);
/* Ports 0xcf8..0xcff, any width. */
u32 pci_read(struct platform *platform, u16 port, u32 size);
void pci_write(struct platform *platform, u16 port, u32 size, u32 value);

/* offset in the memory-mapped space; size 1, 2 or 4 within a dword, else all ones. */
u32 pci_memory_read(struct platform *platform, u32 offset, u32 size);
void pci_memory_write(struct platform *platform, u32 offset, u32 size, u32 value);

#endif
