# SPDX-License-Identifier: BSD-2-Clause
# Payload kernels: multiboot 1 guests in build/tests/guest/*.elf. Included by the Makefile at the top.

GUEST_CFLAGS := -std=gnu11 -O2 -g -m64 -ffreestanding -fno-pic -fno-pie -mcmodel=small -mno-red-zone \
	-mgeneral-regs-only -fno-stack-protector -fno-asynchronous-unwind-tables -fno-strict-aliasing \
	-fno-common -fcf-protection=none -fno-toplevel-reorder -fno-tree-loop-distribute-patterns \
	-Wall -Wextra -Werror -Wno-missing-field-initializers -Wmissing-prototypes \
	-Wstrict-prototypes -Wvla -Wundef -Wshadow -I. -MMD -MP
GUEST_OUT := $(BUILD)/tests/guest

guest_objects = $(patsubst %,$(BUILD)/%.guest.o,$(1))
GUEST_LIB := $(call guest_objects,$(sort $(wildcard tests/guest/lib/*.c tests/guest/lib/*.asm)))
GUEST_SUITE := $(call guest_objects,$(sort $(wildcard tests/guest/suite/*.c tests/guest/suite/*.asm)))
GUEST_ALONE := $(call guest_objects,$(sort $(wildcard tests/guest/*.c tests/bench/*.c)))
GUEST_ELF := $(GUEST_OUT)/suite.elf $(patsubst %.c.guest.o,$(GUEST_OUT)/%.elf,$(notdir $(GUEST_ALONE)))

$(BUILD)/%.c.guest.o: %.c
	$(Q)mkdir -p $(@D)
	$(Q)echo "  CC    $<"
	$(Q)$(CC) $(GUEST_CFLAGS) -c $< -o $@

$(BUILD)/%.asm.guest.o: %.asm
	$(Q)mkdir -p $(@D)
	$(Q)echo "  NASM  $<"
	$(Q)$(NASM) -f elf64 -g -F dwarf $< -o $@

# The 64-bit kernel, for debuggers, and its 32-bit container, which multiboot loaders take.
guest_link = mkdir -p $(@D) && echo "  LINK  $@" && \
	ld -nostdlib -static -z max-page-size=4096 -z noexecstack --no-warn-rwx-segments \
		-T tests/guest/lib/guest.ld -o $@64 $(filter %.o,$^) && \
	objcopy -I elf64-x86-64 -O elf32-i386 --strip-debug $@64 $@

$(GUEST_OUT)/suite.elf: $(GUEST_SUITE) $(GUEST_LIB) tests/guest/lib/guest.ld
	$(Q)$(guest_link)

$(GUEST_OUT)/%.elf: $(BUILD)/tests/guest/%.c.guest.o $(GUEST_LIB) tests/guest/lib/guest.ld
	$(Q)$(guest_link)

$(GUEST_OUT)/%.elf: $(BUILD)/tests/bench/%.c.guest.o $(GUEST_LIB) tests/guest/lib/guest.ld
	$(Q)$(guest_link)

guests: $(GUEST_ELF) ## payload kernels of the boot tests
	@:

.PHONY: guests
.SECONDARY: $(GUEST_LIB) $(GUEST_SUITE) $(GUEST_ALONE)
-include $(patsubst %.o,%.d,$(GUEST_LIB) $(GUEST_SUITE) $(GUEST_ALONE))
$(call guest_objects,$(wildcard tests/guest/suite/*.asm)): tests/guest/suite/long_mode.inc
