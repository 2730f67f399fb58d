// SPDX-License-Identifier: BSD-2-Clause
/*
 * From UEFI's world to the hypervisor's. Called last by boot/main.c, once everything is loaded. All
 * allocations are done before the final memory map is taken.
 */
#include "boot/leave.h"
#include "boot/firmware.h"
#include "boot/lib/exit_boot.h"
#include "boot/lib/page_tables.h"
#include "boot/memory.h"
#include "boot/processor.h"
#include "boot/report.h"

#define BOOT_STACK_SIZE (16u << 10)

#define TABLE_PAGES_FIRST 32
#define TABLE_PAGES_MAX	  65536

/* enter.asm: loads CR3 and RSP and jumps to entry(info); never returns. */
void enter(u64 root, u64 stack_top, u64 entry, u64 info) __noreturn;

static bool exit_boot_services(void *context, u64 key)
{
	EFI_BOOT_SERVICES *services = context;

	return !EFI_ERROR(services->ExitBootServices(firmware_image, key));
}

static enum error map_all(struct page_tables *tables, const struct boot_info *info)
{
	u64 enter_page = ALIGN_DOWN((u64)(uintptr_t)enter, PAGE_SIZE);
	enum error error =
		page_tables_map_direct(tables, &info->memory_map, processor_address_limit());

	if (!error)
		error = page_tables_unmap_page(tables, HV_DIRECT_MAP + info->boot_stack);
	for (u32 i = 0; !error && i < info->segment_count; i++) {
		const struct boot_segment *segment = &info->segments[i];
		enum page_rights rights = segment->writable	? PAGE_WRITE
					  : segment->executable ? PAGE_EXECUTE
								: PAGE_READ;

		error = page_tables_map(
			tables, segment->virtual_address, segment->address, segment->size, rights);
	}
	/* enter() itself goes on running here when CR3 is loaded. */
	if (!error)
		error = page_tables_map(tables, enter_page, enter_page, PAGE_SIZE, PAGE_EXECUTE);
	return error;
}

/* Tries with larger and larger pools: what the direct map costs depends on the memory map. */
static bool build_tables(struct boot_info *info, const struct memory_buffer *buffer, u64 *root)
{
	for (u64 pages = TABLE_PAGES_FIRST; pages <= TABLE_PAGES_MAX; pages *= 2) {
		u64 pool = firmware_allocate(pages * PAGE_SIZE);
		struct page_tables tables;
		enum error error;

		if (!pool || !memory_map_take(buffer, &info->memory_map))
			return false;
		error = page_tables_init(&tables, pool, pages, processor_large_1g());
		if (!error)
			error = map_all(&tables, info);
		if (!error) {
			info->loader_tables = pool;
			info->loader_tables_size = pages * PAGE_SIZE;
			*root = tables.root;
			return true;
		}
		firmware_free(pool);
		if (error != ERR_NO_MEMORY)
			return false;
	}
	return false;
}

EFI_STATUS leave(struct boot_info *info, const struct memory_buffer *buffer, u64 entry)
{
	const struct exit_boot_services services = {
		.context = firmware->BootServices,
		.get_memory_map = memory_map_get,
		.exit = exit_boot_services,
	};
	bool attempted;
	enum error error;
	u64 root;

	info->boot_stack_size = PAGE_SIZE + BOOT_STACK_SIZE;
	info->boot_stack = firmware_allocate(info->boot_stack_size);
	if (!info->boot_stack || !build_tables(info, buffer, &root))
		return refuse(REFUSED_MACHINE, "no memory for the hypervisor's first page tables; "
					       "give the machine more memory");
	say("leaving the firmware after %llu ms", (unsigned long long)firmware_milliseconds());

	error = exit_boot(
		&services, buffer->address, buffer->capacity, &info->memory_map, &attempted);
	if (!error)
		enter(root, HV_DIRECT_MAP + info->boot_stack + info->boot_stack_size, entry,
			HV_DIRECT_MAP + (u64)(uintptr_t)info);
	if (!attempted)
		return refuse(REFUSED_MACHINE,
			"the firmware's memory map keeps growing; restart the machine");
	return refuse_late(REFUSED_MACHINE,
		"the firmware does not let go (ExitBootServices fails); restart the machine");
}
