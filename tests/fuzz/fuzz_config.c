// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer target for torpor.conf: `make fuzz-config` builds and runs it for a minute. Beyond the
 * sanitizers' checks, what the parser accepts must keep the promises of config.h.
 */
#include <stdlib.h>
#include <string.h>

#include "boot/lib/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_vm(const struct vm_config *vm)
{
	require(vm->name[0] && memchr(vm->name, 0, sizeof(vm->name)));
	require(vm->kernel.name[0] && memchr(vm->kernel.name, 0, sizeof(vm->kernel.name)));
	require(memchr(vm->cmdline, 0, sizeof(vm->cmdline)));
	require(vm->module_count <= CONFIG_MODULES_MAX);
	for (u32 i = 0; i < vm->module_count; i++)
		require(vm->modules[i].name[0]);
	require(vm->memory && IS_ALIGNED(vm->memory, PAGE_SIZE));
	require(vm->cpus == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct torpor_config config;
	static struct config_lines lines;
	char message[CONFIG_MESSAGE_MAX];

	if (config_parse((const char *)data, size, &config, &lines, message)) {
		require(memchr(message, 0, sizeof(message)));
		require(!strncmp(message, "torpor.conf:", 12) && !strchr(message, '\n'));
		return 0;
	}
	require(config.vm_count >= 1 && config.vm_count <= CONFIG_VMS_MAX);
	for (u32 i = 0; i < config.vm_count; i++)
		check_vm(&config.vms[i]);
	return 0;
}
