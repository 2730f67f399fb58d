# SPDX-License-Identifier: BSD-2-Clause
"""The two machines that Torpor runs on here: Debian's Bochs and QEMU/KVM with nested VMX.

An engine is started with the guest's COM1 on a pseudo terminal or socket pair and the debug port on its
standard output. Neither opens a network port that others reach, so any number run side by side.
"""
import os
import pathlib
import pty
import re
import shutil
import socket
import subprocess
import termios
import tty

from runner.status import MACHINE, PANIC, USAGE, RunError

FIRMWARE = "/usr/share/ovmf/OVMF.fd"
BOCHS_VGA = "/usr/share/seabios/vgabios-stdvga.bin"
BOCHS_SHARE = "/usr/share/bochs"
BOCHS_DISPLAY = "/usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_rfb_gui.so"
BOCHS_CPUS_MAX = 8
BOCHS_MEMORY_MAX = 2 << 30

# Instructions per emulated second. The TSC advances by one an instruction at this rate.
BOCHS_IPS = 100000000

BOCHSRC = """\
config_interface: textconfig
display_library: rfb, options="timeout=0"
romimage: file={firmware}, address=0x0, options=none
vgaromimage: file={vga}
vga: extension=vbe, update_freq=1
cpu: model={model}, count={cpus}:1:1, ips={ips}, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest={memory}, host={memory}
pci: enabled=1, chipset=i440fx
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path={image}, mode=flat
boot: disk
com1: enabled=1, mode=term, dev={console}
port_e9_hack: enabled=1
clock: sync={sync}, time0=utc
log: {log}
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
"""


def _require(path, package):
    if not os.path.exists(path):
        raise RunError(MACHINE, f"{path} is missing: install the package {package}, "
                       "or run scripts/setup")


def _require_program(name, package):
    if not shutil.which(name):
        raise RunError(MACHINE, f"{name} is missing: install the package {package}, "
                       "or run scripts/setup")


def _works(*command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _last_match(path, pattern):
    """The last line of a log that matches, or None."""
    try:
        text = pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return None
    found = re.findall(pattern, text, re.MULTILINE)
    return found[-1].strip() if found else None


class Bochs:
    name = "bochs"
    default_model = "corei7_skylake_x"

    def __init__(self, options):
        self.model = options.cpu_model or self.default_model

    @staticmethod
    def models():
        """The names that --cpu-model takes."""
        _require_program("bochs", "bochs")
        text = subprocess.run(["bochs", "--help", "cpu"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        return re.findall(r"^([a-z0-9_]+)$", text, re.MULTILINE)

    def check(self, options):
        _require_program("bochs", "bochs")
        _require(BOCHS_DISPLAY, "bochs")
        _require(BOCHS_VGA, "seabios")
        _require(FIRMWARE, "ovmf")
        models = self.models()
        if self.model not in models:
            raise RunError(USAGE, f"--cpu-model {self.model}: Bochs has no such model; it has "
                           + ", ".join(models))
        if options.host_cpus > BOCHS_CPUS_MAX:
            raise RunError(USAGE, f"--host-cpus {options.host_cpus}: this Bochs has at most "
                           f"{BOCHS_CPUS_MAX}")
        if options.host_memory > BOCHS_MEMORY_MAX:
            raise RunError(USAGE, f"a machine with {options.host_memory >> 20} MiB: this Bochs has "
                           f"at most {BOCHS_MEMORY_MAX >> 20} MiB")

    def describe(self, options):
        return (f"Bochs, {self.model}, {options.host_cpus} CPU"
                f"{'s' if options.host_cpus > 1 else ''}, {options.host_memory >> 20} MiB")

    @staticmethod
    def open_console():
        """(our end of COM1, the engine's end), file descriptors. Bochs opens its end by name."""
        ours, far = pty.openpty()
        tty.setraw(far, termios.TCSANOW)
        return ours, far

    def command(self, options, folder, image, console, interactive):
        """Writes the engine's files into folder; console: the engine's end of COM1, inherited.
        Returns the argument list and the environment."""
        settings = BOCHSRC.format(
            firmware=FIRMWARE, vga=BOCHS_VGA, model=self.model, cpus=options.host_cpus,
            ips=BOCHS_IPS, memory=options.host_memory >> 20, image=image,
            console=os.ttyname(console),
            log=folder / "bochs.log", sync="slowdown" if interactive else "none")
        (folder / "bochsrc").write_text(settings)
        (folder / "bochs.rc").write_text("c\n")  # Debian's Bochs starts in its debugger
        words = ["bochs", "-q", "-f", str(folder / "bochsrc"), "-rc", str(folder / "bochs.rc")]
        # The rfb display listens on port 5900 and up: shut it into a network of its own.
        isolate = ["unshare", "-rn"] if _works("unshare", "-rn", "true") else []
        words = isolate + ["setpriv", "--pdeathsig", "KILL"] + words
        return words, dict(os.environ, BXSHARE=BOCHS_SHARE)

    def explain(self, folder, began):
        """The engine ended by itself: what it said. began: did anything of ours run?"""
        panic = _last_match(folder / "bochs.log", r"^\d+p(\[.*?\].*)$")
        if panic:
            return PANIC if began else MACHINE, "Bochs stopped: " + panic.replace(">>PANIC<< ", "")
        said = _last_match(folder / "engine.err", r"^(?!0+i\[)(?!=+$)(\S.*)$")
        return PANIC if began else MACHINE, "Bochs ended" + (f": {said}" if said else "")


class Kvm:
    name = "kvm"
    default_model = "host"

    def __init__(self, options):
        self.model = options.cpu_model or self.default_model

    @staticmethod
    def missing():
        """Why nested VMX is not to be had here; None if it is."""
        try:
            cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
        except OSError:
            cpuinfo = ""
        if not re.search(r"^flags\s*:.*\bvmx\b", cpuinfo, re.MULTILINE):
            return "the CPU offers no VMX (or the firmware switched it off)"
        if not os.access("/dev/kvm", os.R_OK | os.W_OK):
            return "/dev/kvm is missing or not open to this user"
        try:
            nested = pathlib.Path("/sys/module/kvm_intel/parameters/nested").read_text().strip()
        except OSError:
            nested = "N"
        if nested not in ("Y", "1"):
            return "nested VMX is off: load kvm_intel with nested=1"
        if not shutil.which("qemu-system-x86_64"):
            return "qemu-system-x86_64 is missing: install the package qemu-system-x86"
        return None

    def check(self, options):
        reason = self.missing()
        if reason:
            raise RunError(MACHINE, f"--engine kvm: {reason}")
        _require(FIRMWARE, "ovmf")
        if "," in self.model or not self.model:
            raise RunError(USAGE, f"--cpu-model {self.model}: not the name of a QEMU CPU model")

    def describe(self, options):
        return (f"QEMU/KVM, {self.model}, {options.host_cpus} CPU"
                f"{'s' if options.host_cpus > 1 else ''}, {options.host_memory >> 20} MiB")

    @staticmethod
    def open_console():
        # A socket, not a terminal: QEMU drops output that a terminal does not take at once.
        ours, far = socket.socketpair()
        return ours.detach(), far.detach()

    def command(self, options, folder, image, console, interactive):
        words = ["setpriv", "--pdeathsig", "KILL",
                 "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot",
                 "-machine", "pc,accel=kvm", "-cpu", f"{self.model},+vmx",
                 "-smp", str(options.host_cpus), "-m", str(options.host_memory >> 20),
                 "-bios", FIRMWARE, "-net", "none", "-display", "none", "-vga", "std",
                 "-drive", f"file={str(image).replace(',', ',,')},format=raw,if=ide",
                 "-chardev", f"socket,id=console,fd={console}", "-serial", "chardev:console",
                 "-chardev", "stdio,id=status,signal=off",
                 "-device", "isa-debugcon,iobase=0xe9,chardev=status"]
        return words, dict(os.environ)

    def explain(self, folder, began):
        said = _last_match(folder / "engine.err", r"^(\S.*)$")
        return PANIC if began else MACHINE, "QEMU ended" + (f": {said}" if said else "")


def pick(options):
    """The engine for these options, checked; RunError if it cannot run here."""
    engines = {"bochs": Bochs, "kvm": Kvm}
    name = options.engine
    if name == "auto":
        # A model by name is Bochs's: KVM has only the machine's own.
        name = "bochs" if options.cpu_model or Kvm.missing() else "kvm"
    engine = engines[name](options)
    engine.check(options)
    return engine
