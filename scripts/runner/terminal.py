# SPDX-License-Identifier: BSD-2-Clause
"""The person's terminal while it is the guest's console: raw, with Ctrl-A as the escape key.

Ctrl-A x ends the machine, Ctrl-A Ctrl-A (or Ctrl-A a) sends one Ctrl-A; every other key is the guest's.
"""
import os
import termios
import tty

ESCAPE = 0x01
SHOWN = b"\033[0m\033[?25h"  # colours off, cursor on: a guest may have changed both
HELP = "console: Ctrl-A x ends the machine (Ctrl-C before the guest runs), Ctrl-A a sends Ctrl-A"


class Terminal:
    def __init__(self, fd):
        self.fd = fd
        self._saved = None
        self._escaped = False

    def raw(self):
        if self._saved is None:
            self._saved = termios.tcgetattr(self.fd)
            tty.setraw(self.fd, termios.TCSANOW)
            mode = termios.tcgetattr(self.fd)
            mode[1] |= termios.OPOST  # our own lines end with a plain newline
            termios.tcsetattr(self.fd, termios.TCSANOW, mode)

    def restore(self):
        if self._saved is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self._saved)
            self._saved = None
            if os.isatty(1):
                os.write(1, SHOWN)

    def read(self):
        """(bytes for the guest, True if the person wants to end)."""
        try:
            data = os.read(self.fd, 256)
        except OSError:
            return b"", True
        if not data:
            return b"", True  # the terminal went away
        out = bytearray()
        for byte in data:
            if self._escaped:
                self._escaped = False
                if byte in b"xX":
                    return bytes(out), True
                out += bytes([ESCAPE]) if byte in (ESCAPE, ord("a")) else bytes([ESCAPE, byte])
            elif byte == ESCAPE:
                self._escaped = True
            else:
                out.append(byte)
        return bytes(out), False
