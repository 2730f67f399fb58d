# SPDX-License-Identifier: BSD-2-Clause
"""Runs bench.elf under Torpor: what it measures itself, and on Bochs each kind's exits as traced."""
import io
import itertools
import pathlib
import re
import shutil
import tempfile
import tomllib

from runner import config, debugger, engines, esp, exits, options as command_line
from runner.session import Session
from runner.status import PANIC, USAGE, RunError

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PAYLOAD = BUILD / "tests" / "guest" / "bench.elf"
BUDGETS = ROOT / "tests" / "budgets.toml"
TIMEOUT_S = 240

MEASURED = re.compile(r"^BENCH (\w+) (\d+) (\d+)\s*$", re.MULTILINE)
TRACED = re.compile(r"^TRACE (\w+) (\d+)\s*$", re.MULTILINE)

# Exits that come by themselves. Elsewhere they are not the operation's, and are left out.
UNASKED = {"extint": "exit_external_interrupt", "preempt": "exit_preemption_timer"}


def budgets():
    """kind: {"asked", "guard", "vmread", "vmwrite", "serializing"}, in the table's order."""
    try:
        return tomllib.loads(BUDGETS.read_text())
    except (OSError, ValueError) as error:
        raise RunError(USAGE, f"{BUDGETS}: {error}") from None


class Result:
    """minimum, median: by kind, in TSC ticks, the guest's own instructions included; operations: by
    kind, a list of the exits that each marked operation took."""

    def __init__(self, engine, model):
        self.engine, self.model = engine, model
        self.minimum, self.median, self.operations = {}, {}, {}

    def worst(self, kind):
        """The exits of the dearest operation; None if it was not traced."""
        return max(self.operations.get(kind, ()), key=lambda found: sum(map(len, found)),
                   default=None)


def _own(kind, found):
    """The exits that the operation is about."""
    if kind in UNASKED:
        return [one for one in found if one.calls(UNASKED[kind])][:1]
    return [one for one in found if not any(map(one.calls, UNASKED.values()))]


def _sort_out(result, console, talk):
    image = exits.Image()
    stretches = iter(debugger.stretches(talk))
    for kind, count in TRACED.findall(console):
        operations = [_own(kind, exits.find(image, stretch))
                      for stretch in itertools.islice(stretches, int(count))]
        if len(operations) < int(count):
            raise RunError(PANIC, f"{kind}: {len(operations)} of {count} operations were traced")
        if kind in UNASKED and not all(operations):
            raise RunError(PANIC, f"{kind}: no such exit came within the traced time")
        result.operations[kind] = operations


def run(progress, kinds=(), model=None, engine="bochs", samples=1000):
    """Boots the payload and returns a Result; RunError if it did not come to its end."""
    words = ["--kernel", str(PAYLOAD), "--memory", "64M", "--timeout", str(TIMEOUT_S),
             "--engine", engine]
    tracing = engine == "bochs"
    line = f"n={samples} trace={int(tracing)}" + (f" kinds={','.join(kinds)}" if kinds else "")
    options = command_line.parse(words + ["--cmdline", line] +
                                 (["--cpu-model", model] if model else []), BUILD / "BOOTX64.EFI")
    machine = debugger.TracingBochs(options) if tracing else engines.Kvm(options)
    volume = esp.Esp()
    volume.add(esp.LOADER, pathlib.Path(options.loader))
    config.from_options(options, volume)
    command_line.settle_host_memory(options, volume.size(), 1 << 30)
    machine.check(options)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="torpor-bench."))
    record = io.BytesIO()
    try:
        (folder / "scratch").mkdir()
        volume.write_image(folder / "esp.img", folder / "scratch")
        progress.say(f"engine: {machine.describe(options)}")
        session = Session(machine, options, folder, progress, record=record)
        session.run(folder / "esp.img")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console = record.getvalue().decode("latin-1").replace("\r", "")
    if "BENCH-DONE" not in console:
        status, message = session.exit_status([])
        raise RunError(status or PANIC, message or "the payload ended early")
    result = Result(engine, machine.model)
    for kind, minimum, median in MEASURED.findall(console):
        result.minimum[kind], result.median[kind] = int(minimum), int(median)
    if tracing:
        _sort_out(result, console, session.channel.talk)
    return result
