# SPDX-License-Identifier: BSD-2-Clause
"""One run: starts the engine, carries the console and the status channel, ends it all.

Whatever happens, the engine is gone and the terminal is as before when run() returns.
"""
import os
import select
import signal
import subprocess
import time

from runner.firmware_filter import FirmwareFilter
from runner.status import INTERRUPTED, PANIC, TIMEOUT, StatusChannel

TICK_S = 0.1
GRACE_S = 2.0   # for the machine to power itself off behind its last word
DRAIN_S = 0.3   # console output behind a refusal
READ_MAX = 65536


class Session:
    """screen, record: binary files that get the console's output, or None; terminal: Terminal or None;
    typist: Typist or None. folder: the run's own, for the engine's files."""

    def __init__(self, engine, options, folder, progress, *, screen=None, record=None,
                 terminal=None, typist=None):
        self.channel = StatusChannel()
        self.notes = []  # (status, text) that we found out ourselves
        self._engine, self._options, self._folder = engine, options, folder
        self._progress, self._terminal, self._typist = progress, terminal, typist
        self._screen, self._record = screen, record
        self._filter = FirmwareFilter()
        self._guest_up = False
        self._process = None
        self._console = self._console_far = self._status = -1

    # ------------------------------------------------------------ start and end

    def run(self, image):
        """Returns True if the machine said its last word, False if something else ended it."""
        self._start(image)
        try:
            return self._loop()
        finally:
            self._stop()

    def _start(self, image):
        self._console, self._console_far = self._engine.open_console()
        os.set_blocking(self._console, False)
        self._status, status_far = os.pipe()
        command, environment = self._engine.command(
            self._options, self._folder, image, self._console_far, self._terminal is not None)
        with open(self._folder / "engine.err", "wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=status_far, stderr=errors,
                env=environment, cwd=self._folder, start_new_session=True,
                pass_fds=(self._console_far,))
        os.close(status_far)
        self._progress.stage("firmware running")

    def _stop(self):
        if self._process:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._process.wait()
        if self._terminal:
            self._terminal.restore()
        self._progress.done()
        for fd in (self._console, self._console_far, self._status):
            if fd >= 0:
                os.close(fd)

    # ------------------------------------------------------------ the loop

    def _loop(self):
        begin = time.monotonic()
        deadline = begin + self._options.timeout if self._options.timeout else None
        last_word = None
        while True:
            fds = [self._console, self._status]
            if self._terminal and self._guest_up:
                fds.append(self._terminal.fd)
            ready, _, _ = select.select(fds, [], [], TICK_S)
            now = time.monotonic()
            if self._console in ready:
                self._on_console(now)
            if self._status in ready and not self._on_status():
                return self._on_engine_end()
            if self._terminal and self._terminal.fd in ready and not self._on_keys():
                self.notes.append((INTERRUPTED, "ended by Ctrl-A x"))
                return False
            self._type(now)
            self._progress.tick()
            if self.channel.finished() and last_word is None:
                last_word = now
            if last_word is not None and now - last_word > self._grace():
                return True
            if deadline and now > deadline:
                self.notes.append((TIMEOUT, f"time-out: no end after {self._options.timeout} s"))
                return False

    def _grace(self):
        return DRAIN_S if self.channel.find("refused") else GRACE_S

    def _on_console(self, now):
        try:
            data = os.read(self._console, READ_MAX)
        except (BlockingIOError, OSError):
            return
        if self._record:
            self._record.write(data)
            self._record.flush()
        if self._guest_up:
            self._show(data)
            if self._typist:
                self._typist.observe(data, now)
            return
        self._show(self._filter.feed(data))

    def _show(self, data):
        if data and self._screen:
            self._progress.clear()
            self._screen.write(data)
            self._screen.flush()

    def _on_status(self):
        """False: the engine closed its output, it is gone."""
        data = os.read(self._status, READ_MAX)
        if not data:
            return False
        for event in self.channel.feed(data):
            if event["event"] == "start":
                self._progress.stage("hypervisor running")
            elif event["event"] == "enter":
                self._on_guest()
        return True

    def _on_guest(self):
        if self._guest_up:
            return
        self._on_console(time.monotonic())
        self._guest_up = True
        self._show(self._filter.flush())
        self._progress.done()
        if self._terminal:
            self._terminal.raw()

    def _on_engine_end(self):
        self._on_console(time.monotonic())
        self._show(self._filter.flush())
        if self.channel.finished():
            return True
        self._process.wait()
        began = bool(self.channel.events)
        self.notes.append(self._engine.explain(self._folder, began))
        return False

    # ------------------------------------------------------------ input

    def _on_keys(self):
        data, end = self._terminal.read()
        self._send(data)
        return not end

    def _type(self, now):
        if self._typist and self._guest_up:
            self._send(self._typist.next(now))

    def _send(self, data):
        while data:
            try:
                data = data[os.write(self._console, data):]
            except BlockingIOError:
                time.sleep(0.01)  # the guest does not read: the line is full
                return

    def exit_status(self, names):
        """The status of the whole run and the line that explains it, or None for the latter."""
        status = self.channel.exit_status(names)
        for event in self.channel.events:
            if event["event"] in ("panic", "refused"):
                return status, f"{event['event']}: {event.get('reason', 'no reason given')}"
        if status is not None:
            return status, None
        return self.notes[0] if self.notes else (PANIC, "the machine stopped without a word")
