// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a VM's run cost: the table of exits for people, the same as one JSON line on the status
 * channel.
 */
#include "hv/cpu/status.h"
#include "hv/lib/log.h"
#include "hv/lib/print.h"
#include "hv/vm/vm.h"
#include "vmx/dispatch.h"

static u64 exits_of(const struct vm *vm, u32 reason)
{
	u64 count = 0;

	for (u32 id = 0; id < vm->vcpu_count; id++)
		count += vm->vcpus[id]->exits[reason];
	return count;
}

/* The most frequent reason that is not yet in done; EXIT_REASONS: none is left. */
static u32 most_frequent(const struct vm *vm, const bool done[EXIT_REASONS])
{
	u32 best = EXIT_REASONS;

	for (u32 reason = 0; reason < EXIT_REASONS; reason++)
		if (!done[reason] && exits_of(vm, reason) &&
			(best == EXIT_REASONS || exits_of(vm, reason) > exits_of(vm, best)))
			best = reason;
	return best;
}

void vm_report(const struct vm *vm)
{
	bool done[EXIT_REASONS] = { false };
	char json[1600];
	size_t used = 0;
	u64 total = 0, host = 0, ticks = vm->end_tsc - vm->start_tsc;
	u32 reason;

	for (u32 id = 0; id < vm->vcpu_count; id++)
		host += vm->vcpus[id]->host_tsc;
	for (reason = 0; reason < EXIT_REASONS; reason++)
		total += exits_of(vm, reason);
	log_info("vm %s: %s, status %u, %lu exits", vm->config->name, vm_stop_text(vm),
		vm_status(vm), total);
	json[0] = '\0';
	while ((reason = most_frequent(vm, done)) != EXIT_REASONS) {
		const char *name = exit_reason_name(reason);

		done[reason] = true;
		log_info("  %-22s %12lu", name ? name : "undefined", exits_of(vm, reason));
		if (used < sizeof(json))
			used += fmt_print(json + used, sizeof(json) - used, "%s\"%s\":%lu",
				used ? "," : "", name ? name : "undefined", exits_of(vm, reason));
	}
	if (vm->profile && ticks)
		log_info("  %lu of %lu ticks in the hypervisor, %lu in 1000", host, ticks,
			host * 1000 / ticks);
	status_event(
		"{\"event\":\"exits\",\"vm\":\"%s\",\"tsc\":%lu,\"host_tsc\":%lu,\"exits\":{%s}}",
		vm->config->name, ticks, host, json);
	status_event("{\"event\":\"vm\",\"name\":\"%s\",\"status\":%u,\"reason\":\"%s\"}",
		vm->config->name, vm_status(vm), vm_stop_text(vm));
}
