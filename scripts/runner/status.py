# SPDX-License-Identifier: BSD-2-Clause
"""The status channel and the exit statuses that follow from it.

The loader and the hypervisor write lines to the engine's debug port (I/O port 0xE9), which no guest
reaches: "@torpor " and a JSON object. Both engines put that port's bytes on their standard output;
whatever else they print there has no such prefix and is kept as the engine's own talk.

    {"event":"start","version":"..."}          the hypervisor runs
    {"event":"enter","name":"guest","tsc":N}   first entry into that VM
    {"event":"vm","name":"guest","status":N,"reason":"..."}
    {"event":"end","status":N}                 all VMs are done
    {"event":"panic","reason":"..."}
    {"event":"refused","kind":"config"|"machine","reason":"..."}
"""
import json

OK = 0
USAGE = 64
MACHINE = 66
CRASHED = 68
PANIC = 70
TIMEOUT = 124
INTERRUPTED = 130

PREFIX = b"@torpor "
LINE_MAX = 1 << 16

REFUSAL_STATUS = {"config": USAGE, "machine": MACHINE}


class RunError(Exception):
    """The run cannot go on: one line for the person and the exit status that says so."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class StatusChannel:
    """Takes the engine's standard output apart into events and other lines."""

    def __init__(self):
        self.events = []
        self.talk = []
        self._partial = b""

    def feed(self, data):
        """Returns the events that these bytes complete."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._partial = self._partial[-LINE_MAX:]
        fresh = [event for event in map(self._parse, lines) if event]
        self.events += fresh
        return fresh

    def _parse(self, line):
        # The engine's own text may stand before ours on the same line, never behind it.
        start = line.find(PREFIX)
        if start >= 0:
            try:
                event = json.loads(line[start + len(PREFIX):])
            except ValueError:
                event = None
            if isinstance(event, dict) and "event" in event:
                return event
        if line.strip():
            self.talk.append(line.decode("latin-1").rstrip())
        return None

    def find(self, kind):
        return next((event for event in self.events if event["event"] == kind), None)

    def finished(self):
        """True once nothing more is to be expected of the machine."""
        return any(event["event"] in ("end", "panic", "refused") for event in self.events)

    def exit_status(self, names):
        """The run's exit status; names: the VMs in the configuration's order. None: no word of it."""
        if self.find("panic"):
            return PANIC
        refused = self.find("refused")
        if refused:
            return REFUSAL_STATUS.get(refused.get("kind"), PANIC)
        end = self.find("end")
        if not end:
            return None
        statuses = {event.get("name"): event.get("status")
                    for event in self.events if event["event"] == "vm"}
        order = [name for name in names if name in statuses]
        order += [name for name in statuses if name not in order]
        nonzero = next((statuses[name] for name in order if statuses[name]), end.get("status", 0))
        return nonzero if isinstance(nonzero, int) and 0 <= nonzero <= 255 else PANIC
