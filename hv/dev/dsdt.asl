// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's DSDT (ACPI 6.5 chapter 19): power-off, the PCI root with the windows of the platform
 * map, and the legacy devices that an operating system looks for by ACPI. The processors are in an SSDT that
 * acpi_tables.c writes, as their number is the VM's.
 */
#include "hv/dev/dsdt_constants.h"

DefinitionBlock ("", "DSDT", 2, "TORPOR", "TORPOR  ", 1)
{
    // 7.4.2.6: the type for PM1a control; there is no PM1b.
    Name (\_S5, Package () { S5_SLEEP_TYPE, 0, 0, 0 })

    Scope (\_SB)
    {
        Device (PCI0)
        {
            Name (_HID, EisaId ("PNP0A03"))
            Name (_UID, 0)
            Name (_BBN, 0)
            Name (_CRS, ResourceTemplate ()
            {
                WordBusNumber (ResourceProducer, MinFixed, MaxFixed, PosDecode, 0, 0, 0, 0, 1)
                // The configuration mechanism's own ports, and all others for devices behind it.
                IO (Decode16, 0xcf8, 0xcf8, 1, 8)
                WordIO (ResourceProducer, MinFixed, MaxFixed, PosDecode, EntireRange,
                    0, 0, 0xcf7, 0, 0xcf8)
                WordIO (ResourceProducer, MinFixed, MaxFixed, PosDecode, EntireRange,
                    0, 0xd00, 0xffff, 0, 0xf300)
                DWordMemory (ResourceProducer, PosDecode, MinFixed, MaxFixed, NonCacheable, ReadWrite,
                    0, PCI_WINDOW, PCI_WINDOW_LAST, 0, PCI_WINDOW_SIZE)
            })
        }

        Device (COM1)
        {
            Name (_HID, EisaId ("PNP0501"))
            Name (_UID, 1)
            Name (_CRS, ResourceTemplate ()
            {
                IO (Decode16, 0x3f8, 0x3f8, 1, 8)
                IRQNoFlags () { IRQ_COM1 }
            })
        }

        Device (RTC)
        {
            Name (_HID, EisaId ("PNP0B00"))
            Name (_CRS, ResourceTemplate ()
            {
                IO (Decode16, 0x70, 0x70, 1, 2)
                IRQNoFlags () { IRQ_RTC }
            })
        }
    }
}
