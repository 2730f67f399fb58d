# SPDX-License-Identifier: BSD-2-Clause
"""What a boot test has at hand: runs of scripts/run with their logs, and checks that say what failed."""
import json
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
GUEST = BUILD / "guest"
ENGINE = "bochs"
TIMEOUT_S = 300


class Failure(Exception):
    """A test's expectation does not hold; the text says which."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Run:
    """One finished run of scripts/run."""

    def __init__(self, status, folder):
        self.status = status
        self.folder = folder
        self.console = _read(folder / "console").replace("\r", "")
        self.messages = _read(folder / "messages")
        self.events = [json.loads(line) for line in _read(folder / "events").splitlines()]

    def expect_status(self, status):
        last = self.messages.strip().splitlines()[-1:] or ["(no message)"]
        expect(self.status == status,
               f"exit status {self.status} in place of {status}: {last[0]} (see {self.folder})")

    def expect_console(self, pattern):
        found = re.search(pattern, self.console, re.MULTILINE)
        expect(found, f"the console never shows /{pattern}/ (see {self.folder}/console)")
        return found

    def vm_events(self):
        return {event["name"]: event for event in self.events if event["event"] == "vm"}


def _read(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class Context:
    """A test's own folder under build/boot/ and its runs."""

    def __init__(self, folder):
        self.folder = folder
        self.subresults = []  # (PASS or FAIL, text) of the parts of a test
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def assemble(self, name, **defines):
        """The exit-code kernel with these definitions."""
        path = self.folder / name
        subprocess.run(["nasm", "-f", "bin", *(f"-D{key}={value}" for key, value in defines.items()),
                        "-o", path, pathlib.Path(__file__).with_name("exit_code.asm")], check=True)
        return path

    def run(self, *arguments, name="run", typed=None, until=None, timeout=TIMEOUT_S):
        """Runs scripts/run to its end, or until the console shows a pattern. typed: --input."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for stale in ("console", "messages", "events"):
            (folder / stale).unlink(missing_ok=True)
        command = [ROOT / "scripts" / "run", "--engine", ENGINE, "--timeout", str(timeout),
                   "--console", folder / "console", "--keep-logs", folder, *map(str, arguments)]
        if typed is not None:
            (folder / "typed").write_text(typed)
            command += ["--input", folder / "typed"]
        with open(folder / "messages", "wb") as messages:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=messages)
            try:
                if until:
                    self._wait_for(process, folder / "console", until)
                    process.terminate()
                return Run(process.wait(), folder)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()

    @staticmethod
    def _wait_for(process, console, pattern):
        while process.poll() is None:
            if re.search(pattern, _read(console)):
                return
            time.sleep(0.5)
