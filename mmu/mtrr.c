// SPDX-License-Identifier: BSD-2-Clause
/*
 * Evaluation of the MTRRs: see mtrr.h. mtrr_read() executes RDMSR, once at start; the rest is pure.
 * Called when memory is mapped for a guest.
 */
#include "mmu/mtrr.h"

#include "hv/cpu/insn.h"
#include "hv/cpu/msr_index.h"

#define CPUID_1_EDX_MTRR BIT(12)

/* SDM 3A 12.11.1 to 12.11.3. */
#define CAP_COUNT(cap)	  ((cap)&0xff)
#define CAP_FIXED	  BIT(8)
#define DEFAULT_TYPE(def) ((def)&0xff)
#define DEFAULT_FIXED_ON  BIT(10)
#define DEFAULT_ENABLED	  BIT(11)
#define MASK_VALID	  BIT(11)
#define VARIABLE_TYPE(b)  ((b)&0xff)
#define FIXED_END	  0x100000ull

/* The fixed ranges: registers of eight equal parts each (SDM 3A table 12-9). */
static const struct {
	u32 index;
	u32 base;
	u32 part; /* bytes */
} fixed_registers[MTRR_FIXED] = {
	{ 0x250, 0x00000, 0x10000 },
	{ 0x258, 0x80000, 0x4000 },
	{ 0x259, 0xa0000, 0x4000 },
	{ 0x268, 0xc0000, 0x1000 },
	{ 0x269, 0xc8000, 0x1000 },
	{ 0x26a, 0xd0000, 0x1000 },
	{ 0x26b, 0xd8000, 0x1000 },
	{ 0x26c, 0xe0000, 0x1000 },
	{ 0x26d, 0xe8000, 0x1000 },
	{ 0x26e, 0xf0000, 0x1000 },
	{ 0x26f, 0xf8000, 0x1000 },
};

void mtrr_read(struct mtrr_state *state)
{
	*state = (struct mtrr_state){ .maxphyaddr = insn_cpuid(0x80000008, 0).eax & 0xff };
	if (!(insn_cpuid(1, 0).edx & CPUID_1_EDX_MTRR))
		return;
	state->capabilities = insn_rdmsr(MSR_MTRR_CAP);
	state->default_type = insn_rdmsr(MSR_MTRR_DEF_TYPE);
	state->variable_count = MIN(CAP_COUNT(state->capabilities), MTRR_VARIABLE_MAX);
	for (u32 i = 0; i < state->variable_count; i++) {
		state->variable[i].base = insn_rdmsr(MSR_MTRR_PHYSBASE0 + 2 * i);
		state->variable[i].mask = insn_rdmsr(MSR_MTRR_PHYSBASE0 + 2 * i + 1);
	}
	for (u32 i = 0; (state->capabilities & CAP_FIXED) && i < MTRR_FIXED; i++)
		state->fixed[i] = insn_rdmsr(fixed_registers[i].index);
}

/* Encodings that the manual reserves cannot be set; were they, UC does no harm. */
static enum memory_type valid_type(u64 type)
{
	bool known =
		type == MEMORY_WC || type == MEMORY_WT || type == MEMORY_WP || type == MEMORY_WB;

	return known ? (enum memory_type)type : MEMORY_UC;
}

static enum memory_type fixed_type(const struct mtrr_state *state, u64 address, u64 *run)
{
	u32 i = MTRR_FIXED - 1;
	u64 part;

	while (address < fixed_registers[i].base)
		i--;
	part = (address - fixed_registers[i].base) / fixed_registers[i].part;
	*run = fixed_registers[i].base + (part + 1) * fixed_registers[i].part - address;
	return valid_type(state->fixed[i] >> 8 * part & 0xff);
}

/* SDM 3A 12.11.4.1: two ranges that overlap; what it leaves undefined is UC. */
static enum memory_type combine(enum memory_type a, enum memory_type b)
{
	if (a == b)
		return a;
	if ((a == MEMORY_WT && b == MEMORY_WB) || (a == MEMORY_WB && b == MEMORY_WT))
		return MEMORY_WT;
	return MEMORY_UC;
}

/*
 * Where the answer of one variable range to "inside?" can next change, seen from the address. With
 * a contiguous mask that is an end of the range, otherwise (SDM 3A 12.11.4 allows such masks) the
 * next multiple of what the lowest bit of the mask distinguishes.
 */
static u64 variable_change(u64 base, u64 mask, u64 address, u64 limit)
{
	u64 block = mask ? mask & -mask : limit;

	if (mask != ((limit - 1) & ~(block - 1)))
		return MIN(ALIGN_DOWN(address, block) + block, limit);
	if (address < base)
		return base;
	return address < base + block ? base + block : limit;
}

static enum memory_type variable_type(const struct mtrr_state *state, u64 address, u64 *run)
{
	u64 limit = BIT(state->maxphyaddr), address_mask = (limit - 1) & ~PAGE_MASK, end = limit;
	enum memory_type type = valid_type(DEFAULT_TYPE(state->default_type));
	bool inside_any = false;

	for (u32 i = 0; i < state->variable_count; i++) {
		u64 mask = state->variable[i].mask & address_mask;
		u64 base = state->variable[i].base & mask;
		enum memory_type own = valid_type(VARIABLE_TYPE(state->variable[i].base));

		if (!(state->variable[i].mask & MASK_VALID))
			continue;
		end = MIN(end, variable_change(base, mask, address, limit));
		if ((address & mask) != base)
			continue;
		type = inside_any ? combine(type, own) : own;
		inside_any = true;
	}
	*run = end - address;
	return type;
}

enum memory_type mtrr_run(const struct mtrr_state *state, hpa_t address, u64 *run)
{
	bool fixed = (state->capabilities & CAP_FIXED) && (state->default_type & DEFAULT_FIXED_ON);

	if (!(state->default_type & DEFAULT_ENABLED)) {
		*run = BIT(state->maxphyaddr) - address.value;
		return MEMORY_UC;
	}
	if (fixed && address.value < FIXED_END)
		return fixed_type(state, address.value, run);
	return variable_type(state, address.value, run);
}

enum memory_type mtrr_type(const struct mtrr_state *state, hpa_t address, u64 size, bool *uniform)
{
	u64 run;
	enum memory_type type = mtrr_run(state, address, &run);

	*uniform = true;
	while (run < size && *uniform) {
		u64 more;

		*uniform = mtrr_run(state, hpa(address.value + run), &more) == type;
		run += more;
	}
	return type;
}

enum error ept_map_memory(struct ept *ept, const struct mtrr_state *state, gpa_t from, hpa_t to,
	u64 size, enum ept_rights rights)
{
	u64 limit = BIT(state->maxphyaddr);

	if (!IS_ALIGNED(to.value, PAGE_SIZE))
		return ERR_INVALID;
	if (to.value > limit || size > limit - to.value)
		return ERR_RANGE;
	while (size) {
		u64 run, more;
		enum memory_type type = mtrr_run(state, to, &run);
		enum error error;

		/* Neighbours of one type together, so that they can share large pages. */
		while (run < size && mtrr_run(state, hpa(to.value + run), &more) == type)
			run += more;
		run = MIN(run, size);
		error = ept_map(ept, from, to, run, rights, type);
		if (error != ERR_OK)
			return error;
		from.value += run;
		to.value += run;
		size -= run;
	}
	return ERR_OK;
}
