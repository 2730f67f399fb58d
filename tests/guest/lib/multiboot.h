/* SPDX-License-Identifier: BSD-2-Clause */
/* Multiboot 1 information, copied at start because cases use low memory, and how a payload ends. */
#ifndef TESTS_GUEST_LIB_MULTIBOOT_H
#define TESTS_GUEST_LIB_MULTIBOOT_H

#include "hv/lib/types.h"

#define MULTIBOOT_BOOT_MAGIC 0x2badb002u

#define MBI_MEMORY  BIT(0)
#define MBI_CMDLINE BIT(2)
#define MBI_MODULES BIT(3)
#define MBI_MMAP    BIT(6)
#define MBI_NAME    BIT(9)

#define BOOT_MODULES_MAX 8
#define BOOT_MMAP_MAX	 32
#define BOOT_TEXT_MAX	 1024

struct boot_module {
	u32 start, end;
	char cmdline[256];
};

struct boot_range {
	u64 base, length;
	u32 type; /* 1: RAM */
};

struct boot_information {
	u32 magic, flags;
	u32 memory_lower_kib, memory_upper_kib;
	char cmdline[BOOT_TEXT_MAX]; /* with the program name */
	char name[256];
	u32 module_count;
	struct boot_module modules[BOOT_MODULES_MAX];
	u32 mmap_count;
	struct boot_range mmap[BOOT_MMAP_MAX];
};
extern struct boot_information boot;

/* Copies what the loader handed over. */
void boot_read(u32 magic, u32 info);
/* The command line behind the program name. */
const char *boot_arguments(void);

/*
 * Ends the VM through the exit port: status (value << 1) | 1; power-off by other means if that is
 * absent.
 */
void __noreturn guest_exit(u8 value);

#define PORT_EXIT 0xf4

/* The hypervisor under test is running us (signature of CPUID leaf 0x40000000). */
bool under_torpor(void);
/* QEMU's own emulation: a few cases would crash it (each says why). */
bool under_qemu_tcg(void);
/* The latch 0xe0 of the test device answers. */
bool have_test_device(void);
/* RAM-like MMIO (test device, or option scratch=ADDRESS): base, or 0. */
u64 mmio_scratch(void);

#endif
