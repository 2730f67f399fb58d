# SPDX-License-Identifier: BSD-2-Clause
# Fuzzing of the instruction decoder.

FUZZ_SECONDS ?= 60

$(BUILD)/fuzz/decode: tests/fuzz/fuzz_decode.c vmx/decode.c vmx/decode_tables.c
	$(Q)mkdir -p $(@D)
	$(Q)clang-14 -std=gnu11 -O1 -g -I. -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $^

fuzz-decode: $(BUILD)/fuzz/decode ## a minute of libFuzzer on the instruction decoder
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -max_len=20 -artifact_prefix=$(BUILD)/fuzz/

.PHONY: fuzz-decode
