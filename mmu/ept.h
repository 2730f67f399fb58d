/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended page tables (SDM 3C 29.3). Owner: ept.c. */
#ifndef MMU_EPT_H
#define MMU_EPT_H

#include "hv/lib/error.h"
#include "hv/lib/types.h"

/* What the CPU offers: from IA32_VMX_EPT_VPID_CAP (SDM 3D A.10). */
struct ept_capabilities {
	bool page_2m, page_1g, execute_only, accessed_dirty;
	bool write_back_tables; /* else the tables are walked uncached */
};

/* Frames that one VM's tables may take: 64 MiB, 32 GiB of guest RAM in 4 KiB pages. */
#define EPT_TABLES_MAX	  16384
/* Four levels translate 48 bits (SDM 3C 29.3.2). */
#define EPT_ADDRESS_LIMIT (1ull << 48)

struct ept {
	hpa_t root;
	u64 eptp;	 /* for VMCS_EPT_POINTER */
	u64 table_pages; /* frames the tables use, retired ones included */
	u64 table_limit; /* EPT_TABLES_MAX unless the owner lowers it */
	hpa_t retired;	 /* tables taken out, which a CPU's caches may still name; 0: none */
	bool changed;	 /* a present translation changed since ept_invalidated() */
	struct ept_capabilities capabilities;
};

enum ept_rights { EPT_READ = 1, EPT_WRITE = 2, EPT_EXECUTE = 4, EPT_RWX = 7 };
/* Memory types, as in MTRRs and EPT leaves. */
enum memory_type { MEMORY_UC = 0, MEMORY_WC = 1, MEMORY_WT = 4, MEMORY_WP = 5, MEMORY_WB = 6 };

/* An empty root. Accessed and dirty flags stay off: nothing reads them. ERR_NO_MEMORY. */
enum error __must_check ept_init(struct ept *ept, const struct ept_capabilities *capabilities);
/* Frees every table. No CPU may hold translations of it any more (INVEPT done). */
void ept_destroy(struct ept *ept);
/*
 * Maps size bytes with the largest pages that alignment, capabilities and memory type allow; what
 * was there is replaced (large pages are split as needed). Page-aligned arguments, else
 * ERR_INVALID; also for rights that the processor would call a misconfiguration (SDM 3C 29.3.3.1)
 * and for types that EPT does not know. ERR_RANGE: beyond EPT_ADDRESS_LIMIT. On ERR_NO_MEMORY the
 * addresses below some page are mapped as asked and those from it on are as before.
 *
 * The type is that of the whole range: the caller asks mtrr_type() piece by piece where a range is
 * not uniform. The caller does the INVEPT, see ept_needs_invalidation().
 */
enum error __must_check ept_map(struct ept *ept, gpa_t from, hpa_t to, u64 size,
	enum ept_rights rights, enum memory_type type);
/* Same rules; splitting a large page at the edges can take memory. */
enum error __must_check ept_unmap(struct ept *ept, gpa_t from, u64 size);
/* The translation of an address; false: not present. */
bool ept_lookup(const struct ept *ept, gpa_t address, hpa_t *to, u64 *page_size,
	enum ept_rights *rights, enum memory_type *type);

/*
 * True if a present translation changed since the last ept_invalidated(): INVEPT is due on every
 * CPU that ran this EPTP, before its next entry (SDM 3C 29.4.3.4). Filling in what was not present
 * needs none. After the INVEPTs ept_invalidated() frees the tables that were taken out.
 */
static inline bool ept_needs_invalidation(const struct ept *ept)
{
	return ept->changed;
}
void ept_invalidated(struct ept *ept);

#endif
