# SPDX-License-Identifier: BSD-2-Clause
"""torpor.conf: written from options, or a person's own with the files it names.

Checking the text is the loader's work (boot/lib/config.c), so that a run and a stick answer alike.
"""
import pathlib
import re

from runner.esp import CONFIG
from runner.status import USAGE, RunError

FOLDER = "torpor"
VM_NAME = "guest"
FILE_KEYS = ("kernel", "initrd", "module")
SECTION = re.compile(r"\s*\[\s*(\w+)\s*([^\]]*?)\s*\]")
SETTING = re.compile(r"\s*([\w-]+)\s*=\s*(.*?)\s*$")
IGNORED = re.compile(r"\s*([#;].*)?$")
# The exit port answers in every VM that scripts/run starts; test-device brings it too.
EXIT_PORT = "exit-port = yes"


def one_line(what, text):
    if any(ord(character) < ord(" ") and character != "\t" for character in text):
        raise RunError(USAGE, f"{what}: control characters cannot be put in torpor.conf")
    return text


def from_options(options, esp, hypervisor=()):
    """Adds the files and the torpor.conf to esp. Returns the names of the VMs, in order.
    hypervisor: more lines for that section."""
    lines = ["# Written by scripts/run.", "[hypervisor]", "serial = com1 115200", *hypervisor, "",
             f"[vm {VM_NAME}]"]

    def put(key, path, text=""):
        try:
            place = esp.add_unique(FOLDER, path)
        except RunError as error:
            raise RunError(error.status, f"--{key} {error}") from None
        name = one_line(str(path), place.replace("/", "\\"))
        lines.append(f"{key} = \\{name}" + (f" {text}" if text else ""))

    put("kernel", pathlib.Path(options.kernel))
    if options.initrd:
        put("initrd", pathlib.Path(options.initrd))
    for module in options.module:
        path, _, text = module.partition(" ")
        put("module", pathlib.Path(path), one_line("--module", text.strip()))
    if options.cmdline:
        lines.append("cmdline = " + one_line("--cmdline", options.cmdline))
    lines += [f"memory = {options.memory // 1024}K", f"cpus = {options.cpus}", "console = yes",
              EXIT_PORT]
    if options.test_device:
        lines.append("test-device = yes")
    esp.add(CONFIG, ("\n".join(lines) + "\n").encode())
    return [VM_NAME]


def _sections(lines):
    """Yields (name of the VM or None, first line behind the header, line behind the section)."""
    headers = [(number, match) for number, line in enumerate(lines)
               if (match := SECTION.match(line))]
    ends = [number for number, _ in headers[1:]] + [len(lines)]
    for (number, match), end in zip(headers, ends):
        yield match[2] if match[1] == "vm" else None, number + 1, end


def _add_exit_port(lines):
    """Where it can be, in place of an empty line or comment: line numbers in messages stay true."""
    for vm, start, end in reversed(list(_sections(lines))):
        if vm is None or any((match := SETTING.match(line)) and
                             match[1] in ("exit-port", "test-device")
                             for line in lines[start:end]):
            continue
        free = next((number for number in reversed(range(start, end))
                     if IGNORED.match(lines[number])), None)
        if free is None:
            lines.insert(end, EXIT_PORT)
        else:
            lines[free] = EXIT_PORT


def _source(folder, path):
    """The file that a path of a configuration means; None if there is none (the loader says so)."""
    parts = [part for part in re.split(r"[\\/]", path) if part]
    if any(part in (".", "..") for part in parts):
        return None
    for attempt in (parts, parts[1:] if parts[:1] == [FOLDER] else []):
        candidate = folder.joinpath(*attempt)
        if attempt and candidate.is_file():
            return candidate
    return None


def from_file(name, esp):
    """As from_options. Files are taken relative to the configuration's own directory."""
    path = pathlib.Path(name)
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError as error:
        raise RunError(USAGE, f"--config {name}: {error.strerror}") from None
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for vm, start, end in _sections(lines):
        if vm is None:
            continue
        for line in lines[start:end]:
            match = SETTING.match(line)
            if not match or match[1] not in FILE_KEYS:
                continue
            value = match[2].split()[0] if match[1] == "module" and match[2] else match[2]
            source = _source(path.parent, value) if value else None
            if source:
                rooted = value.startswith(("\\", "/"))
                place = "/".join(part for part in re.split(r"[\\/]", value) if part)
                esp.add(place if rooted else f"{FOLDER}/{place}", source)
    names = [vm for vm, _, _ in _sections(lines) if vm is not None]
    _add_exit_port(lines)
    esp.add(CONFIG, ("\n".join(lines) + "\n").encode("latin-1"))
    return names
