// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory side of instruction emulation: see access.h. Called by mmio.c and string_io.c from
 * exit handlers (interrupts off, VMCS current). All that a guest can choose here is checked as the
 * processor would have checked it; what another vCPU changes meanwhile is read once.
 */
#include "vmx/access.h"

#include "hv/lib/log.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"
#include "hv/vm/vm.h"

#define CR0_AM	      BIT(18)
#define CR0_PG	      BIT(31)
#define CR4_PAE	      BIT(5)
#define CR4_LA57      BIT(12)
#define CR4_PKE	      BIT(22)
#define EFER_LMA      BIT(10)
#define RFLAGS_AC     BIT(18)
#define CPL_USER      3
#define CPUID_PAGE_1G BIT(26) /* 80000001 EDX */

/* Segment access rights in the VMCS: SDM 3C table 25-2; types: SDM 3A table 3-1. */
#define RIGHTS_CODE	    BIT(3)
#define RIGHTS_EXPAND_DOWN  BIT(2) /* data */
#define RIGHTS_ACCESS_RIGHT BIT(1) /* data: writable; code: readable */
#define RIGHTS_DB	    BIT(14)
#define RIGHTS_UNUSABLE	    BIT(16)

#define REPORTS_MAX 16

struct segment_fields {
	enum vmcs_field base, limit, rights;
};

#define SEGMENT(name)                                                         \
	[SEG_##name] = { VMCS_GUEST_##name##_BASE, VMCS_GUEST_##name##_LIMIT, \
		VMCS_GUEST_##name##_RIGHTS }

static const struct segment_fields segments[] = { SEGMENT(ES), SEGMENT(CS), SEGMENT(SS),
	SEGMENT(DS), SEGMENT(FS), SEGMENT(GS) };

/*
 * Guest tables are walked as this processor walks them under EPT, whatever the guest was told. The
 * same on every CPU; filled in by the first access.
 */
static struct {
	u8 maxphyaddr; /* 0: not known yet */
	bool page_1g;
} limits;

static __attribute__((noinline, cold)) void find_limits(void)
{
	limits.page_1g = insn_cpuid(0x80000001, 0).edx & CPUID_PAGE_1G;
	limits.maxphyaddr = insn_cpuid(0x80000008, 0).eax & 0xff;
}

static const u8 code_sizes[] = {
	[MODE_REAL] = 16,
	[MODE_VM86] = 16,
	[MODE_PROTECTED16] = 16,
	[MODE_PROTECTED32] = 32,
	[MODE_COMPAT16] = 16,
	[MODE_COMPAT32] = 32,
	[MODE_LONG64] = 64,
};

/* PKRU stays the guest's while the host runs; RDPKRU needs CR4.PKE (SDM 2B). */
static __attribute__((noinline, cold)) u32 guest_pkru(void)
{
	u64 cr4 = insn_read_cr4();
	u32 pkru;

	insn_write_cr4(cr4 | CR4_PKE);
	pkru = insn_rdpkru();
	insn_write_cr4(cr4);
	return pkru;
}

void access_begin(struct guest_access *access, struct vcpu *vcpu)
{
	struct walk_state *walk = &access->walk;

	if (unlikely(!limits.maxphyaddr))
		find_limits();
	access->vcpu = vcpu;
	access->mode = vcpu_mode();
	access->code_size = code_sizes[access->mode];
	access->rip = vmcs_read(VMCS_GUEST_RIP);
	access->rflags = vmcs_read(VMCS_GUEST_RFLAGS);
	access->known = false;
	/* The real registers: what the processor walks by, WP also where the guest owns it. */
	walk->cr0 = vmcs_read(VMCS_GUEST_CR0);
	walk->cr3 = vmcs_read(VMCS_GUEST_CR3);
	walk->cr4 = vmcs_read(VMCS_GUEST_CR4);
	walk->efer = vmcs_read(VMCS_GUEST_EFER);
	walk->rflags = access->rflags;
	walk->cpl = vcpu_cpl();
	walk->maxphyaddr = limits.maxphyaddr;
	walk->page_1g = limits.page_1g;
	walk->pkru = 0;
	if (unlikely((walk->cr0 & CR0_PG) && !(walk->efer & EFER_LMA) && (walk->cr4 & CR4_PAE))) {
		for (u32 i = 0; i < 4; i++)
			walk->pdptes[i] = vmcs_read(VMCS_GUEST_PDPTE0 + 2 * i);
	}
	if (unlikely(walk->cr4 & CR4_PKE))
		walk->pkru = guest_pkru();
}

/* Whether one more line may be logged: a bounded number, so that a guest cannot flood the log. */
static bool may_report(struct guest_access *access)
{
	if (access->vcpu->access_reports >= REPORTS_MAX)
		return false;
	access->vcpu->access_reports++;
	return true;
}

/* BUG-50: an address without anything behind it is told once, with the place. */
static __attribute__((noinline, cold)) void report_nothing(
	struct guest_access *access, const char *what, gpa_t address)
{
	struct vcpu *vcpu = access->vcpu;
	u64 page = ALIGN_DOWN(address.value, PAGE_SIZE);

	if (page == vcpu->access_reported_page || !may_report(access))
		return;
	vcpu->access_reported_page = page;
	log_warning("vm %s: vCPU %u: %s guest-physical %#lx, where nothing is, at RIP %#lx",
		vcpu->vm->config->name, vcpu->id, what, address.value, access->rip);
}

/* Vectors whose error code is 0. */
static bool fault(struct guest_access *access, enum vector vector)
{
	access->action = raise_exception(access->vcpu, vector, 0);
	return false;
}

static bool translate(struct guest_access *access, gva_t linear, u32 kind, gpa_t *physical)
{
	struct walk_translation translation;

	switch (walk_page_tables(
		&access->walk, &access->vcpu->vm->memory, linear, kind, &translation)) {
	case WALK_OK:
		*physical = translation.address;
		return true;
	case WALK_FAULT:
		access->action = raise_page_fault(access->vcpu, linear, translation.error_code);
		return false;
	default:
		access->action = EXIT_RESUME;
		return false;
	}
}

/* The address after wrapping: linear addresses have 32 bits outside 64-bit mode. */
static gva_t linear_at(const struct guest_access *access, u64 address)
{
	return gva(access->mode == MODE_LONG64 ? address : (u32)address);
}

/* Copies up to the next page boundary, at most `size`; how much it was, or 0: it faulted. */
static u32 fetch_page(struct guest_access *access, gva_t linear, u8 *bytes, u32 size)
{
	const struct guest_memory *memory = &access->vcpu->vm->memory;
	u32 run = MIN(size, PAGE_SIZE - (linear.value & PAGE_MASK));
	const u8 *host;
	gpa_t physical;

	if (!translate(access, linear, WALK_FETCH, &physical))
		return 0;
	host = guest_pointer(memory, physical, run);
	if (unlikely(!host)) {
		report_nothing(access, "fetch of instructions from", physical);
		memset(bytes, 0xff, run);
	} else if (likely(run == INSN_LENGTH_MAX)) {
		/* Without a call and without reading beyond. */
		__builtin_memcpy(bytes, host, 8);
		__builtin_memcpy(bytes + 7, host + 7, 8);
	} else {
		memcpy(bytes, host, run);
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
	return fault(access, VECTOR_GP);
}

bool access_fetch(struct guest_access *access, struct insn *insn)
{
	u64 base = access->mode == MODE_LONG64 ? 0 : vmcs_read(VMCS_GUEST_CS_BASE);
	gva_t linear = linear_at(access, base + access->rip);
	u8 *bytes = access->bytes;
	enum decode_result result;

	access->fetched = fetch_page(access, linear, bytes, INSN_LENGTH_MAX);
	if (!access->fetched)
		return false;
	result = decode_instruction(bytes, access->fetched, access->code_size, insn);
	if (unlikely(result == DECODE_TRUNCATED)) {
		u32 more = fetch_page(access, linear_at(access, linear.value + access->fetched),
			bytes + access->fetched, INSN_LENGTH_MAX - access->fetched);

		if (!more)
			return false;
		access->fetched += more;
		result = decode_instruction(bytes, access->fetched, access->code_size, insn);
	}
	switch (result) {
	case DECODE_OK:
		return check_code_limit(access, insn->length);
	case DECODE_UNSUPPORTED:
		access->action = access_refuse(access);
		return false;
	case DECODE_INVALID:
		access->action = raise_ud(access->vcpu);
		return false;
	default:
		return fault(access, VECTOR_GP);
	}
}

enum exit_action access_refuse(struct guest_access *access)
{
	struct vcpu *vcpu = access->vcpu;
	char text[3 * INSN_LENGTH_MAX + 1] = "";

	if (may_report(access)) {
		for (u32 i = 0; i < access->fetched; i++)
			fmt_print(text + 3 * i, 4, " %02x", access->bytes[i]);
		log_warning("vm %s: vCPU %u: no emulation for the instruction at RIP %#lx, %u-bit "
			    "code, bytes%s: #UD",
			vcpu->vm->config->name, vcpu->id, access->rip, access->code_size, text);
	}
	return raise_ud(vcpu);
}

static bool canonical(const struct guest_access *access, u64 address)
{
	u32 shift = access->walk.cr4 & CR4_LA57 ? 56 : 47;
	s64 sign = (s64)address >> shift;

	return sign == 0 || sign == -1;
}

/* 64-bit mode: no limits, bases of FS and GS only (SDM 3A 3.4.4). */
static bool linear_64(
	struct guest_access *access, enum segment segment, u64 offset, u32 size, gva_t *linear)
{
	u64 address = offset;

	if (segment == SEG_FS || segment == SEG_GS)
		address += vmcs_read(segments[segment].base);
	*linear = gva(address);
	if (canonical(access, address) && canonical(access, address + size - 1))
		return true;
	return fault(access, segment == SEG_SS ? VECTOR_SS : VECTOR_GP);
}

/* SDM 3A 5.3, 5.5 and 3.4.5.1: limit and type, as the VMCS describes them. */
static bool segment_allows(
	const struct guest_access *access, u32 rights, u32 limit, u32 first, u32 last, u32 kind)
{
	bool code = rights & RIGHTS_CODE;

	if (last < first)
		return false;
	if (access->mode == MODE_REAL || access->mode == MODE_VM86)
		return last <= limit;
	if (rights & RIGHTS_UNUSABLE)
		return false;
	if ((kind & WALK_WRITE) ? code || !(rights & RIGHTS_ACCESS_RIGHT)
				: code && !(rights & RIGHTS_ACCESS_RIGHT))
		return false;
	if (!code && (rights & RIGHTS_EXPAND_DOWN))
		return first > limit && last <= (rights & RIGHTS_DB ? 0xffffffff : 0xffff);
	return last <= limit;
}

bool access_linear(struct guest_access *access, enum segment segment, u64 offset, u32 size,
	u32 kind, gva_t *linear)
{
	const struct segment_fields *fields = &segments[segment];

	if (access->mode == MODE_LONG64)
		return linear_64(access, segment, offset, size, linear);
	*linear = gva((u32)(vmcs_read(fields->base) + offset));
	if (segment_allows(access, vmcs_read(fields->rights), vmcs_read(fields->limit), offset,
		    (u32)offset + size - 1, kind))
		return true;
	return fault(access, segment == SEG_SS ? VECTOR_SS : VECTOR_GP);
}

bool access_translate(struct guest_access *access, gva_t linear, u32 size, u32 kind,
	struct guest_operand *operand)
{
	u32 first = MIN(size, PAGE_SIZE - (linear.value & PAGE_MASK));

	operand->size = size;
	operand->parts = 1;
	operand->part[0].size = first;
	if (likely(access->known && access->known_linear.value == linear.value &&
		    (access->known_write || !(kind & WALK_WRITE))))
		operand->part[0].address = access->known_physical;
	else if (!translate(access, linear, kind, &operand->part[0].address))
		return false;
	if (unlikely(first < size)) {
		operand->parts = 2;
		operand->part[1].size = size - first;
		if (!translate(access, linear_at(access, linear.value + first), kind,
			    &operand->part[1].address))
			return false;
	}
	/* SDM 3A 6.15 #AC: after page faults in priority (table 6-2). */
	if (unlikely((access->rflags & RFLAGS_AC) && access->walk.cpl == CPL_USER &&
		     (access->walk.cr0 & CR0_AM) && (linear.value & (size - 1))))
		return fault(access, VECTOR_AC);
	return true;
}

/* Guest memory has no alignment; each access is one instruction where the size has one. */
typedef u16 __attribute__((aligned(1))) unaligned_u16;
typedef u32 __attribute__((aligned(1))) unaligned_u32;
typedef u64 __attribute__((aligned(1))) unaligned_u64;

static u64 ram_read(const void *host, u32 size)
{
	u64 value = 0;

	switch (size) {
	case 1:
		return *(const volatile u8 *)host;
	case 2:
		return *(const volatile unaligned_u16 *)host;
	case 4:
		return *(const volatile unaligned_u32 *)host;
	case 8:
		return *(const volatile unaligned_u64 *)host;
	default: /* part of an operand that crosses a page */
		memcpy(&value, host, size);
		return value;
	}
}

static void ram_write(void *host, u32 size, u64 value)
{
	switch (size) {
	case 1:
		*(volatile u8 *)host = value;
		break;
	case 2:
		*(volatile unaligned_u16 *)host = value;
		break;
	case 4:
		*(volatile unaligned_u32 *)host = value;
		break;
	case 8:
		*(volatile unaligned_u64 *)host = value;
		break;
	default:
		memcpy(host, &value, size);
	}
}

static u64 read_part(struct guest_access *access, gpa_t address, u32 size)
{
	struct vcpu *vcpu = access->vcpu;
	const void *host = guest_pointer(&vcpu->vm->memory, address, size);
	u64 value = ~0ull;

	if (host)
		return ram_read(host, size);
	if (!platform_mmio_read(vcpu->vm->platform, vcpu->id, address, size, &value)) {
		report_nothing(access, "read of", address);
		return ~0ull;
	}
	return value;
}

static void write_part(struct guest_access *access, gpa_t address, u32 size, u64 value)
{
	struct vcpu *vcpu = access->vcpu;
	void *host = guest_pointer(&vcpu->vm->memory, address, size);

	value &= size_mask(size);
	if (host)
		ram_write(host, size, value);
	else if (!platform_mmio_write(vcpu->vm->platform, vcpu->id, address, size, value))
		report_nothing(access, "write to", address);
}

u64 access_read(struct guest_access *access, const struct guest_operand *operand)
{
	u64 value = read_part(access, operand->part[0].address, operand->part[0].size);

	if (unlikely(operand->parts == 2)) {
		u32 first = operand->part[0].size;

		value &= size_mask(first);
		value |= read_part(access, operand->part[1].address, operand->part[1].size)
			 << 8 * first;
	}
	return value & size_mask(operand->size);
}

void access_write(struct guest_access *access, const struct guest_operand *operand, u64 value)
{
	u32 first = operand->part[0].size;

	write_part(access, operand->part[0].address, first, value);
	if (unlikely(operand->parts == 2))
		write_part(access, operand->part[1].address, operand->part[1].size,
			value >> 8 * first);
}
