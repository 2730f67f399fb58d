/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A virtual processor. The general registers live here while the host runs: HOST_RSP points at this
 * structure, so the exit stub stores them without looking anything up (vmx/entry.asm; the offsets
 * it uses are generated from this file). RSP, RIP, RFLAGS, CR0/3/4, DR7, segments live in the VMCS.
 */
#ifndef HV_VM_VCPU_H
#define HV_VM_VCPU_H

#include "hv/lib/types.h"
#include "vmx/cpuid.h"
#include "vmx/cr.h"
#include "vmx/event.h"
#include "vmx/exit_reasons.h"
#include "vmx/fetch_cache.h"
#include "vmx/msr.h"

struct vm;

/* By the numbers of the instruction encoding. */
enum gpr {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	GPR_COUNT
};

/* Why the vCPU must go through the run loop before it enters the guest again. */
enum {
	PENDING_EVENT = BIT(0), /* an exception, NMI or interrupt may have to be injected */
	PENDING_TIMER = BIT(1), /* the earliest device deadline changed */
	PENDING_STOP = BIT(2),	/* the VM stops */
};

struct vcpu {
	u64 gpr[GPR_COUNT]; /* slot RSP is unused: vcpu_gpr() and vcpu_set_gpr() know */
	u64 host_rsp;	    /* the run loop's stack while the guest runs */
	u32 pending;	    /* PENDING_*; tested by the stub before each re-entry */
	bool launched;	    /* VMRESUME rather than VMLAUNCH */
	u32 id;
	struct vm *vm;
	struct lapic *lapic;
	struct event_state events;
	struct msr_state msr;
	struct cr_state cr;
	struct cpuid_policy *cpuid; /* the VM's */
	u64 tsc_offset;
	hpa_t vmcs;
	hpa_t msr_bitmap;
	u64 exits[EXIT_REASONS]; /* counted by the stub */
	u64 exit_tsc;		 /* profile: when the last exit happened */
	u64 host_tsc; /* profile: ticks spent in the host, exits handled by the stub and the loop */
	u32 primary_controls; /* as last written: windows are opened and closed in it */
	u32 entry_controls;
	u32 tpr_threshold;    /* as last written */
	u64 console_deadline; /* when the host's UART is looked at next */
	u32 access_reports; /* lines logged about accesses that were not emulated (vmx/access.c) */
	u64 access_reported_page;
	bool halted; /* HLT: nothing runs until an event can be delivered */
	struct fetch_cache fetch;
};

/* A general register of the guest, RSP included. */
u64 vcpu_gpr(const struct vcpu *vcpu, u32 number);
void vcpu_set_gpr(struct vcpu *vcpu, u32 number, u64 value);

/* SDM 3A 5.5: CPL is SS.DPL (the VMCS keeps it so in every mode). */
u32 vcpu_cpl(void);

/* How the guest decodes instructions and forms addresses at this moment. */
enum cpu_mode {
	MODE_REAL,
	MODE_VM86,
	MODE_PROTECTED16,
	MODE_PROTECTED32,
	MODE_COMPAT16,
	MODE_COMPAT32,
	MODE_LONG64
};
enum cpu_mode vcpu_mode(void);

#endif
