/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the guest's platform has its devices: the one place that both the devices and the firmware
 * tables (ACPI, MP) take addresses, ports and interrupt lines from.
 */
#ifndef HV_DEV_PLATFORM_MAP_H
#define HV_DEV_PLATFORM_MAP_H

#define LAPIC_BASE	  0xfee00000ull
#define IOAPIC_BASE	  0xfec00000ull
#define IOAPIC_PINS	  24
#define IOAPIC_ID	  0 /* of the ID register at reset, of the ACPI and the MP tables */
/* PCI configuration space, memory mapped: bus 0 alone (PCI Firmware 3.2 4.1). RAM ends below it. */
#define PCI_ECAM_BASE	  0xe0000000ull
#define PCI_ECAM_SIZE	  0x100000ull
#define MMIO_SCRATCH	  0xff000000ull /* test-device: 64 KiB */
#define MMIO_SCRATCH_SIZE 0x10000ull

#define PORT_PM1_EVENT	 0x600 /* status, enable: 4 bytes */
#define PORT_PM1_CONTROL 0x604 /* 2 bytes */
#define PORT_PM_TIMER	 0x608 /* 4 bytes, 3.579545 MHz, 24 bits */
#define PORT_RESET	 0xcf9
#define RESET_VALUE	 0x06
#define S5_SLEEP_TYPE	 5

#define PORT_TEST_EXIT	0xf4
#define PORT_TEST_LATCH 0xe0 /* 4 ports */
#define PORT_TEST_UNMAP 0xe4
#define PORT_TEST_IRQ	0x2000 /* 24 ports */
#define PORT_SHUTDOWN	0x8900

/* ISA interrupt lines. Line 0 (PIT) is on IOAPIC pin 2 (MADT override), the others on their own. */
#define IRQ_PIT	 0
#define IRQ_KBD	 1
#define IRQ_COM1 4
#define IRQ_RTC	 8
#define IRQ_SCI	 9 /* level, active high (MADT override) */

/* Guest RAM ends here below 4 GiB (hv/vm/guest_memory.h GUEST_HOLE). */
#define PLATFORM_RAM_HOLE 0xc0000000ull

#define PM_TIMER_HZ 3579545
#define PIT_HZ	    1193182

/* Guest-physical places of the firmware tables, reported as reserved/ACPI in the memory map. */
#define GUEST_EBDA	0x9fc00 /* 1 KiB; its segment stands at 0x40e */
#define GUEST_MP_TABLE	0x9fc10
#define GUEST_ACPI	0xe0000
#define GUEST_ACPI_SIZE 0x10000

#endif
