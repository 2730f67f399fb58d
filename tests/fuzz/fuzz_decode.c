// SPDX-License-Identifier: BSD-2-Clause
/*
 * The instruction decoder on arbitrary bytes, in each mode: it stays within them (they end at the
 * edge of their allocation), stops at 15, and says of every shorter piece of a good instruction
 * that more is needed. The first byte chooses the mode.
 */
#include <stdlib.h>
#include <string.h>

#include "vmx/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 mode, available;
	struct insn insn, again;
	enum decode_result result;
	u8 *bytes;

	if (size < 2)
		return 0;
	mode = 16u << data[0] % 3;
	available = size - 1;
	bytes = malloc(available);
	memcpy(bytes, data + 1, available);
	result = decode_instruction(bytes, available, mode, &insn);
	if (available >= INSN_LENGTH_MAX)
		require(result != DECODE_TRUNCATED);
	if (result == DECODE_OK) {
		require(insn.length >= 1 && insn.length <= MIN(available, INSN_LENGTH_MAX));
		require(insn.kind <= INSN_OTHER && insn.segment <= SEG_GS);
		require(insn.base < 16 || insn.base == NO_REGISTER);
		require(insn.index < 16 || insn.index == NO_REGISTER);
		require(insn.reg < 16 && insn.rm < 16 && insn.scale < 4);
		require(decode_instruction(bytes, insn.length, mode, &again) == DECODE_OK);
		require(!memcmp(&insn, &again, sizeof(insn)));
		for (u32 i = 0; i < insn.length; i++)
			require(decode_instruction(bytes, i, mode, &again) == DECODE_TRUNCATED);
	}
	free(bytes);
	return 0;
}
