#!/usr/bin/env python3
"""Finds the few switches between workers that make a program fail under a controlled schedule of nopal.

    ./nopal shrink [--schedule random:7 | pct:7] [--seeds 100] [--timeout 60] -- PROGRAM [ARGUMENT...]

A run fails if its exit status is not 0, a signal ends it, or it takes longer than the timeout. Without a schedule, or with one that does not
fail, seeds are tried one after the other. Then the run is made again with fewer and fewer of its switches (delta debugging), until none can
be left out, and those are printed, with where the program stood. docs/debugging.md says more.
"""

import argparse
import collections
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

KINDS = {
    "f": "at a fork",
    "w": "at a wait",
    "s": "before what it has stolen begins",
    "i": "where it has found nothing",
    "n": "where all were idle",
    "y": "where it let others run",
}
NOBODY = -1  # from whom a worker has the turn where all were idle
ATTEMPTS = 3  # a run in which the machine took a turn from a worker is made again
SLIDE = 40  # decisions
MOST_SINGLE = 1000  # decisions, at each of which a single switch is tried
NOT_THE_PROGRAMS = re.compile(r"^(nopal::|nopal_context|std::|__|_Z+N?K?(5nopal|St)|void nopal::|decltype\(auto\) nopal::|auto nopal::)|\bnopal::core::")


@dataclass
class Decision:
    kind: str
    pool: int
    at: int
    to: int
    worker: int
    places: list[str] = field(default_factory=list)

    def text(self) -> str:
        return f"{self.pool}.{self.at}>{self.to}" if self.pool else f"{self.at}>{self.to}"


@dataclass
class Run:
    failed: bool
    how: str
    decisions: list[Decision]
    output: str
    lost: int
    ends: list[tuple[int, int]]  # of each pool that has ended: its workers, and its decisions


class Program:
    def __init__(self, command: list[str], timeout: float):
        self.command, self.timeout, self.runs = command, timeout, 0

    def run(self, schedule: str) -> Run:
        for _ in range(ATTEMPTS):
            run = self.run_once(schedule)
            if run.lost == 0:
                break
        return run

    def run_once(self, schedule: str) -> Run:
        self.runs += 1
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "decisions"
            environment = {**os.environ, "NOPAL_SCHEDULE": schedule, "NOPAL_SCHEDULE_LOG": str(log)}
            try:
                done = subprocess.run(self.command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.timeout)
                status, output = done.returncode, done.stdout.decode(errors="replace")
            except OSError as e:  # it is no program, say, or its interpreter is not there
                sys.exit(f"nopal shrink: {self.command[0]} cannot be run: {e.strerror}; name a program that can be run behind --")
            except subprocess.TimeoutExpired as e:
                status, output = None, (e.stdout or b"").decode(errors="replace")
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        how = f"no end within {self.timeout:g} s" if status is None else f"signal {-status}" if status < 0 else f"exit status {status}"
        decisions, ends, lost = [], [], 0
        for line in lines:
            words = line.split("\t")
            if words[0] == "end":
                ends.append((int(words[2]), int(words[3])))
                lost += int(words[4])
            elif match := re.fullmatch(r"(\d+)\.(\d+)>(\d+)", words[1]):
                pool, at, to = (int(number) for number in match.groups())
                decisions.append(Decision(words[0], pool, at, to, int(words[2]), words[3:]))
        return Run(status != 0, how, decisions, output, lost, ends)


def listed(schedule: str, decisions: list[Decision]) -> str:
    """The schedule with these of its switches only."""
    kind, seed = schedule.split(":")[:2]
    return f"only:{kind}:{seed}" + ":" * bool(decisions) + ",".join(d.text() for d in decisions)


def first_failure(program: Program, schedule: str | None, seeds: int) -> tuple[str, Run] | None:
    """The first schedule that fails: the one given, or it and those with the next seeds."""
    parts = (schedule or "random:0").split(":")
    first = int(parts[1]) if len(parts) > 1 and parts[1] else 0
    for seed in range(first, min(first + seeds, LAST_SEED + 1)):
        candidate = ":".join([parts[0], str(seed), *parts[2:]])
        run = program.run(candidate)
        if run.failed:
            return candidate, run
    return None


def shrink(fails, items: list) -> list:
    """A part of `items` that still fails, none of which can be left out alone: ddmin, of Zeller and Hildebrandt. fails(items) is known."""
    if fails([]):
        return []
    parts = 2
    while len(items) >= 2:
        size = -(-len(items) // parts)
        pieces = [items[k : k + size] for k in range(0, len(items), size)]
        for k, piece in enumerate(pieces):
            rest = [item for other in pieces[:k] + pieces[k + 1 :] for item in other]
            if len(pieces) > 2 and fails(piece):
                items, parts = piece, 2
                break
            if fails(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if parts >= len(items):
                break
            parts = min(len(items), 2 * parts)
    return items


def slid(decisions: list[Decision], without: Decision, by: int) -> list[Decision]:
    """What is left without one decision, where those behind it come later by so many: the run has other numbers without it."""
    left = [d for d in decisions if d is not without]
    return [replace(d, at=d.at + by) if d.pool == without.pool and d.at > without.at else d for d in left]


def shrink_further(fails, decisions: list[Decision], run: Run) -> list[Decision]:
    """A decision is a number, and means another place once one before it is left out. So a single one is looked for anywhere in the run, and
    then each is left out once more while those behind it slide."""
    if len(decisions) > 1:
        pools = sorted({d.pool for d in decisions})
        last = max([d.at for d in run.decisions] + [end[1] for end in run.ends])
        workers = max([d.to for d in run.decisions] + [d.worker for d in run.decisions]) + 1
        for at in range(min(last + SLIDE, MOST_SINGLE)):
            for one in (Decision("", pool, at, to, 0) for pool in pools for to in range(workers)):
                if fails([one]):
                    return [one]
    again = len(decisions) > 1
    while again:
        again = False
        for by in sorted(range(-SLIDE, SLIDE + 1), key=abs):
            candidates = [slid(decisions, d, by) for d in decisions]
            found = next((c for c in candidates if len(c) > 0 and all(d.at >= 0 for d in c) and fails(c)), None)
            if found is not None:
                decisions, again = found, len(found) > 1
                break
    return decisions


# ---- Places.


def symbolised(places: list[str]) -> dict[str, list[tuple[str, str]]]:
    """The functions at each address "object+offset", with inlined ones, the innermost first, and their lines."""
    tool = shutil.which("addr2line") or shutil.which("llvm-symbolizer-22") or shutil.which("llvm-symbolizer")
    found: dict[str, list[tuple[str, str]]] = {}
    by_object = collections.defaultdict(list)
    for place in dict.fromkeys(places):
        file, _, offset = place.rpartition("+")
        by_object[file].append((place, offset))
    for file, addresses in by_object.items():
        if tool is None or not Path(file).exists():
            continue
        if "addr2line" in tool:
            words = [tool, "-Cfia", "-e", file, *(offset for _, offset in addresses)]
        else:
            words = [tool, "-Cfia", "--output-style=GNU", "-e", file, *(offset for _, offset in addresses)]
        lines = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
        at = -1
        for k, line in enumerate(lines):
            if re.fullmatch(r"0x[0-9a-f]+", line):
                at, names = at + 1, []
                found[addresses[at][0]] = names
                continue
            if k + 1 < len(lines) and not re.match(r"(/|\?\?:|.*:(\d+|\?)( \(discriminator \d+\))?$)", line):
                names.append((line, re.sub(r" \(discriminator \d+\)", "", lines[k + 1])))
    return found


def in_words(places: list[str], symbols: dict[str, list[tuple[str, str]]], most: int = 3) -> list[str]:
    """The program's functions among the calls, the innermost first."""
    said = []
    for place in places:
        for name, line in symbols.get(place, []):
            if name == "??" or NOT_THE_PROGRAMS.search(name) or "/include/nopal/" in line or "/c++/" in line:
                continue
            said.append(name if line.startswith("??") else f"{name}, {line}")
    return list(dict.fromkeys(said))[:most]


def show(decisions: list[Decision]) -> None:
    symbols = symbolised([place for d in decisions for place in d.places])
    for number, d in enumerate(decisions, start=1):
        who = "nobody" if d.worker == NOBODY else f"worker {d.worker}"
        pool = f" of pool {d.pool}" if d.pool else ""
        print(f"  {number}. from {who} to worker {d.to}{pool}, {KINDS.get(d.kind, d.kind)} (decision {d.at})")
        for line in in_words(d.places, symbols):
            print(f"       in {line}")


MOST_SEEDS = 2**32
MOST_TIMEOUT = 10**6
LAST_SEED = 2**64 - 1


def count(text: str) -> int:
    if not re.fullmatch(r"\d+", text) or not 1 <= int(text) <= MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seeds; write one from 1 to {MOST_SEEDS}, or leave it out for 100")
    return int(text)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= MOST_TIMEOUT:  # not a number neither
        raise argparse.ArgumentTypeError(f"'{text}' is no time; write seconds above 0, {MOST_TIMEOUT} at most, or leave it out for 60")
    return value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./nopal shrink", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedule", help="the one that failed: random:SEED, or pct:SEED:d=DEPTH:k=STEPS; else NOPAL_SCHEDULE, else random:0")
    parser.add_argument("--seeds", type=count, default=100, help="how many seeds are tried, from that one on (100)")
    parser.add_argument("--timeout", type=seconds, default=60, help="after so many seconds a run has failed (60)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- the program and its arguments")
    args = parser.parse_args()
    args.command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not args.command:
        parser.error("no program: write it behind --")
    args.schedule = args.schedule or os.environ.get("NOPAL_SCHEDULE") or None
    if args.schedule is not None and not re.fullmatch(r"random(:\d+)?|pct(:\d+(:[dk]=\d+)*)?", args.schedule):
        parser.error(f"'{args.schedule}' cannot be shrunk; write random:SEED, or pct:SEED:d=DEPTH:k=STEPS")
    first = re.search(r"\d+", args.schedule or "")
    if first is not None and int(first[0]) > LAST_SEED:
        parser.error(f"the seed {first[0]} is more than {LAST_SEED}; write a smaller one")
    if shutil.which(args.command[0]) is None:
        parser.error(f"'{args.command[0]}' is no program that can be run; name one by its path, or one that PATH finds, behind --")
    return args


def main() -> int:
    args = arguments()
    program = Program(args.command, args.timeout)
    failure = first_failure(program, args.schedule, args.seeds)
    if failure is None:
        print(f"nopal shrink: none of {args.seeds} seeds fails; try more (--seeds), or --schedule pct:0:d=3")
        return 2
    schedule, run = failure
    print(f"nopal shrink: NOPAL_SCHEDULE={schedule} fails: {run.how}, {len(run.decisions)} switches")
    if not program.run(listed(schedule, run.decisions)).failed:
        print("nopal shrink: the run does not fail again with its own switches: it depends on time, on other threads, or on addresses")
        return 3
    def fails(some: list[Decision]) -> bool:
        return program.run(listed(schedule, some)).failed

    few = shrink_further(fails, shrink(fails, run.decisions), run)
    last = program.run(listed(schedule, few))
    wanted = {d.text() for d in few}
    print(f"nopal shrink: {len(few)} switches are left after {program.runs} runs, and the run fails by them: {last.how}")
    if not few:
        print("  it fails without any: by the order that it has where no worker is interrupted")
    show([d for d in last.decisions if d.text() in wanted])
    print(f"to have it again:\n  NOPAL_SCHEDULE='{listed(schedule, few)}' {shlex.join(args.command)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
