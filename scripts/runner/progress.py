# SPDX-License-Identifier: BSD-2-Clause
"""Progress on standard error: one live line on a terminal, now and then a line elsewhere."""
import sys
import time

LIVE_S = 1.0
LOG_S = 10.0


class Progress:
    def __init__(self, quiet=False, stream=sys.stderr):
        self._stream = stream
        self._live = stream.isatty()
        self._quiet = quiet
        self._stage = None
        self._since = self._shown = time.monotonic()
        self._open = False

    def say(self, text):
        """A line that stays."""
        self.clear()
        if not self._quiet:
            self.warn(text)

    def warn(self, text):
        """A line that stays, also where progress is not wanted."""
        self.clear()
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def stage(self, text):
        """Begins a stage whose seconds tick() shows."""
        self._stage, self._since = text, time.monotonic()
        self._shown = 0 if self._live else self._since
        if not self._live:
            self.say(text)
        self.tick()

    def tick(self):
        now = time.monotonic()
        if self._quiet or not self._stage:
            return
        if now - self._shown < (LIVE_S if self._live else LOG_S):
            return
        self._shown = now
        text = f"{self._stage}, {now - self._since:.0f} s"
        self._stream.write(f"\r\033[K{text}" if self._live else f"{text}\n")
        self._stream.flush()
        self._open = self._live

    def clear(self):
        """Takes the live line away, so that other output can follow."""
        if self._open:
            self._stream.write("\r\033[K")
            self._stream.flush()
            self._open = False

    def done(self):
        self.clear()
        self._stage = None
