/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading a guest kernel into a VM's memory: Linux bzImage (Documentation/x86/boot of Linux,
 * protocol 2.04 and later), ELF with a PVH entry note (Xen's x86/HVM direct boot ABI), multiboot 1
 * (Multiboot Specification 0.6.96). The files are hostile: a file that cannot be loaded is refused
 * with one line, and nothing outside the guest's memory is written.
 */
#ifndef HV_VM_LOADER_H
#define HV_VM_LOADER_H

#include "boot/boot_info.h"
#include "hv/lib/error.h"
#include "hv/vm/guest_memory.h"

enum guest_entry_mode {
	ENTRY_LONG64, /* EFER.LME and LMA, CR0.PE and PG, CR4.PAE; cr3 maps the first 4 GiB 1:1 */
	ENTRY_PROTECTED32, /* CR0.PE, paging off */
};

/*
 * The first state of the boot vCPU. GDTR is gdt_base and gdt_limit; CS has the selector cs, base 0,
 * limit 4 GiB, execute/read, accessed, L or D by the mode; DS, ES, SS (and FS, GS) have the
 * selector ds, base 0, limit 4 GiB, read/write, accessed: as the GDT says. General registers that
 * are not here are 0. RFLAGS is 2: interrupts are off.
 */
struct guest_entry {
	enum guest_entry_mode mode;
	u64 rip, rsp;
	u64 rax, rbx, rsi;
	u64 cr3; /* ENTRY_LONG64 only, otherwise 0 */
	u64 gdt_base;
	u16 gdt_limit;
	u16 cs, ds;
};

/* A file where the hypervisor reaches it. */
struct guest_file {
	const u8 *data;
	u64 size;
};

/*
 * The files of the configuration, in its order; names and command lines are in the configuration.
 */
struct guest_files {
	struct guest_file kernel;
	struct guest_file initrd; /* size 0: none */
	struct guest_file modules[CONFIG_MODULES_MAX];
	bool entry32; /* enter a bzImage at its 32-bit entry though it has a 64-bit one */
};

#define GUEST_MESSAGE_MAX 256

/*
 * Loads the kernel with its initrd, modules and command line. rsdp: what acpi_tables_build() gave,
 * or 0; the firmware tables are in their places and stay untouched. On success *entry is the state
 * to start from. On an error the message names file, reason and remedy, and the guest's memory is
 * undefined. Addresses of what was loaded are logged (LOG_INFO).
 *
 * ERR_FORMAT: no known kernel, or a broken one; ERR_TRUNCATED; ERR_UNSUPPORTED: asks for something
 * a VM does not have; ERR_RANGE: does not fit into the VM's memory.
 */
enum error __must_check guest_load(const struct vm_config *config, struct guest_memory *memory,
	const struct guest_files *files, u64 rsdp, struct guest_entry *entry, char *message,
	size_t message_size);

#endif
