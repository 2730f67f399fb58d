# SPDX-License-Identifier: BSD-2-Clause
"""The boot volume: which file goes where, as a directory tree or as a FAT disk image.

The image is a plain FAT32 file system without a partition table: OVMF boots the fallback path
\\EFI\\BOOT\\BOOTX64.EFI from it, in Bochs and in QEMU. mtools writes it, so no root is needed.
"""
import pathlib
import shutil
import subprocess

from runner.status import MACHINE, USAGE, RunError

LOADER = "EFI/BOOT/BOOTX64.EFI"
CONFIG = "torpor/torpor.conf"

SECTOR = 512
HEADS, SECTORS_PER_TRACK = 16, 63
CYLINDER = HEADS * SECTORS_PER_TRACK * SECTOR  # Bochs sees whole cylinders only
IMAGE_MIN = 48 << 20                           # FAT32 needs 65525 clusters of one sector
FILE_MAX = (4 << 30) - 1


class Esp:
    """Destination path on the volume ('/' between names) -> pathlib.Path or bytes."""

    def __init__(self):
        self._files = {}

    def add(self, destination, source):
        if isinstance(source, pathlib.Path):
            try:
                with source.open("rb"):
                    size = source.stat().st_size
            except OSError as error:
                raise RunError(USAGE, f"{source}: {error.strerror}") from None
            if not source.is_file():
                raise RunError(USAGE, f"{source}: not a regular file")
            if size > FILE_MAX:
                raise RunError(USAGE, f"{source}: larger than a FAT file system takes (4 GiB)")
        known = self._files.get(destination)
        if known is not None and known != source:
            raise RunError(USAGE, f"two different files for {destination} on the boot volume")
        self._files[destination] = source

    def add_unique(self, directory, source):
        """Adds the file under its own name, or a numbered one if that is taken; returns its path."""
        for number in range(1000):
            name = source.name if not number else f"{number}-{source.name}"
            destination = f"{directory}/{name}"
            if self._files.get(destination, source) == source:
                self.add(destination, source)
                return destination
        raise RunError(USAGE, f"too many files called {source.name}")

    def size(self):
        """Bytes of all files."""
        return sum(source.stat().st_size if isinstance(source, pathlib.Path) else len(source)
                   for source in self._files.values())

    def write_tree(self, root):
        root = pathlib.Path(root)
        for destination, source in self._files.items():
            path = root / destination
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, bytes):
                path.write_bytes(source)
            else:
                shutil.copyfile(source, path)

    def write_image(self, image, scratch, minimum=IMAGE_MIN):
        """scratch: an empty directory. An image smaller than IMAGE_MIN is FAT12 or FAT16."""
        size = max(minimum, self.size() + self.size() // 16 + (1 << 20))
        sectors = -(-size // CYLINDER) * CYLINDER // SECTOR
        with open(image, "wb") as file:
            file.truncate(sectors * SECTOR)
        fat32 = ["-F"] if size >= IMAGE_MIN else []
        _mtool("mformat", "-i", image, *fat32, "-T", sectors, "-h", HEADS, "-s", SECTORS_PER_TRACK,
               "-H", 0, "-v", "TORPOR", "::")
        made = set()
        for number, (destination, source) in enumerate(sorted(self._files.items())):
            for parent in reversed(pathlib.PurePosixPath(destination).parents[:-1]):
                if parent not in made:
                    _mtool("mmd", "-i", image, f"::/{parent}")
                    made.add(parent)
            if isinstance(source, bytes):
                path = pathlib.Path(scratch) / f"file{number}"
                path.write_bytes(source)
                source = path
            _mtool("mcopy", "-i", image, source, f"::/{destination}")


def _mtool(*command):
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError:
        raise RunError(MACHINE, f"{words[0]} is missing: install the package mtools, "
                       "or run scripts/setup") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise RunError(MACHINE, f"{words[0]} failed: {reason[-1] if reason else done.returncode}")
