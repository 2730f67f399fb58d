# SPDX-License-Identifier: BSD-2-Clause
# build/torpor.elf: the hypervisor, linked twice so that it holds a table of its own symbols.

$(BUILD)/offsets.inc: vmx/asm_offsets.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HV_CFLAGS) -MF $(BUILD)/offsets.d -MT $@ -S $< -o - | sed -n 's/^-> //p' > $@

$(BUILD)/vmx/entry.asm.o: $(BUILD)/offsets.inc

$(BUILD)/%.asm.o: %.asm
	$(Q)mkdir -p $(@D)
	$(Q)echo "  NASM  $<"
	$(Q)$(NASM) -f elf64 -g -w+all $< -o $@

HV_LINK = ld -nostdlib -static -z noexecstack -z max-page-size=4096 -T hv/hv.lds

$(BUILD)/symbols0.o:
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen-symbols < /dev/null > $(BUILD)/symbols0.asm
	$(Q)$(NASM) -f elf64 $(BUILD)/symbols0.asm -o $@

$(BUILD)/torpor.pass1: $(HV_OBJ) $(BUILD)/symbols0.o hv/hv.lds
	$(Q)$(HV_LINK) -o $@ $(HV_OBJ) $(BUILD)/symbols0.o

$(BUILD)/torpor.elf: $(BUILD)/torpor.pass1
	$(Q)echo "  LD    $@"
	$(Q)nm -n $< | scripts/gen-symbols > $(BUILD)/symbols.asm
	$(Q)$(NASM) -f elf64 $(BUILD)/symbols.asm -o $(BUILD)/symbols.o
	$(Q)$(HV_LINK) -o $@ $(HV_OBJ) $(BUILD)/symbols.o

check-vector: $(BUILD)/torpor.elf ## no vector, x87 or forbidden instruction in the hypervisor
	$(Q)scripts/check-vector $<

.PHONY: check-vector
-include $(BUILD)/offsets.d
