// SPDX-License-Identifier: BSD-2-Clause
/*
 * torpor.conf: every key's accepted forms and defaults, every mistake's message, and files of
 * random damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/lib/config.h"
#include "boot/lib/config_memory.h"
#include "hv/lib/log.h"

static struct torpor_config config;
static struct config_lines lines;
static char message[CONFIG_MESSAGE_MAX];

/*
 * Parses a copy of exactly `size` bytes on the heap, so that the sanitizer sees each byte read
 * beyond.
 */
static enum error parse_bytes(const char *text, size_t size)
{
	char *copy = malloc(size ? size : 1);
	enum error error;

	assert_non_null(copy);
	memcpy(copy, text, size);
	memset(&config, 0xa5, sizeof(config));
	memset(&lines, 0xa5, sizeof(lines));
	memset(message, 0, sizeof(message));
	error = config_parse(copy, size, &config, &lines, message);
	free(copy);
	return error;
}

static enum error parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void expect_ok(const char *text)
{
	if (parse(text) != ERR_OK)
		fail_msg("refused: %s\n%s", message, text);
}

static void expect_error(const char *text, size_t size, const char *expected)
{
	if (parse_bytes(text, size) == ERR_OK)
		fail_msg("accepted instead of: %s", expected);
	assert_string_equal(message, expected);
}

#define VM "[vm a]\nkernel = k\n"

static void test_defaults(void **state)
{
	(void)state;
	expect_ok(VM);
	assert_int_equal(config.hypervisor.serial_port, 0x3f8);
	assert_int_equal(config.hypervisor.serial_baud, 115200);
	assert_int_equal(config.hypervisor.log_level, LOG_INFO);
	assert_false(config.hypervisor.mitigations);
	assert_false(config.hypervisor.profile);
	assert_int_equal(config.vm_count, 1);
	assert_string_equal(config.vms[0].name, "a");
	assert_string_equal(config.vms[0].kernel.name, "k");
	assert_int_equal(config.vms[0].kernel.size, 0);
	assert_string_equal(config.vms[0].initrd.name, "");
	assert_string_equal(config.vms[0].cmdline, "");
	assert_int_equal(config.vms[0].module_count, 0);
	assert_int_equal(config.vms[0].memory, 256 << 20);
	assert_int_equal(config.vms[0].cpus, 1);
	assert_int_equal(config.vms[0].paging, PAGING_AUTO);
	assert_true(config.vms[0].console);
	assert_false(config.vms[0].test_device);
	assert_false(config.vms[0].exit_port);
}

static void test_everything(void **state)
{
	static const char text[] = "\xef\xbb\xbf# comment\r\n"
				   "\t; another\r\n"
				   "\r\n"
				   " [ hypervisor ] \r\n"
				   "serial=0x2E8 57600\r\n"
				   "log-level = debug\r\n"
				   "eager = none\r\n"
				   "mitigations = off\r\n"
				   "profile = yes\r\n"
				   "[vm\tfirst-1_a.B]\r\n"
				   "kernel = \\dir with space\\vmlinuz\r\n"
				   "initrd\t=\t/initrd.img\r\n"
				   "cmdline = a=\"b  c\" # ; = \xc3\xa4 \t\r\n"
				   "module = m1\r\n"
				   "module = m2   text =  of it \r\n"
				   "memory = 4096K\r\n"
				   "cpus = 1\r\n"
				   "pin = 0\r\n"
				   "weight = 100\r\n"
				   "paging = ept\r\n"
				   "console = no\r\n"
				   "test-device = yes\r\n"
				   "exit-port = on\r\n"
				   "[vm second]\r\n"
				   "cmdline =\r\n"
				   "kernel = k2";
	const struct vm_config *vm = &config.vms[0];

	(void)state;
	expect_ok(text);
	assert_int_equal(config.hypervisor.serial_port, 0x2e8);
	assert_int_equal(config.hypervisor.serial_baud, 57600);
	assert_int_equal(config.hypervisor.log_level, LOG_DEBUG);
	assert_int_equal(config.vm_count, 2);
	assert_string_equal(vm->name, "first-1_a.B");
	assert_string_equal(vm->kernel.name, "\\dir with space\\vmlinuz");
	assert_string_equal(vm->initrd.name, "/initrd.img");
	assert_string_equal(vm->cmdline, "a=\"b  c\" # ; = \xc3\xa4");
	assert_int_equal(vm->module_count, 2);
	assert_string_equal(vm->modules[0].name, "m1");
	assert_string_equal(vm->modules[0].cmdline, "");
	assert_string_equal(vm->modules[1].name, "m2");
	assert_string_equal(vm->modules[1].cmdline, "text =  of it");
	assert_int_equal(vm->memory, 4 << 20);
	assert_int_equal(vm->paging, PAGING_EPT);
	assert_false(vm->console);
	assert_true(vm->test_device);
	assert_true(vm->exit_port);
	assert_string_equal(config.vms[1].name, "second");
	assert_string_equal(config.vms[1].kernel.name, "k2");
	assert_string_equal(config.vms[1].cmdline, "");
	assert_int_equal(config.vms[1].memory, 256 << 20);
	assert_false(config.vms[1].test_device);

	assert_int_equal(lines.vms[0].section, 10);
	assert_int_equal(lines.vms[0].kernel, 11);
	assert_int_equal(lines.vms[0].initrd, 12);
	assert_int_equal(lines.vms[0].modules[1], 15);
	assert_int_equal(lines.vms[0].memory, 16);
	assert_int_equal(lines.vms[1].section, 24);
	assert_int_equal(lines.vms[1].kernel, 26);
	assert_int_equal(lines.vms[1].memory, 0);
}

static void test_serial_forms(void **state)
{
	static const struct {
		const char *value;
		u16 port;
		u32 baud;
	} rows[] = {
		{ "none", 0, 115200 },
		{ "com1", 0x3f8, 115200 },
		{ "com2", 0x2f8, 115200 },
		{ "com3", 0x3e8, 115200 },
		{ "com4", 0x2e8, 115200 },
		{ "0x100", 0x100, 115200 },
		{ "0xfff8", 0xfff8, 115200 },
		{ "com2 9600", 0x2f8, 9600 },
		{ "com1\t115200", 0x3f8, 115200 },
		{ "com1 2", 0x3f8, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[128];

		snprintf(text, sizeof(text), VM "[hypervisor]\nserial = %s\n", rows[i].value);
		expect_ok(text);
		assert_int_equal(config.hypervisor.serial_port, rows[i].port);
		assert_int_equal(config.hypervisor.serial_baud, rows[i].baud);
	}
}

static void test_memory_forms(void **state)
{
	static const struct {
		const char *value;
		u64 bytes;
	} rows[] = {
		{ "1048576", 1 << 20 },
		{ "1M", 1 << 20 },
		{ "1024k", 1 << 20 },
		{ "2g", 2ull << 30 },
		{ "0512M", 512 << 20 },
		{ "65536G", 1ull << 46 },
		{ "1052672", 0x101000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[128];

		snprintf(text, sizeof(text), VM "memory = %s\n", rows[i].value);
		expect_ok(text);
		assert_int_equal(config.vms[0].memory, rows[i].bytes);
	}
}

static void test_log_levels(void **state)
{
	static const char *const names[] = { "error", "warning", "info", "debug" };
	static const u32 levels[] = { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[hypervisor]\nlog-level = %s\n" VM, names[i]);
		expect_ok(text);
		assert_int_equal(config.hypervisor.log_level, levels[i]);
	}
}

#define KEYS_HYPERVISOR "serial, log-level, eager, mitigations, profile"
#define KEYS_VM                                                                         \
	"kernel, initrd, module, cmdline, memory, cpus, pin, weight, paging, console, " \
	"test-device, exit-port"
#define NOT_CPUS  "is not a list of CPUs from 0 to 63; write it like 0-3,6"
#define NOT_SIZE  "is not a size; write a number like 512M"
#define NO_SIZE	  "is not possible; write a multiple of 4K between 1M and 65536G"
#define NO_PORT	  "is not a port; write none, com1 to com4 or 0xPORT, then a baud rate like 115200"
#define PATH_HINT "; write a path on the boot volume like \\torpor\\vmlinuz"

/* One row a mistake: the file and the whole message. */
static const struct {
	const char *text;
	const char *message;
} mistakes[] = {
	/* The file as a whole. */
	{ "", "torpor.conf:1: there is no [vm NAME] section; add one with kernel = PATH" },
	{ "\n\n# nothing\n",
		"torpor.conf:3: there is no [vm NAME] section; add one with kernel = PATH" },
	{ "[hypervisor]\nserial = com1",
		"torpor.conf:2: there is no [vm NAME] section; add one with kernel = PATH" },
	/* Lines. */
	{ VM "nonsense\n",
		"torpor.conf:3: neither a comment, a [section] nor a setting; write KEY = VALUE" },
	{ VM "= value\n",
		"torpor.conf:3: neither a comment, a [section] nor a setting; write KEY = VALUE" },
	{ VM "mem\x01ory = 1\n",
		"torpor.conf:3: there is a control character in the line; remove it" },
	{ VM "memory = 1\x7f\n",
		"torpor.conf:3: there is a control character in the line; remove it" },
	{ VM "a\rb\n", "torpor.conf:3: there is a control character in the line; remove it" },
	/* Sections. */
	{ "[vm a\nkernel = k\n", "torpor.conf:1: the section does not end with ']'; write "
				 "[hypervisor] or [vm NAME]" },
	{ "[", "torpor.conf:1: the section does not end with ']'; write [hypervisor] or [vm "
	       "NAME]" },
	{ "[]", "torpor.conf:1: unknown section []; write [hypervisor] or [vm NAME]" },
	{ "[guest a]",
		"torpor.conf:1: unknown section [guest a]; write [hypervisor] or [vm NAME]" },
	{ "[VM a]", "torpor.conf:1: unknown section [VM a]; write [hypervisor] or [vm NAME]" },
	{ "[hypervisor x]",
		"torpor.conf:1: unknown section [hypervisor x]; write [hypervisor] or [vm NAME]" },
	{ "[hypervisor]\n[hypervisor]\n",
		"torpor.conf:2: [hypervisor] is already there in line 1; merge the two" },
	{ "[vm]\n", "torpor.conf:1: a VM's name has 1 to 31 characters; write [vm NAME]" },
	{ "[vm abcdefghijklmnopqrstuvwxyzabcdef]\n",
		"torpor.conf:1: a VM's name has 1 to 31 characters; write [vm NAME]" },
	{ "[vm a b]\n", "torpor.conf:1: the VM's name 'a b' has other characters than A-Z a-z 0-9 "
			"_ - . ; rename it" },
	{ VM "[vm a]\n", "torpor.conf:3: vm 'a' is already there in line 1; rename one" },
	{ "[vm a]\n", "torpor.conf:1: vm 'a' has no kernel; add kernel = PATH" },
	{ "[vm a]\nmemory = 1M\n[vm b]\n",
		"torpor.conf:1: vm 'a' has no kernel; add kernel = PATH" },
	{ VM "\n[vm b]\n[hypervisor]\n", "torpor.conf:4: vm 'b' has no kernel; add kernel = PATH" },
	/* Keys. */
	{ "kernel = k\n", "torpor.conf:1: 'kernel' stands before any section; put [hypervisor] or "
			  "[vm NAME] above it" },
	{ "[hypervisor]\nkernel = k\n",
		"torpor.conf:2: unknown key 'kernel'; known here are " KEYS_HYPERVISOR },
	{ VM "serial = com1\n", "torpor.conf:3: unknown key 'serial'; known here are " KEYS_VM },
	{ VM "Memory = 1M\n", "torpor.conf:3: unknown key 'Memory'; known here are " KEYS_VM },
	{ VM "kernel = k\n", "torpor.conf:3: kernel is given twice in this section; remove one" },
	{ VM "cmdline = a\ncmdline = b\n",
		"torpor.conf:4: cmdline is given twice in this section; remove one" },
	{ "[hypervisor]\nserial = com1\nserial = com2\n",
		"torpor.conf:3: serial is given twice in this section; remove one" },
	/* [hypervisor] values. */
	{ "[hypervisor]\nserial =\n", "torpor.conf:2: serial = '' " NO_PORT },
	{ "[hypervisor]\nserial = com5\n", "torpor.conf:2: serial = 'com5' " NO_PORT },
	{ "[hypervisor]\nserial = com1,9600\n", "torpor.conf:2: serial = 'com1,9600' " NO_PORT },
	{ "[hypervisor]\nserial = 0x\n", "torpor.conf:2: serial = '0x' " NO_PORT },
	{ "[hypervisor]\nserial = 0xff\n", "torpor.conf:2: serial = '0xff' " NO_PORT },
	{ "[hypervisor]\nserial = 0xfff9\n", "torpor.conf:2: serial = '0xfff9' " NO_PORT },
	{ "[hypervisor]\nserial = 0x1000000000000000f\n",
		"torpor.conf:2: serial = '0x1000000000000000f' " NO_PORT },
	{ "[hypervisor]\nserial = 3f8\n", "torpor.conf:2: serial = '3f8' " NO_PORT },
	{ "[hypervisor]\nserial = com1 0\n", "torpor.conf:2: serial = 'com1 0' " NO_PORT },
	{ "[hypervisor]\nserial = com1 1\n", "torpor.conf:2: serial = 'com1 1' " NO_PORT },
	{ "[hypervisor]\nserial = com1 100000\n",
		"torpor.conf:2: serial = 'com1 100000' " NO_PORT },
	{ "[hypervisor]\nserial = com1 230400\n",
		"torpor.conf:2: serial = 'com1 230400' " NO_PORT },
	{ "[hypervisor]\nserial = none 9600\n", "torpor.conf:2: serial = 'none 9600' " NO_PORT },
	{ "[hypervisor]\nlog-level = loud\n", "torpor.conf:2: log-level = 'loud' is unknown; write "
					      "error, warning, info or debug" },
	{ "[hypervisor]\neager = all\n", "torpor.conf:2: eager = 'all' is not yet supported; write "
					 "eager = none or remove the line" },
	{ "[hypervisor]\nmitigations = on\n",
		"torpor.conf:2: mitigations = on is not yet supported; write mitigations = off or "
		"remove the line" },
	{ "[hypervisor]\nmitigations = maybe\n",
		"torpor.conf:2: mitigations = 'maybe' is not a switch; write yes or no" },
	/* [vm] values. */
	{ "[vm a]\nkernel =\n",
		"torpor.conf:2: kernel = '': the file's name is missing" PATH_HINT },
	{ "[vm a]\nkernel = a*b\n", "torpor.conf:2: kernel = 'a*b': the file's name has a "
				    "character that a FAT volume forbids" PATH_HINT },
	{ VM "initrd = x\xc3\xa4\n", "torpor.conf:3: initrd = 'x\xc3\xa4': the file's name has a "
				     "character that a FAT volume forbids" PATH_HINT },
	{ VM "module =\n", "torpor.conf:3: module = '': the file's name is missing" PATH_HINT },
	{ VM "memory =\n", "torpor.conf:3: memory = '' " NOT_SIZE },
	{ VM "memory = M\n", "torpor.conf:3: memory = 'M' " NOT_SIZE },
	{ VM "memory = 1T\n", "torpor.conf:3: memory = '1T' " NOT_SIZE },
	{ VM "memory = 1 M\n", "torpor.conf:3: memory = '1 M' " NOT_SIZE },
	{ VM "memory = -1M\n", "torpor.conf:3: memory = '-1M' " NOT_SIZE },
	{ VM "memory = 0x100000\n", "torpor.conf:3: memory = '0x100000' " NOT_SIZE },
	{ VM "memory = 18446744073709551616\n",
		"torpor.conf:3: memory = '18446744073709551616' " NOT_SIZE },
	{ VM "memory = 17179869184G\n", "torpor.conf:3: memory = '17179869184G' " NOT_SIZE },
	{ VM "memory = 0\n", "torpor.conf:3: memory = 0 " NO_SIZE },
	{ VM "memory = 1020K\n", "torpor.conf:3: memory = 1020K " NO_SIZE },
	{ VM "memory = 1048577\n", "torpor.conf:3: memory = 1048577 " NO_SIZE },
	{ VM "memory = 65537G\n", "torpor.conf:3: memory = 65537G " NO_SIZE },
	{ VM "cpus = 0\n",
		"torpor.conf:3: cpus = '0' is not possible; write a number from 1 to 8" },
	{ VM "cpus = 9\n",
		"torpor.conf:3: cpus = '9' is not possible; write a number from 1 to 8" },
	{ VM "cpus = x\n",
		"torpor.conf:3: cpus = 'x' is not possible; write a number from 1 to 8" },
	{ VM "cpus = 2\n", "torpor.conf:3: cpus = 2: more than one CPU in a VM is not yet "
			   "supported; write cpus = 1" },
	{ VM "pin =\n", "torpor.conf:3: pin = '' " NOT_CPUS },
	{ VM "pin = 64\n", "torpor.conf:3: pin = '64' " NOT_CPUS },
	{ VM "pin = 3-1\n", "torpor.conf:3: pin = '3-1' " NOT_CPUS },
	{ VM "pin = 1-\n", "torpor.conf:3: pin = '1-' " NOT_CPUS },
	{ VM "pin = 0-1-2\n", "torpor.conf:3: pin = '0-1-2' " NOT_CPUS },
	{ VM "pin = 0,\n", "torpor.conf:3: pin = '0,' " NOT_CPUS },
	{ VM "pin = ,0\n", "torpor.conf:3: pin = ',0' " NOT_CPUS },
	{ VM "pin = 0-3,6\n", "torpor.conf:3: pin = 0-3,6: VMs run on CPU 0 only, others are not "
			      "yet supported; write pin = 0" },
	{ VM "weight = 0\n",
		"torpor.conf:3: weight = '0' is not possible; write a number from 1 to 1000" },
	{ VM "weight = 1001\n",
		"torpor.conf:3: weight = '1001' is not possible; write a number from 1 to 1000" },
	{ VM "weight = 50\n", "torpor.conf:3: weight = 50: weights are not yet supported; write "
			      "weight = 100 or remove the line" },
	{ VM "paging = shadow\n", "torpor.conf:3: paging = shadow is not yet supported; write "
				  "paging = auto or paging = ept" },
	{ VM "paging = npt\n",
		"torpor.conf:3: paging = 'npt' is unknown; write auto, ept or shadow" },
	{ VM "console = 1\n", "torpor.conf:3: console = '1' is not a switch; write yes or no" },
	{ VM "test-device = \n",
		"torpor.conf:3: test-device = '' is not a switch; write yes or no" },
	{ VM "exit-port = YES\n",
		"torpor.conf:3: exit-port = 'YES' is not a switch; write yes or no" },
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++)
		expect_error(mistakes[i].text, strlen(mistakes[i].text), mistakes[i].message);
}

static void test_nul_byte(void **state)
{
	static const char text[] = VM "memory\0 = 1M\n";
	static const char utf16[] = "\xff\xfe[\0v\0m\0";

	(void)state;
	expect_error(text, sizeof(text) - 1,
		"torpor.conf:3: there is a NUL byte in the line; save the file as plain ASCII or "
		"UTF-8");
	expect_error(utf16, sizeof(utf16) - 1,
		"torpor.conf:1: there is a NUL byte in the line; save the file as plain ASCII or "
		"UTF-8");
}

/* A file with one line "KEY = xxx..." of `count` x. */
static void make_long(char *text, size_t size, const char *start, size_t count)
{
	size_t length = (size_t)snprintf(text, size, "%s", start);

	assert_true(length + count + 2 < size);
	memset(text + length, 'x', count);
	memcpy(text + length + count, "\n", 2);
}

static void test_limits(void **state)
{
	static char text[16384];

	(void)state;
	make_long(text, sizeof(text), VM "cmdline = ", 2047);
	expect_ok(text);
	assert_int_equal(strlen(config.vms[0].cmdline), 2047);
	make_long(text, sizeof(text), VM "cmdline = ", 2048);
	expect_error(text, strlen(text),
		"torpor.conf:3: the command line of cmdline is 2048 bytes long; shorten it to "
		"2047");
	make_long(text, sizeof(text), VM "module = m ", 2048);
	expect_error(text, strlen(text),
		"torpor.conf:3: the command line of module is 2048 bytes long; shorten it to 2047");
	make_long(text, sizeof(text), "[vm a]\nkernel=", 255);
	expect_ok(text);
	make_long(text, sizeof(text), "[vm a]\nkernel=", 256);
	expect_error(text, strlen(text),
		"torpor.conf:2: kernel = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx': "
		"the file's name is too long" PATH_HINT);
	make_long(text, sizeof(text), VM "#", 4095);
	expect_ok(text);
	make_long(text, sizeof(text), VM "#", 4096);
	expect_error(text, strlen(text),
		"torpor.conf:3: the line is longer than 4096 bytes; shorten it");
	expect_ok("[vm abcdefghijklmnopqrstuvwxyzabcde]\nkernel=k");
}

static void test_too_many(void **state)
{
	char text[1024] = "";
	size_t length = 0;

	(void)state;
	for (u32 i = 0; i < CONFIG_VMS_MAX; i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length, "[vm v%u]\nkernel = k\n", i);
	expect_ok(text);
	assert_int_equal(config.vm_count, CONFIG_VMS_MAX);
	snprintf(text + length, sizeof(text) - length, "[vm last]\nkernel = k\n");
	expect_error(text, strlen(text), "torpor.conf:17: there are more than 8 VMs; remove some");

	length = (size_t)snprintf(text, sizeof(text), VM);
	for (u32 i = 0; i < CONFIG_MODULES_MAX; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "module = m\n");
	expect_ok(text);
	assert_int_equal(config.vms[0].module_count, CONFIG_MODULES_MAX);
	snprintf(text + length, sizeof(text) - length, "module = m\n");
	expect_error(
		text, strlen(text), "torpor.conf:11: vm 'a' has more than 8 modules; remove some");
}

/* A section's seen keys do not leak into the next one, in whatever order sections come. */
static void test_keys_per_section(void **state)
{
	(void)state;
	expect_ok(VM "memory = 1M\n[hypervisor]\nserial = none\n[vm b]\nkernel = k\nmemory = 2M\n");
	assert_int_equal(config.vms[0].memory, 1 << 20);
	assert_int_equal(config.vms[1].memory, 2 << 20);
	assert_int_equal(lines.vms[1].memory, 8);
}

/* Whatever the bytes: an answer that holds what the contract says. */
static void check_answer(const char *text, size_t size)
{
	enum error error = parse_bytes(text, size);

	if (error) {
		assert_memory_equal(message, "torpor.conf:", 12);
		assert_true(atoi(message + 12) > 0);
		assert_null(strchr(message, '\n'));
		assert_non_null(memchr(message, 0, sizeof(message)));
		return;
	}
	assert_in_range(config.vm_count, 1, CONFIG_VMS_MAX);
	for (u32 i = 0; i < config.vm_count; i++) {
		const struct vm_config *vm = &config.vms[i];

		assert_in_range(strnlen(vm->name, sizeof(vm->name)), 1, CONFIG_NAME_MAX - 1);
		assert_in_range(strnlen(vm->kernel.name, CONFIG_PATH_MAX), 1, CONFIG_PATH_MAX - 1);
		assert_in_range(
			strnlen(vm->cmdline, CONFIG_CMDLINE_MAX), 0, CONFIG_CMDLINE_MAX - 1);
		assert_in_range(vm->module_count, 0, CONFIG_MODULES_MAX);
		assert_int_equal(vm->memory % PAGE_SIZE, 0);
	}
}

static u32 random_next(u32 *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* The same as tests/fuzz/fuzz_config.c, with a fixed course. */
static void test_damaged_files(void **state)
{
	static const char sound[] =
		"\xef\xbb\xbf[hypervisor]\nserial = com1 9600\nlog-level=debug\n[vm a]\r\n"
		"kernel = \\k\nmodule = m x\nmemory = 16M\ncmdline = a b\npin = 0\n[vm b]\nkernel "
		"= j\n";
	static const char alphabet[] = "[]=\n\r\t #;\\,-0 9kMvm\x00\xff";
	u32 seed = 1;

	(void)state;
	for (size_t size = 0; size < sizeof(sound); size++)
		check_answer(sound, size);
	for (u32 round = 0; round < 4000; round++) {
		char text[sizeof(sound)];
		u32 changes = 1 + random_next(&seed) % 6;

		memcpy(text, sound, sizeof(text));
		while (changes--)
			text[random_next(&seed) % sizeof(text)] =
				alphabet[random_next(&seed) % (sizeof(alphabet) - 1)];
		check_answer(text, sizeof(text) - 1);
	}
}

static void test_memory_fits(void **state)
{
	const u64 own = 4ull << 20;

	(void)state;
	expect_ok(VM "memory = 512M\n[vm b]\nkernel = k\n");
	assert_int_equal(
		config_check_memory(&config, &lines, own + (513ull << 20), message), ERR_OK);
	assert_int_equal(config_check_memory(&config, &lines, own + (513ull << 20) - 1, message),
		ERR_NO_MEMORY);
	assert_string_equal(message, "torpor.conf:3: vm 'a' wants 512M of memory, but 511M is the "
				     "most this machine has left; lower memory");
	assert_int_equal(config_check_memory(&config, &lines, 0, message), ERR_NO_MEMORY);
	assert_non_null(strstr(message, "but 0M is the most"));

	/* Where the default is too much, the section's line is named; what is told to fit does. */
	expect_ok("\n" VM);
	assert_int_equal(config_check_memory(&config, &lines, 100 << 20, message), ERR_NO_MEMORY);
	assert_string_equal(message, "torpor.conf:2: vm 'a' wants 256M of memory, but 95M is the "
				     "most this machine has left; lower memory");
	config.vms[0].memory = 95 << 20;
	assert_int_equal(config_check_memory(&config, &lines, 100 << 20, message), ERR_OK);
	config.vms[0].memory = 96 << 20;
	assert_int_equal(config_check_memory(&config, &lines, 100 << 20, message), ERR_NO_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_serial_forms),
		cmocka_unit_test(test_memory_forms),
		cmocka_unit_test(test_log_levels),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_nul_byte),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_keys_per_section),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_memory_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
