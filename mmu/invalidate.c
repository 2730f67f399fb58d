// SPDX-License-Identifier: BSD-2-Clause
/*
 * INVEPT and INVVPID. A request names a type; the table says which wider ones may stand in for it,
 * in order, where the processor lacks it. Called by the memory code after it changed translations
 * and by the run loop; interrupts off, in VMX operation.
 */
#include "mmu/invalidate.h"

#include "hv/cpu/insn.h"
#include "hv/lib/log.h"

/* SDM 3D A.10. */
#define CAP_INVEPT  BIT(20)
#define CAP_INVVPID BIT(32)

enum request {
	EPT_SINGLE,
	EPT_ALL,
	VPID_ADDRESS,
	VPID_KEEP_GLOBAL,
	VPID_SINGLE,
	VPID_ALL,
};

/* SDM 3C 31.3: the number of a type; 3D A.10: the capability bit that says it exists. */
#define TYPE(number, capability) ((number) | (capability) << 8)
#define TYPE_NUMBER(type)	 ((type)&0xff)
#define TYPE_CAPABILITY(type)	 ((type) >> 8)

enum invalidation_type {
	NO_TYPE = 0,
	INVEPT_SINGLE = TYPE(1, 25),
	INVEPT_ALL = TYPE(2, 26),
	INVVPID_ADDRESS = TYPE(0, 40),
	INVVPID_SINGLE = TYPE(1, 41),
	INVVPID_ALL = TYPE(2, 42),
	INVVPID_KEEP_GLOBAL = TYPE(3, 43),
};

#define TYPES_MAX 3

/* From narrow to wide. */
static const enum invalidation_type fallbacks[][TYPES_MAX] = {
	[EPT_SINGLE] = { INVEPT_SINGLE, INVEPT_ALL },
	[EPT_ALL] = { INVEPT_ALL },
	[VPID_ADDRESS] = { INVVPID_ADDRESS, INVVPID_SINGLE, INVVPID_ALL },
	[VPID_KEEP_GLOBAL] = { INVVPID_KEEP_GLOBAL, INVVPID_SINGLE, INVVPID_ALL },
	[VPID_SINGLE] = { INVVPID_SINGLE, INVVPID_ALL },
	[VPID_ALL] = { INVVPID_ALL },
};

/* The same on every CPU; written once at start. */
static u64 capabilities;

void invalidate_init(u64 ept_vpid_capabilities)
{
	capabilities = ept_vpid_capabilities;
}

/* The type to use for a request; -1: the processor cannot do it. */
static int choose(enum request request)
{
	for (u32 i = 0; i < TYPES_MAX && fallbacks[request][i] != NO_TYPE; i++) {
		enum invalidation_type type = fallbacks[request][i];

		if (capabilities & BIT(TYPE_CAPABILITY(type)))
			return TYPE_NUMBER(type);
	}
	return -1;
}

/* Both instructions: what cannot be invalidated one by one must at least be so all together. */
bool invalidate_ept_usable(void)
{
	return (capabilities & CAP_INVEPT) && choose(EPT_ALL) >= 0;
}

bool invalidate_vpid_usable(void)
{
	return (capabilities & CAP_INVVPID) && choose(VPID_ALL) >= 0;
}

static void invalidate(enum request request, u64 first, u64 second)
{
	struct insn_inv_descriptor descriptor = { first, second };
	bool ept = request <= EPT_ALL;
	int type = choose(request);
	enum vmx_result result;

	if (type < 0)
		panic("%s: no usable type in capabilities %#lx", ept ? "INVEPT" : "INVVPID",
			capabilities);
	result = ept ? insn_invept(type, &descriptor) : insn_invvpid(type, &descriptor);
	if (result != VMX_SUCCEED)
		panic("%s type %d of %#lx, %#lx: VMfail%s", ept ? "INVEPT" : "INVVPID", type, first,
			second, result == VMX_FAIL_VALID ? "Valid" : "Invalid");
}

void invalidate_ept(const struct ept *ept)
{
	invalidate(EPT_SINGLE, ept->eptp, 0);
}

void invalidate_ept_all(void)
{
	invalidate(EPT_ALL, 0, 0);
}

void invalidate_vpid_address(u16 vpid, gva_t address)
{
	s64 sign = (s64)address.value >> 47;

	ASSERT(vpid != 0);
	/*
	 * INVVPID refuses a non-canonical address; nothing is cached for one. With 57-bit addresses
	 * the wider type serves for those beyond 48 bits.
	 */
	invalidate(sign == 0 || sign == -1 ? VPID_ADDRESS : VPID_SINGLE, vpid, address.value);
}

void invalidate_vpid_keep_global(u16 vpid)
{
	ASSERT(vpid != 0);
	invalidate(VPID_KEEP_GLOBAL, vpid, 0);
}

void invalidate_vpid(u16 vpid)
{
	ASSERT(vpid != 0);
	invalidate(VPID_SINGLE, vpid, 0);
}

void invalidate_vpid_all(void)
{
	invalidate(VPID_ALL, 0, 0);
}
