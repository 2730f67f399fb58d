# SPDX-License-Identifier: BSD-2-Clause
"""Debian's packages as a source of files: found, downloaded and unpacked, never installed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

SETUP = pathlib.Path(__file__).resolve().parents[1] / "setup"
CACHE = SETUP.parents[1] / "build" / "guest" / "cache"
META_PACKAGE = "linux-image-cloud-amd64"


class DebianError(Exception):
    pass


def say(text):
    print(f"guest-linux: {text}", file=sys.stderr, flush=True)


def apt_options():
    # As root, apt would warn that its sandbox user cannot write to our directory.
    return ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []


def setup(*arguments):
    if subprocess.run([SETUP, *arguments]).returncode:
        raise DebianError("scripts/setup failed (see above)")


def kernel_package():
    """The package that the meta package stands for today."""
    shown = subprocess.run(["apt-cache", "show", META_PACKAGE], capture_output=True, text=True)
    found = re.search(r"^Depends:.*?\b(linux-image-\d[\w.+-]*)", shown.stdout, re.MULTILINE)
    if not found:
        raise DebianError(f"apt knows no {META_PACKAGE}: check /etc/apt/sources.list")
    return found[1]


def download(package):
    """Fetches the package's file into the cache, unless it is there; returns its path."""
    CACHE.mkdir(parents=True, exist_ok=True)
    known = sorted(CACHE.glob(f"{package}_*.deb"), key=lambda path: path.stat().st_mtime)
    if known:
        return known[-1]
    work = CACHE / f"partial.{os.getpid()}"
    work.mkdir()
    try:
        say(f"downloading {package}")
        command = ["apt-get", *apt_options(), "download", package]
        if subprocess.run(command, cwd=work, stdout=sys.stderr).returncode:
            setup("--update")  # lists that are too old name files that the mirror no longer has
            if subprocess.run(command, cwd=work, stdout=sys.stderr).returncode:
                raise DebianError(f"cannot download {package}: check the network")
        fetched = next(work.glob("*.deb"))
        return fetched.rename(CACHE / fetched.name)
    finally:
        shutil.rmtree(work)


def unpack(package_file, pattern):
    """The bytes of the one file of a package whose path matches."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package_file],
                          stdout=subprocess.PIPE) as tar:
        with tarfile.open(fileobj=tar.stdout, mode="r|") as archive:
            for member in archive:
                if member.isfile() and re.fullmatch(pattern, member.name):
                    data = archive.extractfile(member).read()
                    tar.kill()
                    return data
    raise DebianError(f"{package_file.name} holds no {pattern}")
