// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the VMX controls from a table of wishes. Pure: no instruction is executed here, so that
 * tests feed it made-up processors. Called once at start; every vCPU of the machine uses the
 * result.
 */
#include "vmx/controls.h"

#include "hv/lib/print.h"
#include "hv/lib/string.h"

enum need {
	REQUIRED,      /* Torpor does not run without it */
	WANTED,	       /* used if there */
	UNLESS_PARENT, /* used only where the control it depends on is missing */
	DYNAMIC,       /* must be possible; set and cleared while the guest runs */
};

struct control_row {
	enum control_word word;
	u32 bit;
	enum need need;
	enum control_word parent_word; /* the control this one depends on; parent 0: none */
	u32 parent;
	const char *name; /* for messages */
	bool shown;	  /* in the list of features in use */
};

static const struct control_row rows[] = {
	/* The host's interrupts and NMIs are the host's; virtual NMIs give the NMI window. */
	{ CONTROLS_PIN, PIN_EXTERNAL_INTERRUPT_EXITING, REQUIRED, 0, 0,
		"external-interrupt exiting", false },
	{ CONTROLS_PIN, PIN_NMI_EXITING, REQUIRED, 0, 0, "NMI exiting", false },
	{ CONTROLS_PIN, PIN_VIRTUAL_NMIS, REQUIRED, CONTROLS_PIN, PIN_NMI_EXITING, "virtual NMIs",
		false },
	/*
	 * The guest's timers; without it the host's APIC timer causes the exit. Used only together
	 * with the control that saves it: otherwise exits in quick succession would put off a timer
	 * for ever.
	 */
	{ CONTROLS_PIN, PIN_PREEMPTION_TIMER, WANTED, CONTROLS_EXIT, EXIT_SAVE_PREEMPTION_TIMER,
		"preemption timer", true },

	{ CONTROLS_PRIMARY, PRIMARY_INTERRUPT_WINDOW, DYNAMIC, 0, 0, "interrupt-window exiting",
		false },
	{ CONTROLS_PRIMARY, PRIMARY_NMI_WINDOW, DYNAMIC, CONTROLS_PIN, PIN_VIRTUAL_NMIS,
		"NMI-window exiting", false },
	{ CONTROLS_PRIMARY, PRIMARY_TSC_OFFSETTING, REQUIRED, 0, 0, "TSC offsetting", false },
	{ CONTROLS_PRIMARY, PRIMARY_HLT_EXITING, REQUIRED, 0, 0, "HLT exiting", false },
	/* CPUID hides MONITOR/MWAIT; executed all the same they must not stop the CPU. */
	{ CONTROLS_PRIMARY, PRIMARY_MWAIT_EXITING, REQUIRED, 0, 0, "MWAIT exiting", false },
	{ CONTROLS_PRIMARY, PRIMARY_MONITOR_EXITING, REQUIRED, 0, 0, "MONITOR exiting", false },
	/* There is no PMU: the counters would be the host's. */
	{ CONTROLS_PRIMARY, PRIMARY_RDPMC_EXITING, REQUIRED, 0, 0, "RDPMC exiting", false },
	/* All ports are the hypervisor's; no port is passed through, so no bitmap is needed. */
	{ CONTROLS_PRIMARY, PRIMARY_UNCONDITIONAL_IO, REQUIRED, 0, 0, "unconditional I/O exiting",
		false },
	{ CONTROLS_PRIMARY, PRIMARY_MSR_BITMAPS, REQUIRED, 0, 0, "MSR bitmaps", false },
	{ CONTROLS_PRIMARY, PRIMARY_TPR_SHADOW, WANTED, 0, 0, "TPR shadow", true },
	{ CONTROLS_PRIMARY, PRIMARY_CR8_LOAD_EXITING, UNLESS_PARENT, CONTROLS_PRIMARY,
		PRIMARY_TPR_SHADOW, "CR8-load exiting", false },
	{ CONTROLS_PRIMARY, PRIMARY_CR8_STORE_EXITING, UNLESS_PARENT, CONTROLS_PRIMARY,
		PRIMARY_TPR_SHADOW, "CR8-store exiting", false },
	{ CONTROLS_PRIMARY, PRIMARY_ACTIVATE_SECONDARY, REQUIRED, 0, 0, "secondary controls",
		false },

	{ CONTROLS_SECONDARY, SECONDARY_EPT, REQUIRED, CONTROLS_PRIMARY, PRIMARY_ACTIVATE_SECONDARY,
		"EPT (extended page tables)", true },
	{ CONTROLS_SECONDARY, SECONDARY_UNRESTRICTED_GUEST, REQUIRED, CONTROLS_SECONDARY,
		SECONDARY_EPT, "unrestricted guest", true },
	{ CONTROLS_SECONDARY, SECONDARY_VPID, WANTED, CONTROLS_PRIMARY, PRIMARY_ACTIVATE_SECONDARY,
		"VPID", true },
	/*
	 * All guest memory is write-back and no device is passed through: nothing needs the flush.
	 */
	{ CONTROLS_SECONDARY, SECONDARY_WBINVD_EXITING, WANTED, CONTROLS_PRIMARY,
		PRIMARY_ACTIVATE_SECONDARY, "WBINVD exiting", false },
	/* Instructions that are #UD in the guest unless enabled; CPUID follows these bits. */
	{ CONTROLS_SECONDARY, SECONDARY_RDTSCP, WANTED, CONTROLS_PRIMARY,
		PRIMARY_ACTIVATE_SECONDARY, "RDTSCP", true },
	{ CONTROLS_SECONDARY, SECONDARY_INVPCID, WANTED, CONTROLS_PRIMARY,
		PRIMARY_ACTIVATE_SECONDARY, "INVPCID", true },
	{ CONTROLS_SECONDARY, SECONDARY_XSAVES, WANTED, CONTROLS_PRIMARY,
		PRIMARY_ACTIVATE_SECONDARY, "XSAVES", true },
	{ CONTROLS_SECONDARY, SECONDARY_USER_WAIT, WANTED, CONTROLS_PRIMARY,
		PRIMARY_ACTIVATE_SECONDARY, "WAITPKG", true },
	/* SGX is hidden; ENCLS would work in ring 0 all the same. */
	{ CONTROLS_SECONDARY, SECONDARY_ENCLS_EXITING, WANTED, CONTROLS_PRIMARY,
		PRIMARY_ACTIVATE_SECONDARY, "ENCLS exiting", false },

	{ CONTROLS_EXIT, EXIT_SAVE_DEBUG_CONTROLS, REQUIRED, 0, 0, "save debug controls", false },
	{ CONTROLS_EXIT, EXIT_HOST_ADDRESS_SPACE_64, REQUIRED, 0, 0, "64-bit host", false },
	/* The vector comes with the exit: the host never takes the interrupt through its IDT. */
	{ CONTROLS_EXIT, EXIT_ACKNOWLEDGE_INTERRUPT, REQUIRED, 0, 0,
		"acknowledge interrupt on exit", false },
	{ CONTROLS_EXIT, EXIT_LOAD_PAT, REQUIRED, 0, 0, "load PAT at exit", false },
	{ CONTROLS_EXIT, EXIT_LOAD_EFER, REQUIRED, 0, 0, "load EFER at exit", false },

	{ CONTROLS_EXIT, EXIT_SAVE_PREEMPTION_TIMER, WANTED, CONTROLS_PIN, PIN_PREEMPTION_TIMER,
		"save preemption timer", false },

	{ CONTROLS_ENTRY, ENTRY_LOAD_DEBUG_CONTROLS, REQUIRED, 0, 0, "load debug controls", false },
	{ CONTROLS_ENTRY, ENTRY_IA32E_GUEST, DYNAMIC, 0, 0, "64-bit guest", false },
	{ CONTROLS_ENTRY, ENTRY_LOAD_PAT, REQUIRED, 0, 0, "load PAT at entry", false },
	{ CONTROLS_ENTRY, ENTRY_LOAD_EFER, REQUIRED, 0, 0, "load EFER at entry", false },
};

static bool parent_present(const struct control_row *row, const struct vmx_controls *controls)
{
	return row->parent == 0 || (controls->word[row->parent_word] & row->parent);
}

static bool allowed(const struct control_row *row, const struct vmx_capabilities *capabilities)
{
	return capabilities->controls[row->word].may_be_1 & row->bit;
}

/* Drops what depends on a missing control until nothing changes; must-be-1 bits stay. */
static void drop_dependents(
	const struct vmx_capabilities *capabilities, struct vmx_controls *controls)
{
	bool changed;

	do {
		changed = false;
		for (const struct control_row *row = rows; row < rows + ARRAY_SIZE(rows); row++) {
			u32 *word = &controls->word[row->word];

			if (row->need == UNLESS_PARENT || !(*word & row->bit) ||
				parent_present(row, controls) ||
				(capabilities->controls[row->word].must_be_1 & row->bit))
				continue;
			*word &= ~row->bit;
			changed = true;
		}
	} while (changed);
}

enum error vmx_controls_compute(const struct vmx_capabilities *capabilities,
	struct vmx_controls *controls, const char **missing)
{
	const struct control_row *end = rows + ARRAY_SIZE(rows);

	*controls = (struct vmx_controls){ 0 };
	for (u32 word = 0; word < CONTROL_WORDS; word++)
		controls->word[word] = capabilities->controls[word].must_be_1;
	for (const struct control_row *row = rows; row < end; row++)
		if ((row->need == REQUIRED || row->need == WANTED) && allowed(row, capabilities))
			controls->word[row->word] |= row->bit;
	drop_dependents(capabilities, controls);

	for (const struct control_row *row = rows; row < end; row++) {
		bool possible = allowed(row, capabilities);

		if (row->need == WANTED ||
			(row->need == UNLESS_PARENT && parent_present(row, controls)))
			continue;
		if (row->need == REQUIRED)
			possible = controls->word[row->word] & row->bit;
		if (row->need == DYNAMIC)
			possible &= parent_present(row, controls);
		if (!possible) {
			*missing = row->name;
			return ERR_UNSUPPORTED;
		}
		if (row->need == DYNAMIC)
			controls->dynamic[row->word] |= row->bit;
		else
			controls->word[row->word] |= row->bit;
	}
	return ERR_OK;
}

void vmx_controls_describe(const struct vmx_controls *controls, char *to, size_t size)
{
	size_t used = 0;

	if (size)
		to[0] = '\0';
	for (const struct control_row *row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		if (!row->shown || !(controls->word[row->word] & row->bit) || used >= size)
			continue;
		used += fmt_print(to + used, size - used, "%s%s", used ? ", " : "", row->name);
	}
}
