# SPDX-License-Identifier: BSD-2-Clause
"""The machine in the machine: an outer Linux whose process 1 starts QEMU/KVM on Torpor's boot volume.

What check-nested boots in Bochs: the Debian kernel with an initial RAM disk that holds KVM's modules, QEMU
with its libraries and ROMs, and the inner machines, a command line each (scripts/nested/init runs them).
"""
import pathlib
import re
import subprocess

from runner import cpio, debian, engines
from runner.firmware_filter import FirmwareFilter
from runner.status import MACHINE, RunError, StatusChannel

SCRIPTS = pathlib.Path(__file__).resolve().parents[1]
GUEST = SCRIPTS.parent / "build" / "guest"
QEMU = pathlib.Path("/usr/bin/qemu-system-x86_64")
ROM_FOLDERS = [pathlib.Path("/usr/share/qemu"), pathlib.Path("/usr/share/seabios")]
ROMS = ["bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin", "multiboot_dma.bin"]
MODULES = ["irqbypass", "kvm", "kvm-intel"]
APPLETS = ["sh", "mount", "insmod", "cat", "sed", "grep", "mkfifo", "dmesg", "uname", "sleep",
           "timeout"]
EMPTY_FOLDERS = ["dev", "proc", "sys", "tmp"]

# The counter of Bochs is the outer kernel's clock; no calibration finds out more than this.
CMDLINE = ("console=ttyS0,115200 mitigations=off loglevel=4 tsc_early_khz="
           f"{engines.BOCHS_IPS // 1000}")

# An inner machine. Its time-out counts the outer machine's seconds: BOCHS_IPS instructions each, and the time
# in which every processor of it halts passes at once.
MACHINE_COMMAND = """\
exec timeout -s KILL {seconds} qemu-system-x86_64 -L /roms -nodefaults -no-user-config -no-reboot \\
    -display none -monitor none -net none -serial stdio \\
    -chardev file,id=status,path=/status.{name} -device isa-debugcon,iobase=0xe9,chardev=status \\
    -machine pc,accel=kvm -cpu {cpu} -m {memory} -bios /roms/OVMF.fd \\
    -drive file=/inner.img,format=raw,if=ide
"""

STATUS = re.compile(rb"nested-status (\w+): ([^\n]*)\n")
REFUSED = re.compile(rb"^nested-refused: .*?kvm_nested_vmenter_failed: (.*)$", re.MULTILINE)
DMESG = re.compile(rb"^nested-dmesg: (.*)$", re.MULTILINE)
TSC = re.compile(rb"^torpor-bench init tsc=(\d+)$", re.MULTILINE)


def _libraries(program):
    """The shared objects that a program is loaded with, the dynamic linker included."""
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return sorted({pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", shown)})


def _rom(name):
    for folder in ROM_FOLDERS:
        if (folder / name).exists():
            return (folder / name).read_bytes()
    raise RunError(MACHINE, f"{name} is missing: install qemu-system-x86, or run scripts/setup")


def initial_ram_disk(image, machines):
    """image: Torpor's boot volume; machines: rows with name, cpu, memory (MiB) and seconds."""
    kernel = debian.download("linux-image-" + (GUEST / "version").read_text().strip())
    files = {
        "init": (SCRIPTS / "nested" / "init").read_bytes(),
        "inner.img": image,
        "bin/busybox": pathlib.Path("/bin/busybox").read_bytes(),
        "sbin/bench-init": (GUEST / "bench-init").read_bytes(),
        "sbin/qemu-system-x86_64": QEMU.read_bytes(),
        "roms/OVMF.fd": pathlib.Path(engines.FIRMWARE).read_bytes(),
    }
    files.update({f"roms/{name}": _rom(name) for name in ROMS})
    files.update({str(path).lstrip("/"): path.read_bytes() for path in _libraries(QEMU)})
    files.update({f"modules/{name}.ko": debian.unpack(kernel, rf".*/{name}\.ko")
                  for name in MODULES})
    files.update({f"machines/{number}.{machine.name}":
                  MACHINE_COMMAND.format(**machine._asdict()).encode()
                  for number, machine in enumerate(machines)})
    folders = {str(parent) for name in files
               for parent in list(pathlib.PurePosixPath(name).parents)[:-1]}
    entries = [(name, cpio.S_DIR, b"", (0, 0)) for name in sorted(folders | set(EMPTY_FOLDERS))]
    entries += [cpio.CONSOLE]
    entries += [(name, cpio.S_FILE, data, (0, 0)) for name, data in files.items()]
    entries += [(f"bin/{name}", cpio.S_LINK, b"busybox", (0, 0)) for name in APPLETS]
    return cpio.archive(entries)


class Watcher:
    """The session's screen: shows the console, and the stage that it has come to as progress."""

    STAGES = [
        (re.compile(rb"^\[ +\d+\.\d+\] "), "outer Linux boots"),
        (re.compile(rb"^nested: Linux"), "outer Linux with KVM is up"),
        (re.compile(rb"^nested: machine (\w+)$"), "{}: firmware under KVM"),
        (re.compile(rb"^torpor: Torpor "), "Torpor runs under KVM"),
        (re.compile(rb"nested-status \w+: .*\"event\":\"enter\",\"vm\":\"(\w+)\""),
         "VM {} under Torpor under KVM"),
        (re.compile(rb"^nested: done"), "ending"),
    ]

    def __init__(self, progress, screen):
        self._progress, self._screen = progress, screen
        self._filter = FirmwareFilter()
        self._seen = set()

    def write(self, data):
        for line in self._filter.feed(data).splitlines():
            if not line.startswith(b"nested-dmesg"):
                self._progress.clear()
                self._screen.write(line + b"\n")
                self._screen.flush()
            self._follow(line)

    def _follow(self, line):
        """Each stage is told of when it begins, not again."""
        for pattern, text in self.STAGES:
            match = pattern.search(line)
            stage = match and text.format(*(part.decode() for part in match.groups()))
            if stage and stage not in self._seen:
                self._seen.add(stage)
                self._progress.stage(stage)

    def flush(self):
        """Whole lines are shown as they end."""


class Outcome:
    """What a run's console says: the status channel of each machine, KVM's complaints, the cost."""

    def __init__(self, console):
        self._channels = {}
        for name, line in STATUS.findall(console):
            channel = self._channels.setdefault(name.decode(), StatusChannel())
            channel.feed(line + b"\n")
        # A status line may have come in the middle of a line of the machine's own console.
        console = STATUS.sub(b"", console)
        self._console = console
        self.refused = [line.decode("latin-1") for line in REFUSED.findall(console)]
        self.dmesg = [line.decode("latin-1") for line in DMESG.findall(console)]
        tsc = TSC.search(console)
        self.instructions = int(tsc[1]) if tsc else None
        self.traced = b"nested: refused entries are traced\n" in console
        self.finished = b"nested: done\n" in console

    def events(self, machine):
        channel = self._channels.get(machine)
        return channel.events if channel else []

    def lines(self, pattern):
        return [line.decode("latin-1").strip()
                for line in re.findall(pattern, self._console, re.MULTILINE)]
