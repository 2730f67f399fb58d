// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instruction fetch for emulation: see fetch.h, and fetch_cache.h for what is remembered. Called by
 * mmio.c and string_io.c, interrupts off, VMCS current. The guest's other processors may change
 * code and tables at any time: bytes are copied once and the copy is decoded.
 */
#include "vmx/fetch.h"

#include "hv/lib/log.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"
#include "hv/vm/vm.h"

/* Without a call, and without a byte beyond the fifteenth. */
static void copy_instruction(u8 *to, const u8 *from)
{
	__builtin_memcpy(to, from, 8);
	__builtin_memcpy(to + 7, from + 7, 8);
}

static bool same_instruction(const u8 *a, const u8 *b)
{
	u64 a_low, a_high, b_low, b_high;

	__builtin_memcpy(&a_low, a, 8);
	__builtin_memcpy(&a_high, a + 7, 8);
	__builtin_memcpy(&b_low, b, 8);
	__builtin_memcpy(&b_high, b + 7, 8);
	return a_low == b_low && a_high == b_high;
}

/*
 * Copies up to the next page boundary, at most `size`; how much it was, or 0: it faulted. *host:
 * where it came from, NULL outside RAM.
 */
static u32 fetch_page(struct guest_access *access, gva_t linear, u8 *bytes, u32 size,
	struct walk_path *path, const u8 **host)
{
	const struct guest_memory *memory = &access->vcpu->vm->memory;
	u32 run = MIN(size, PAGE_SIZE - (linear.value & PAGE_MASK));
	struct walk_translation translation;

	switch (walk_page_tables_path(
		access_walk_state(access), memory, linear, WALK_FETCH, &translation, path)) {
	case WALK_OK:
		break;
	case WALK_FAULT:
		access->action = raise_page_fault(access->vcpu, linear, translation.error_code);
		return 0;
	default:
		access->action = EXIT_RESUME;
		return 0;
	}
	*host = guest_pointer(memory, translation.address, run);
	if (unlikely(!*host)) {
		access_report_nothing(access, "fetch of instructions from", translation.address);
		memset(bytes, 0xff, run);
	} else {
		memcpy(bytes, *host, run);
	}
	return run;
}

/* SDM 3A 5.3: the whole instruction lies within CS. */
static bool check_code_limit(struct guest_access *access, u32 length)
{
	u32 last = (u32)access->rip + length - 1;

	if (access->mode == MODE_LONG64)
		return true;
	if (last >= (u32)access->rip && last <= vmcs_read(VMCS_GUEST_CS_LIMIT))
		return true;
	return access_fault(access, VECTOR_GP);
}

static struct fetch_cache_entry *cache_entry(struct guest_access *access)
{
	/* Neighbouring instructions are a few bytes apart, copies of a function a page or more. */
	u64 hash = access->rip ^ access->rip >> 5 ^ access->rip >> 12;

	return &access->vcpu->fetch.entries[hash % FETCH_CACHE_ENTRIES];
}

static bool cache_holds(const struct fetch_cache_entry *entry, const struct guest_access *access)
{
	return entry->rip == access->rip && walk_path_holds(&entry->path) &&
	       same_instruction(entry->host, entry->bytes) &&
	       entry->cr3 == vmcs_read(VMCS_GUEST_CR3) && entry->cr4 == vmcs_read(VMCS_GUEST_CR4) &&
	       entry->efer == vmcs_read(VMCS_GUEST_EFER) && entry->cpl == vcpu_cpl();
}

static void cache_fill(struct guest_access *access, const struct walk_path *path, const u8 *host,
	const struct insn *insn)
{
	const struct walk_state *walk = access_walk_state(access);
	struct fetch_cache_entry *entry = cache_entry(access);

	*entry = (struct fetch_cache_entry){ .rip = access->rip,
		.cr3 = walk->cr3,
		.cr4 = walk->cr4,
		.efer = walk->efer,
		.cpl = walk->cpl,
		.path = *path,
		.host = host,
		.insn = *insn };
	copy_instruction(entry->bytes, access->bytes);
}

/* From memory, with everything that can go wrong on the way. */
static bool fetch_and_decode(struct guest_access *access, struct insn *insn)
{
	u64 base = access->mode == MODE_LONG64 ? 0 : vmcs_read(VMCS_GUEST_CS_BASE);
	gva_t linear = access_wrap(access, base + access->rip);
	struct walk_path path, more_path;
	const u8 *host, *more_host;
	enum decode_result result;

	access->fetched = fetch_page(access, linear, access->bytes, INSN_LENGTH_MAX, &path, &host);
	if (!access->fetched)
		return false;
	result = decode_instruction(access->bytes, access->fetched, access->code_size, insn);
	if (unlikely(result == DECODE_TRUNCATED)) {
		u32 more = fetch_page(access, access_wrap(access, linear.value + access->fetched),
			access->bytes + access->fetched, INSN_LENGTH_MAX - access->fetched,
			&more_path, &more_host);

		if (!more)
			return false;
		access->fetched += more;
		path.count = 0;
		result =
			decode_instruction(access->bytes, access->fetched, access->code_size, insn);
	}
	if (result == DECODE_OK && access->mode == MODE_LONG64 && host && path.count &&
		access->fetched == INSN_LENGTH_MAX)
		cache_fill(access, &path, host, insn);
	switch (result) {
	case DECODE_OK:
		return check_code_limit(access, insn->length);
	case DECODE_UNSUPPORTED:
		access->action = fetch_refuse(access);
		return false;
	case DECODE_INVALID:
		access->action = raise_ud(access->vcpu);
		return false;
	default:
		return access_fault(access, VECTOR_GP);
	}
}

bool fetch_instruction(struct guest_access *access, struct insn *insn)
{
	const struct fetch_cache_entry *entry = cache_entry(access);

	if (access->mode == MODE_LONG64 && cache_holds(entry, access)) {
		*insn = entry->insn;
		copy_instruction(access->bytes, entry->bytes);
		access->fetched = INSN_LENGTH_MAX;
		return true;
	}
	return fetch_and_decode(access, insn);
}

enum exit_action fetch_refuse(struct guest_access *access)
{
	struct vcpu *vcpu = access->vcpu;
	char text[3 * INSN_LENGTH_MAX + 1] = "";

	if (access_may_report(access)) {
		for (u32 i = 0; i < access->fetched; i++)
			fmt_print(text + 3 * i, 4, " %02x", access->bytes[i]);
		log_warning("vm %s: vCPU %u: no emulation for the instruction at RIP %#lx, %u-bit "
			    "code, bytes%s: #UD",
			vcpu->vm->config->name, vcpu->id, access->rip, access->code_size, text);
	}
	return raise_ud(vcpu);
}
