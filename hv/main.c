// SPDX-License-Identifier: BSD-2-Clause
/*
 * The main line: switches VMX on, runs the VMs in their order, powers the machine off. Called by
 * hv/cpu/boot.c on the boot CPU's own stack, interrupts off.
 */
#include "hv/main.h"
#include "boot/boot_info.h"
#include "hv/cpu/boot.h"
#include "hv/cpu/cpu.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/power.h"
#include "hv/cpu/serial.h"
#include "hv/cpu/status.h"
#include "hv/lib/log.h"
#include "hv/mem/frames.h"
#include "hv/vm/vm.h"
#include "vmx/guest_state.h"
#include "vmx/machine.h"

#define STATUS_MACHINE	 66
#define STATUS_BAD_GUEST 64

/*
 * The processor's brand string (SDM 2A CPUID, leaves 0x80000002 to 4), without its leading spaces.
 */
static const char *brand(char buffer[49])
{
	u32 *words = (u32 *)buffer;
	const char *start = buffer;

	for (u32 leaf = 0; leaf < 3; leaf++) {
		struct cpuid_regs r = insn_cpuid(0x80000002 + leaf, 0);

		words[leaf * 4] = r.eax;
		words[leaf * 4 + 1] = r.ebx;
		words[leaf * 4 + 2] = r.ecx;
		words[leaf * 4 + 3] = r.edx;
	}
	buffer[48] = '\0';
	while (*start == ' ')
		start++;
	return start;
}

static __noreturn void finish(u32 status)
{
	log_info("Torpor ends, status %u", status);
	status_event("{\"event\":\"end\",\"status\":%u}", status);
	machine_power_off();
}

static void start_vmx(void)
{
	const char *missing = "";
	enum error error = vmx_machine_init(&missing);
	char features[160], buffer[49] __aligned(4);

	guest_state_enable();
	if (!error)
		error = vmx_cpu_enable(this_cpu(), &missing);
	if (error) {
		log_error("this CPU (%s) cannot run Torpor: it lacks %s", brand(buffer), missing);
		status_event("{\"event\":\"refused\",\"kind\":\"machine\",\"reason\":\"no %s\"}",
			missing);
		finish(STATUS_MACHINE);
	}
	vmx_controls_describe(&vmx_machine.controls, features, sizeof(features));
	log_info("Torpor %s on %s: VMX with %s", TORPOR_VERSION, brand(buffer), features);
}

/* Frames that the loader filled with a file of this VM. */
static void free_file(const struct boot_file *file)
{
	if (file->size)
		frames_donate(hpa(file->address), ALIGN_UP(file->size, PAGE_SIZE) / PAGE_SIZE);
}

static void free_files(const struct vm_config *config)
{
	free_file(&config->kernel);
	free_file(&config->initrd);
	for (u32 i = 0; i < config->module_count; i++)
		free_file(&config->modules[i]);
}

static u32 run_vm(struct vm_config *config, bool profile)
{
	struct vm *vm;
	u64 in_use = frames_in_use();
	u32 status;

	/*
	 * What follows may take seconds without interrupts: the log so far is to be seen meanwhile.
	 */
	console_flush();
	if (vm_create(config, profile, &vm)) {
		status_event(
			"{\"event\":\"vm\",\"name\":\"%s\",\"status\":%u,\"reason\":\"refused\"}",
			config->name, STATUS_BAD_GUEST);
		ASSERT(frames_in_use() == in_use);
		free_files(config);
		return STATUS_BAD_GUEST;
	}
	free_files(config);
	console_flush();
	vm_run(vm);
	vm_report(vm);
	status = vm_status(vm);
	vm_destroy(vm);
	ASSERT(frames_in_use() == in_use);
	return status;
}

void hv_main(struct boot_info *boot)
{
	struct torpor_config *config = &boot->config;
	u32 status = 0;

	status_event("{\"event\":\"start\",\"version\":\"%s\"}", TORPOR_VERSION);
	start_vmx();
	log_info("memory: image %lu KiB, %lu KiB in use besides guests, %lu MiB free",
		host_image_size() >> 10, host_memory_in_use() >> 10,
		(frames_total() - frames_in_use()) >> 8);
	for (u32 i = 0; i < config->vm_count; i++) {
		u32 result = run_vm(&config->vms[i], config->hypervisor.profile);

		if (status == 0)
			status = result;
	}
	finish(status);
}
