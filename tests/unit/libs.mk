# SPDX-License-Identifier: BSD-2-Clause
# Libraries that single tests need beyond cmocka.
LIBS_test_decode := -lZydis -lZycore

# Hosted programs take these functions from the C library: test_string has the hypervisor's by other
# names.
FREESTANDING := memcpy memmove memset memcmp strlen strnlen strchr
$(BUILD)/host/freestanding/%.o: hv/lib/%.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(SANITIZE) -fno-builtin $(foreach f,$(FREESTANDING),-D$(f)=hv_$(f)) -c $< -o $@

$(BUILD)/host/test_string: $(BUILD)/host/freestanding/mem.o $(BUILD)/host/freestanding/string.o
