// SPDX-License-Identifier: BSD-2-Clause
/*
 * IN and OUT: every port of the guest exits and goes to its platform. String forms are
 * string_io.c's. The guest's own permission checks (IOPL, its TSS bitmap) come before the exit (SDM
 * 3C 26.1.1).
 */
#include "hv/dev/platform.h"
#include "hv/vm/vm.h"
#include "vmx/exit.h"
#include "vmx/string_io.h"

/* Exit qualification for I/O instructions: SDM 3C table 28-5. */
#define IO_SIZE(q) (((u32)(q)&7) + 1)
#define IO_IN	   BIT(3)
#define IO_STRING  BIT(4)
#define IO_PORT(q) ((u16)((q) >> 16))

enum exit_action exit_io(struct vcpu *vcpu)
{
	u64 qualification = vmcs_read(VMCS_EXIT_QUALIFICATION);
	u32 size = IO_SIZE(qualification);
	/* 1, 2, 4 bytes; a 4-byte IN zeroes RAX[63:32] (SDM 1 3.4.1.1). */
	u64 mask = size == 4 ? 0xffffffff : BIT(size * 8) - 1;

	if (unlikely(qualification & IO_STRING))
		return emulate_string_io(vcpu, qualification);
	if (qualification & IO_IN) {
		u64 keep = size == 4 ? 0 : vcpu->gpr[RAX] & ~mask;
		u32 value = platform_io_read(vcpu->vm->platform, IO_PORT(qualification), size);

		vcpu->gpr[RAX] = keep | (value & mask);
	} else {
		platform_io_write(
			vcpu->vm->platform, IO_PORT(qualification), size, vcpu->gpr[RAX] & mask);
	}
	return complete_instruction(vcpu);
}
