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
	struct walk_state walk;
	enum exit_action action;
	u8 bytes[INSN_LENGTH_MAX]; /* of the instruction, as fetched */
	u32 fetched;

	/* A translation that the processor has just made for this instruction (EPT violation). */
	bool known;
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
	} part[2];
};

void access_begin(struct guest_access *access, struct vcpu *vcpu);

/*
 * Fetches and decodes the instruction at RIP, anew from the guest's memory: the exit's instruction
 * length means nothing for EPT violations (SDM 3C 28.2.5). #PF, #GP, #UD as the processor would.
 */
bool __must_check access_fetch(struct guest_access *access, struct insn *insn);

/*
 * The answer to an instruction that is valid but not emulated: one line with its bytes, and #UD for
 * the guest, as if the processor did not have it.
 */
enum exit_action access_refuse(struct guest_access *access);

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

/* Never fail. Where neither RAM nor device is, reads are all ones and writes vanish, as on a bus.
 */
u64 access_read(struct guest_access *access, const struct guest_operand *operand);
void access_write(struct guest_access *access, const struct guest_operand *operand, u64 value);

/* All ones of so many bytes (1 to 8). */
static inline u64 size_mask(u32 size)
{
	return ~0ull >> (64 - 8 * size);
}

#endif
