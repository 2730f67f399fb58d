# SPDX-License-Identifier: BSD-2-Clause
"""Bochs's debugger as an instruction recorder: what a guest does between two marks, all of it.

A mark is XCHG BX,BX in the guest; Bochs stops there if magic_break is on. The debugger's commands are
the same few over and over, so a guest may have any number of marked stretches: run to a mark, switch the
trace on, step to the next mark, switch it off.
"""
import re

from runner.engines import Bochs
from runner.status import PANIC, RunError

STEPS_MAX = 60000     # of one stretch: a guest that loses its way must not fill the memory
STRETCHES_MAX = 400
STRETCH = f"c\ntrace on\ns {STEPS_MAX}\ntrace off\n"

# "(0).[756288218] [0x00001a100045] 0008:0000000000100045 (unk. ctxt): cpuid       ; 0fa2"
INSTRUCTION = re.compile(
    r"\(\d+\)\.\[(\d+)\] \[0x[0-9a-f]+\] [0-9a-f]+:([0-9a-f]+) \(.*?\): (.*?)\s*; ([0-9a-f]+)$")
BEGIN, END = "Tracing enabled", "Tracing disabled"
MARK = "6687db"


class TracingBochs(Bochs):
    """As its base, but the guest's marks mean something."""

    def command(self, options, folder, image, console, interactive):
        words, environment = super().command(options, folder, image, console, interactive)
        with open(folder / "bochsrc", "a", encoding="ascii") as settings:
            settings.write("magic_break: enabled=1\n")
        # Stretches that the guest does not have are never begun: it ends while the first c runs.
        (folder / "bochs.rc").write_text(STRETCH * STRETCHES_MAX + "c\n")
        return words, environment


class Instruction:
    """time: instructions since power-on, this one not counted; address: linear, as RIP has it."""
    __slots__ = ("time", "address", "text", "code")

    def __init__(self, time, address, text, code):
        self.time, self.address, self.text, self.code = time, address, text, code


def stretches(talk):
    """Takes what Bochs printed apart: a list of lists of Instruction, the marks left out."""
    found, current = [], None
    for line in talk:
        if line.startswith(BEGIN):
            current = []
        elif line.startswith(END) and current is not None:
            if not current or current[-1].code != MARK:
                raise RunError(PANIC, f"the guest's stretch {len(found) + 1} did not end within "
                               f"{STEPS_MAX} instructions")
            found.append(current[:-1])
            current = None
        elif current is not None and (match := INSTRUCTION.match(line)):
            current.append(Instruction(int(match[1]), int(match[2], 16), match[3], match[4]))
    return found
