# SPDX-License-Identifier: BSD-2-Clause
"""Exits in an instruction trace: where one begins and ends, what each instruction is and whose.

An exit's count is the number of instructions in VMX root operation, from the first one of the exit stub
to the VMRESUME (or VMLAUNCH) and with it; the guest's own instructions are not in it, nor the one that exits.
"""
import bisect
import collections
import os
import pathlib
import re
import subprocess

from runner.status import MACHINE, RunError

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGE = ROOT / "build" / "torpor.elf"

VMREAD, VMWRITE, SERIALIZING = "vmread", "vmwrite", "serializing"
CLASSES = (VMREAD, VMWRITE, SERIALIZING, "entry", "port", "system", "branch", "memory", "alu")

# First match wins; patterns of mnemonic and operands as Bochs prints them. Serializing as in SDM 3A 8.3,
# and what the microcode makes as dear: the loads of system segments and tables.
CLASS_PATTERNS = [(name, re.compile(pattern)) for name, pattern in (
    (VMREAD, r"vmread\b"),
    (VMWRITE, r"vmwrite\b"),
    ("entry", r"vm(resume|launch)\b"),
    (SERIALIZING, r"(ltr|lgdt|lidt|lldt|wrmsr|xsetbv|inv\w+|wbinvd|wbnoinvd|cpuid|iretq?|iretd|rsm|serialize|"
                  r"vmptrld|vmclear|vmxon|vmxoff|vmptrst)\b|mov [cd]r\d|lmsw\b|clts\b"),
    ("port", r"(in|out|ins[bwd]|outs[bwd]|rep ins\w|rep outs\w)\b"),
    ("system", r"(rdmsr|rdtscp?|rdpmc|xgetbv|swapgs|cli|sti|hlt|pause|[ls]fence|mfence|sgdt|sidt|str|sldt|"
               r"smsw|clac|stac|(rd|wr)[fg]sbase|verw|fx\w+|xsave\w*|xrstor\w*|rdpkru|wrpkru)\b"
               r"|mov \w+, [cd]r\d"),
    ("branch", r"(j\w+|call|ret|loop\w*|syscall|sysret)\b"),
    ("alu", r"(lea|nop)\b"),
    ("memory", r"(push\w*|pop\w*|leave|enter|(rep\w* )?(movs|stos|lods|scas|cmps)[bwdq])\b|.*\["),
    ("alu", r""))]

FIELD = re.compile(r"X\((\w+), (0x[0-9a-f]+)\)")
LOAD_CONSTANT = re.compile(r"mov e?(r?\w+?), (0x[0-9a-f]+)$")
FIRST_REGISTER = re.compile(r"(?!cmp|test|push|vmwrite)\w+ (\w+)(,|$)")
FIELD_OPERAND = re.compile(r"vmread \w+, (\w+)|vmwrite (\w+),")


def classify(text):
    return next(name for name, pattern in CLASS_PATTERNS if pattern.match(text))


def _short(register):
    """One name for a register of 32 and of 64 bits."""
    return register.rstrip("d") if register[1:2].isdigit() else register.lstrip("re")


class Image:
    """Symbols and source lines of the hypervisor."""

    def __init__(self, path=IMAGE):
        self._path = path
        done = subprocess.run(["nm", "-n", path], capture_output=True, text=True)
        if done.returncode:
            raise RunError(MACHINE, f"{path}: no symbols to be had; run make first")
        rows = [line.split() for line in done.stdout.splitlines()]
        # Names with a dot at their head are labels within assembly.
        code = [(int(row[0], 16), row[2]) for row in rows
                if len(row) == 3 and row[1] in "tT" and not row[2].startswith(".")
                and not re.match(r"\w+\.(?!isra|constprop|part|cold)", row[2])]
        self._starts, self._names = [address for address, _ in code], [name for _, name in code]
        self._end = max(int(row[0], 16) for row in rows if len(row) == 3 and row[1] in "tTrRdDbB")
        self._lines = {}
        header = (ROOT / "vmx" / "vmcs_fields.h").read_text()
        self.fields = {int(number, 16): name for name, number in FIELD.findall(header)}

    def holds(self, address):
        return self._starts[0] <= address < self._end

    def function(self, address):
        """(name, offset in it)"""
        at = bisect.bisect_right(self._starts, address) - 1
        return self._names[at], address - self._starts[at]

    def lines(self, addresses):
        """"file:line" of each address, the innermost inlined one."""
        missing = sorted(set(addresses) - self._lines.keys())
        if missing:
            done = subprocess.run(["addr2line", "-e", self._path], capture_output=True, text=True,
                                  input="".join(f"{address:#x}\n" for address in missing))
            for address, line in zip(missing, done.stdout.splitlines()):
                path, _, number = line.split(" ")[0].rpartition(":")
                # nasm writes the path twice: "vmx//vmx/entry.asm"
                path = os.path.normpath(path.rpartition("//")[2].removeprefix(f"{ROOT}/"))
                self._lines[address] = f"{path}:{number}" if "?" not in line else ""
        return [self._lines.get(address, "") for address in addresses]


class Exit:
    """One exit: its instructions with function, class and the VMCS field that is meant."""

    def __init__(self, image, before, instructions):
        self.before = before  # the guest's instruction ahead of it
        self.rows = []
        constants = {}
        for instruction in instructions:
            text = instruction.text
            kind = classify(text)
            name, offset = image.function(instruction.address)
            field = ""
            if kind in (VMREAD, VMWRITE) and (operand := FIELD_OPERAND.match(text)):
                number = constants.get(_short(operand[1] or operand[2]))
                field = image.fields.get(number, "") if number is not None else ""
            if written := FIRST_REGISTER.match(text):
                constants.pop(_short(written[1]), None)
            if load := LOAD_CONSTANT.match(text):
                constants[_short(load[1])] = int(load[2], 16)
            self.rows.append({"address": instruction.address, "function": name, "offset": offset,
                              "class": kind, "text": text, "field": field})

    def __len__(self):
        return len(self.rows)

    def count(self, kind):
        return sum(row["class"] == kind for row in self.rows)

    def classes(self):
        return {kind: self.count(kind) for kind in CLASSES}

    def functions(self):
        """function: instructions, most first."""
        return dict(collections.Counter(row["function"] for row in self.rows).most_common())

    def calls(self, name):
        return any(row["function"] == name for row in self.rows)


def find(image, stretch):
    """The exits of a stretch, in order."""
    found, begin = [], None
    for number, instruction in enumerate(stretch):
        inside = image.holds(instruction.address)
        if inside and begin is None:
            begin = number
        elif not inside and begin is not None:
            found.append(Exit(image, stretch[begin - 1] if begin else None, stretch[begin:number]))
            begin = None
    return found
