// SPDX-License-Identifier: BSD-2-Clause
/* The life of a virtual machine, from its configuration to its status. Called by hv/main.c. */
#include "hv/vm/vm.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/status.h"
#include "hv/cpu/time.h"
#include "hv/dev/acpi_tables.h"
#include "hv/dev/lapic.h"
#include "hv/dev/mp_table.h"
#include "hv/lib/log.h"
#include "hv/mem/frames.h"
#include "hv/vm/loader.h"
#include "hv/vm/run.h"
#include "mmu/invalidate.h"
#include "vmx/guest_state.h"
#include "vmx/machine.h"
#include "vmx/policy.h"
#include "vmx/setup.h"

static u64 pages_of(u64 size)
{
	return ALIGN_UP(size, PAGE_SIZE) / PAGE_SIZE;
}

static enum error alloc_object(u64 size, void *object)
{
	hpa_t address;
	enum error error = frames_alloc(pages_of(size), PAGE_SIZE, &address);

	if (!error)
		*(void **)object = phys_to_virt(address);
	return error;
}

static void free_object(void *object, u64 size)
{
	if (object)
		frames_free(virt_to_phys(object), pages_of(size));
}

static struct guest_file file_of(const struct boot_file *file)
{
	return (struct guest_file){ .data = phys_to_virt(hpa(file->address)), .size = file->size };
}

static enum error load_kernel(struct vm *vm, struct guest_entry *entry)
{
	struct guest_files files = { .kernel = file_of(&vm->config->kernel),
		.initrd = file_of(&vm->config->initrd) };
	char message[GUEST_MESSAGE_MAX];
	enum error error;
	u64 rsdp;

	for (u32 i = 0; i < vm->config->module_count; i++)
		files.modules[i] = file_of(&vm->config->modules[i]);
	error = acpi_tables_build(&vm->memory, vm->vcpu_count, &rsdp);
	if (!error)
		error = mp_table_build(&vm->memory, vm->vcpu_count);
	if (error) {
		log_error("vm %s: firmware tables: %s", vm->config->name, error_text(error));
		return error;
	}
	error = guest_load(vm->config, &vm->memory, &files, rsdp, entry, message, sizeof(message));
	if (error)
		log_error("%s", message);
	return error;
}

static enum error create_platform(struct vm *vm)
{
	struct platform_config config = {
		.host = vm_platform_host(vm),
		.tsc_hz = tsc_hz(),
		.memory_size = vm->memory.size,
		.unix_time = wall_clock(),
		.cpus = vm->vcpu_count,
		.maxphyaddr = insn_cpuid(0x80000008, 0).eax & 0xff,
		.test_device = vm->config->test_device,
		.exit_port = vm->config->exit_port,
	};
	enum error error = alloc_object(platform_size(vm->vcpu_count), &vm->platform);

	if (error)
		return error;
	vm->platform_pages = pages_of(platform_size(vm->vcpu_count));
	platform_init(vm->platform, &config);
	return ERR_OK;
}

static enum error create_vcpu(struct vm *vm, u32 id, const struct guest_entry *entry)
{
	struct vcpu *vcpu;
	enum error error = alloc_object(sizeof(*vcpu), &vcpu);

	if (error)
		return error;
	vm->vcpus[id] = vcpu;
	vcpu->id = id;
	vcpu->vm = vm;
	vcpu->cpuid = &vm->cpuid;
	vcpu->lapic = platform_lapic(vm->platform, id);
	/* The guest's TSC starts at 0, as after power-on. */
	vcpu->tsc_offset = -vm->start_tsc;
	lapic_set_tsc_offset(vcpu->lapic, vcpu->tsc_offset);
	return vcpu_vmcs_create(vcpu, entry);
}

static enum error create_parts(struct vm *vm)
{
	struct guest_entry entry;
	enum error error = ept_init(&vm->ept, &vmx_machine.ept);

	if (!error)
		error = vm_memory_create(vm, vm->config->memory);
	if (!error)
		error = create_platform(vm);
	if (error) {
		log_error("vm %s: no memory for %lu MiB of RAM (largest free run: %lu MiB); give "
			  "it less",
			vm->config->name, vm->config->memory >> 20, frames_largest(PAGE_SIZE) >> 8);
		return error;
	}
	error = load_kernel(vm, &entry);
	if (error)
		return error;
	vm->start_tsc = insn_rdtsc();
	vm_policy_init(vm, tsc_hz());
	for (u32 id = 0; id < vm->vcpu_count && !error; id++)
		error = create_vcpu(vm, id, &entry);
	if (error)
		log_error("vm %s: vCPU: %s", vm->config->name, error_text(error));
	return error;
}

enum error vm_create(struct vm_config *config, bool profile, struct vm **result)
{
	struct vm *vm;
	enum error error = alloc_object(sizeof(*vm), &vm);

	if (error) {
		log_error("vm %s: %s", config->name, error_text(error));
		return error;
	}
	vm->config = config;
	vm->profile = profile;
	vm->vcpu_count = config->cpus;
	error = create_parts(vm);
	if (error) {
		vm_destroy(vm);
		return error;
	}
	*result = vm;
	return ERR_OK;
}

void vm_destroy(struct vm *vm)
{
	for (u32 id = 0; id < vm->vcpu_count; id++) {
		if (!vm->vcpus[id])
			continue;
		vcpu_vmcs_destroy(vm->vcpus[id]);
		free_object(vm->vcpus[id], sizeof(struct vcpu));
	}
	/* The tables' address may name another VM's tables soon (SDM 3C 29.4.3.4). */
	if (vm->ept.root.value) {
		invalidate_ept(&vm->ept);
		ept_destroy(&vm->ept);
	}
	vm_memory_destroy(vm);
	free_object(vm->platform, vm->platform_pages * PAGE_SIZE);
	free_object(vm, sizeof(*vm));
}

void vm_run(struct vm *vm)
{
	struct vcpu *vcpu = vm->vcpus[0];
	u64 now;

	guest_state_reset(&vm->cpuid);
	/* VPIDs and, once freed, the tables' addresses serve one VM after the other. */
	invalidate_ept_all();
	if (vmx_machine.vpid)
		invalidate_vpid_all();
	now = insn_rdtsc();
	status_event("{\"event\":\"enter\",\"vm\":\"%s\",\"tsc\":%lu,\"guest_tsc\":%lu}",
		vm->config->name, now, now - vm->start_tsc);
	vcpu_run(vcpu);
	vm->end_tsc = insn_rdtsc();
}

struct stop_row {
	const char *text;
	u32 status;
};

#define STATUS_CRASH 68

static const struct stop_row stops[] = {
	[STOP_NONE] = { "running", STATUS_CRASH },
	[STOP_POWER_OFF] = { "power-off", 0 },
	[STOP_EXIT_PORT] = { "exit-port", 0 },
	/* A VM is not started again: a reset ends it well, as QEMU's -no-reboot. */
	[STOP_RESET] = { "reset", 0 },
	[STOP_CRASH] = { "crash", STATUS_CRASH },
};

u32 vm_status(const struct vm *vm)
{
	if (vm->stop == STOP_EXIT_PORT)
		return (vm->stop_value & 0x7f) << 1 | 1;
	return stops[vm->stop].status;
}

const char *vm_stop_text(const struct vm *vm)
{
	return stops[vm->stop].text;
}
