/* SPDX-License-Identifier: BSD-2-Clause */
/* A virtual machine: its memory, devices, vCPUs and how it ended. */
#ifndef HV_VM_VM_H
#define HV_VM_VM_H

#include "boot/boot_info.h"
#include "hv/dev/platform.h"
#include "hv/vm/guest_memory.h"
#include "hv/vm/vcpu.h"
#include "mmu/ept.h"
#include "vmx/cpuid.h"

#define VM_VCPUS_MAX 8

struct vm {
	const struct vm_config *config;
	struct guest_memory memory;
	struct ept ept;
	struct cpuid_policy cpuid;
	struct platform *platform;
	u64 platform_pages;
	struct vcpu *vcpus[VM_VCPUS_MAX];
	u32 vcpu_count;
	bool profile;	    /* the entry stub adds up the time spent in the host */
	bool page_unmapped; /* test port 0xe4: this page is out of the EPT until it is touched */
	gpa_t unmapped_page;
	bool ipi_reported; /* an INIT or SIPI for nobody has been logged */
	u64 start_tsc;	   /* the guest's TSC 0 */
	u64 end_tsc;
	enum stop_reason stop;
	u8 stop_value;
};

/*
 * Makes a VM of a configuration: memory, devices, firmware tables, kernel, vCPU. The files of the
 * configuration are read, not freed. On an error one line has been logged and nothing is left
 * behind.
 */
enum error __must_check vm_create(struct vm_config *config, bool profile, struct vm **vm);
void vm_destroy(struct vm *vm);

/* Runs it on this CPU until it stops. Interrupts off. */
void vm_run(struct vm *vm);

/* The status of scripts/run for how the VM ended, and the reason in a word. */
u32 vm_status(const struct vm *vm);
const char *vm_stop_text(const struct vm *vm);

/* RAM of the guest, from frames; part of vm_create() and vm_destroy(). */
enum error __must_check vm_memory_create(struct vm *vm, u64 size);
void vm_memory_destroy(struct vm *vm);

/*
 * Test port 0xe4 takes a page out of the EPT; the EPT violation puts it back (false: not this
 * page).
 */
void vm_unmap_once(struct vm *vm, gpa_t page);
bool vm_remap(struct vm *vm, gpa_t address);

/* Logs the counts of exits, most frequent first, and writes them to the status channel. */
void vm_report(const struct vm *vm);

#endif
