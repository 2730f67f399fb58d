/* SPDX-License-Identifier: BSD-2-Clause */
/* A virtual machine: its memory, devices, vCPUs and how it ended. */
#ifndef HV_VM_VM_H
#define HV_VM_VM_H

#include "boot/boot_info.h"
#include "hv/dev/platform.h"
#include "hv/vm/guest_memory.h"
#include "hv/vm/vcpu.h"
#include "mmu/ept.h"

#define VM_VCPUS_MAX 8

struct vm {
	const struct vm_config *config;
	struct guest_memory memory;
	struct ept ept;
	struct platform *platform;
	struct vcpu *vcpus[VM_VCPUS_MAX];
	u32 vcpu_count;
	enum stop_reason stop;
	u8 stop_value;
};

#endif
