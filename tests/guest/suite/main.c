// SPDX-License-Identifier: BSD-2-Clause
/*
 * suite.elf: every case that leaves the machine sane, batched into one boot. The command line
 * selects cases by area, id or name; options: trace=1 names each case before it runs,
 * scratch=ADDRESS.
 */
#include "tests/guest/lib/case.h"
#include "tests/guest/lib/multiboot.h"
#include "tests/guest/lib/string.h"

void __noreturn guest_main(u32 magic, u32 info);

void __noreturn guest_main(u32 magic, u32 info)
{
	boot_read(magic, info);
	machine_reset();
	print("SUITE torpor=%d test-device=%d arguments=%s\n", under_torpor(), have_test_device(),
		boot_arguments());
	guest_exit(case_run_all(boot_arguments()) ? 1 : 0);
}
