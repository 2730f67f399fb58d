// SPDX-License-Identifier: BSD-2-Clause
/* Symbol look-up for back traces. The table (build/symbols.asm) is sorted by address. */
#include "hv/cpu/symbols.h"

#include "boot/boot_info.h"

struct symbol {
	u32 offset; /* of the function from HV_IMAGE_BASE */
	u32 name;   /* of its name in symbol_names */
};

extern const struct symbol symbol_table[];
extern const u32 symbol_count;
extern const char symbol_names[];
extern const char __text_end[];

const char *symbol_find(u64 address, u64 *offset)
{
	u32 low = 0, high = symbol_count;

	*offset = 0;
	if (address < HV_IMAGE_BASE || address >= (u64)__text_end)
		return NULL;
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (symbol_table[middle].offset <= address - HV_IMAGE_BASE)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	*offset = address - HV_IMAGE_BASE - symbol_table[low - 1].offset;
	return &symbol_names[symbol_table[low - 1].name];
}
