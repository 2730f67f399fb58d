/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended page tables (SDM 3C 29.3). Owner: ept.c. */
#ifndef MMU_EPT_H
#define MMU_EPT_H

#include "hv/lib/error.h"
#include "hv/lib/types.h"

struct ept {
	hpa_t root;
	u64 eptp;	 /* for VMCS_EPT_POINTER */
	u64 table_pages; /* frames the tables use */
};

/* What the CPU offers: from IA32_VMX_EPT_VPID_CAP (SDM 3D A.10). */
struct ept_capabilities {
	bool page_2m, page_1g, execute_only, accessed_dirty;
	bool write_back_tables; /* else the tables are walked uncached */
};

enum ept_rights { EPT_READ = 1, EPT_WRITE = 2, EPT_EXECUTE = 4, EPT_RWX = 7 };
/* Memory types, as in MTRRs and EPT leaves. */
enum memory_type { MEMORY_UC = 0, MEMORY_WC = 1, MEMORY_WT = 4, MEMORY_WP = 5, MEMORY_WB = 6 };

enum error __must_check ept_init(struct ept *ept, const struct ept_capabilities *capabilities);
void ept_destroy(struct ept *ept);
/*
 * Maps size bytes with the largest pages that alignment, capabilities and memory type allow; what
 * was there is replaced (large pages are split as needed). Page-aligned arguments. The caller does
 * the INVEPT (ept_needs_invalidation tells if a present translation changed).
 */
enum error __must_check ept_map(struct ept *ept, gpa_t from, hpa_t to, u64 size,
	enum ept_rights rights, enum memory_type type);
enum error __must_check ept_unmap(struct ept *ept, gpa_t from, u64 size);
/* The translation of an address; false: not present. */
bool ept_lookup(const struct ept *ept, gpa_t address, hpa_t *to, u64 *page_size,
	enum ept_rights *rights, enum memory_type *type);

#endif
