// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory side of instruction emulation: see access.h. Called by mmio.c and string_io.c from
 * exit handlers (interrupts off, VMCS current). All that a guest can choose here is checked as the
 * processor would have checked it; what another vCPU changes meanwhile is read once.
 */
#include "vmx/access.h"

#include "hv/cpu/registers.h"
#include "hv/lib/log.h"
#include "hv/lib/string.h"
#include "hv/vm/vm.h"
#include "vmx/access_rights.h"

#define CPL_USER      3
#define CPUID_PAGE_1G BIT(26) /* 80000001 EDX */

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
	access->vcpu = vcpu;
	access->mode = vcpu_mode();
	access->code_size = code_sizes[access->mode];
	access->rip = vmcs_read(VMCS_GUEST_RIP);
	access->rflags = vmcs_read(VMCS_GUEST_RFLAGS);
	access->known = false;
	access->walk_loaded = false;
}

const struct walk_state *access_walk_state(struct guest_access *access)
{
	struct walk_state *walk = &access->walk;

	if (access->walk_loaded)
		return walk;
	if (unlikely(!limits.maxphyaddr))
		find_limits();
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
	access->walk_loaded = true;
	return walk;
}

bool access_may_report(struct guest_access *access)
{
	if (access->vcpu->access_reports >= REPORTS_MAX)
		return false;
	access->vcpu->access_reports++;
	return true;
}

/* BUG-50: an address without anything behind it is told once, with the place. */
__attribute__((noinline, cold)) void access_report_nothing(
	struct guest_access *access, const char *what, gpa_t address)
{
	struct vcpu *vcpu = access->vcpu;
	u64 page = ALIGN_DOWN(address.value, PAGE_SIZE);

	if (page == vcpu->access_reported_page || !access_may_report(access))
		return;
	vcpu->access_reported_page = page;
	log_warning("vm %s: vCPU %u: %s guest-physical %#lx, where nothing is, at RIP %#lx",
		vcpu->vm->config->name, vcpu->id, what, address.value, access->rip);
}

bool access_fault(struct guest_access *access, enum vector vector)
{
	access->action = raise_exception(access->vcpu, vector, 0);
	return false;
}

static bool translate(struct guest_access *access, gva_t linear, u32 kind, gpa_t *physical)
{
	struct walk_translation translation;

	switch (walk_page_tables(
		access_walk_state(access), &access->vcpu->vm->memory, linear, kind, &translation)) {
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

gva_t access_wrap(const struct guest_access *access, u64 address)
{
	return gva(access->mode == MODE_LONG64 ? address : (u32)address);
}

/* SDM 1 3.3.7.1: bits 63 to 47, or to 56 with 57-bit addresses, are all alike. */
static bool canonical(u64 address)
{
	s64 sign = (s64)address >> 47;

	if (likely(sign == 0 || sign == -1))
		return true;
	sign = (s64)address >> 56;
	return (vmcs_read(VMCS_GUEST_CR4) & CR4_LA57) && (sign == 0 || sign == -1);
}

/* 64-bit mode: no limits, bases of FS and GS only (SDM 3A 3.4.4). */
static bool linear_64(
	struct guest_access *access, enum segment segment, u64 offset, u32 size, gva_t *linear)
{
	u64 address = offset;

	if (segment == SEG_FS || segment == SEG_GS)
		address += vmcs_read(segments[segment].base);
	*linear = gva(address);
	if (canonical(address) && canonical(address + size - 1))
		return true;
	return access_fault(access, segment == SEG_SS ? VECTOR_SS : VECTOR_GP);
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
	return access_fault(access, segment == SEG_SS ? VECTOR_SS : VECTOR_GP);
}

bool access_translate(struct guest_access *access, gva_t linear, u32 size, u32 kind,
	struct guest_operand *operand)
{
	u32 first = MIN(size, PAGE_SIZE - (linear.value & PAGE_MASK));

	operand->size = size;
	operand->parts = 1;
	operand->part[0].size = first;
	operand->part[0].no_ram = access->known && access->known_linear.value == linear.value &&
				  (access->known_write || !(kind & WALK_WRITE));
	if (likely(operand->part[0].no_ram))
		operand->part[0].address = access->known_physical;
	else if (!translate(access, linear, kind, &operand->part[0].address))
		return false;
	if (unlikely(first < size)) {
		operand->parts = 2;
		operand->part[1].size = size - first;
		operand->part[1].no_ram = false;
		if (!translate(access, access_wrap(access, linear.value + first), kind,
			    &operand->part[1].address))
			return false;
	}
	/* SDM 3A 6.15 #AC: after page faults in priority (table 6-2). */
	if (unlikely((access->rflags & RFLAGS_AC) && (linear.value & (size - 1)) &&
		     vcpu_cpl() == CPL_USER && (vmcs_read(VMCS_GUEST_CR0) & CR0_AM)))
		return access_fault(access, VECTOR_AC);
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

static void *ram_of(struct guest_access *access, const struct guest_operand *operand, u32 part)
{
	if (operand->part[part].no_ram)
		return NULL;
	return guest_pointer(
		&access->vcpu->vm->memory, operand->part[part].address, operand->part[part].size);
}

static u64 read_part(struct guest_access *access, const struct guest_operand *operand, u32 part)
{
	struct vcpu *vcpu = access->vcpu;
	const void *host = ram_of(access, operand, part);
	gpa_t address = operand->part[part].address;
	u64 value;

	if (host)
		return ram_read(host, operand->part[part].size);
	if (platform_mmio_read(
		    vcpu->vm->platform, vcpu->id, address, operand->part[part].size, &value))
		return value;
	access_report_nothing(access, "read of", address);
	return ~0ull;
}

static void write_part(
	struct guest_access *access, const struct guest_operand *operand, u32 part, u64 value)
{
	struct vcpu *vcpu = access->vcpu;
	void *host = ram_of(access, operand, part);
	gpa_t address = operand->part[part].address;
	u32 size = operand->part[part].size;

	value &= size_mask(size);
	if (host)
		ram_write(host, size, value);
	else if (!platform_mmio_write(vcpu->vm->platform, vcpu->id, address, size, value))
		access_report_nothing(access, "write to", address);
}

u64 access_read(struct guest_access *access, const struct guest_operand *operand)
{
	u64 value = read_part(access, operand, 0);

	if (unlikely(operand->parts == 2)) {
		u32 first = operand->part[0].size;

		value &= size_mask(first);
		value |= read_part(access, operand, 1) << 8 * first;
	}
	return value & size_mask(operand->size);
}

void access_write(struct guest_access *access, const struct guest_operand *operand, u64 value)
{
	write_part(access, operand, 0, value);
	if (unlikely(operand->parts == 2))
		write_part(access, operand, 1, value >> 8 * operand->part[0].size);
}
