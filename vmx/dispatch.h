/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table from basic exit reasons to handlers: a row for each. The stub (entry.asm) indexes it
 * directly.
 */
#ifndef VMX_DISPATCH_H
#define VMX_DISPATCH_H

#include "vmx/exit.h"

enum {
	/* The handler reads or writes RBP or R12 to R15 of the guest: the stub saves them too. */
	EXIT_ALL_REGISTERS = BIT(0),
	/* The exit may have interrupted the delivery of an event: it is queued again first. */
	EXIT_MAY_INTERRUPT_DELIVERY = BIT(1),
};

struct exit_row {
	exit_handler *handler;
	u64 flags; /* 0: the stub calls the handler itself */
};

_Static_assert(sizeof(struct exit_row) == 16, "the stub scales the reason by 16");

extern const struct exit_row exit_table[EXIT_REASONS];

/* Called by the stub for rows with flags, all registers saved. */
enum exit_action exit_dispatch_extended(struct vcpu *vcpu, const struct exit_row *row);

/* The reason's name for the table of exits; NULL for a number that the manual does not define. */
const char *exit_reason_name(u32 reason);

#endif
