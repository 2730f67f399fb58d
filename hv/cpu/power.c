// SPDX-License-Identifier: BSD-2-Clause
/* Power-off. Firmware code runs on tables of its own that map all memory at its own address. */
#include "hv/cpu/power.h"

#include "hv/cpu/firmware_call.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/serial.h"
#include "hv/mem/frames.h"
#include "hv/mem/paging.h"

#define PORT_BOCHS_SHUTDOWN 0x8900
#define PORT_RESET	    0xcf9
#define RESET_FULL	    0x06
#define EFI_RESET_SHUTDOWN  2

/*
 * EFI_RUNTIME_SERVICES: a table header of 24 bytes, then pointers; ResetSystem is the eleventh
 * (UEFI 2.10 4.5).
 */
#define RUNTIME_HEADER_BYTES 24
#define RUNTIME_RESET_INDEX  10

static u64 runtime_services;

void power_init(const struct boot_info *boot)
{
	runtime_services = boot->runtime_services;
}

static void firmware_shutdown(void)
{
	static bool tried;
	const u64 *services;

	/* A fault in the firmware's code ends here again, by a panic: once is enough. */
	if (!runtime_services || !firmware_root().value || tried)
		return;
	tried = true;
	services = phys_to_virt(hpa(runtime_services + RUNTIME_HEADER_BYTES));
	u64 reset_system = services[RUNTIME_RESET_INDEX];

	insn_write_cr3(firmware_root().value);
	firmware_call4(reset_system, EFI_RESET_SHUTDOWN, 0, 0, 0);
}

void machine_power_off(void)
{
	insn_cli();
	console_flush();
	for (const char *c = "Shutdown"; *c; c++)
		insn_outb(PORT_BOCHS_SHUTDOWN, *c);
	firmware_shutdown();
	insn_outb(PORT_RESET, RESET_FULL);
	for (;;)
		insn_halt();
}
