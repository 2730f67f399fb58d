// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a vCPU's VMCS: controls, host state, guest state, each a flat list of writes. Called when
 * a VM starts, interrupts off; the VMCS stays current on this CPU.
 */
#include "vmx/setup.h"

#include "hv/cpu/cpu.h"
#include "hv/cpu/msr_index.h"
#include "hv/cpu/registers.h"
#include "hv/cpu/time.h"
#include "hv/dev/lapic.h"
#include "hv/lib/log.h"
#include "hv/mem/frames.h"
#include "hv/mem/paging.h"
#include "hv/vm/vm.h"
#include "vmx/access_rights.h"
#include "vmx/cr.h"
#include "vmx/entry.h"
#include "vmx/machine.h"
#include "vmx/policy.h"
#include "vmx/vmcs.h"

/* Segment access rights as in the VMCS: SDM 3C table 25-2. */
#define RIGHTS_CODE_64	0xa09b /* present, code, execute/read, accessed, L, G */
#define RIGHTS_CODE_32	0xc09b /* D, G */
#define RIGHTS_DATA	0xc093 /* present, data, read/write, accessed, B, G */
#define RIGHTS_TSS_BUSY 0x008b
#define PAT_RESET	0x0007040600070406ull
#define NO_LINK_POINTER (~0ull)
#define VPID_FIRST	1

static u32 vpid_of(const struct vcpu *vcpu)
{
	/* 0 is the host's (SDM 3C 29.1). VMs run one after the other, their translations flushed
	 * between. */
	return VPID_FIRST + vcpu->id;
}

static void write_controls(struct vcpu *vcpu)
{
	const struct vmx_controls *c = &vmx_machine.controls;

	vcpu->primary_controls = c->word[CONTROLS_PRIMARY];
	vcpu->entry_controls = c->word[CONTROLS_ENTRY];
	vmcs_write(VMCS_PIN_BASED_CONTROLS, c->word[CONTROLS_PIN]);
	vmcs_write(VMCS_PRIMARY_CONTROLS, vcpu->primary_controls);
	vmcs_write(VMCS_SECONDARY_CONTROLS, c->word[CONTROLS_SECONDARY]);
	vmcs_write(VMCS_EXIT_CONTROLS, c->word[CONTROLS_EXIT]);
	vmcs_write(VMCS_ENTRY_CONTROLS, vcpu->entry_controls);

	/*
	 * #DB and #AC: a guest could make their delivery raise them again without end (XSA-156).
	 * #MC is the machine's. Everything else is the guest's own.
	 */
	vmcs_write(VMCS_EXCEPTION_BITMAP, BIT(VECTOR_DB) | BIT(VECTOR_AC) | BIT(VECTOR_MC));
	vmcs_write(VMCS_PAGE_FAULT_ERROR_MASK, 0);
	vmcs_write(VMCS_PAGE_FAULT_ERROR_MATCH, 0);
	vmcs_write(VMCS_CR3_TARGET_COUNT, 0);
	vmcs_write(VMCS_EXIT_MSR_STORE_COUNT, 0);
	vmcs_write(VMCS_EXIT_MSR_LOAD_COUNT, 0);
	vmcs_write(VMCS_ENTRY_MSR_LOAD_COUNT, 0);
	vmcs_write(VMCS_ENTRY_INTERRUPTION_INFO, 0);
	vmcs_write(VMCS_MSR_BITMAP, vcpu->msr_bitmap.value);
	vmcs_write(VMCS_TSC_OFFSET, vcpu->tsc_offset);
	vmcs_write(VMCS_EPT_POINTER, vcpu->vm->ept.eptp);
	vmcs_write(VMCS_VMCS_LINK_POINTER, NO_LINK_POINTER);

	if (vmx_machine.vpid)
		vmcs_write(VMCS_VPID, vpid_of(vcpu));
	if (vmx_control(c, CONTROLS_PRIMARY, PRIMARY_TPR_SHADOW)) {
		vmcs_write(VMCS_VIRTUAL_APIC_ADDRESS, virt_to_phys(lapic_page(vcpu->lapic)).value);
		vmcs_write(VMCS_TPR_THRESHOLD, 0);
	}
	if (vmx_control(c, CONTROLS_SECONDARY, SECONDARY_XSAVES))
		vmcs_write(VMCS_XSS_EXITING_BITMAP, 0);
	if (vmx_control(c, CONTROLS_SECONDARY, SECONDARY_ENCLS_EXITING))
		vmcs_write(VMCS_ENCLS_EXITING_BITMAP, ~0ull);
}

void vmcs_write_host_cpu(struct vcpu *vcpu)
{
	struct cpu *cpu = this_cpu();

	(void)vcpu;
	vmcs_write(VMCS_HOST_CR3, insn_read_cr3());
	vmcs_write(VMCS_HOST_GS_BASE, (u64)cpu);
	vmcs_write(VMCS_HOST_TR_BASE, (u64)cpu->tss);
	vmcs_write(VMCS_HOST_GDTR_BASE, (u64)cpu->gdt);
}

static void write_host_state(struct vcpu *vcpu, bool profile)
{
	struct insn_table idt;

	insn_sidt(&idt);
	vmcs_write(VMCS_HOST_CR0, insn_read_cr0());
	vmcs_write(VMCS_HOST_CR4, insn_read_cr4());
	vmcs_write(VMCS_HOST_EFER, insn_rdmsr(MSR_EFER));
	vmcs_write(VMCS_HOST_PAT, insn_rdmsr(MSR_PAT));
	vmcs_write(VMCS_HOST_CS_SELECTOR, SEL_HOST_CODE);
	vmcs_write(VMCS_HOST_SS_SELECTOR, SEL_HOST_DATA);
	/* In 64-bit mode these may be null (SDM 3C 27.2.3). */
	vmcs_write(VMCS_HOST_DS_SELECTOR, 0);
	vmcs_write(VMCS_HOST_ES_SELECTOR, 0);
	vmcs_write(VMCS_HOST_FS_SELECTOR, 0);
	vmcs_write(VMCS_HOST_GS_SELECTOR, 0);
	vmcs_write(VMCS_HOST_TR_SELECTOR, SEL_TSS);
	vmcs_write(VMCS_HOST_FS_BASE, 0);
	vmcs_write(VMCS_HOST_IDTR_BASE, idt.base);
	/* The host does not use SYSENTER. */
	vmcs_write(VMCS_HOST_SYSENTER_CS, 0);
	vmcs_write(VMCS_HOST_SYSENTER_ESP, 0);
	vmcs_write(VMCS_HOST_SYSENTER_EIP, 0);
	vmcs_write(VMCS_HOST_RSP, (u64)vcpu);
	vmcs_write(VMCS_HOST_RIP, (u64)(profile ? vmx_exit_stub_profile : vmx_exit_stub));
	vmcs_write_host_cpu(vcpu);
}

struct segment_fields {
	enum vmcs_field selector, base, limit, rights;
};

#define SEGMENT(name)                                                                              \
	{                                                                                          \
		VMCS_GUEST_##name##_SELECTOR, VMCS_GUEST_##name##_BASE, VMCS_GUEST_##name##_LIMIT, \
			VMCS_GUEST_##name##_RIGHTS                                                 \
	}

static void write_segment(struct segment_fields f, u16 selector, u32 limit, u32 rights)
{
	vmcs_write(f.selector, selector);
	vmcs_write(f.base, 0);
	vmcs_write(f.limit, limit);
	vmcs_write(f.rights, rights);
}

static void write_guest_segments(const struct guest_entry *entry)
{
	static const struct segment_fields data[] = { SEGMENT(DS), SEGMENT(ES), SEGMENT(SS),
		SEGMENT(FS), SEGMENT(GS) };
	bool long_mode = entry->mode == ENTRY_LONG64;

	write_segment((struct segment_fields)SEGMENT(CS), entry->cs, 0xffffffff,
		long_mode ? RIGHTS_CODE_64 : RIGHTS_CODE_32);
	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		write_segment(data[i], entry->ds, 0xffffffff, RIGHTS_DATA);
	write_segment((struct segment_fields)SEGMENT(LDTR), 0, 0, RIGHTS_UNUSABLE);
	write_segment((struct segment_fields)SEGMENT(TR), 0, TSS_LIMIT_AFTER_EXIT, RIGHTS_TSS_BUSY);
	vmcs_write(VMCS_GUEST_GDTR_BASE, entry->gdt_base);
	vmcs_write(VMCS_GUEST_GDTR_LIMIT, entry->gdt_limit);
	vmcs_write(VMCS_GUEST_IDTR_BASE, 0);
	vmcs_write(VMCS_GUEST_IDTR_LIMIT, 0);
}

static void write_guest_state(struct vcpu *vcpu, const struct guest_entry *entry)
{
	write_guest_segments(entry);
	vmcs_write(VMCS_GUEST_RIP, entry->rip);
	vmcs_write(VMCS_GUEST_RSP, entry->rsp);
	vmcs_write(VMCS_GUEST_RFLAGS, RFLAGS_FIXED);
	vmcs_write(VMCS_GUEST_DR7, DR7_FIXED);
	vmcs_write(VMCS_GUEST_DEBUGCTL, 0);
	vmcs_write(VMCS_GUEST_PENDING_DEBUG, 0);
	vmcs_write(VMCS_GUEST_INTERRUPTIBILITY, 0);
	vmcs_write(VMCS_GUEST_ACTIVITY_STATE, 0);
	vmcs_write(VMCS_GUEST_SYSENTER_CS, 0);
	vmcs_write(VMCS_GUEST_SYSENTER_ESP, 0);
	vmcs_write(VMCS_GUEST_SYSENTER_EIP, 0);
	vmcs_write(VMCS_GUEST_PAT, PAT_RESET);
	if (entry->mode == ENTRY_LONG64)
		cr_set_initial(vcpu, CR0_PE | CR0_PG, entry->cr3, CR4_PAE, EFER_LME);
	else
		cr_set_initial(vcpu, CR0_PE, 0, 0, 0);
	vcpu->gpr[RAX] = entry->rax;
	vcpu->gpr[RBX] = entry->rbx;
	vcpu->gpr[RSI] = entry->rsi;
}

enum error vcpu_vmcs_create(struct vcpu *vcpu, const struct guest_entry *entry)
{
	enum error error = vmx_alloc_region(&vcpu->vmcs);

	if (error)
		return error;
	error = frames_alloc(1, PAGE_SIZE, &vcpu->msr_bitmap);
	if (error) {
		frames_free(vcpu->vmcs, 1);
		return error;
	}
	if (insn_vmclear(vcpu->vmcs) != VMX_SUCCEED || insn_vmptrld(vcpu->vmcs) != VMX_SUCCEED) {
		vcpu_vmcs_destroy(vcpu);
		return ERR_HARDWARE;
	}
	vcpu->launched = false;
	write_controls(vcpu);
	write_host_state(vcpu, vcpu->vm->profile);
	vcpu_policy_init(vcpu, phys_to_virt(vcpu->msr_bitmap), tsc_hz());
	write_guest_state(vcpu, entry);
	return ERR_OK;
}

void vcpu_vmcs_destroy(struct vcpu *vcpu)
{
	/* SDM 3C 25.11.3: the memory is the processor's until VMCLEAR. */
	if (insn_vmclear(vcpu->vmcs) != VMX_SUCCEED)
		panic("VMCLEAR failed");
	frames_free(vcpu->vmcs, 1);
	frames_free(vcpu->msr_bitmap, 1);
}
