# SPDX-License-Identifier: BSD-2-Clause
# build/BOOTX64.EFI: the loader with the hypervisor inside. Included by the top-level Makefile.

VERSION ?= 0.1

EFI_CFLAGS := -std=gnu11 -O2 -g -ffreestanding -fpic -fshort-wchar -fvisibility=hidden -mno-red-zone \
	-mno-mmx -mno-sse -mno-sse2 -mno-avx -mno-80387 -mgeneral-regs-only -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -fno-common -fcf-protection=none \
	-Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wundef -Wshadow \
	-DGNU_EFI_USE_MS_ABI -DTORPOR_VERSION='"$(VERSION)"' \
	-I. -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 -MMD -MP

EFI_LIB	:= /usr/lib
EFI_C	:= $(sort $(wildcard boot/*.c boot/lib/*.c)) \
	hv/lib/mem.c hv/lib/string.c hv/lib/print.c
EFI_ASM	:= $(sort $(wildcard boot/*.asm))
EFI_OBJ	:= $(EFI_C:%.c=$(BUILD)/efi/%.o) $(EFI_ASM:%.asm=$(BUILD)/efi/%.asm.o)

$(BUILD)/efi/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(Q)echo "  CC    $< (loader)"
	$(Q)$(CC) $(EFI_CFLAGS) -c $< -o $@

$(BUILD)/efi/%.asm.o: %.asm
	$(Q)mkdir -p $(@D)
	$(Q)echo "  NASM  $<"
	$(Q)$(NASM) -f elf64 -w+all -DPAYLOAD='"$(BUILD)/efi/torpor.elf"' $< -o $@

# Symbols and debug information stay behind.
$(BUILD)/efi/torpor.elf: $(BUILD)/torpor.elf
	$(Q)mkdir -p $(@D)
	$(Q)objcopy --strip-all $< $@

$(BUILD)/efi/boot/payload.asm.o: $(BUILD)/efi/torpor.elf

$(BUILD)/efi/loader.so: $(EFI_OBJ)
	$(Q)echo "  LD    $@"
	$(Q)ld -nostdlib -shared -Bsymbolic -znocombreloc --no-undefined -znoexecstack \
		-T $(EFI_LIB)/elf_x86_64_efi.lds $(EFI_LIB)/crt0-efi-x86_64.o $^ $(EFI_LIB)/libgnuefi.a -o $@

$(BUILD)/BOOTX64.EFI: $(BUILD)/efi/loader.so
	$(Q)echo "  EFI   $@"
	$(Q)objcopy -j .text -j .sdata -j .data -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' \
		-j '.rela.*' -j .reloc --target efi-app-x86_64 --subsystem=10 $< $@

-include $(EFI_OBJ:.o=.d)

# ---------------------------------------------------------------- fuzzing

FUZZ_SECONDS ?= 60

$(BUILD)/fuzz/config: tests/fuzz/fuzz_config.c boot/lib/config.c boot/lib/config_value.c boot/lib/ini.c \
		hv/lib/print.c
	$(Q)mkdir -p $(@D)
	$(Q)clang-14 -std=gnu11 -O1 -g -I. -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $^

fuzz-config: $(BUILD)/fuzz/config ## a minute of libFuzzer on the configuration parser
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -max_len=6000 -only_ascii=0 -artifact_prefix=$(BUILD)/fuzz/

.PHONY: fuzz-config
