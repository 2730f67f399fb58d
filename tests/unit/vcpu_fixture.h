/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A vCPU on the fake processor, made by the shipping policy code, for the tests of exit handlers: 1
 * MiB of memory, a platform with its local APIC, a VMCS in 64-bit mode at CPL 0.
 */
#ifndef TESTS_UNIT_VCPU_FIXTURE_H
#define TESTS_UNIT_VCPU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cpu.h"
#include "fake_log.h"
#include "hv/cpu/registers.h"
#include "hv/dev/lapic.h"
#include "hv/vm/vm.h"
#include "vmx/cpuid.h"
#include "vmx/cr.h"
#include "vmx/exit.h"
#include "vmx/machine.h"
#include "vmx/policy.h"

#define FIXTURE_MEMORY (1ull << 20)
#define FIXTURE_RIP    0x1000ull
#define FIXTURE_LENGTH 3
#define FIXTURE_TSC_HZ 2500000000ull
#define CS_RIGHTS_64   0xa09b
#define CS_RIGHTS_32   0xc09b
#define TR_RIGHTS_BUSY 0x8b

static struct vm vm;
static struct vcpu vcpu;
static u8 *memory;
static u8 msr_bitmap[4096] __attribute__((unused));

static u64 fixture_now(void *context)
{
	(void)context;
	return fake_cpu->tsc;
}

static void fixture_ignore(void *context)
{
	(void)context;
}

static void fixture_ignore_vcpu(void *context, u32 number)
{
	(void)context;
	(void)number;
}

static void fixture_make_platform(void)
{
	struct platform_config config = {
		.host = { .now_tsc = fixture_now,
			.interrupt_changed = fixture_ignore_vcpu,
			.nmi = fixture_ignore_vcpu,
			.init = fixture_ignore_vcpu,
			.timer_changed = fixture_ignore },
		.tsc_hz = FIXTURE_TSC_HZ,
		.memory_size = FIXTURE_MEMORY,
		.cpus = 1,
	};
	size_t size = ALIGN_UP(platform_size(1), PAGE_SIZE);

	free(vm.platform);
	vm.platform = aligned_alloc(PAGE_SIZE, size);
	memset(vm.platform, 0, size);
	platform_init(vm.platform, &config);
}

/* 64-bit mode, CPL 0. */
static void fixture_mode_64(void)
{
	cr_set_initial(&vcpu, CR0_PE | CR0_PG | CR0_NE, 0x4000, CR4_PAE, BIT(8));
	fake_vmcs_put(VMCS_GUEST_CS_RIGHTS, CS_RIGHTS_64);
}

/* Policies again, after a test changed the processor. The VMCS is current. */
static inline void fixture_rebuild(void)
{
	const char *missing;

	assert_int_equal(vmx_machine_init(&missing), ERR_OK);
	fake_vmcs_put(VMCS_PIN_BASED_CONTROLS, vmx_machine.controls.word[CONTROLS_PIN]);
	fake_vmcs_put(VMCS_PRIMARY_CONTROLS, vmx_machine.controls.word[CONTROLS_PRIMARY]);
	fake_vmcs_put(VMCS_SECONDARY_CONTROLS, vmx_machine.controls.word[CONTROLS_SECONDARY]);
	fake_vmcs_put(VMCS_EXIT_CONTROLS, vmx_machine.controls.word[CONTROLS_EXIT]);
	vcpu.entry_controls = vmx_machine.controls.word[CONTROLS_ENTRY];
	fake_vmcs_put(VMCS_ENTRY_CONTROLS, vcpu.entry_controls);
	fake_vmcs_put(VMCS_VPID, 1);
	vm_policy_init(&vm, FIXTURE_TSC_HZ);
	vcpu_policy_init(&vcpu, msr_bitmap, FIXTURE_TSC_HZ);
	fixture_mode_64();
}

static inline int fixture_setup(void **state)
{
	static struct vm_config config = { .name = "test" };

	(void)state;
	fake_cpu_reset();
	fake_vmcs_begin();
	if (!memory)
		memory = aligned_alloc(PAGE_SIZE, FIXTURE_MEMORY);
	memset(memory, 0, FIXTURE_MEMORY);
	fixture_make_platform();
	memset(&vcpu, 0, sizeof(vcpu));
	vm.config = &config;
	vm.vcpu_count = 1;
	vm.vcpus[0] = &vcpu;
	vm.memory.count = 1;
	vm.memory.size = FIXTURE_MEMORY;
	vm.memory.extents[0] = (struct guest_extent){ .size = FIXTURE_MEMORY, .host = memory };
	vcpu.vm = &vm;
	vcpu.cpuid = &vm.cpuid;
	vcpu.lapic = platform_lapic(vm.platform, 0);
	fake_vmcs_put(VMCS_GUEST_RFLAGS, 2);
	fake_vmcs_put(VMCS_GUEST_SS_RIGHTS, 0xc093);
	fake_vmcs_put(VMCS_GUEST_TR_RIGHTS, TR_RIGHTS_BUSY);
	fake_vmcs_put(VMCS_GUEST_DR7, 0x400);
	fixture_rebuild();
	return 0;
}

/*
 * One exit of an instruction. The vector that the handler queued, or -1; RIP must have moved over
 * the instruction exactly when there was none.
 */
static inline int fixture_exit(exit_handler *handler, u64 qualification)
{
	fake_vmcs_put(VMCS_GUEST_RIP, FIXTURE_RIP);
	fake_vmcs_put(VMCS_EXIT_INSTRUCTION_LENGTH, FIXTURE_LENGTH);
	fake_vmcs_put(VMCS_EXIT_QUALIFICATION, qualification);
	vcpu.events = (struct event_state){ 0 };
	(void)handler(&vcpu);
	if (!(vcpu.events.info & EVENT_VALID)) {
		assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), FIXTURE_RIP + FIXTURE_LENGTH);
		return -1;
	}
	assert_int_equal(fake_vmcs_get(VMCS_GUEST_RIP), FIXTURE_RIP);
	/* Real-address mode pushes no error codes. */
	if (EVENT_VECTOR(vcpu.events.info) == VECTOR_GP &&
		(fake_vmcs_get(VMCS_GUEST_CR0) & CR0_PE)) {
		assert_true(vcpu.events.info & EVENT_ERROR_CODE);
		assert_int_equal(vcpu.events.error_code, 0);
	}
	return EVENT_VECTOR(vcpu.events.info);
}

/* A small generator, the same numbers each run. */
static inline u64 fixture_random(void)
{
	static u64 x = 0x9e3779b97f4a7c15;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

#endif
