#!/usr/bin/env python3
"""Drives gdb through one program of stuck.cpp and checks what the commands of nopal print.

    python3 debugger.py GDB PROGRAM CASE
"""

import re
import subprocess
import sys
from pathlib import Path

MARK = "==== "


class Failed(Exception):
    pass


def gdb(program: Path, before: list[str], commands: list[str], debugger: str) -> dict[str, str]:
    """The output of each command, by command. `before`: gdb's commands up to the place where the program is inspected."""
    words = [debugger, "-nx", "-q", "-batch", "-ex", "set auto-load safe-path /", "-ex", "set pagination off", "-ex", "set width 0"]
    words += ["-ex", "set debuginfod enabled off", "-ex", "set disable-randomization off"]
    for command in [f"file {program}", *before]:
        words += ["-ex", command]
    for command in commands:
        words += ["-ex", f"echo {MARK}{command}\\n", "-ex", command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    said = {}
    for part in done.stdout.split(MARK)[1:]:
        command, _, text = part.partition("\n")
        said[command] = text
    said["stderr"] = done.stderr
    if any(command not in said for command in commands):
        raise Failed(f"gdb did not come to all commands:\n{done.stdout}\n{done.stderr}")
    return said


def need(text: str, *patterns: str) -> None:
    """The text contains the patterns, one after the other."""
    at = 0
    for pattern in patterns:
        found = re.compile(pattern, re.MULTILINE).search(text, at)
        if found is None:
            raise Failed(f"/{pattern}/ is not in what follows, behind what stands before it in the test:\n{text}")
        at = found.end()


def strand(strands: str, what: str) -> str:
    """The number of the strand that is described by `what`."""
    found = re.search(rf"^ +(\d+)\b[^\n]*{what}", strands, re.MULTILINE)
    if found is None:
        raise Failed(f"no strand with {what}:\n{strands}")
    return found[1]


def stopped(what: str) -> list[str]:
    return ["break stop_here", f"run {what}"]


class Case:
    def __init__(self, debugger: str, program: Path):
        self.debugger, self.program = debugger, program

    def look(self, what: str, commands: list[str]) -> dict[str, str]:
        return gdb(self.program, stopped(what), commands, self.debugger)

    def deadlock(self) -> None:
        # The numbers are known only once the strands are listed: so all possible numbers are asked for.
        said = self.look("deadlock", ["nopal strands", *(f"nopal bt {k}" for k in range(1, 6)), "nopal stacks", "bt"])
        strands = said["nopal strands"]
        need(strands, r"^pool table: 2 workers$")
        one, other = strand(strands, r"\(one\) waits for a mutex at 0x"), strand(strands, r"\(other\) waits for a mutex at 0x")
        need(strands, r"\(one\) waits for a mutex at 0x[0-9a-f]+, for \d+\.\d s\n +in .*take_second")
        need(strands, r"\(other\) waits for a mutex at 0x[0-9a-f]+, for \d+\.\d s\n +in .*take_first")
        need(said[f"nopal bt {one}"], r"take_second", r"philosopher_one", r"deadlock|lambda|operator\(\)")
        need(said[f"nopal bt {other}"], r"take_first", r"philosopher_other", r"deadlock|lambda|operator\(\)")
        for number in (one, other):
            if "philosopher" not in said[f"nopal bt {number}"] or re.search(r"^#\d+ +main\b", said[f"nopal bt {number}"], re.MULTILINE):
                raise Failed(said[f"nopal bt {number}"])
        if len(re.findall(r"^ +\d+ 0x[0-9a-f]+ 1024 KiB +\d+ bytes used waits for a mutex", said["nopal stacks"], re.MULTILINE)) != 2:
            raise Failed(said["nopal stacks"])
        need(said["bt"], r"^#0 .*stop_here", r"\bmain ")  # as before: the commands have changed nothing

    def stolen_join(self) -> None:
        said = self.look("stolen_join", ["nopal strands", *(f"nopal bt {k}" for k in range(1, 5)), "bt"])
        strands = said["nopal strands"]
        thief, owner = strand(strands, r"runs on worker \d+\n[^\n]*stolen_half"), strand(strands, "waits for a join")
        need(said[f"nopal bt {thief}"], r"stolen_half", r"-- stolen; forked by what waits for a join", r"fork_both", r"\bjob\b")
        need(said[f"nopal bt {owner}"], r"fork_both", r"\bjob\b")
        if "own_half" in said[f"nopal bt {thief}"] or "stolen_half" in said[f"nopal bt {owner}"]:
            raise Failed(f"a half that has ended, or runs elsewhere:\n{said}")
        need(said["bt"], r"^#0 .*stop_here", r"\bmain ")

    def stolen_scope(self) -> None:
        said = self.look("stolen_scope", ["nopal strands", *(f"nopal bt {k}" for k in range(1, 5))])
        child = strand(said["nopal strands"], r"runs on worker \d+\n[^\n]*scopes_child")
        need(said[f"nopal bt {child}"], r"scopes_child", r"-- on a stack of its own, forked by a scope", r"scopes_parent", r"scopes_job")

    def stolen_task(self) -> None:
        said = self.look("stolen_task", ["nopal strands", *(f"nopal bt {k}" for k in range(1, 5))])
        thief = strand(said["nopal strands"], r"waits for a counter at 0x[^\n]*\n[^\n]*wait_in_task")
        need(said[f"nopal bt {thief}"], r"wait_in_task", r"inner_task", r"the tasks above it", r"inner_task \(frame", r"outer_task \(frame")

    def printers(self) -> None:
        names = ["t.first", "t.one_has", "left", "numbers", "answer", "pool"]
        said = gdb(self.program, [*stopped("deadlock"), "up"], [f"print {name}" for name in names], self.debugger)
        need(said["print t.first"], r"= nopal::mutex \{locked by the stack at 0x[0-9a-f]+ \(one\)\}")
        need(said["print t.one_has"], r"= nopal::semaphore \{0 permits\}")
        need(said["print left"], r"= nopal::counter \{2\}")
        need(said["print numbers"], r"= nopal::channel \{1 of 4 values\} = \{7\}")
        need(said["print answer"], r"= nopal::future \{ready\}")
        need(said["print pool"], r"= nopal::pool \{table, 2 workers, \d+ native stacks, 2 of which wait\}")

    def damaged(self) -> None:
        """With any content of memory each command ends, and prints an error."""
        scribble = [
            # The list of stacks is a circle; a saved stack pointer, a wait and an origin point to nothing.
            "python L = nopal_gdb.Layout(); P = nopal_gdb.pools(L)[0]; S = [s for s in P.stacks if s.waits]",
            "python W = lambda at, v: gdb.selected_inferior().write_memory(at, v.to_bytes(8, 'little'))",
            "python W(S[0].address + L['stack.sp'], S[0].base + S[0].size - 24)",
            "python W(S[1].address + L['stack.waits'], 0x10)",
            "python W(S[1].address + L['stack.origin'], S[1].sp)",
            "python W(P.stacks[0].address + L['stack.older'], P.stacks[-1].address)",
        ]
        commands = ["nopal strands", "nopal stacks", *(f"nopal bt {k}" for k in range(1, 6)), "nopal bt 99", "nopal bt", "bt"]
        said = gdb(self.program, [*stopped("deadlock"), *scribble], commands, self.debugger)
        need(said["nopal strands"], r"waits for something that cannot be read", r"-- the list of its stacks goes in a circle")
        need(said["bt"], r"^#0 .*stop_here", r"\bmain ")
        need(said["stderr"], r"there is no strand 99; nopal strands lists them", r"nopal bt \[-all\] N: N is a number")
        if "Traceback" in said["stderr"] or "Python Exception" in said["stderr"]:
            raise Failed(said["stderr"])


def main() -> int:
    debugger, program, case = sys.argv[1:]
    try:
        getattr(Case(debugger, Path(program)), case)()
    except Failed as e:
        print(e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
