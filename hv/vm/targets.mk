# SPDX-License-Identifier: BSD-2-Clause
# Fuzzing of the guest loaders.

FUZZ_SECONDS ?= 60

$(BUILD)/fuzz/loader: tests/fuzz/fuzz_loader.c hv/vm/guest_memory.c hv/vm/guest_map.c hv/lib/print.c \
		hv/lib/error.c $(wildcard hv/vm/load*.c)
	$(Q)mkdir -p $(@D)
	$(Q)clang-14 -std=gnu11 -O1 -g -I. -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $^

fuzz-loader: $(BUILD)/fuzz/loader ## a minute of libFuzzer on the guest loaders
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -max_len=6000 -artifact_prefix=$(BUILD)/fuzz/

.PHONY: fuzz-loader
