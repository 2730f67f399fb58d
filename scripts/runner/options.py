# SPDX-License-Identifier: BSD-2-Clause
"""The command line of scripts/run: options, their checks and the help text."""
import argparse
import pathlib
import re

from runner.status import USAGE, RunError

SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
MEMORY_DEFAULT = 256 << 20
MEMORY_MIN = 1 << 20
FIRMWARE_MEMORY = 256 << 20  # firmware, the loader's copies of the files, the hypervisor
HOST_MEMORY_MIN = 128 << 20
CPUS_MAX = 64

EXIT_STATUSES = """\
exit status:
  0     the guest powered off or reset (a VM is not started again)
  odd   the guest's own code: v written to port 0xf4 gives ((v & 0x7f) << 1) | 1
  64    bad arguments, or a mistake in the configuration
  66    the machine cannot run it (no VMX, a feature or a program is missing, ...)
  68    the guest crashed (triple fault, entry failure, ...)
  70    the hypervisor crashed, or ended without a word
  124   time-out
  130   ended by a person (Ctrl-C, or Ctrl-A x at the console)
  With several VMs: the first that is not 0, in the configuration's order.

console:
  The guest's COM1 is standard output, and the terminal if standard input is one. Then Ctrl-A x ends
  the machine and Ctrl-A a sends Ctrl-A. Progress and messages go to standard error.

example:
  scripts/run --kernel build/guest/vmlinuz --initrd build/guest/initrd.img \\
      --cmdline 'console=ttyS0,115200' --memory 512M
"""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise RunError(USAGE, f"{message} (--help lists the options)")


def size(text):
    match = re.fullmatch(r"(\d{1,15})([KMG]?)(?:i?B)?", text, re.IGNORECASE)
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size; write it like 512M")
    return int(match[1]) * SIZE_UNITS[match[2].upper()]


def count(text):
    if not re.fullmatch(r"\d{1,4}", text) or not 1 <= int(text) <= CPUS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {CPUS_MAX}")
    return int(text)


def seconds(text):
    if not re.fullmatch(r"\d{1,7}(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds")
    return float(text) if "." in text else int(text)


def parser(loader):
    p = Parser(
        prog="scripts/run", formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False, epilog=EXIT_STATUSES,
        description="Boots Torpor with a guest on an emulated or virtual machine.")
    what = p.add_argument_group("what to run (either --kernel or --config)")
    what.add_argument("--kernel", metavar="FILE",
                      help="Linux bzImage, multiboot 1 or PVH ELF kernel")
    what.add_argument("--initrd", metavar="FILE", help="initial RAM disk of a Linux or PVH kernel")
    what.add_argument("--module", metavar="FILE", action="append", default=[],
                      help="multiboot module, with its command line behind a space: "
                      "'FILE text'; can be repeated")
    what.add_argument("--cmdline", metavar="TEXT", default="", help="the kernel's command line")
    what.add_argument("--memory", metavar="SIZE", type=size,
                      help="the guest's memory (default 256M)")
    what.add_argument("--cpus", metavar="N", type=count, help="the guest's CPUs (default 1)")
    what.add_argument("--test-device", action="store_true",
                      help="give the guest the test ports: line setter, port latch, page unmapper, "
                      "scratch MMIO (the exit port 0xf4 is always there)")
    what.add_argument("--config", metavar="FILE",
                      help="one's own torpor.conf in place of the options above; files that it "
                      "names are taken relative to it")
    how = p.add_argument_group("where to run it")
    how.add_argument("--engine", choices=("auto", "bochs", "kvm"), default="auto",
                     help="auto (default): QEMU/KVM if this machine offers nested VMX, "
                     "otherwise Bochs")
    how.add_argument("--cpu-model", metavar="NAME",
                     help="the machine's CPU (default: corei7_skylake_x in Bochs, host in QEMU); "
                     "'bochs --help cpu' lists those of Bochs")
    how.add_argument("--host-cpus", metavar="N", type=count, default=1,
                     help="CPUs of the machine (default 1)")
    how.add_argument("--host-memory", metavar="SIZE", type=size,
                     help="memory of the machine (default: enough for the guests, at least 512M)")
    run = p.add_argument_group("the run itself")
    run.add_argument("--input", metavar="FILE",
                     help="type these bytes at the guest once its console is up, line by line; "
                     "'-' is standard input")
    run.add_argument("--console", metavar="FILE",
                     help="record all output of the serial console in this file")
    run.add_argument("--timeout", metavar="SECONDS", type=seconds, default=0,
                     help="end the run after this time with status 124 (default: never)")
    run.add_argument("--quiet", action="store_true", help="no progress on standard error")
    run.add_argument("--keep-logs", metavar="DIR",
                     help="leave the engine's logs and the status events in this directory")
    run.add_argument("--loader", metavar="FILE", default=str(loader),
                     help="the boot program (default build/BOOTX64.EFI)")
    return p


def _check_guest(options):
    guest_options = [name for name, value in (
        ("--kernel", options.kernel), ("--initrd", options.initrd), ("--module", options.module),
        ("--cmdline", options.cmdline), ("--memory", options.memory), ("--cpus", options.cpus),
        ("--test-device", options.test_device)) if value]
    if options.config and guest_options:
        raise RunError(USAGE, f"{guest_options[0]} cannot go with --config: write it in the file")
    if not options.config and not options.kernel:
        raise RunError(USAGE, "nothing to run: give --kernel FILE or --config FILE")


def _config_memory(path):
    """What the VMs of a configuration ask for; a bad number is the loader's to complain about."""
    try:
        text = pathlib.Path(path).read_text(encoding="latin-1")
    except OSError:
        return MEMORY_DEFAULT  # reported when the file is read for its contents
    sizes = re.findall(r"^\s*memory\s*=\s*(\d{1,9}[KMG]?)\s*$", text, re.MULTILINE)
    return max([size(text) for text in sizes if int(re.match(r"\d+", text)[0])],
               default=MEMORY_DEFAULT)


def parse(arguments, loader):
    """Checked options; RunError with status 64 for a mistake."""
    options = parser(loader).parse_args(arguments)
    _check_guest(options)
    if options.memory is None:
        options.memory = _config_memory(options.config) if options.config else MEMORY_DEFAULT
    elif options.memory < MEMORY_MIN or options.memory % 4096:
        raise RunError(USAGE, "--memory: a multiple of 4K, at least 1M")
    options.cpus = options.cpus or 1
    options.host_memory_given = options.host_memory is not None
    if options.host_memory_given and options.host_memory < HOST_MEMORY_MIN:
        raise RunError(USAGE, "--host-memory: the firmware needs at least 128M")
    return options


def settle_host_memory(options, files_size, limit):
    """The machine's memory when it was not given: room for the guest, the files and the firmware."""
    if options.kernel:
        most = options.host_memory if options.host_memory_given else limit
        if options.memory >= most:
            raise RunError(USAGE, f"--memory: {options.memory >> 20} MiB do not fit into a machine of "
                           f"{most >> 20} MiB (--host-memory)")
    if options.host_memory_given:
        return
    need = options.memory + 2 * files_size + FIRMWARE_MEMORY
    need = -(-need // (64 << 20)) * (64 << 20)
    options.host_memory = min(max(need, 512 << 20), max(limit, 512 << 20))
