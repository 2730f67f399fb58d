// SPDX-License-Identifier: BSD-2-Clause
/*
 * The run loop: what an exit could not settle by itself is settled here, then the guest goes on.
 * Everything before an entry happens in one order: host interrupts, timers, console, NMIs, halt,
 * stop, events, preemption timer. Runs with interrupts off; the host's interrupts are taken as
 * exits or while the CPU idles.
 */
#include "hv/vm/run.h"

#include "hv/cpu/cpu.h"
#include "hv/cpu/hostapic.h"
#include "hv/cpu/insn.h"
#include "hv/cpu/registers.h"
#include "hv/cpu/serial.h"
#include "hv/cpu/time.h"
#include "hv/lib/log.h"
#include "vmx/entry.h"
#include "vmx/entry_check.h"
#include "vmx/machine.h"

/* The preemption timer has 32 bits (SDM 3C 26.5.1); a longer wait is a chain of them. */
#define PREEMPTION_MAX 0xffffffffull

static u64 now_tsc(void *context)
{
	(void)context;
	return insn_rdtsc();
}

static void interrupt_changed(void *context, u32 id)
{
	struct vm *vm = context;

	vm->vcpus[id]->pending |= PENDING_EVENT;
}

static void queue_nmi(void *context, u32 id)
{
	struct vm *vm = context;

	event_queue_nmi(vm->vcpus[id]);
}

/*
 * The boot processor is the only one yet: INIT and SIPI have no one to start (SDM 3A 9.4.4.1). Told
 * once: a guest can send them without end.
 */
static void ignore_ipi(struct vm *vm, const char *what, u32 id)
{
	if (!vm->ipi_reported)
		log_warning("vm %s: %s for vCPU %u ignored", vm->config->name, what, id);
	vm->ipi_reported = true;
}

static void ignore_init(void *context, u32 id)
{
	ignore_ipi(context, "INIT", id);
}

static void ignore_sipi(void *context, u32 id, u8 vector)
{
	(void)vector;
	ignore_ipi(context, "SIPI", id);
}

static void timer_changed(void *context)
{
	struct vm *vm = context;

	for (u32 i = 0; i < vm->vcpu_count; i++)
		vm->vcpus[i]->pending |= PENDING_TIMER;
}

static void stop(void *context, enum stop_reason reason, u8 value)
{
	struct vm *vm = context;

	if (vm->stop == STOP_NONE) {
		vm->stop = reason;
		vm->stop_value = value;
	}
	for (u32 i = 0; i < vm->vcpu_count; i++)
		vm->vcpus[i]->pending |= PENDING_STOP;
}

static void unmap_once(void *context, gpa_t page)
{
	vm_unmap_once(context, page);
}

static bool guest_console_write(void *context, u8 byte)
{
	const struct vm *vm = context;

	/* A VM without the console writes into the void. */
	return !vm->config->console || console_putc(byte);
}

struct platform_host vm_platform_host(struct vm *vm)
{
	return (struct platform_host){
		.context = vm,
		.now_tsc = now_tsc,
		.interrupt_changed = interrupt_changed,
		.nmi = queue_nmi,
		.init = ignore_init,
		.sipi = ignore_sipi,
		.timer_changed = timer_changed,
		.stop = stop,
		.unmap_once = unmap_once,
		.console_write = guest_console_write,
	};
}

/*
 * How often the UART is looked at: rarely, but every 16 bytes' time (at 115200 baud) while output
 * waits.
 */
#define CONSOLE_IDLE_HZ 100
#define CONSOLE_BUSY_HZ 720

static void poll_console(struct vcpu *vcpu)
{
	u64 now = insn_rdtsc();

	if (!vcpu->vm->config->console) {
		vcpu->console_deadline = TIMER_NEVER;
		return;
	}
	if (now < vcpu->console_deadline)
		return;
	console_poll();
	vcpu->console_deadline =
		now + tsc_hz() / (console_busy() ? CONSOLE_BUSY_HZ : CONSOLE_IDLE_HZ);
}

static void serve_console(struct vm *vm)
{
	int byte;

	if (!vm->config->console)
		return;
	while ((byte = console_peek()) >= 0 && platform_console_input(vm->platform, byte))
		(void)console_getc();
	if (console_has_room())
		platform_console_ready(vm->platform);
}

/* NMIs that came while the host ran were counted by the handler. */
static void take_host_nmis(struct vcpu *vcpu)
{
	struct cpu *cpu = this_cpu();
	u32 count = __atomic_exchange_n(&cpu->nmi_count, 0, __ATOMIC_RELAXED);

	while (count--)
		event_queue_nmi(vcpu);
}

/* What may have happened outside of the guest, each time it is not running. */
static void look_around(struct vcpu *vcpu)
{
	platform_run_timers(vcpu->vm->platform);
	poll_console(vcpu);
	serve_console(vcpu->vm);
	take_host_nmis(vcpu);
}

static void arm_timer(u64 deadline)
{
	if (vmx_control(&vmx_machine.controls, CONTROLS_PIN, PIN_PREEMPTION_TIMER)) {
		u64 now = insn_rdtsc();
		u64 ticks = deadline > now ? (deadline - now) >> vmx_machine.preemption_shift : 0;

		vmcs_write(VMCS_PREEMPTION_TIMER_VALUE, MIN(ticks, PREEMPTION_MAX));
	} else {
		/* Anew each time: idling sets it otherwise, and it may fire before its time. */
		host_timer_set(deadline);
	}
}

static u64 next_deadline(const struct vcpu *vcpu)
{
	u64 devices = platform_next_deadline(vcpu->vm->platform);

	return MIN(devices, vcpu->console_deadline);
}

/* SDM 2A HLT: nothing but an interrupt that the guest takes, an NMI, INIT or reset ends it. */
static void wait_halted(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;

	while (vm->stop == STOP_NONE && !event_deliverable(vcpu)) {
		if (!(vmcs_read(VMCS_GUEST_RFLAGS) & RFLAGS_IF) && vm->vcpu_count == 1 &&
			!platform_nmi_possible(vm->platform, vcpu->id)) {
			log_error("vm %s: halted with interrupts off at %#lx: nothing can wake it",
				vm->config->name, vmcs_read(VMCS_GUEST_RIP));
			(void)vcpu_crash(vcpu);
			return;
		}
		host_idle(next_deadline(vcpu));
		look_around(vcpu);
	}
	vcpu->halted = false;
}

static void report_failed_entry(struct vcpu *vcpu, enum exit_action action)
{
	char check[160];

	if (action == EXIT_FAILED_INVALID)
		log_error("vm %s: VM entry failed: no current VMCS", vcpu->vm->config->name);
	else if (action == EXIT_FAILED_VALID)
		log_error("vm %s: VM entry failed: VM-instruction error %lu, %s",
			vcpu->vm->config->name, vmcs_read(VMCS_INSTRUCTION_ERROR),
			entry_check_failed(check, sizeof(check)));
	else
		log_error("vm %s: VM entry failed: exit reason %#lx, qualification %lu, %s",
			vcpu->vm->config->name, vmcs_read(VMCS_EXIT_REASON),
			vmcs_read(VMCS_EXIT_QUALIFICATION),
			entry_check_failed(check, sizeof(check)));
	(void)vcpu_crash(vcpu);
}

/*
 * On the NMI stack, between any two instructions of the host: an entry that is already under way
 * must not lose the NMI, so the guest is made to exit as soon as it can take one.
 */
static void nmi_arrived(struct cpu *cpu)
{
	struct vcpu *vcpu = cpu->current;

	vcpu->primary_controls |= PRIMARY_NMI_WINDOW;
	vmcs_write(VMCS_PRIMARY_CONTROLS, vcpu->primary_controls);
}

/* False: the VM has stopped. */
static bool prepare(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;

	do {
		vcpu->pending = 0;
		/*
		 * Mostly a guest's exits take them. One whose #DB delivery raises the next #DB
		 * comes here each time before an interrupt could make it exit (BUG-48).
		 */
		insn_take_interrupts();
		look_around(vcpu);
		if (vcpu->halted)
			wait_halted(vcpu);
		if (vm->stop != STOP_NONE)
			return false;
	} while (vcpu->pending & PENDING_STOP);
	event_prepare_entry(vcpu);
	/*
	 * What the handler of an NMI wrote before this moment may be overwritten; afterwards it
	 * stays.
	 */
	if (this_cpu()->nmi_count)
		nmi_arrived(this_cpu());
	arm_timer(next_deadline(vcpu));
	vcpu->pending = 0;
	return true;
}

void vcpu_run(struct vcpu *vcpu)
{
	struct cpu *cpu = this_cpu();

	cpu->current = vcpu;
	cpu->nmi_hook = nmi_arrived;
	vcpu->exit_tsc = insn_rdtsc();
	while (prepare(vcpu)) {
		enum exit_action action;

		if (vcpu->vm->profile)
			vcpu->host_tsc += insn_rdtsc() - vcpu->exit_tsc;
		action = vmx_enter(vcpu);
		if (action != EXIT_RELOAD)
			report_failed_entry(vcpu, action);
		vcpu->launched = true;
	}
	cpu->nmi_hook = NULL;
	cpu->current = NULL;
}
