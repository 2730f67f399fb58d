// SPDX-License-Identifier: BSD-2-Clause
/*
 * PCI configuration space (PCI 3.0 3.2.2.3.2, PCI Express 5.0 7.2.2). Called by ports.c and
 * platform.c.
 */
#include "hv/dev/board.h"
#include "hv/lib/string.h"

#define CONFIG_ADDRESS	  0xcf8
#define CONFIG_DATA	  0xcfc
#define ENABLE		  0x80000000u
#define FUNCTION(address) ((address) >> 8 & 0xffff) /* bus, device and function */
#define RESET_CPU	  0x04
#define RESET_BITS	  0x0e

/* The bytes of the header that are not 0 (those of Intel's 440FX host bridge). */
static const struct {
	u8 offset, value;
} header[] = {
	{ 0x00, 0x86 }, { 0x01, 0x80 }, /* vendor */
	{ 0x02, 0x37 }, { 0x03, 0x12 }, /* device */
	{ 0x04, 0x06 },			/* memory space and bus master are always on */
	{ 0x08, 0x02 },			/* revision */
	{ 0x0b, 0x06 },			/* class: bridge; subclass 0: host */
};

/* What can be written: latency timer, interrupt line, and the chip's own registers. */
static bool writable(u32 offset)
{
	return offset == 0x0d || offset == 0x3c || offset >= 0x40;
}

/* The configuration space of a function (bus, device and function number), or NULL. */
static u8 *space_of(struct pci *pci, u32 function)
{
	return function == 0 ? pci->host_bridge : NULL;
}

static u8 *selected(struct pci *pci)
{
	return pci->address & ENABLE ? space_of(pci, FUNCTION(pci->address)) : NULL;
}

static void write_space(u8 *space, u32 offset, u32 size, u32 value)
{
	for (u32 i = 0; i < size; i++)
		if (writable(offset + i))
			space[offset + i] = (u8)(value >> 8 * i);
}

u32 pci_read(struct platform *platform, u16 port, u32 size)
{
	struct pci *pci = &platform->pci;
	u8 *space = selected(pci);
	u32 value = all_ones(size);

	if (port == CONFIG_ADDRESS && size == 4)
		return pci->address;
	if (port == PORT_RESET && size == 1)
		return pci->reset;
	/* The bus cuts accesses to within the eight ports, so this stays in one dword. */
	if (port >= CONFIG_DATA && space)
		memcpy(&value, space + (pci->address & 0xfc) + (port & 3), size);
	return value;
}

void pci_write(struct platform *platform, u16 port, u32 size, u32 value)
{
	struct pci *pci = &platform->pci;
	u8 *space = selected(pci);
	u32 offset = (pci->address & 0xfc) + (port & 3);

	if (port == CONFIG_ADDRESS && size == 4) {
		pci->address = value & ~(0x7f000000u | 3);
	} else if (port == PORT_RESET && size == 1) {
		/* The reset comes with the rising edge of bit 2. */
		if ((value & RESET_CPU) && !(pci->reset & RESET_CPU))
			board_stop(platform, STOP_RESET, 0);
		pci->reset = value & RESET_BITS;
	} else if (port >= CONFIG_DATA && space) {
		write_space(space, offset, size, value);
	}
}

/* The space of the function at that offset; *offset becomes the register. NULL: nothing answers. */
static u8 *memory_space(struct platform *platform, u32 *offset, u32 size)
{
	u32 function = *offset >> 12;

	*offset &= PAGE_MASK;
	if (size > 4 || (*offset & 3) + size > 4)
		return NULL;
	return space_of(&platform->pci, function);
}

u32 pci_memory_read(struct platform *platform, u32 offset, u32 size)
{
	u8 *space = memory_space(platform, &offset, size);
	u32 value = 0;

	if (!space)
		return all_ones(size);
	/* No extended capabilities: the first one's header reads 0 (PCI Express 5.0 7.9.1). */
	if (offset < sizeof(platform->pci.host_bridge))
		memcpy(&value, space + offset, size);
	return value;
}

void pci_memory_write(struct platform *platform, u32 offset, u32 size, u32 value)
{
	u8 *space = memory_space(platform, &offset, size);

	if (space && offset < sizeof(platform->pci.host_bridge))
		write_space(space, offset, size, value);
}

void pci_reset(struct platform *platform)
{
	struct pci *pci = &platform->pci;

	memset(pci, 0, sizeof(*pci));
	for (u32 i = 0; i < ARRAY_SIZE(header); i++)
		pci->host_bridge[header[i].offset] = header[i].value;
}
