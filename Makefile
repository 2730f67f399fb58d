# SPDX-License-Identifier: BSD-2-Clause
# Torpor: every command a person needs. `make help` lists them.

BUILD	:= build
CC	:= gcc
NASM	:= nasm
PYTHON	:= python3
Q	:= @

# ---------------------------------------------------------------- hypervisor

HV_CFLAGS := -std=gnu11 -O2 -g -ffreestanding -fno-pic -fno-pie -mcmodel=kernel -mno-red-zone \
	-mno-mmx -mno-sse -mno-sse2 -mno-avx -mno-80387 -mgeneral-regs-only -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fno-omit-frame-pointer -fno-strict-aliasing -fno-common -fcf-protection=none \
	-Wall -Wextra -Werror  -Wstrict-prototypes -Wvla -Wundef -Wshadow -I. -MMD -MP

HV_C	:= $(sort $(filter-out vmx/asm_offsets.c,$(wildcard hv/*.c hv/*/*.c vmx/*.c mmu/*.c tss/*.c)))
HV_ASM	:= $(sort $(wildcard hv/*/*.asm vmx/*.asm))
HV_OBJ	:= $(HV_C:%.c=$(BUILD)/%.o) $(HV_ASM:%.asm=$(BUILD)/%.asm.o)

all: $(BUILD)/BOOTX64.EFI ## build the hypervisor and its loader

$(BUILD)/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(Q)echo "  CC    $<"
	$(Q)$(CC) $(HV_CFLAGS) -c $< -o $@

# ---------------------------------------------------------------- hosted tests

# All shipping C goes into one archive, compiled for the build machine with the fake processor's
# insn.h ahead on the include path; a test links with the archive and so takes what it needs. mem.c and
# string.c are left out: a hosted program has the C library's.
HOST_CFLAGS := -std=gnu11 -O1 -g -fno-strict-aliasing -fno-common -Wall -Wextra -Werror \
	-Itests/unit/fake -I. -MMD -MP
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# The fake log stands before the archive, with weak definitions: a test that logs or panics must not take
# the whole start-up for it, and one of hv/lib/log.c gets the real one.
HOST_LOG := $(BUILD)/host/tests/unit/fake/log.o
HOST_C	:= $(filter-out hv/lib/mem.c hv/lib/string.c,$(HV_C)) \
	$(filter-out tests/unit/fake/log.c,$(wildcard tests/unit/fake/*.c)) $(wildcard boot/lib/*.c)
HOST_OBJ := $(HOST_C:%.c=$(BUILD)/host/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))

$(BUILD)/host/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(SANITIZE) -c $< -o $@

$(BUILD)/host/shipping.a: $(HOST_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

# Libraries a test needs beyond cmocka: LIBS_test_name := -l...
-include tests/unit/libs.mk
$(BUILD)/host/test_%: $(BUILD)/host/tests/unit/test_%.o $(HOST_LOG) $(BUILD)/host/shipping.a
	$(Q)echo "  LINK  $@"
	$(Q)$(CC) $(SANITIZE) -o $@ $^ -lcmocka $(LIBS_test_$*)

check-unit: ## unit tests (cmocka, hosted)
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) unit-tests
	$(Q)scripts/check-unit

# Rules that a part brings along.
include $(wildcard hv/targets.mk boot/targets.mk hv/*/targets.mk vmx/targets.mk tests/guest/targets.mk \
	tests/unit/libs.mk scripts/targets.mk)

.PRECIOUS: $(BUILD)/host/%.o
.PHONY: all check-unit
-include $(HV_OBJ:.o=.d) $(HOST_OBJ:.o=.d) $(UNIT_TESTS:%=$(BUILD)/host/tests/unit/%.d)
