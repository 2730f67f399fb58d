// SPDX-License-Identifier: BSD-2-Clause
/* Segment loads of a task switch; see segment_load.h. */
#include "vmx/segment_load.h"

#include "hv/lib/string.h"
#include "vmx/access_rights.h"

#define SELECTOR_TI	  BIT(2)
#define SELECTOR_RPL(s)	  ((s)&3)
#define SELECTOR_INDEX(s) ((s) & ~7u)
#define TYPE_ACCESSED	  BIT(0)
#define TYPE_WRITABLE	  BIT(1) /* of data; readable of code */
#define TYPE_CONFORMING	  BIT(2)
#define TYPE_CODE	  BIT(3)

/* VMCS fields of enum segment: the register's number times 2 behind ES's. */
#define SELECTOR_FIELD(n) (VMCS_GUEST_ES_SELECTOR + 2 * (n))
#define LIMIT_FIELD(n)	  (VMCS_GUEST_ES_LIMIT + 2 * (n))
#define RIGHTS_FIELD(n)	  (VMCS_GUEST_ES_RIGHTS + 2 * (n))
#define BASE_FIELD(n)	  (VMCS_GUEST_ES_BASE + 2 * (n))

bool linear_read(struct guest_access *access, gva_t from, void *to, u32 size)
{
	for (u32 done = 0; done < size;) {
		u32 step = MIN(size - done, 4u);
		struct guest_operand operand;

		if (!access_translate(
			    access, gva((u32)(from.value + done)), step, WALK_IMPLICIT, &operand))
			return false;
		u64 value = access_read(access, &operand);

		memcpy((u8 *)to + done, &value, step);
		done += step;
	}
	return true;
}

bool linear_write(struct guest_access *access, gva_t to, const void *from, u32 size)
{
	for (u32 done = 0; done < size;) {
		u32 step = MIN(size - done, 4u);
		struct guest_operand operand;
		u64 value = 0;

		if (!access_translate(access, gva((u32)(to.value + done)), step,
			    WALK_IMPLICIT | WALK_WRITE, &operand))
			return false;
		memcpy(&value, (const u8 *)from + done, step);
		access_write(access, &operand, value);
		done += step;
	}
	return true;
}

bool linear_probe_write(struct guest_access *access, gva_t to, u32 size)
{
	struct guest_operand operand;

	/* First and last byte: the range is shorter than a page. */
	return access_translate(
		       access, gva((u32)to.value), 1, WALK_IMPLICIT | WALK_WRITE, &operand) &&
	       access_translate(access, gva((u32)(to.value + size - 1)), 1,
		       WALK_IMPLICIT | WALK_WRITE, &operand);
}

enum descriptor_result descriptor_read(
	struct guest_access *access, u16 selector, struct descriptor *d)
{
	bool local = selector & SELECTOR_TI;
	u32 offset = SELECTOR_INDEX(selector);
	u64 base = vmcs_read(local ? VMCS_GUEST_LDTR_BASE : VMCS_GUEST_GDTR_BASE);
	u32 limit = vmcs_read(local ? VMCS_GUEST_LDTR_LIMIT : VMCS_GUEST_GDTR_LIMIT);

	if ((!local && offset == 0) || offset + 7 > limit ||
		(local && vmcs_read(VMCS_GUEST_LDTR_RIGHTS) & RIGHTS_UNUSABLE))
		return DESCRIPTOR_OUTSIDE;
	d->address = gva((u32)(base + offset));
	if (!linear_read(access, d->address, &d->raw, sizeof(d->raw)))
		return DESCRIPTOR_STOPPED;
	/* SDM 3A figure 3-8. */
	d->base = (d->raw >> 16 & 0xffffff) | (d->raw >> 56) << 24;
	d->limit = (d->raw & 0xffff) | (d->raw >> 48 & 0xf) << 16;
	d->rights = d->raw >> 40 & 0xf0ff;
	if (d->raw & BIT(55))
		d->limit = d->limit << 12 | 0xfff;
	return DESCRIPTOR_OK;
}

static void write_segment(u32 n, u16 selector, const struct descriptor *d)
{
	vmcs_write(SELECTOR_FIELD(n), selector);
	vmcs_write(BASE_FIELD(n), d->base);
	vmcs_write(LIMIT_FIELD(n), d->limit);
	vmcs_write(RIGHTS_FIELD(n), d->rights | TYPE_ACCESSED);
}

static bool fail(struct guest_access *access, enum vector vector, u16 selector, u32 external)
{
	access->action = raise_exception(access->vcpu, vector, (selector & ~3u) | external);
	return false;
}

/*
 * The vector that a descriptor's contents raise: 0 none. SDM 3A table 8-1 and the sections of #TS,
 * #NP, #SS in 6.15.
 */
static u32 check_code(const struct descriptor *d, u16 selector)
{
	u32 type = RIGHTS_TYPE(d->rights), dpl = RIGHTS_DPL(d->rights),
	    rpl = SELECTOR_RPL(selector);

	if (!(d->rights & RIGHTS_S) || !(type & TYPE_CODE))
		return VECTOR_TS;
	if (type & TYPE_CONFORMING ? dpl > rpl : dpl != rpl)
		return VECTOR_TS;
	return d->rights & RIGHTS_P ? 0 : VECTOR_NP;
}

static u32 check_stack(const struct descriptor *d, u16 selector, u32 cpl)
{
	u32 type = RIGHTS_TYPE(d->rights);

	if (!(d->rights & RIGHTS_S) || type & TYPE_CODE || !(type & TYPE_WRITABLE))
		return VECTOR_TS;
	if (RIGHTS_DPL(d->rights) != cpl || SELECTOR_RPL(selector) != cpl)
		return VECTOR_TS;
	return d->rights & RIGHTS_P ? 0 : VECTOR_SS;
}

static u32 check_data(const struct descriptor *d, u16 selector, u32 cpl)
{
	u32 type = RIGHTS_TYPE(d->rights), dpl = RIGHTS_DPL(d->rights);
	bool conforming = type & TYPE_CODE && type & TYPE_CONFORMING;

	if (!(d->rights & RIGHTS_S) || (type & TYPE_CODE && !(type & TYPE_WRITABLE)))
		return VECTOR_TS;
	if (!conforming && dpl < MAX(cpl, SELECTOR_RPL(selector)))
		return VECTOR_TS;
	return d->rights & RIGHTS_P ? 0 : VECTOR_NP;
}

static bool load_segment(struct guest_access *access, u32 n, u16 selector, u32 cpl, u32 external)
{
	bool may_be_null = n != SEG_CS && n != SEG_SS;
	struct descriptor d;
	u32 vector;
	u8 type;

	if (may_be_null && SELECTOR_INDEX(selector) == 0 && !(selector & SELECTOR_TI)) {
		vmcs_write(SELECTOR_FIELD(n), selector);
		vmcs_write(RIGHTS_FIELD(n), RIGHTS_UNUSABLE);
		return true;
	}
	switch (descriptor_read(access, selector, &d)) {
	case DESCRIPTOR_OUTSIDE:
		return fail(access, VECTOR_TS, selector, external);
	case DESCRIPTOR_STOPPED:
		return false;
	case DESCRIPTOR_OK:
		break;
	}
	vector = n == SEG_CS   ? check_code(&d, selector)
		 : n == SEG_SS ? check_stack(&d, selector, cpl)
			       : check_data(&d, selector, cpl);
	if (vector)
		return fail(access, vector, selector, external);
	type = d.raw >> 40 | TYPE_ACCESSED;
	if (type != (u8)(d.raw >> 40) && !linear_write(access, gva(d.address.value + 5), &type, 1))
		return false;
	write_segment(n, selector, &d);
	return true;
}

static bool load_ldt(struct guest_access *access, u16 selector, u32 external)
{
	struct descriptor d;

	vmcs_write(VMCS_GUEST_LDTR_SELECTOR, selector);
	vmcs_write(VMCS_GUEST_LDTR_RIGHTS, RIGHTS_UNUSABLE);
	if (SELECTOR_INDEX(selector) == 0 && !(selector & SELECTOR_TI))
		return true;
	if (selector & SELECTOR_TI)
		return fail(access, VECTOR_TS, selector, external);
	switch (descriptor_read(access, selector, &d)) {
	case DESCRIPTOR_OUTSIDE:
		return fail(access, VECTOR_TS, selector, external);
	case DESCRIPTOR_STOPPED:
		return false;
	case DESCRIPTOR_OK:
		break;
	}
	if (d.rights & RIGHTS_S || RIGHTS_TYPE(d.rights) != TYPE_LDT || !(d.rights & RIGHTS_P))
		return fail(access, VECTOR_TS, selector, external);
	vmcs_write(VMCS_GUEST_LDTR_BASE, d.base);
	vmcs_write(VMCS_GUEST_LDTR_LIMIT, d.limit);
	vmcs_write(VMCS_GUEST_LDTR_RIGHTS, d.rights);
	return true;
}

/*
 * The new task's privilege level, before its descriptors are known to be good: CS and SS keep their
 * addresses and become what an entry accepts (SDM 3C 27.3.1.2) should one of them fault.
 */
static void set_privilege(u32 cpl)
{
	u32 code = vmcs_read(VMCS_GUEST_CS_RIGHTS) & (RIGHTS_DB | RIGHTS_G);

	vmcs_write(VMCS_GUEST_CS_RIGHTS, code | RIGHTS_P | cpl << RIGHTS_DPL_SHIFT | RIGHTS_S |
						 RIGHTS_CODE | TYPE_WRITABLE | TYPE_ACCESSED);
	if (RIGHTS_DPL(vmcs_read(VMCS_GUEST_SS_RIGHTS)) != cpl)
		vmcs_write(VMCS_GUEST_SS_RIGHTS, RIGHTS_UNUSABLE | cpl << RIGHTS_DPL_SHIFT);
}

bool segments_load(struct guest_access *access, u16 ldt, const u16 selectors[6], u32 external)
{
	static const u8 order[] = { SEG_CS, SEG_SS, SEG_DS, SEG_ES, SEG_FS, SEG_GS };
	u32 cpl = SELECTOR_RPL(selectors[SEG_CS]);

	/*
	 * A fault on the way finds the rest unusable (SDM 3A 8.3: "the selectors are loaded"
	 * first).
	 */
	for (size_t i = 2; i < ARRAY_SIZE(order); i++) {
		vmcs_write(SELECTOR_FIELD(order[i]), selectors[order[i]]);
		vmcs_write(RIGHTS_FIELD(order[i]), RIGHTS_UNUSABLE);
	}
	set_privilege(cpl);
	if (!load_ldt(access, ldt, external))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (!load_segment(access, order[i], selectors[order[i]], cpl, external))
			return false;
	return true;
}

void segments_load_vm86(const u16 selectors[6])
{
	for (u32 n = SEG_ES; n <= SEG_GS; n++) {
		vmcs_write(SELECTOR_FIELD(n), selectors[n]);
		vmcs_write(BASE_FIELD(n), (u32)selectors[n] << 4);
		vmcs_write(LIMIT_FIELD(n), 0xffff);
		vmcs_write(RIGHTS_FIELD(n), RIGHTS_VM86);
	}
}
