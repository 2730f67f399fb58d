// SPDX-License-Identifier: BSD-2-Clause
/* Checks on the VMX controls (SDM 3C 27.2.1), by the manual's order: data for vmx/entry_check.c. */
#include "hv/mem/frames.h"
#include "vmx/controls.h"
#include "vmx/cr.h"
#include "vmx/entry_check_rows.h"
#include "vmx/event.h"
#include "vmx/machine.h"
#include "vmx/vmcs.h"

/* Controls that Torpor never sets and that other hypervisors' VMCSs or a bug may. */
#define PIN_POSTED_INTERRUPTS	     BIT(7)
#define PRIMARY_IO_BITMAPS	     BIT(25)
#define SECONDARY_APIC_ACCESSES	     BIT(0)
#define SECONDARY_X2APIC_MODE	     BIT(4)
#define SECONDARY_APIC_REGISTERS     BIT(8)
#define SECONDARY_INTERRUPT_DELIVERY BIT(9)
#define SECONDARY_PML		     BIT(17)
#define SECONDARY_TSC_SCALING	     BIT(25)
#define MISC_LENGTH_0		     BIT(30)
#define EVENT_RESERVED		     0x7ffff000ull
#define VIRTUAL_APIC_TPR	     0x80
#define EPTP_RESERVED		     0xf80ull
#define CR3_TARGETS_MAX		     4

typedef const struct entry_context context;

#define IF_PRIMARY(name, bit)              \
	static bool name(context *c)       \
	{                                  \
		return c->primary & (bit); \
	}
#define IF_SECONDARY(name, bit)              \
	static bool name(context *c)         \
	{                                    \
		return c->secondary & (bit); \
	}
IF_PRIMARY(if_secondary_controls, PRIMARY_ACTIVATE_SECONDARY)
IF_PRIMARY(if_io_bitmaps, PRIMARY_IO_BITMAPS)
IF_PRIMARY(if_msr_bitmaps, PRIMARY_MSR_BITMAPS)
IF_PRIMARY(if_tpr_shadow, PRIMARY_TPR_SHADOW)
IF_SECONDARY(if_apic_accesses, SECONDARY_APIC_ACCESSES)
IF_SECONDARY(if_interrupt_delivery, SECONDARY_INTERRUPT_DELIVERY)
IF_SECONDARY(if_vpid, SECONDARY_VPID)
IF_SECONDARY(if_ept, SECONDARY_EPT)
IF_SECONDARY(if_pml, SECONDARY_PML)
IF_SECONDARY(if_unrestricted, SECONDARY_UNRESTRICTED_GUEST)
IF_SECONDARY(if_tsc_scaling, SECONDARY_TSC_SCALING)

static bool if_no_tpr_shadow(context *c)
{
	return !(c->primary & PRIMARY_TPR_SHADOW);
}

static bool if_threshold_used(context *c)
{
	return (c->primary & PRIMARY_TPR_SHADOW) && !(c->secondary & SECONDARY_INTERRUPT_DELIVERY);
}

static bool if_threshold_compared(context *c)
{
	return if_threshold_used(c) && !(c->secondary & SECONDARY_APIC_ACCESSES);
}

static bool if_no_nmi_exiting(context *c)
{
	return !(c->pin & PIN_NMI_EXITING);
}

static bool if_no_virtual_nmis(context *c)
{
	return !(c->pin & PIN_VIRTUAL_NMIS);
}

static bool if_posted(context *c)
{
	return c->pin & PIN_POSTED_INTERRUPTS;
}

static bool if_no_preemption_timer(context *c)
{
	return !(c->pin & PIN_PREEMPTION_TIMER);
}

static bool if_exit_store(context *c)
{
	(void)c;
	return vmcs_read(VMCS_EXIT_MSR_STORE_COUNT);
}

static bool if_exit_load(context *c)
{
	(void)c;
	return vmcs_read(VMCS_EXIT_MSR_LOAD_COUNT);
}

static bool if_entry_load(context *c)
{
	(void)c;
	return vmcs_read(VMCS_ENTRY_MSR_LOAD_COUNT);
}

static bool if_event(context *c)
{
	(void)c;
	return vmcs_read(VMCS_ENTRY_INTERRUPTION_INFO) & EVENT_VALID;
}

static bool if_error_code(context *c)
{
	return if_event(c) && (vmcs_read(VMCS_ENTRY_INTERRUPTION_INFO) & EVENT_ERROR_CODE);
}

static bool if_software_event(context *c)
{
	u32 type = EVENT_TYPE(vmcs_read(VMCS_ENTRY_INTERRUPTION_INFO));

	return if_event(c) &&
	       (type == EVENT_SOFTWARE_INTERRUPT || type == EVENT_PRIVILEGED_SOFTWARE_EXCEPTION ||
		       type == EVENT_SOFTWARE_EXCEPTION);
}

/* SDM 3D A.2 to A.5 */
static bool allowed(enum control_word word, u64 value)
{
	const struct allowed_settings *a = &vmx_machine.capabilities.controls[word];

	return (value & a->must_be_1) == a->must_be_1 && !(value & ~(u64)a->may_be_1);
}

#define ALLOWED(name, word)                     \
	static bool name(context *c, u64 value) \
	{                                       \
		(void)c;                        \
		return allowed(word, value);    \
	}
ALLOWED(allowed_pin, CONTROLS_PIN)
ALLOWED(allowed_primary, CONTROLS_PRIMARY)
ALLOWED(allowed_secondary, CONTROLS_SECONDARY)
ALLOWED(allowed_exit, CONTROLS_EXIT)
ALLOWED(allowed_entry, CONTROLS_ENTRY)

static bool few_targets(context *c, u64 value)
{
	(void)c;
	return value <= CR3_TARGETS_MAX;
}

static bool nonzero(context *c, u64 value)
{
	(void)c;
	return value != 0;
}

static bool threshold_reached(context *c, u64 value)
{
	u64 page = vmcs_read(VMCS_VIRTUAL_APIC_ADDRESS);

	(void)c;
	return (value & 0xf) <= *((u8 *)phys_to_virt(hpa(page)) + VIRTUAL_APIC_TPR) >> 4;
}

static bool one_apic_mode(context *c, u64 value)
{
	(void)c;
	return !(value & SECONDARY_X2APIC_MODE);
}

static bool is_eptp(context *c, u64 value)
{
	u64 cap = vmx_machine.capabilities.ept_vpid;
	u32 type = value & 7;

	if (!(type == 0 && (cap & EPT_CAP_TABLES_UC)) && !(type == 6 && (cap & EPT_CAP_TABLES_WB)))
		return false;
	if ((value >> 3 & 7) != 3 || !(cap & EPT_CAP_WALK_4))
		return false;
	if ((value & BIT(6)) && !(cap & EPT_CAP_ACCESSED_DIRTY))
		return false;
	return !(value & (EPTP_RESERVED | c->address_high));
}

static bool event_type_known(context *c, u64 info)
{
	(void)c;
	return EVENT_TYPE(info) != 1 && EVENT_TYPE(info) != EVENT_OTHER;
}

static bool event_vector_fits(context *c, u64 info)
{
	(void)c;
	if (EVENT_TYPE(info) == EVENT_NMI)
		return EVENT_VECTOR(info) == 2;
	return EVENT_TYPE(info) != EVENT_HARDWARE_EXCEPTION || EVENT_VECTOR(info) <= 31;
}

/* #DF, #TS, #NP, #SS, #GP, #PF, #AC push an error code, in protected mode only. */
static bool event_error_code_fits(context *c, u64 info)
{
	const u32 with_code =
		1u << 8 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 17;
	bool expected = EVENT_TYPE(info) == EVENT_HARDWARE_EXCEPTION && EVENT_VECTOR(info) < 32 &&
			(with_code >> EVENT_VECTOR(info) & 1);

	if (c->unrestricted && !c->protected_mode)
		expected = false;
	return !(info & EVENT_ERROR_CODE) == !expected;
}

static bool instruction_length_fits(context *c, u64 length)
{
	(void)c;
	return length <= 15 && (length > 0 || (vmx_machine.capabilities.misc & MISC_LENGTH_0));
}

#define CONTROL_ADDRESS(when, field, alignment)                                               \
	{                                                                                     \
		when, VMCS_##field, CHECK_ADDRESS, (alignment)-1, NULL,                       \
			"is not aligned or beyond the physical-address width (SDM 3C 27.2.1)" \
	}

const struct entry_check entry_checks_controls[] = {
	{ NULL, VMCS_PIN_BASED_CONTROLS, CHECK_FUNCTION, 0, allowed_pin,
		"a bit that IA32_VMX_(TRUE_)PINBASED_CTLS does not allow" },
	{ NULL, VMCS_PRIMARY_CONTROLS, CHECK_FUNCTION, 0, allowed_primary,
		"a bit that IA32_VMX_(TRUE_)PROCBASED_CTLS does not allow" },
	{ if_secondary_controls, VMCS_SECONDARY_CONTROLS, CHECK_FUNCTION, 0, allowed_secondary,
		"a bit that IA32_VMX_PROCBASED_CTLS2 does not allow" },
	{ NULL, VMCS_CR3_TARGET_COUNT, CHECK_FUNCTION, 0, few_targets, "more than 4 CR3 targets" },
	CONTROL_ADDRESS(if_io_bitmaps, IO_BITMAP_A, PAGE_SIZE),
	CONTROL_ADDRESS(if_io_bitmaps, IO_BITMAP_B, PAGE_SIZE),
	CONTROL_ADDRESS(if_msr_bitmaps, MSR_BITMAP, PAGE_SIZE),
	CONTROL_ADDRESS(if_tpr_shadow, VIRTUAL_APIC_ADDRESS, PAGE_SIZE),
	{ if_threshold_used, VMCS_TPR_THRESHOLD, CHECK_CLEAR, ~0xfull, NULL,
		"reserved bits of the TPR threshold" },
	{ if_threshold_compared, VMCS_TPR_THRESHOLD, CHECK_FUNCTION, 0, threshold_reached,
		"the TPR threshold is above the virtual TPR" },
	{ if_no_nmi_exiting, VMCS_PIN_BASED_CONTROLS, CHECK_CLEAR, PIN_VIRTUAL_NMIS, NULL,
		"virtual NMIs need NMI exiting" },
	{ if_no_virtual_nmis, VMCS_PRIMARY_CONTROLS, CHECK_CLEAR, PRIMARY_NMI_WINDOW, NULL,
		"NMI-window exiting needs virtual NMIs" },
	CONTROL_ADDRESS(if_apic_accesses, APIC_ACCESS_ADDRESS, PAGE_SIZE),
	{ if_no_tpr_shadow, VMCS_SECONDARY_CONTROLS, CHECK_CLEAR,
		SECONDARY_X2APIC_MODE | SECONDARY_APIC_REGISTERS | SECONDARY_INTERRUPT_DELIVERY,
		NULL, "APIC virtualization needs the TPR shadow" },
	{ if_apic_accesses, VMCS_SECONDARY_CONTROLS, CHECK_FUNCTION, 0, one_apic_mode,
		"virtualize x2APIC mode excludes virtualize APIC accesses" },
	{ if_interrupt_delivery, VMCS_PIN_BASED_CONTROLS, CHECK_SET, PIN_EXTERNAL_INTERRUPT_EXITING,
		NULL, "virtual-interrupt delivery needs external-interrupt exiting" },
	{ if_posted, VMCS_SECONDARY_CONTROLS, CHECK_SET, SECONDARY_INTERRUPT_DELIVERY, NULL,
		"posted interrupts need virtual-interrupt delivery" },
	{ if_posted, VMCS_EXIT_CONTROLS, CHECK_SET, EXIT_ACKNOWLEDGE_INTERRUPT, NULL,
		"posted interrupts need acknowledge interrupt on exit" },
	{ if_posted, VMCS_POSTED_INTERRUPT_VECTOR, CHECK_CLEAR, 0xff00, NULL,
		"the posted-interrupt vector has 8 bits" },
	CONTROL_ADDRESS(if_posted, POSTED_INTERRUPT_DESCRIPTOR_ADDRESS, 64),
	{ if_vpid, VMCS_VPID, CHECK_FUNCTION, 0, nonzero, "VPID 0 is the host's" },
	{ if_ept, VMCS_EPT_POINTER, CHECK_FUNCTION, 0, is_eptp,
		"memory type, walk length, A/D or reserved bits of the EPT pointer" },
	{ if_pml, VMCS_SECONDARY_CONTROLS, CHECK_SET, SECONDARY_EPT, NULL, "PML needs EPT" },
	CONTROL_ADDRESS(if_pml, PML_ADDRESS, PAGE_SIZE),
	{ if_unrestricted, VMCS_SECONDARY_CONTROLS, CHECK_SET, SECONDARY_EPT, NULL,
		"unrestricted guest needs EPT" },
	{ if_tsc_scaling, VMCS_TSC_MULTIPLIER, CHECK_FUNCTION, 0, nonzero,
		"the TSC multiplier is 0" },
	/* SDM 3C 27.2.1.2 */
	{ NULL, VMCS_EXIT_CONTROLS, CHECK_FUNCTION, 0, allowed_exit,
		"a bit that IA32_VMX_(TRUE_)EXIT_CTLS does not allow" },
	{ if_no_preemption_timer, VMCS_EXIT_CONTROLS, CHECK_CLEAR, EXIT_SAVE_PREEMPTION_TIMER, NULL,
		"saving the preemption timer needs the timer" },
	CONTROL_ADDRESS(if_exit_store, EXIT_MSR_STORE_ADDRESS, 16),
	CONTROL_ADDRESS(if_exit_load, EXIT_MSR_LOAD_ADDRESS, 16),
	/* SDM 3C 27.2.1.3 */
	{ NULL, VMCS_ENTRY_CONTROLS, CHECK_FUNCTION, 0, allowed_entry,
		"a bit that IA32_VMX_(TRUE_)ENTRY_CTLS does not allow" },
	{ if_event, VMCS_ENTRY_INTERRUPTION_INFO, CHECK_FUNCTION, 0, event_type_known,
		"the interruption type is reserved or not supported" },
	{ if_event, VMCS_ENTRY_INTERRUPTION_INFO, CHECK_FUNCTION, 0, event_vector_fits,
		"the vector does not fit the interruption type" },
	{ if_event, VMCS_ENTRY_INTERRUPTION_INFO, CHECK_FUNCTION, 0, event_error_code_fits,
		"deliver-error-code does not fit the vector or the mode" },
	{ if_event, VMCS_ENTRY_INTERRUPTION_INFO, CHECK_CLEAR, EVENT_RESERVED, NULL,
		"reserved bits of the interruption information" },
	{ if_error_code, VMCS_ENTRY_ERROR_CODE, CHECK_CLEAR, 0xffff8000, NULL,
		"reserved bits of the error code" },
	{ if_software_event, VMCS_ENTRY_INSTRUCTION_LENGTH, CHECK_FUNCTION, 0,
		instruction_length_fits, "the instruction length is not 1 to 15" },
	CONTROL_ADDRESS(if_entry_load, ENTRY_MSR_LOAD_ADDRESS, 16),
	{ 0 },
};
