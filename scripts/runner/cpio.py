# SPDX-License-Identifier: BSD-2-Clause
"""Writes "newc" cpio archives, the form of an initial RAM disk.

The cpio program would have to be root to put a device node in; here it is only a number in a header.
"""
S_DIR, S_FILE, S_LINK, S_CHAR = 0o040755, 0o100755, 0o120777, 0o020600
CONSOLE = ("dev/console", S_CHAR, b"", (5, 1))


def _entry(number, name, mode, data=b"", device=(0, 0)):
    name = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
    entry = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    entry += b"\0" * (-len(entry) % 4) + data
    return entry + b"\0" * (-len(entry) % 4)


def archive(entries):
    """entries: (name, mode, contents or target, device numbers), directories before what is in them."""
    parts = [_entry(number, *entry) for number, entry in enumerate(entries, 1)]
    return b"".join(parts) + _entry(0, "TRAILER!!!", 0)
