// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks on the guest's segment registers (SDM 3C 27.3.1.2): rules times registers, for
 * vmx/entry_check.c.
 */
#include "vmx/access_rights.h"
#include "vmx/entry_check_rows.h"
#include "vmx/vmcs.h"

enum segment_number { ES, CS, SS, DS, FS, GS, LDTR, TR, SEGMENTS };

#define SET(segment)  (1u << (segment))
#define DATA_SEGMENTS (SET(DS) | SET(ES) | SET(FS) | SET(GS))
#define CODE_AND_DATA (SET(CS) | SET(SS) | DATA_SEGMENTS)

/* SDM 3C table 25-2 */
#define TYPE(rights)	 ((rights)&0xf)
#define DPL(rights)	 ((rights) >> 5 & 3)
#define RPL(selector)	 ((selector)&3)
#define RIGHTS_RESERVED	 0xfffe0f00ull
#define SELECTOR_TI	 BIT(2)
#define HIGH_HALF	 0xffffffff00000000ull
#define TYPE_ACCESSED	 1
#define TYPE_READABLE	 2
#define TYPE_CODE	 8
#define TYPE_DATA_RW	 3
#define TYPE_DATA_DOWN	 7
#define TYPE_LDT	 2
#define TYPE_TSS_16_BUSY 3
#define TYPE_TSS_BUSY	 11

struct segment {
	enum segment_number number;
	u64 selector, base, limit, rights;
	bool usable;
};

struct segments {
	const struct entry_context *context;
	struct segment all[SEGMENTS];
};

enum part { SELECTOR, BASE, LIMIT, RIGHTS };

/* By enum segment_number; a register's other parts lie at the same distance. */
static u32 field_of(enum segment_number number, enum part part)
{
	static const u32 first[] = { VMCS_GUEST_ES_SELECTOR, VMCS_GUEST_ES_BASE,
		VMCS_GUEST_ES_LIMIT, VMCS_GUEST_ES_RIGHTS };

	return first[part] + 2 * number;
}

/* When a rule asks about a register at all. */
enum when { ALWAYS, USABLE, IN_V86, NOT_V86, NOT_V86_USABLE };

static bool asks(const struct segments *s, const struct segment *r, enum when when)
{
	bool v86 = s->context->v86;
	/* CS and TR count as usable; for TR a rule of its own says so. */
	bool usable = r->usable || r->number == CS || r->number == TR;

	switch (when) {
	case ALWAYS:
		return true;
	case USABLE:
		return usable;
	case IN_V86:
		return v86;
	case NOT_V86:
		return !v86;
	case NOT_V86_USABLE:
		return !v86 && usable;
	}
	return false;
}

typedef const struct segments segments;
typedef const struct segment segment;

static bool no_ti(segments *s, segment *r)
{
	(void)s;
	return !(r->selector & SELECTOR_TI);
}

static bool ss_rpl(segments *s, segment *r)
{
	return s->context->unrestricted || RPL(r->selector) == RPL(s->all[CS].selector);
}

static bool base_is_selector(segments *s, segment *r)
{
	(void)s;
	return r->base == r->selector << 4;
}

static bool base_canonical(segments *s, segment *r)
{
	return entry_check_is_canonical(s->context, r->base);
}

static bool base_32_bit(segments *s, segment *r)
{
	(void)s;
	return !(r->base & HIGH_HALF);
}

static bool limit_64k(segments *s, segment *r)
{
	(void)s;
	return r->limit == 0xffff;
}

static bool rights_v86(segments *s, segment *r)
{
	(void)s;
	return r->rights == RIGHTS_VM86;
}

static bool cs_type(segments *s, segment *r)
{
	u32 type = TYPE(r->rights);

	if (type == TYPE_DATA_RW)
		return s->context->unrestricted;
	return (type & TYPE_CODE) && (type & TYPE_ACCESSED);
}

static bool ss_type(segments *s, segment *r)
{
	(void)s;
	return TYPE(r->rights) == TYPE_DATA_RW || TYPE(r->rights) == TYPE_DATA_DOWN;
}

static bool data_type(segments *s, segment *r)
{
	u32 type = TYPE(r->rights);

	(void)s;
	return (type & TYPE_ACCESSED) && (!(type & TYPE_CODE) || (type & TYPE_READABLE));
}

static bool is_code_or_data(segments *s, segment *r)
{
	(void)s;
	return r->rights & RIGHTS_S;
}

static bool cs_dpl(segments *s, segment *r)
{
	u32 dpl = DPL(r->rights), ss_dpl = DPL(s->all[SS].rights);

	switch (TYPE(r->rights)) {
	case 3:
		return dpl == 0;
	case 9:
	case 11:
		return dpl == ss_dpl;
	default: /* conforming */
		return dpl <= ss_dpl;
	}
}

static bool ss_dpl_is_rpl(segments *s, segment *r)
{
	return s->context->unrestricted || DPL(r->rights) == RPL(r->selector);
}

static bool ss_dpl_in_real_mode(segments *s, segment *r)
{
	bool ring_0 = TYPE(s->all[CS].rights) == TYPE_DATA_RW || !s->context->protected_mode;

	return !ring_0 || DPL(r->rights) == 0;
}

static bool data_dpl(segments *s, segment *r)
{
	return s->context->unrestricted || TYPE(r->rights) > 11 ||
	       DPL(r->rights) >= RPL(r->selector);
}

static bool present(segments *s, segment *r)
{
	(void)s;
	return r->rights & RIGHTS_P;
}

static bool no_reserved(segments *s, segment *r)
{
	(void)s;
	return !(r->rights & RIGHTS_RESERVED);
}

static bool long_not_default(segments *s, segment *r)
{
	return !s->context->ia32e || !(r->rights & RIGHTS_L) || !(r->rights & RIGHTS_DB);
}

static bool granularity(segments *s, segment *r)
{
	(void)s;
	if ((r->limit & 0xfff) != 0xfff && (r->rights & RIGHTS_G))
		return false;
	return !(r->limit & 0xfff00000) || (r->rights & RIGHTS_G);
}

static bool tr_type(segments *s, segment *r)
{
	return TYPE(r->rights) == TYPE_TSS_BUSY ||
	       (TYPE(r->rights) == TYPE_TSS_16_BUSY && !s->context->ia32e);
}

static bool ldtr_type(segments *s, segment *r)
{
	(void)s;
	return TYPE(r->rights) == TYPE_LDT;
}

static bool is_system(segments *s, segment *r)
{
	(void)s;
	return !(r->rights & RIGHTS_S);
}

static bool tr_usable(segments *s, segment *r)
{
	(void)s;
	return r->usable;
}

static const struct {
	u32 registers; /* SET() */
	enum when when;
	enum part part;
	bool (*holds)(segments *s, segment *r);
	const char *rule;
} rules[] = {
	{ SET(TR), ALWAYS, SELECTOR, no_ti, "TR is in the GDT" },
	{ SET(LDTR), USABLE, SELECTOR, no_ti, "LDTR is in the GDT" },
	{ SET(SS), NOT_V86, SELECTOR, ss_rpl, "the RPL of SS differs from that of CS" },
	{ CODE_AND_DATA, IN_V86, BASE, base_is_selector,
		"in virtual-8086 mode the base is the selector times 16" },
	{ SET(TR) | SET(FS) | SET(GS), ALWAYS, BASE, base_canonical, "the base is not canonical" },
	{ SET(LDTR), USABLE, BASE, base_canonical, "the base of LDTR is not canonical" },
	{ SET(CS) | SET(SS) | SET(DS) | SET(ES), USABLE, BASE, base_32_bit,
		"the base has more than 32 bits" },
	{ CODE_AND_DATA, IN_V86, LIMIT, limit_64k, "in virtual-8086 mode the limit is 0xffff" },
	{ CODE_AND_DATA, IN_V86, RIGHTS, rights_v86, "in virtual-8086 mode the rights are 0xf3" },
	{ SET(CS), NOT_V86, RIGHTS, cs_type, "CS is not an accessed code segment" },
	{ SET(SS), NOT_V86_USABLE, RIGHTS, ss_type,
		"SS is not an accessed, writable data segment" },
	{ DATA_SEGMENTS, NOT_V86_USABLE, RIGHTS, data_type,
		"a data segment is not accessed or not readable" },
	{ CODE_AND_DATA, NOT_V86_USABLE, RIGHTS, is_code_or_data, "S is clear" },
	{ SET(CS), NOT_V86, RIGHTS, cs_dpl, "the DPL of CS does not fit its type and SS" },
	{ SET(SS), NOT_V86, RIGHTS, ss_dpl_is_rpl, "the DPL of SS differs from its RPL" },
	{ SET(SS), NOT_V86, RIGHTS, ss_dpl_in_real_mode,
		"the DPL of SS is not 0 in real-address mode" },
	{ DATA_SEGMENTS, NOT_V86_USABLE, RIGHTS, data_dpl, "the DPL is below the RPL" },
	{ CODE_AND_DATA, NOT_V86_USABLE, RIGHTS, present, "the segment is not present" },
	{ CODE_AND_DATA, NOT_V86_USABLE, RIGHTS, no_reserved, "reserved bits of the rights" },
	{ SET(CS), NOT_V86, RIGHTS, long_not_default, "CS has both L and D" },
	{ CODE_AND_DATA, NOT_V86_USABLE, RIGHTS, granularity, "G does not fit the limit" },
	{ SET(TR), ALWAYS, RIGHTS, tr_type, "TR is not a busy TSS of the mode" },
	{ SET(TR), ALWAYS, RIGHTS, is_system, "TR has S set" },
	{ SET(TR), ALWAYS, RIGHTS, present, "TR is not present" },
	{ SET(TR), ALWAYS, RIGHTS, no_reserved, "reserved bits of TR's rights" },
	{ SET(TR), ALWAYS, RIGHTS, granularity, "G of TR does not fit the limit" },
	{ SET(TR), ALWAYS, RIGHTS, tr_usable, "TR is unusable" },
	{ SET(LDTR), USABLE, RIGHTS, ldtr_type, "LDTR is not an LDT" },
	{ SET(LDTR), USABLE, RIGHTS, is_system, "LDTR has S set" },
	{ SET(LDTR), USABLE, RIGHTS, present, "LDTR is not present" },
	{ SET(LDTR), USABLE, RIGHTS, no_reserved, "reserved bits of LDTR's rights" },
	{ SET(LDTR), USABLE, RIGHTS, granularity, "G of LDTR does not fit the limit" },
};

const char *entry_check_segment_rule(u32 number)
{
	return number < ARRAY_SIZE(rules) ? rules[number].rule : NULL;
}

const char *entry_check_segments(const struct entry_context *context, u32 *field)
{
	struct segments s = { .context = context };

	for (u32 i = 0; i < SEGMENTS; i++) {
		struct segment *r = &s.all[i];

		r->number = i;
		r->selector = vmcs_read(field_of(i, SELECTOR));
		r->base = vmcs_read(field_of(i, BASE));
		r->limit = vmcs_read(field_of(i, LIMIT));
		r->rights = vmcs_read(field_of(i, RIGHTS));
		r->usable = !(r->rights & RIGHTS_UNUSABLE);
	}
	for (u32 i = 0; i < ARRAY_SIZE(rules); i++)
		for (u32 number = 0; number < SEGMENTS; number++) {
			segment *r = &s.all[number];

			if (!(rules[i].registers & SET(number)) || !asks(&s, r, rules[i].when) ||
				rules[i].holds(&s, r))
				continue;
			*field = field_of(number, rules[i].part);
			return rules[i].rule;
		}
	return NULL;
}
