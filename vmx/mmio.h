/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emulation of instructions that access guest-physical memory without RAM behind it: devices, and
 * addresses where nothing is. Entered by exit_ept_violation() (vmx/exit.h).
 */
#ifndef VMX_MMIO_H
#define VMX_MMIO_H

#include "vmx/operand.h"

/* MOVS, STOS and LODS with any prefix; mmio_string.c. */
enum exit_action emulate_string(struct emulation *e);

#endif
