# SPDX-License-Identifier: BSD-2-Clause
"""Makes the firmware's serial output fit to be shown before the guest's console is up.

Firmware clears the screen and moves the cursor, which would wipe a person's terminal; its boot
manager's lines tell nothing. The loader's and the hypervisor's lines pass, line by line.
"""
import re

CONTROL = re.compile(rb"\x1b\[[0-9;=?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
DROPPED = re.compile(rb"\s*$|BdsDxe: |UEFI Interactive Shell|Mapping table|Press ESC in ")


class FirmwareFilter:
    def __init__(self):
        self._partial = b""

    def feed(self, data):
        """The text to show for these bytes."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        return b"".join(self._clean(line) for line in lines)

    def flush(self):
        """What is left of an unfinished line."""
        rest, self._partial = self._clean(self._partial), b""
        return rest

    @staticmethod
    def _clean(line):
        text = CONTROL.sub(b"", line)
        return b"" if DROPPED.match(text) else text + b"\n"
