# SPDX-License-Identifier: BSD-2-Clause
# The guest's DSDT: constants out of the C headers, the C preprocessor, iasl, and a list of bytes that
# acpi_tables.c includes. The root Makefile includes this file.

IASL	:= iasl
# NAME=EXPRESSION in terms of the headers' constants. iasl does no arithmetic inside descriptors.
DSDT_CONSTANTS := S5_SLEEP_TYPE=S5_SLEEP_TYPE IRQ_COM1=IRQ_COM1 IRQ_RTC=IRQ_RTC \
	PCI_WINDOW=GUEST_HOLE PCI_WINDOW_LAST=PCI_ECAM_BASE-1 PCI_WINDOW_SIZE=PCI_ECAM_BASE-GUEST_HOLE

$(BUILD)/hv/dev/dsdt_constants.h: hv/dev/targets.mk hv/dev/platform_map.h hv/vm/guest_memory.h
	$(Q)mkdir -p $(@D)
	$(Q){ printf '#include "hv/dev/platform_map.h"\n#include "hv/vm/guest_memory.h"\n'; \
		printf '"%s" %s\n' $(foreach c,$(DSDT_CONSTANTS),$(subst =, ,$(c))); } | \
		$(CC) -E -P -I. -x c - | sed -n 's/ull//g; s/^"\([A-Z0-9_]*\)" /\1 /p' | \
		while read name value; do printf '#define %s 0x%x\n' $$name $$(($$value)); done >$@

$(BUILD)/hv/dev/dsdt.asl: hv/dev/dsdt.asl $(BUILD)/hv/dev/dsdt_constants.h
	$(Q)$(CC) -E -P -I$(BUILD) -x assembler-with-cpp $< -o $@

$(BUILD)/hv/dev/dsdt.aml: $(BUILD)/hv/dev/dsdt.asl
	$(Q)echo "  IASL  hv/dev/dsdt.asl"
	$(Q)$(IASL) -we -vs -p $(basename $@) $< >$(basename $@).log || { cat $(basename $@).log; rm -f $@; exit 1; }

$(BUILD)/hv/dev/dsdt.aml.h: $(BUILD)/hv/dev/dsdt.aml
	$(Q)od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1, /g' >$@

$(BUILD)/hv/dev/acpi_tables.o: $(BUILD)/hv/dev/dsdt.aml.h
$(BUILD)/hv/dev/acpi_tables.o: HV_CFLAGS += -I$(BUILD)
$(BUILD)/host/hv/dev/acpi_tables.o: $(BUILD)/hv/dev/dsdt.aml.h
$(BUILD)/host/hv/dev/acpi_tables.o: HOST_CFLAGS += -I$(BUILD)
