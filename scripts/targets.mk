# SPDX-License-Identifier: BSD-2-Clause
# Running, testing and measuring: the targets behind scripts/. Included by the Makefile at the top.

GUEST	:= $(BUILD)/guest
RUN	:= scripts/run --kernel $(GUEST)/vmlinuz --initrd $(GUEST)/initrd.img \
	--cmdline 'console=ttyS0,115200' --memory 512M

setup: ## install what building and testing need (Debian 12)
	$(Q)scripts/setup

# Fetched once, then kept until `make clean`.
guest: setup ## Debian's kernel, an initial RAM disk and memtest86+
	$(Q)scripts/guest-linux

run: setup guest ## boot Torpor with Debian's Linux as its guest
	$(Q)$(MAKE) --no-print-directory torpor
	$(Q)$(RUN) $(RUN_OPTIONS)

esp: setup guest ## build/esp/: a tree that boots a real machine from a FAT stick
	$(Q)$(MAKE) --no-print-directory torpor
	$(Q)scripts/esp

# Everything that scripts/check builds, by names that stay when files move.
torpor: $(BUILD)/BOOTX64.EFI
	@:
unit-tests: $(UNIT_TESTS:%=$(BUILD)/host/%)

check: setup ## static checks, unit tests and boot tests
	$(Q)scripts/check

check-static: setup ## layout, licence lines, headers, scripts
	$(Q)$(MAKE) --no-print-directory torpor
	$(Q)scripts/check-static

check-boot: setup guest ## whole-system tests on Bochs
	$(Q)$(MAKE) --no-print-directory torpor guests
	$(Q)tests/boot/run $(TESTS)

bench: setup ## what each kind of exit costs, in instructions on Bochs
	$(Q)$(MAKE) --no-print-directory torpor guests
	$(Q)scripts/bench-exits $(BENCH_OPTIONS)

check-budgets: setup ## no kind of exit costs more than tests/budgets.toml allows
	$(Q)$(MAKE) --no-print-directory torpor guests
	$(Q)scripts/bench-exits --check

bench-boot: setup guest ## a kernel's boot, bare and under Torpor, in instructions
	$(Q)$(MAKE) --no-print-directory torpor $(BUILD)/bench/BARE.EFI
	$(Q)scripts/bench-boot

check-cpus: setup guest ## the payload suite on each of Bochs' CPU models that can run Torpor
	$(Q)$(MAKE) --no-print-directory $(BUILD)/BOOTX64.EFI guests
	$(Q)tests/boot/run 'cpu-*'

check-nested: setup guest ## Torpor under QEMU/KVM under Linux under Bochs (minutes)
	$(Q)$(MAKE) --no-print-directory torpor guests $(BUILD)/bench/BARE.EFI
	$(Q)scripts/check-nested $(NESTED_OPTIONS)

# The yardstick's boot program: a UEFI program like the loader, built with its flags.
$(BUILD)/bench/bare.o: scripts/bench/bare.c
	$(Q)mkdir -p $(@D)
	$(Q)echo "  CC    $<"
	$(Q)$(CC) $(EFI_CFLAGS) -c $< -o $@

$(BUILD)/bench/bare.so: $(BUILD)/bench/bare.o
	$(Q)ld -nostdlib -shared -Bsymbolic -znocombreloc --no-undefined -znoexecstack \
		-T $(EFI_LIB)/elf_x86_64_efi.lds $(EFI_LIB)/crt0-efi-x86_64.o $^ $(EFI_LIB)/libgnuefi.a -o $@

$(BUILD)/bench/BARE.EFI: $(BUILD)/bench/bare.so
	$(Q)echo "  EFI   $@"
	$(Q)objcopy -j .text -j .sdata -j .data -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' \
		-j '.rela.*' -j .reloc --target efi-app-x86_64 --subsystem=10 $< $@

clean: ## remove everything that was built or fetched
	$(Q)rm -rf $(BUILD)

help: ## this list
	$(Q)sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | LC_ALL=C sort -u | \
		awk -F'\t' '{ printf "%-20s %s\n", $$1, $$2 }'

.PHONY: setup guest run esp torpor unit-tests check check-static check-boot check-nested \
	check-cpus check-budgets bench \
	bench-boot clean help
.SECONDARY: $(BUILD)/bench/bare.so $(BUILD)/bench/bare.o
