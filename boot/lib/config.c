// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration file's sections and keys, a table row each. Called by boot/main.c with the
 * file's bytes; may assume nothing about them. The first mistake ends the parsing.
 */
#include "boot/lib/config.h"
#include "boot/lib/config_value.h"
#include "hv/lib/log.h"
#include "hv/lib/print.h"
#include "hv/lib/string.h"

#define MEMORY_MIN (1ull << 20)
#define MEMORY_MAX (1ull << 46)
#define CPUS_MAX   8
#define WEIGHT_MAX 1000
#define QUOTED_MAX 48 /* bytes of the file's text that a message repeats */

enum section { SECTION_NONE, SECTION_HYPERVISOR, SECTION_VM };

struct parser {
	struct ini ini;
	struct torpor_config *config;
	struct config_lines *lines;
	char *message;
	enum section section;
	u32 hypervisor_line; /* 0: not seen yet */
	u64 seen;	     /* keys of the current section, by row */
};

struct key {
	enum section section;
	const char *name;
	bool repeatable;
	enum error (*set)(struct parser *parser, struct slice value);
};

static enum error complain_at(
	struct parser *parser, u32 line, enum error error, const char *format, va_list args)
{
	int length =
		fmt_print(parser->message, CONFIG_MESSAGE_MAX, "%s:%u: ", CONFIG_FILE_NAME, line);

	fmt_vprint(parser->message + length, CONFIG_MESSAGE_MAX - (size_t)length, format, args);
	return error;
}

/* A complaint about the current line. */
static enum error __printf_like(2, 3) bad(struct parser *parser, const char *format, ...)
{
	enum error error;
	va_list args;

	va_start(args, format);
	error = complain_at(parser, MAX(parser->ini.line, 1u), ERR_INVALID, format, args);
	va_end(args);
	return error;
}

/* A complaint about a line before the current one. */
static enum error __printf_like(3, 4)
	bad_at(struct parser *parser, u32 line, const char *format, ...)
{
	enum error error;
	va_list args;

	va_start(args, format);
	error = complain_at(parser, line, ERR_INVALID, format, args);
	va_end(args);
	return error;
}

/* The value is one that a later version gives a meaning. */
static enum error __printf_like(2, 3) not_yet(struct parser *parser, const char *format, ...)
{
	enum error error;
	va_list args;

	va_start(args, format);
	error = complain_at(parser, parser->ini.line, ERR_UNSUPPORTED, format, args);
	va_end(args);
	return error;
}

static int quoted_length(struct slice slice)
{
	return (int)MIN(slice.length, (size_t)QUOTED_MAX);
}

#define QUOTED(slice) quoted_length(slice), (slice).start

static struct vm_config *current_vm(struct parser *parser)
{
	return &parser->config->vms[parser->config->vm_count - 1];
}

static struct config_vm_lines *current_lines(struct parser *parser)
{
	return &parser->lines->vms[parser->config->vm_count - 1];
}

/* ---------------------------------------------------------------- [hypervisor] */

static enum error set_serial(struct parser *parser, struct slice value)
{
	struct hypervisor_config *hypervisor = &parser->config->hypervisor;

	if (value_serial(value, &hypervisor->serial_port, &hypervisor->serial_baud))
		return ERR_OK;
	return bad(parser,
		"serial = '%.*s' is not a port; write none, com1 to com4 or 0xPORT, then a baud "
		"rate like 115200",
		QUOTED(value));
}

static enum error set_log_level(struct parser *parser, struct slice value)
{
	static const char *const names[] = {
		[LOG_ERROR] = "error",
		[LOG_WARNING] = "warning",
		[LOG_INFO] = "info",
		[LOG_DEBUG] = "debug",
	};

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		if (slice_equal(value, names[i])) {
			parser->config->hypervisor.log_level = i;
			return ERR_OK;
		}
	}
	return bad(parser, "log-level = '%.*s' is unknown; write error, warning, info or debug",
		QUOTED(value));
}

static enum error set_eager(struct parser *parser, struct slice value)
{
	if (slice_equal(value, "none"))
		return ERR_OK;
	return not_yet(parser,
		"eager = '%.*s' is not yet supported; write eager = none or remove the line",
		QUOTED(value));
}

static enum error set_bool(struct parser *parser, const char *key, struct slice value, bool *to)
{
	if (value_bool(value, to))
		return ERR_OK;
	return bad(parser, "%s = '%.*s' is not a switch; write yes or no", key, QUOTED(value));
}

static enum error set_mitigations(struct parser *parser, struct slice value)
{
	bool *to = &parser->config->hypervisor.mitigations;
	enum error error = set_bool(parser, "mitigations", value, to);

	if (!error && *to)
		return not_yet(parser, "mitigations = on is not yet supported; write mitigations = "
				       "off or remove the line");
	return error;
}

static enum error set_profile(struct parser *parser, struct slice value)
{
	return set_bool(parser, "profile", value, &parser->config->hypervisor.profile);
}

/* ---------------------------------------------------------------- [vm NAME] */

static enum error set_path(
	struct parser *parser, const char *key, struct slice path, struct boot_file *file)
{
	const char *error = value_path(path, file->name, sizeof(file->name));

	if (error)
		return bad(parser,
			"%s = '%.*s': %s; write a path on the boot volume like \\torpor\\vmlinuz",
			key, QUOTED(path), error);
	return ERR_OK;
}

static enum error set_cmdline_text(
	struct parser *parser, const char *key, struct slice value, char to[CONFIG_CMDLINE_MAX])
{
	if (value_copy(value, to, CONFIG_CMDLINE_MAX))
		return ERR_OK;
	return bad(parser, "the command line of %s is %zu bytes long; shorten it to %u", key,
		value.length, CONFIG_CMDLINE_MAX - 1);
}

static enum error set_kernel(struct parser *parser, struct slice value)
{
	current_lines(parser)->kernel = parser->ini.line;
	return set_path(parser, "kernel", value, &current_vm(parser)->kernel);
}

static enum error set_initrd(struct parser *parser, struct slice value)
{
	current_lines(parser)->initrd = parser->ini.line;
	return set_path(parser, "initrd", value, &current_vm(parser)->initrd);
}

static enum error set_module(struct parser *parser, struct slice value)
{
	struct vm_config *vm = current_vm(parser);
	struct slice path = value_word(&value);
	struct boot_file *module;
	enum error error;

	if (vm->module_count == CONFIG_MODULES_MAX)
		return bad(parser, "vm '%s' has more than %u modules; remove some", vm->name,
			CONFIG_MODULES_MAX);
	module = &vm->modules[vm->module_count];
	error = set_path(parser, "module", path, module);
	if (!error)
		error = set_cmdline_text(parser, "module", value, module->cmdline);
	current_lines(parser)->modules[vm->module_count++] = parser->ini.line;
	return error;
}

static enum error set_cmdline(struct parser *parser, struct slice value)
{
	return set_cmdline_text(parser, "cmdline", value, current_vm(parser)->cmdline);
}

static enum error set_memory(struct parser *parser, struct slice value)
{
	u64 bytes;

	current_lines(parser)->memory = parser->ini.line;
	if (!value_size(value, &bytes))
		return bad(parser, "memory = '%.*s' is not a size; write a number like 512M",
			QUOTED(value));
	if (bytes < MEMORY_MIN || bytes > MEMORY_MAX || !IS_ALIGNED(bytes, PAGE_SIZE))
		return bad(parser,
			"memory = %.*s is not possible; write a multiple of 4K between 1M and "
			"65536G",
			QUOTED(value));
	current_vm(parser)->memory = bytes;
	return ERR_OK;
}

static enum error set_cpus(struct parser *parser, struct slice value)
{
	u64 number;

	if (!value_number(value, &number) || number < 1 || number > CPUS_MAX)
		return bad(parser, "cpus = '%.*s' is not possible; write a number from 1 to %u",
			QUOTED(value), CPUS_MAX);
	if (number > 1)
		return not_yet(parser,
			"cpus = %.*s: more than one CPU in a VM is not yet supported; write cpus = "
			"1",
			QUOTED(value));
	current_vm(parser)->cpus = (u32)number;
	return ERR_OK;
}

static enum error set_pin(struct parser *parser, struct slice value)
{
	u64 cpus;

	if (!value_cpu_list(value, &cpus))
		return bad(parser,
			"pin = '%.*s' is not a list of CPUs from 0 to 63; write it like 0-3,6",
			QUOTED(value));
	if (cpus != BIT(0))
		return not_yet(parser,
			"pin = %.*s: VMs run on CPU 0 only, others are not yet supported; write "
			"pin = 0",
			QUOTED(value));
	return ERR_OK;
}

static enum error set_weight(struct parser *parser, struct slice value)
{
	u64 number;

	if (!value_number(value, &number) || number < 1 || number > WEIGHT_MAX)
		return bad(parser, "weight = '%.*s' is not possible; write a number from 1 to %u",
			QUOTED(value), WEIGHT_MAX);
	if (number != CONFIG_WEIGHT_DEFAULT)
		return not_yet(parser,
			"weight = %.*s: weights are not yet supported; write weight = %u or remove "
			"the line",
			QUOTED(value), CONFIG_WEIGHT_DEFAULT);
	return ERR_OK;
}

static enum error set_paging(struct parser *parser, struct slice value)
{
	struct vm_config *vm = current_vm(parser);

	if (slice_equal(value, "auto"))
		vm->paging = PAGING_AUTO;
	else if (slice_equal(value, "ept"))
		vm->paging = PAGING_EPT;
	else if (slice_equal(value, "shadow"))
		return not_yet(parser, "paging = shadow is not yet supported; write paging = auto "
				       "or paging = ept");
	else
		return bad(parser, "paging = '%.*s' is unknown; write auto, ept or shadow",
			QUOTED(value));
	return ERR_OK;
}

static enum error set_console(struct parser *parser, struct slice value)
{
	return set_bool(parser, "console", value, &current_vm(parser)->console);
}

static enum error set_test_device(struct parser *parser, struct slice value)
{
	return set_bool(parser, "test-device", value, &current_vm(parser)->test_device);
}

static enum error set_exit_port(struct parser *parser, struct slice value)
{
	return set_bool(parser, "exit-port", value, &current_vm(parser)->exit_port);
}

static const struct key keys[] = {
	{ SECTION_HYPERVISOR, "serial", false, set_serial },
	{ SECTION_HYPERVISOR, "log-level", false, set_log_level },
	{ SECTION_HYPERVISOR, "eager", false, set_eager },
	{ SECTION_HYPERVISOR, "mitigations", false, set_mitigations },
	{ SECTION_HYPERVISOR, "profile", false, set_profile },
	{ SECTION_VM, "kernel", false, set_kernel },
	{ SECTION_VM, "initrd", false, set_initrd },
	{ SECTION_VM, "module", true, set_module },
	{ SECTION_VM, "cmdline", false, set_cmdline },
	{ SECTION_VM, "memory", false, set_memory },
	{ SECTION_VM, "cpus", false, set_cpus },
	{ SECTION_VM, "pin", false, set_pin },
	{ SECTION_VM, "weight", false, set_weight },
	{ SECTION_VM, "paging", false, set_paging },
	{ SECTION_VM, "console", false, set_console },
	{ SECTION_VM, "test-device", false, set_test_device },
	{ SECTION_VM, "exit-port", false, set_exit_port },
};

_Static_assert(ARRAY_SIZE(keys) <= 64, "a bit of parser.seen for each key");

/* ---------------------------------------------------------------- the file */

static enum error unknown_key(struct parser *parser, struct slice name)
{
	char known[160];
	int length = 0;

	if (parser->section == SECTION_NONE)
		return bad(parser,
			"'%.*s' stands before any section; put [hypervisor] or [vm NAME] above it",
			QUOTED(name));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].section == parser->section)
			length += fmt_print(known + length, sizeof(known) - (size_t)length, "%s%s",
				length ? ", " : "", keys[i].name);
	}
	return bad(parser, "unknown key '%.*s'; known here are %s", QUOTED(name), known);
}

static enum error parse_key(struct parser *parser, const struct ini_item *item)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *key = &keys[i];

		if (key->section != parser->section || !slice_equal(item->name, key->name))
			continue;
		if ((parser->seen & BIT(i)) && !key->repeatable)
			return bad(
				parser, "%s is given twice in this section; remove one", key->name);
		parser->seen |= BIT(i);
		return key->set(parser, item->value);
	}
	return unknown_key(parser, item->name);
}

static enum error check_vm_name(struct parser *parser, struct slice name)
{
	const struct torpor_config *config = parser->config;

	if (!name.length || name.length >= CONFIG_NAME_MAX)
		return bad(parser, "a VM's name has 1 to %u characters; write [vm NAME]",
			CONFIG_NAME_MAX - 1);
	for (size_t i = 0; i < name.length; i++) {
		char c = name.start[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
			c != '_' && c != '-' && c != '.')
			return bad(parser,
				"the VM's name '%.*s' has other characters than A-Z a-z 0-9 _ - . "
				"; rename it",
				QUOTED(name));
	}
	for (u32 i = 0; i < config->vm_count; i++) {
		if (slice_equal(name, config->vms[i].name))
			return bad(parser, "vm '%s' is already there in line %u; rename one",
				config->vms[i].name, parser->lines->vms[i].section);
	}
	if (config->vm_count == CONFIG_VMS_MAX)
		return bad(parser, "there are more than %u VMs; remove some", CONFIG_VMS_MAX);
	return ERR_OK;
}

static enum error begin_vm(struct parser *parser, struct slice name)
{
	enum error error = check_vm_name(parser, name);
	struct vm_config *vm;

	if (error)
		return error;
	vm = &parser->config->vms[parser->config->vm_count++];
	memset(vm, 0, sizeof(*vm));
	vm->memory = CONFIG_MEMORY_DEFAULT;
	vm->cpus = 1;
	vm->console = true;
	*current_lines(parser) = (struct config_vm_lines){ .section = parser->ini.line };
	parser->section = SECTION_VM;
	if (!value_copy(name, vm->name, sizeof(vm->name)))
		return ERR_RANGE;
	return ERR_OK;
}

/* Called at the end of each section. */
static enum error end_section(struct parser *parser)
{
	if (parser->section == SECTION_VM && !current_lines(parser)->kernel)
		return bad_at(parser, current_lines(parser)->section,
			"vm '%s' has no kernel; add kernel = PATH", current_vm(parser)->name);
	return ERR_OK;
}

static enum error parse_section(struct parser *parser, const struct ini_item *item)
{
	enum error error = end_section(parser);

	if (error)
		return error;
	parser->seen = 0;
	if (slice_equal(item->name, "vm"))
		return begin_vm(parser, item->value);
	if (!slice_equal(item->name, "hypervisor") || item->value.length)
		return bad(parser, "unknown section [%.*s]; write [hypervisor] or [vm NAME]",
			(int)MIN(item->name.length + item->value.length + !!item->value.length,
				(size_t)QUOTED_MAX),
			item->name.start);
	if (parser->hypervisor_line)
		return bad(parser, "[hypervisor] is already there in line %u; merge the two",
			parser->hypervisor_line);
	parser->hypervisor_line = parser->ini.line;
	parser->section = SECTION_HYPERVISOR;
	return ERR_OK;
}

static enum error parse_item(struct parser *parser, const struct ini_item *item)
{
	switch (item->kind) {
	case INI_SECTION:
		return parse_section(parser, item);
	case INI_KEY:
		return parse_key(parser, item);
	default:
		return bad(parser, "%s", item->error);
	}
}

enum error config_parse(const char *text, size_t size, struct torpor_config *config,
	struct config_lines *lines, char message[CONFIG_MESSAGE_MAX])
{
	struct parser parser = { .config = config, .lines = lines, .message = message };
	struct ini_item item;
	enum error error;

	config->vm_count = 0;
	config->hypervisor = (struct hypervisor_config){
		.serial_port = CONFIG_SERIAL_DEFAULT,
		.serial_baud = CONFIG_BAUD_DEFAULT,
		.log_level = LOG_INFO,
	};
	ini_begin(&parser.ini, text, size);
	for (item = ini_next(&parser.ini); item.kind != INI_END; item = ini_next(&parser.ini)) {
		error = parse_item(&parser, &item);
		if (error)
			return error;
	}
	error = end_section(&parser);
	if (!error && !config->vm_count)
		return bad(&parser, "there is no [vm NAME] section; add one with kernel = PATH");
	return error;
}
