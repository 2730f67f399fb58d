# SPDX-License-Identifier: BSD-2-Clause
"""Types a prepared input at a guest's console the way a patient person would.

A serial line has no flow control here and a FIFO of 16 bytes, so bytes go in small groups, each after
the echo of the one before, and a line only after the answer to the line before has come to rest. All times are the
engine's clock: seconds of the machine, whatever else the host does.
"""
import re

GROUP = 8            # bytes at once: half a 16550's FIFO
ECHO_S = 0.25        # wait no longer than this for a group's echo (a guest may not echo)
FIRST_PROMPT_S = 1.0  # silence behind an unfinished line: the first prompt
PROMPT_S = 0.3       # and a later one
# Without a prompt there is only silence to go by, and a guest that boots can be silent for long.
FIRST_QUIET_S = 60.0
LINE_S = 5.0
# An unfinished line that is none: the hypervisor's log or the kernel's, caught in the middle.
NO_PROMPT = re.compile(rb"torpor: |\[ *[0-9]*(\.[0-9]*(\]|$)|$)")
LOG_PREFIX = b"torpor: "
LINE_MAX = 4096
FIRST_ECHO_S = 5.0   # the first group's echo shows that somebody listens


class Typist:
    def __init__(self, data):
        self._data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r")
        self._position = 0
        self._up = False         # the guest runs
        self._line = b""         # its last line, as far as it is printed
        self._last_output = 0.0
        self._sent_at = None
        self._expect = 0         # bytes of echo still awaited
        self._line_sent = True   # the input so far ends with a line's end

    def done(self):
        return self._position >= len(self._data)

    def begin(self, now):
        """The guest runs from here on; its console may still be busy with lines from before."""
        self._up, self._last_output = True, now

    def observe(self, output, now):
        """Bytes that the machine printed, from power-on."""
        self._line = re.split(rb"[\n\r\0]", self._line + output)[-1][-LINE_MAX:]
        self._last_output = now
        self._expect = max(0, self._expect - len(output))

    def _at_prompt(self):
        return (self._line and not NO_PROMPT.match(self._line) and
                not LOG_PREFIX.startswith(self._line))

    def _due(self, now):
        quiet = now - self._last_output
        if not self._up:
            return False
        if self._sent_at is None:
            return (self._at_prompt() and quiet >= FIRST_PROMPT_S) or quiet >= FIRST_QUIET_S
        waited = now - self._sent_at
        if self._line_sent:
            prompt = not self._expect and self._at_prompt() and quiet >= PROMPT_S
            return prompt or (waited >= LINE_S and quiet >= PROMPT_S)
        return not self._expect or waited >= (ECHO_S if self._position > GROUP else FIRST_ECHO_S)

    def next(self, now):
        """Bytes to type now; may be empty."""
        if self.done() or not self._due(now):
            return b""
        group = self._data[self._position:self._position + GROUP]
        end = group.find(b"\r") + 1
        if end:
            group = group[:end]
        self._position += len(group)
        self._sent_at = now
        self._expect = len(group)
        self._line_sent = bool(end)
        return group
