// SPDX-License-Identifier: BSD-2-Clause
/* Compares the VMs' memory with the machine's. Called by boot/main.c after the files are loaded. */
#include "boot/lib/config_memory.h"
#include "hv/lib/print.h"

/* The hypervisor's own memory, and 8 bytes of page table for each 4 KiB. */
#define HYPERVISOR_BYTES (4ull << 20)
#define TABLE_SHARE	 512

static u64 bytes_needed(u64 memory)
{
	return HYPERVISOR_BYTES + memory + memory / TABLE_SHARE;
}

/* The largest VM that fits, in MiB. */
static u64 largest_mib(u64 free)
{
	u64 rest = free > HYPERVISOR_BYTES ? free - HYPERVISOR_BYTES : 0;

	return rest / (TABLE_SHARE + 1) * TABLE_SHARE >> 20;
}

enum error config_check_memory(const struct torpor_config *config, const struct config_lines *lines,
	u64 free, char message[CONFIG_MESSAGE_MAX])
{
	for (u32 i = 0; i < config->vm_count; i++) {
		const struct vm_config *vm = &config->vms[i];
		u32 line = lines->vms[i].memory ? lines->vms[i].memory : lines->vms[i].section;

		if (bytes_needed(vm->memory) <= free)
			continue;
		fmt_print(message, CONFIG_MESSAGE_MAX,
			"%s:%u: vm '%s' wants %lluM of memory, but %lluM is the most this machine "
			"has left; lower memory",
			CONFIG_FILE_NAME, line, vm->name, (unsigned long long)vm->memory >> 20,
			(unsigned long long)largest_mib(free));
		return ERR_NO_MEMORY;
	}
	return ERR_OK;
}
