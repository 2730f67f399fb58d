# SPDX-License-Identifier: BSD-2-Clause
"""The boot tests: whole-system runs, a row each in TESTS at the end."""
import hashlib
import re
import secrets
import subprocess
import threading

from harness import BUILD, GUEST, ROOT, expect

CONFIG_ERROR, MACHINE_ERROR, CRASHED, TIMEOUT = 64, 66, 68, 124
VMLINUZ, VMLINUX, INITRD = GUEST / "vmlinuz", GUEST / "vmlinux", GUEST / "initrd.img"
CONSOLE = "console=ttyS0,115200"

# What a sound platform never makes Linux complain about.
COMPLAINT = re.compile(r"apic|timer|tsc|acpi|clocksource|hpet", re.IGNORECASE)


# ---------------------------------------------------------------- Linux

def linux_session(test, kernel, cmdline, name="run"):
    """Boots to the shell, has the guest hash a random token, looks for complaints, powers off."""
    token = secrets.token_hex(16)
    digest = hashlib.sha256(f"{token}\n".encode()).hexdigest()
    run = test.run("--kernel", kernel, "--initrd", INITRD, "--memory", "512M", "--cmdline",
                   f"{CONSOLE} {cmdline}".strip(), name=name,
                   typed=f"echo {token} | sha256sum\n"
                         "echo begin; dmesg -r | grep '^<[0-4]>'; echo ''end\n"
                         "poweroff\n")
    run.expect_console(r"^guest ready: Linux ")
    run.expect_console(f"^{digest}  -$")
    run.expect_status(0)
    expect("guest" in run.vm_events(), "no status of the VM on the status channel")
    return run


def linux_shell(test):
    run = linux_session(test, VMLINUZ, "")
    log = run.expect_console(r"^begin$((?s:.*?))^end$")[1]
    complaints = [line for line in log.splitlines()
                  if COMPLAINT.search(line)]
    expect(not complaints, f"dmesg complains: {complaints[:1]}")


def linux_options(test):
    linux_session(test, VMLINUZ, "nokaslr pti=on")


def linux_pvh(test):
    linux_session(test, VMLINUX, "")


def side_by_side(test):
    """Two runs at once share nothing: each guest hashes its own token."""
    failures = []

    def one(name):
        try:
            linux_session(test, VMLINUZ, "quiet", name)
        except Exception as failure:  # handed on to the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=one, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def memtest(test):
    run = test.run("--kernel", GUEST / "memtest.bin", "--cmdline", CONSOLE, "--memory", "64M",
                   until=r"Test\s*#\s*\d|Moving inversions|Address test", timeout=240)
    run.expect_console(r"Memtest86\+|Memtest86plus")
    run.expect_console(r"Test\s*#\s*\d|Moving inversions|Address test")


# ---------------------------------------------------------------- how a VM ends

def exit_codes(test):
    """Four VMs one after the other: each status by itself, and the first non-zero as the run's."""
    rows = [("seven", {"MODE": "port", "VALUE": 7}, 15),
            ("zero", {"MODE": "port", "VALUE": 0}, 1),
            ("masked", {"MODE": "port", "VALUE": 0xff}, 255),
            ("crash", {"MODE": "triple"}, CRASHED)]
    config = ""
    for name, defines, _ in rows:
        test.assemble(f"{name}.bin", **defines)
        config += f"[vm {name}]\nkernel = {name}.bin\nmemory = 16M\n\n"
    run = test.run("--config", test.write("exit.conf", config))
    statuses = {name: event.get("status") for name, event in run.vm_events().items()}
    for name, _, status in rows:
        expect(statuses.get(name) == status,
               f"vm {name} ended with {statuses.get(name)} in place of {status}")
    run.expect_status(15)


def crash_status(test):
    kernel = test.assemble("crash.bin", MODE="triple")
    run = test.run("--kernel", kernel, "--memory", "16M")
    run.expect_console("exit-code kernel")
    run.expect_status(CRASHED)


def time_out(test):
    """A guest that never ends costs its time-out and no more."""
    kernel = test.assemble("hang.bin", MODE="hang")
    run = test.run("--kernel", kernel, "--memory", "16M", timeout=45)
    run.expect_console("exit-code kernel")
    run.expect_status(TIMEOUT)


# ---------------------------------------------------------------- payload kernels

PAYLOADS = BUILD / "tests" / "guest"


def payload_suite(test, *options):
    """Every case that leaves the machine sane, in one boot; with a module whose bytes it adds up."""
    module = test.write("module.bin", "a module of the payload suite\n" * 100)
    total = sum(module.read_bytes()) & 0xffffffff
    run = test.run("--kernel", PAYLOADS / "suite.elf", "--module", f"{module} sum={total}",
                   "--memory", "256M", "--test-device", *options)
    results = re.findall(r"^(PASS|FAIL|SKIP) (.*)$", run.console, re.MULTILINE)
    test.subresults = [(kind, text) for kind, text in results if kind != "SKIP"]
    failed = [text for kind, text in results if kind == "FAIL"]
    expect(not failed, f"{len(failed)} of {len(results)} cases fail, first: {failed[:1]}")
    done = run.expect_console(r"^DONE passed=(\d+) failed=(\d+)")
    expect(int(done[1]) > 0 and int(done[2]) == 0, f"the payload reports {done[0]}")
    run.expect_status(1)  # 0 written to the exit port


# Endings of fatal.elf and the status of each.
FATAL_ENDS = {"triple-fault": CRASHED, "triple-fault-stack": CRASHED, "hlt-if0": CRASHED,
              "idt-unbacked": CRASHED, "gdt-unbacked": CRASHED, "stack-unbacked": CRASHED,
              "stack-in-apic": CRASHED, "tables-unbacked": CRASHED,
              "reset-cf9": 0, "reset-keyboard": 0, "reset-port92": 0, "s5": 0, "shutdown-port": 0}


VMS_MAX = 8  # of one configuration


def payload_fatal(test):
    """A VM for each end, one after the other: each ends alone, with its own status."""
    test.write("fatal.elf", (PAYLOADS / "fatal.elf").read_bytes())
    ends = list(FATAL_ENDS.items())
    for first in range(0, len(ends), VMS_MAX):
        batch = dict(ends[first:first + VMS_MAX])
        config = "".join(f"[vm {name}]\nkernel = fatal.elf\ncmdline = end={name}\n"
                         "memory = 16M\nexit-port = yes\n\n" for name in batch)
        run = test.run("--config", test.write(f"fatal-{first}.conf", config), name=f"run-{first}")
        events = run.vm_events()
        for name, status in batch.items():
            run.expect_console(f"^FATAL {name}")
            expect(events.get(name, {}).get("status") == status,
                   f"vm {name} ended with {events.get(name)} in place of status {status}")
        expect("came back" not in run.console, "an end came back to the guest")
        run.expect_status(next((status for status in batch.values() if status), 0))


HOSTILE_SEEDS = (1, 20260, 424242)


def payload_hostile(test):
    """Random privileged operations with every fault caught; the guest is still sane after them."""
    test.write("hostile.elf", (PAYLOADS / "hostile.elf").read_bytes())
    config = "".join(f"[vm seed-{seed}]\nkernel = hostile.elf\n"
                     f"cmdline = seed={seed} rounds=10000\nmemory = 64M\ntest-device = yes\n\n"
                     for seed in HOSTILE_SEEDS)
    run = test.run("--config", test.write("hostile.conf", config))
    events = run.vm_events()
    expect(len(events) == len(HOSTILE_SEEDS), f"{len(events)} of {len(HOSTILE_SEEDS)} VMs ended")
    for name, event in events.items():
        expect(event["status"] == 1, f"vm {name} ended with {event}")
        logged = len(re.findall(rf"vm {name}: (INIT|SIPI) ", run.console))
        expect(logged <= 1, f"vm {name} filled the log: {logged} INITs and SIPIs")
    run.expect_status(1)


def budgets(test):
    """No kind of exit costs more instructions, VMREADs, ... than tests/budgets.toml allows."""
    done = subprocess.run([ROOT / "scripts" / "bench-exits", "--check", "--quiet", "--samples", "50"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    test.write("table", done.stdout + done.stderr)
    over = re.findall(r"^over budget: (.*)$", done.stdout, re.MULTILINE)
    expect(not over, "; ".join(over))
    expect(done.returncode == 0, f"bench-exits ends with {done.returncode}: {done.stderr.strip()}")


# ---------------------------------------------------------------- refusals

GOOD_VM = "[vm a]\nkernel = kernel.bin\nmemory = 16M\n"

# name: (torpor.conf, what the one line must say)
CONFIG_ERRORS = {
    "bad-key": (GOOD_VM + "colour = red\n", r"torpor\.conf:4: .*colour"),
    "bad-section": ("[hypervisor]\n\n[virtual a]\nkernel = kernel.bin\n",
                    r"torpor\.conf:3: .*virtual"),
    "bad-number": ("# a comment\n[vm a]\nkernel = kernel.bin\nmemory = 12Q\n",
                   r"torpor\.conf:4: .*12Q"),
    "missing-file": ("[vm a]\nkernel = nowhere.bin\nmemory = 16M\n",
                     r"torpor\.conf:2: .*nowhere\.bin"),
    "not-a-kernel": ("[vm a]\nkernel = text.bin\nmemory = 16M\n", r"torpor\.conf:2: .*text\.bin"),
    "too-much-memory": ("[vm a]\nkernel = kernel.bin\nmemory = 64G\n",
                        r"torpor\.conf:3: .*(64|65536|67108864)"),
}


def config_error(config, expected):
    def test_config_error(test):
        test.assemble("kernel.bin", MODE="port", VALUE=0)
        test.write("text.bin", "This is no kernel.\n" * 100)
        run = test.run("--config", test.write("own.conf", config))
        refused = [event for event in run.events if event["event"] == "refused"]
        expect(len(refused) == 1, f"{len(refused)} refusals on the status channel")
        expect(re.search(expected, refused[0]["reason"]),
               f"the reason is not /{expected}/: {refused[0]['reason']}")
        lines = [line for line in run.console.splitlines() if re.search(expected, line)]
        expect(lines, f"the serial console does not show /{expected}/")
        run.expect_status(CONFIG_ERROR)
    return test_config_error


def machine_error(model, expected):
    def test_machine_error(test):
        kernel = test.assemble("kernel.bin", MODE="port", VALUE=0)
        run = test.run("--kernel", kernel, "--memory", "16M", "--cpu-model", model)
        run.expect_status(MACHINE_ERROR)
        expect(re.search(expected, run.messages), f"no message names /{expected}/: {run.messages}")
        run.expect_console(expected)
    return test_machine_error


# Arguments of scripts/run that are mistakes, and what the line must name.
USAGE_ERRORS = [
    ([], "--kernel"),
    (["--colour"], "--colour"),
    (["--kernel", "/nonexistent"], "/nonexistent"),
    (["--kernel", "/etc"], "/etc"),
    (["--kernel", "K", "--memory", "12Q"], "12Q"),
    (["--kernel", "K", "--memory", "0"], "memory"),
    (["--kernel", "K", "--memory", "64G"], "--memory"),
    (["--kernel", "K", "--memory", "1G", "--host-memory", "512M"], "--host-memory"),
    (["--kernel", "K", "--cpus", "0"], "cpus"),
    (["--kernel", "K", "--cpu-model", "z80"], "z80"),
    (["--kernel", "K", "--config", "K"], "--config"),
    (["--kernel", "K", "--input", "/nonexistent"], "/nonexistent"),
    (["--kernel", "K", "--cmdline", "a\nb"], "--cmdline"),
    (["--kernel", "K", "--timeout", "soon"], "soon"),
    (["--kernel", "K", "--engine", "z80"], "z80"),
    (["--config", "/nonexistent"], "/nonexistent"),
]


def usage_errors(test):
    kernel = str(test.write("K", "x"))
    for arguments, expected in USAGE_ERRORS:
        words = [kernel if word == "K" else word for word in arguments]
        done = subprocess.run([ROOT / "scripts" / "run", *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        lines = done.stderr.strip().splitlines()
        expect(done.returncode == CONFIG_ERROR, f"{arguments}: exit status {done.returncode}")
        expect(len(lines) == 1 and expected in lines[0], f"{arguments}: says {lines}")


# ---------------------------------------------------------------- the table

def tests():
    """(name, function) in the order of starting: long ones first, so that the end is not one alone."""
    table = [("linux-shell", linux_shell), ("linux-options", linux_options),
             ("linux-pvh", linux_pvh), ("side-by-side", side_by_side), ("memtest", memtest)]
    table += [("payload-suite", payload_suite), ("payload-fatal", payload_fatal),
              ("payload-hostile", payload_hostile), ("budgets", budgets)]
    table += [("exit-codes", exit_codes), ("crash-status", crash_status), ("time-out", time_out)]
    table += [(f"config-{name}", config_error(*row)) for name, row in CONFIG_ERRORS.items()]
    table += [("machine-no-vmx", machine_error("p4_prescott_celeron_336", "VMX")),
              ("machine-no-ept", machine_error("core2_penryn_t9600", "EPT")),
              ("usage-errors", usage_errors)]
    return table


# Bochs' models with everything that Torpor needs (the others are refused: machine-*).
CPU_MODELS = ("corei5_arrandale_m520", "corei7_sandy_bridge_2600k", "corei7_ivy_bridge_3770k",
              "corei7_haswell_4770", "broadwell_ult", "corei7_skylake_x", "corei3_cnl",
              "corei7_icelake_u", "tigerlake")


def cpu_tests():
    """The payload suite on each CPU model: `make check-cpus`, not part of `make check`."""
    return [(f"cpu-{model}", lambda test, model=model: payload_suite(test, "--cpu-model", model))
            for model in CPU_MODELS]


def needed():
    """Files without which no test makes sense."""
    return [BUILD / "BOOTX64.EFI", PAYLOADS / "suite.elf", VMLINUZ, VMLINUX, INITRD, GUEST / "memtest.bin"]
