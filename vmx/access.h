/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory accesses on behalf of a guest's instruction: segmentation, paging, then RAM, device or
 * nothing. Used by the handlers that emulate instructions; interrupts off, VMCS current.
 *
 * Functions that return bool: false means that the instruction ends here, and access->action is
 * what the exit handler returns. An exception has then been queued, or the instruction is to run
 * again.
 */
#ifndef VMX_ACCESS_H
#define VMX_ACCESS_H

#include "hv/vm/vcpu.h"
#include "mmu/walk.h"
#include "vmx/decode.h"
#include "vmx/exit.h"

/* The vCPU's state as far as accesses depend on it, read once per exit. */
struct guest_access {
	struct vcpu *vcpu;
	enum cpu_mode mode;
	u32 code_size; /* 16, 32, 64: how instructions are decoded */
	u64 rip;
	u64 rflags;
	bool walk_loaded;
	struct walk_state walk; /* by access_walk_state() */
	enum exit_action action;
	u8 bytes[INSN_LENGTH_MAX]; /* of the instruction, as fetched */
	u32 fetched;

	/* A translation that the processor has just made for this instruction (EPT violation). */
	bool known;	  /* and the page is no RAM */
	bool known_write; /* for an access that writes */
	gva_t known_linear;
	gpa_t known_physical;
};

/* An operand in memory after translation: two parts if it crosses a page. */
struct guest_operand {
	u32 size, parts;
	struct {
		gpa_t address;
		u32 size;
		bool no_ram; /* known; false: look */
	} part[2];
};

void access_begin(struct guest_access *access, struct vcpu *vcpu);

/* What the walker needs, read from the VMCS the first time that somebody asks. */
const struct walk_state *access_walk_state(struct guest_access *access);

/*
 * Linear address of segment:offset for an access of `size` bytes: limit, rights and canonical
 * checks of the mode, #GP(0) or #SS(0). kind: WALK_WRITE or 0. offset is already cut to the address
 * size.
 */
bool __must_check access_linear(struct guest_access *access, enum segment segment, u64 offset,
	u32 size, u32 kind, gva_t *linear);

/* Translates for reading or (kind: WALK_WRITE) writing or both; #AC, #PF. size: 1 to 8. */
bool __must_check access_translate(struct guest_access *access, gva_t linear, u32 size, u32 kind,
	struct guest_operand *operand);

/*
 * Never fail. Where neither RAM nor device is, reads are all ones and writes vanish, as on a bus.
 */
u64 access_read(struct guest_access *access, const struct guest_operand *operand);
void access_write(struct guest_access *access, const struct guest_operand *operand, u64 value);

/* All ones of so many bytes (1 to 8). */
static inline u64 size_mask(u32 size)
{
	return ~0ull >> (64 - 8 * size);
}

/* For fetch.c: an exception with error code 0; always false. */
bool __must_check access_fault(struct guest_access *access, enum vector vector);
/* Outside 64-bit mode linear addresses have 32 bits. */
gva_t access_wrap(const struct guest_access *access, u64 address);
/*
 * Log lines about a guest's accesses, a bounded number per vCPU so that it cannot flood the log:
 * whether one more may be written; and the one about an address with nothing behind it.
 */
bool access_may_report(struct guest_access *access);
void access_report_nothing(struct guest_access *access, const char *what, gpa_t address);

#endif
