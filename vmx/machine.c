// SPDX-License-Identifier: BSD-2-Clause
/* Switches VMX on. Called at start with interrupts off, first on the boot CPU. */
#include "vmx/machine.h"

#include "hv/cpu/cpu.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
#include "hv/mem/frames.h"
#include "mmu/invalidate.h"

#define CPUID_1_ECX_VMX	    BIT(5)
#define FEATURE_LOCKED	    BIT(0)
#define FEATURE_VMX_OUTSIDE BIT(2)

struct vmx_machine vmx_machine;

enum error vmx_machine_init(const char **missing)
{
	struct vmx_machine *m = &vmx_machine;
	u64 cap;

	if (!(insn_cpuid(1, 0).ecx & CPUID_1_ECX_VMX)) {
		*missing = "VMX";
		return ERR_UNSUPPORTED;
	}
	vmx_capabilities_read(&m->capabilities);
	enum error error = vmx_controls_compute(&m->capabilities, &m->controls, missing);
	if (error)
		return error;

	cap = m->capabilities.ept_vpid;
	invalidate_init(cap);
	*missing = !(cap & EPT_CAP_WALK_4) ? "EPT page walks of length 4"
		   : !(cap & (EPT_CAP_TABLES_WB | EPT_CAP_TABLES_UC))
			   ? "a memory type for EPT tables"
		   : !invalidate_ept_usable() ? "INVEPT"
					      : NULL;
	if (*missing)
		return ERR_UNSUPPORTED;
	m->ept = (struct ept_capabilities){
		.page_2m = cap & EPT_CAP_PAGE_2M,
		.page_1g = cap & EPT_CAP_PAGE_1G,
		.execute_only = cap & EPT_CAP_EXECUTE_ONLY,
		.accessed_dirty = cap & EPT_CAP_ACCESSED_DIRTY,
		.write_back_tables = cap & EPT_CAP_TABLES_WB,
	};
	/* A VPID whose translations cannot be invalidated is worse than none. */
	if (!invalidate_vpid_usable())
		m->controls.word[CONTROLS_SECONDARY] &= ~SECONDARY_VPID;
	m->vpid = vmx_control(&m->controls, CONTROLS_SECONDARY, SECONDARY_VPID);
	mtrr_read(&m->mtrrs);
	m->preemption_shift = VMX_MISC_PREEMPTION_SHIFT(m->capabilities.misc);
	return ERR_OK;
}

enum error vmx_alloc_region(hpa_t *region)
{
	u64 basic = vmx_machine.capabilities.basic;
	enum error error = frames_alloc_below(
		1, PAGE_SIZE, basic & VMX_BASIC_ADDRESS_32 ? SIZE_4G : ~0ull, region);

	if (!error)
		*(u32 *)phys_to_virt(*region) = VMX_BASIC_REVISION(basic);
	return error;
}

/* SDM 3C 24.7. Each CPU has its own copy of the register. */
static enum error unlock_vmx(const char **missing)
{
	u64 value = insn_rdmsr(MSR_FEATURE_CONTROL);

	if (!(value & FEATURE_LOCKED)) {
		insn_wrmsr(MSR_FEATURE_CONTROL, value | FEATURE_LOCKED | FEATURE_VMX_OUTSIDE);
		value = insn_rdmsr(MSR_FEATURE_CONTROL);
	}
	if (value & FEATURE_VMX_OUTSIDE)
		return ERR_OK;
	*missing = "VMX (locked off by the firmware in IA32_FEATURE_CONTROL)";
	return ERR_UNSUPPORTED;
}

enum error vmx_cpu_enable(struct cpu *cpu, const char **missing)
{
	const struct vmx_capabilities *c = &vmx_machine.capabilities;
	enum error error = unlock_vmx(missing);

	if (error)
		return error;
	error = vmx_alloc_region(&cpu->vmxon_region);
	if (error) {
		*missing = "memory for the VMXON region";
		return error;
	}
	/* SDM 3C 24.8: bits fixed in VMX operation; NE is one that firmware may leave clear. */
	insn_write_cr0((insn_read_cr0() | c->cr0_fixed0) & c->cr0_fixed1);
	insn_write_cr4((insn_read_cr4() | c->cr4_fixed0 | CR4_VMXE) & c->cr4_fixed1);
	if (insn_vmxon(cpu->vmxon_region) != VMX_SUCCEED) {
		*missing = "VMXON (the processor refused it)";
		return ERR_HARDWARE;
	}
	return ERR_OK;
}
