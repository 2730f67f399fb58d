// SPDX-License-Identifier: BSD-2-Clause
/* The loader's small recognisers: JSON text, serial consoles in device paths, kernel files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/device_path.h"
#include "boot/lib/json.h"
#include "boot/lib/kernel_format.h"

static void test_json(void **state)
{
	static const struct {
		const char *text, *escaped;
	} rows[] = {
		{ "", "" },
		{ "plain ~", "plain ~" },
		{ "\\torpor\\\"x\"", "\\\\torpor\\\\\\\"x\\\"" },
		{ "a\nb\x01\x1f", "a\\u000ab\\u0001\\u001f" },
		{ "\x7f\xc3\xa4\xff", "????" },
	};
	char to[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_escape(rows[i].text, to, sizeof(to));
		assert_string_equal(to, rows[i].escaped);
	}
}

/* Any size: terminated, a beginning of the whole, no half escape. */
static void test_json_sizes(void **state)
{
	static const char text[] = "a\"\nb\\";
	static const char whole[] = "a\\\"\\u000ab\\\\";
	static const size_t ends[] = { 0, 1, 3, 9, 10, 12 };

	(void)state;
	for (size_t size = 1; size <= sizeof(whole); size++) {
		char *to = malloc(size);
		size_t length;
		bool is_end = false;

		assert_non_null(to);
		json_escape(text, to, size);
		length = strlen(to);
		assert_true(length < size);
		assert_memory_equal(to, whole, length);
		for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
			is_end |= ends[i] == length;
		assert_true(is_end);
		free(to);
	}
}

static bool has_uart(const u8 *path, size_t size)
{
	u8 *copy = malloc(size ? size : 1);
	bool found;

	assert_non_null(copy);
	memcpy(copy, path, size);
	found = device_path_has_uart(copy, size);
	free(copy);
	return found;
}

static void test_device_path(void **state)
{
	/* PciRoot(0)/Pci(1,0)/Serial/Uart, then a second path; UEFI 2.10, 10.3. */
	static const u8 path[] = {
		0x02, 0x01, 12, 0, 0xd0, 0x41, 0x03, 0x0a, 0, 0, 0, 0, /* ACPI(PNP0A03) */
		0x01, 0x01, 6, 0, 0, 1,				       /* PCI */
		0x7f, 0x01, 4, 0,				       /* end of instance */
		0x02, 0x01, 12, 0, 0xd0, 0x41, 0x03, 0x0a, 0, 0, 0, 0, /* ACPI */
		0x03, 0x0e, 19, 0, 0, 0, 0, 0, 0, 0xc2, 1, 0, 0, 0, 0, 0, 8, 1, 1, /* UART */
		0x7f, 0xff, 4, 0,						   /* end */
	};
	u8 damaged[sizeof(path)];

	(void)state;
	for (size_t size = 0; size <= sizeof(path); size++)
		assert_int_equal(has_uart(path, size), size >= 22 + 12 + 19);
	/* A node that does not even hold its header, and one that goes on behind the end. */
	memcpy(damaged, path, sizeof(path));
	damaged[2] = 3;
	assert_false(has_uart(damaged, sizeof(damaged)));
	damaged[2] = 0;
	assert_false(has_uart(damaged, sizeof(damaged)));
	damaged[3] = 0xff;
	assert_false(has_uart(damaged, sizeof(damaged)));
	/* Messaging, but another kind; a UART's number in another type. */
	memcpy(damaged, path, sizeof(path));
	damaged[22 + 12 + 1] = 0x0d;
	assert_false(has_uart(damaged, sizeof(damaged)));
	damaged[22 + 12] = 0x04;
	damaged[22 + 12 + 1] = 0x0e;
	assert_false(has_uart(damaged, sizeof(damaged)));
}

static bool known(const void *file, size_t size)
{
	void *copy = malloc(size ? size : 1);
	bool result;

	assert_non_null(copy);
	memcpy(copy, file, size);
	result = kernel_format_known(copy, size);
	free(copy);
	return result;
}

static void test_linux_magic(void **state)
{
	u8 file[0x300] = { 'M', 'Z' };

	(void)state;
	memcpy(file + 0x1fe, "\x55\xaa", 2);
	memcpy(file + 0x202, "HdrS", 4);
	for (size_t size = 0; size <= sizeof(file); size++)
		assert_int_equal(known(file, size), size >= 0x206);
	file[0x1fe] = 0;
	assert_false(known(file, sizeof(file)));
}

static void test_elf_magic(void **state)
{
	(void)state;
	assert_true(known("\x7f"
			  "ELF",
		4));
	assert_false(known("\x7f"
			   "ELF",
		3));
	assert_false(known("\x7f"
			   "elf",
		4));
	assert_false(known("#!/bin/sh\n", 10));
	assert_false(known("", 0));
}

static void test_multiboot_magic(void **state)
{
	static u8 file[8300];
	const u32 header[3] = { 0x1badb002, 0x00010003, 0u - 0x1badb002 - 0x00010003 };

	(void)state;
	for (size_t at = 0; at < 8260; at += at < 64 || at > 8150 ? 1 : 61) {
		memset(file, 0, sizeof(file));
		memcpy(file + at, header, sizeof(header));
		assert_int_equal(known(file, sizeof(file)), at % 4 == 0 && at <= 8192 - 12);
		assert_false(known(file, at + 11));
		file[at + 4]++;
		assert_false(known(file, sizeof(file)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_sizes),
		cmocka_unit_test(test_device_path),
		cmocka_unit_test(test_linux_magic),
		cmocka_unit_test(test_elf_magic),
		cmocka_unit_test(test_multiboot_magic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
