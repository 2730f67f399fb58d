// SPDX-License-Identifier: BSD-2-Clause
/*
 * A VM's RAM: frames in runs as large as the machine has them, mapped into the EPT with the memory
 * types of the machine's MTRRs. Called while no vCPU of the VM runs, except for the one page of
 * test port 0xe4 (the VM's own vCPU, interrupts off).
 */
#include "hv/dev/platform_map.h"
#include "hv/lib/log.h"
#include "hv/mem/frames.h"
#include "hv/vm/vm.h"
#include "mmu/invalidate.h"
#include "vmx/machine.h"

_Static_assert(GUEST_HOLE == PLATFORM_RAM_HOLE, "the RTC and fw_cfg tell the RAM that there is");

/* A run of frames for the front of [start, start + size): large pages where the machine allows. */
static enum error alloc_run(u64 size, u64 *run, hpa_t *address)
{
	u64 largest = frames_largest(SIZE_2M) * PAGE_SIZE;

	if (size >= SIZE_2M && largest >= SIZE_2M) {
		*run = MIN(ALIGN_DOWN(size, SIZE_2M), ALIGN_DOWN(largest, SIZE_2M));
		return frames_alloc(*run / PAGE_SIZE, SIZE_2M, address);
	}
	largest = frames_largest(PAGE_SIZE) * PAGE_SIZE;
	if (largest == 0)
		return ERR_NO_MEMORY;
	*run = MIN(size, largest);
	return frames_alloc(*run / PAGE_SIZE, PAGE_SIZE, address);
}

static enum error add_range(struct vm *vm, u64 start, u64 end)
{
	struct guest_memory *memory = &vm->memory;

	while (start < end) {
		struct guest_extent *extent = &memory->extents[memory->count];
		hpa_t address;
		u64 run;
		enum error error;

		if (memory->count == GUEST_EXTENTS_MAX)
			return ERR_NO_MEMORY;
		error = alloc_run(end - start, &run, &address);
		if (error)
			return error;
		*extent = (struct guest_extent){ .start = gpa(start),
			.size = run,
			.host = phys_to_virt(address),
			.address = address };
		memory->count++;
		memory->size += run;
		error = ept_map_memory(
			&vm->ept, &vmx_machine.mtrrs, gpa(start), address, run, EPT_RWX);
		if (error)
			return error;
		start += run;
	}
	return ERR_OK;
}

enum error vm_memory_create(struct vm *vm, u64 size)
{
	u64 low = MIN(size, GUEST_HOLE);
	enum error error = add_range(vm, 0, low);

	if (!error && size > low)
		error = add_range(vm, SIZE_4G, SIZE_4G + (size - low));
	return error;
}

void vm_memory_destroy(struct vm *vm)
{
	for (u32 i = 0; i < vm->memory.count; i++)
		frames_free(vm->memory.extents[i].address, vm->memory.extents[i].size / PAGE_SIZE);
	vm->memory.count = 0;
	vm->memory.size = 0;
}

/* INVEPT for this VM's tables if a translation changed (SDM 3C 29.4.3.4). */
static void flush_ept(struct vm *vm)
{
	if (!ept_needs_invalidation(&vm->ept))
		return;
	invalidate_ept(&vm->ept);
	ept_invalidated(&vm->ept);
}

void vm_unmap_once(struct vm *vm, gpa_t page)
{
	page = gpa(ALIGN_DOWN(page.value, PAGE_SIZE));
	if (!guest_pointer(&vm->memory, page, PAGE_SIZE))
		return;
	if (vm->page_unmapped && !vm_remap(vm, vm->unmapped_page))
		return;
	if (ept_unmap(&vm->ept, page, PAGE_SIZE)) {
		log_warning(
			"vm %s: no memory to unmap test page %#lx", vm->config->name, page.value);
		return;
	}
	vm->page_unmapped = true;
	vm->unmapped_page = page;
	flush_ept(vm);
}

bool vm_remap(struct vm *vm, gpa_t address)
{
	gpa_t page = gpa(ALIGN_DOWN(address.value, PAGE_SIZE));

	if (!vm->page_unmapped || page.value != vm->unmapped_page.value)
		return false;
	/* The 4 KiB table exists since the unmapping: nothing is allocated, it cannot fail. */
	void *host = guest_pointer(&vm->memory, page, PAGE_SIZE);
	ASSERT(host && ept_map_memory(&vm->ept, &vmx_machine.mtrrs, page, virt_to_phys(host),
			       PAGE_SIZE, EPT_RWX) == ERR_OK);
	vm->page_unmapped = false;
	return true;
}
