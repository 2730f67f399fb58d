/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the UEFI loader hands to the hypervisor: the only thing the two share. All pointers in it
 * are host-physical addresses of memory that the loader allocated as EfiLoaderData and that stays
 * valid until the hypervisor frees it. Both sides are built from the same tree, so there is no
 * version.
 *
 * State at hv_start(struct boot_info *): 64-bit mode, interrupts off, no boot services any more;
 * RDI points to this structure through the direct map; RSP is on the loader's boot stack (16 KiB,
 * guard page below, in the direct map's address range). Temporary page tables of the loader's map
 *   - the hypervisor's ELF segments at HV_IMAGE_BASE.. with the rights of their program headers,
 *   - all memory below 4 GiB and all that the memory map names at HV_DIRECT_MAP (writable,
 * no-execute),
 *   - nothing that the hypervisor needs in the low half.
 * EFER.NXE, CR0.WP and CR4.PAE are set.
 */
#ifndef BOOT_BOOT_INFO_H
#define BOOT_BOOT_INFO_H

#include "hv/lib/types.h"

#define HV_IMAGE_BASE 0xffffffff80000000ull /* -mcmodel=kernel */
#define HV_DIRECT_MAP 0xffff800000000000ull /* host-physical address 0 */

#define BOOT_INFO_MAGIC 0x726f7072546f7231ull

#define CONFIG_NAME_MAX	   32
#define CONFIG_CMDLINE_MAX 2048
#define CONFIG_PATH_MAX	   256
#define CONFIG_MODULES_MAX 8
#define CONFIG_VMS_MAX	   8
#define BOOT_CPUS_MAX	   64
#define BOOT_SEGMENTS_MAX  8

enum config_paging { PAGING_AUTO, PAGING_EPT, PAGING_SHADOW };

/* A file as it lies in memory. size 0 means "not given". */
struct boot_file {
	u64 address; /* page aligned, host-physical */
	u64 size;    /* bytes */
	char name[CONFIG_PATH_MAX];
	char cmdline[CONFIG_CMDLINE_MAX]; /* of a multiboot module: the text behind the file's name
					   */
};

/* One [vm NAME] section. */
struct vm_config {
	char name[CONFIG_NAME_MAX];
	struct boot_file kernel;
	struct boot_file initrd;
	struct boot_file modules[CONFIG_MODULES_MAX];
	u32 module_count;
	char cmdline[CONFIG_CMDLINE_MAX];
	u64 memory; /* bytes, a multiple of PAGE_SIZE */
	u32 cpus;
	enum config_paging paging;
	bool console;	  /* the VM's COM1 is the host's console */
	bool test_device; /* exit port 0xf4, port latch 0xe0.., MMIO scratch: PLATFORM.md */
	bool exit_port;	  /* the exit port 0xf4 alone */
};

/* The [hypervisor] section. */
struct hypervisor_config {
	u16 serial_port; /* I/O port of the host's UART; 0: none */
	u32 serial_baud;
	u32 log_level; /* enum log_level */
	bool mitigations;
	bool profile;
};

struct torpor_config {
	struct hypervisor_config hypervisor;
	struct vm_config vms[CONFIG_VMS_MAX];
	u32 vm_count;
};

/* A UEFI memory map as GetMemoryMap gave it: step by descriptor_size, not by sizeof. */
struct boot_memory_map {
	u64 address;
	u64 size;
	u64 descriptor_size;
	u32 descriptor_version;
};

struct boot_framebuffer {
	u64 base; /* 0: none */
	u64 size;
	u32 width, height, stride; /* pixels, pixels per line */
	u32 red_mask, green_mask, blue_mask;
};

struct boot_cpu {
	u32 apic_id;
	bool bsp;
};

/* Where the loader put a PT_LOAD segment of the hypervisor. */
struct boot_segment {
	u64 virtual_address;
	u64 address; /* host-physical */
	u64 size;    /* bytes, a multiple of PAGE_SIZE */
	bool writable, executable;
};

struct boot_info {
	u64 magic;
	struct boot_memory_map memory_map;
	struct boot_segment segments[BOOT_SEGMENTS_MAX];
	u32 segment_count;
	struct boot_framebuffer framebuffer;
	u64 rsdp;	      /* 0: the firmware published none */
	u64 runtime_services; /* EFI_RUNTIME_SERVICES *, physical; called with an identity map */
	struct boot_cpu cpus[BOOT_CPUS_MAX]; /* the BSP first */
	u32 cpu_count;			     /* at least 1 */
	u64 boot_stack;	     /* lowest address, that of its guard page; freed with the rest */
	u64 boot_stack_size; /* guard page included */
	u64 loader_tables;   /* the temporary page tables */
	u64 loader_tables_size;
	struct torpor_config config;
};

#endif
