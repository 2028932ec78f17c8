#!/usr/bin/env python3
"""Says in a page of text what a trace of nopal holds.

    ./nopal trace run.pftrace [--longest 5]

For each pool and lane: which part of the time it worked, slept and searched, how many strands it began, and how many of them it stole. The
time is from the pool's first event to its last; a lane whose older events were dropped begins with its own first. Then the program's own
spans, what was waited for, and the longest slices. docs/trace.md says what the slices are.
"""

import argparse
import collections
import sys
from dataclasses import dataclass, field
from pathlib import Path

ASLEEP = {"sleep", "nap"}
BEGIN, END, INSTANT, COUNT = 1, 2, 3, 4  # perfetto.protos.TrackEvent.Type


class Unreadable(Exception):
    """The file is no such trace."""


def fields(message: bytes):
    """The fields of a message of Protocol Buffers: number, and value (an int, or bytes)."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    try:
        while at < len(message):
            tag = varint()
            kind = tag & 7
            if kind == 0:
                yield tag >> 3, varint()
            elif kind == 1:
                yield tag >> 3, int.from_bytes(message[at : at + 8], "little")
                at += 8
            elif kind == 2:
                size = varint()
                if size > len(message) - at:
                    raise Unreadable
                yield tag >> 3, message[at : at + size]
                at += size
            else:
                raise Unreadable
    except IndexError:
        raise Unreadable from None


@dataclass
class Slice:
    name: str
    begin: int
    notes: dict
    end: int = 0


@dataclass
class Lane:
    name: str
    parent: int
    rank: int = 0
    is_counter: bool = False
    open: list = field(default_factory=list)
    slices: list = field(default_factory=list)
    events: collections.Counter = field(default_factory=collections.Counter)
    worked: int = 0
    slept: int = 0
    first: int | None = None  # when its first event was
    last: int | None = None  # when its state changed last
    notes_of: dict = field(default_factory=dict)

    def passes(self, time: int) -> None:
        """What the lane has done until then."""
        if self.last is not None and self.open:
            if any(s.name in ASLEEP for s in self.open):
                self.slept += time - self.last
            else:
                self.worked += time - self.last
        self.first = time if self.first is None else self.first
        self.last = time


def read(path: Path):
    """The lanes by their ids, and when the first and the last event were."""
    lanes: dict[int, Lane] = {}
    first = last = None
    for number, packet in fields(path.read_bytes()):
        if number != 1 or isinstance(packet, int):
            raise Unreadable
        time = 0
        event = descriptor = None
        for n, value in fields(packet):
            if n == 8:
                time = value
            elif n == 11:
                event = value
            elif n == 60:
                descriptor = value
        if descriptor is not None:
            add_lane(lanes, descriptor)
        if event is None:
            continue
        kind, lane, name, notes = read_event(event)
        if lane not in lanes:
            raise Unreadable
        if kind == COUNT:
            continue
        first = time if first is None else min(first, time)
        last = time if last is None else max(last, time)
        to_lane(lanes[lane], kind, time, name, notes)
    if first is None:
        raise Unreadable
    pools = times_of_pools(lanes)
    for lane in lanes.values():
        while lane.open:
            to_lane(lane, END, pools[lane.parent][1], "", {})
    return lanes, first, last


def times_of_pools(lanes: dict[int, Lane]) -> dict[int, tuple[int, int]]:
    """The first and the last event of all lanes that have one parent."""
    times: dict[int, tuple[int, int]] = {}
    for lane in lanes.values():
        if lane.first is not None:
            first, last = times.get(lane.parent, (lane.first, lane.last))
            times[lane.parent] = min(first, lane.first), max(last, lane.last)
    return times


def add_lane(lanes: dict[int, Lane], descriptor: bytes) -> None:
    ident = parent = rank = 0
    name = ""
    is_counter = False
    for n, value in fields(descriptor):
        if n == 1:
            ident = value
        elif n == 2:
            name = value.decode(errors="replace")
        elif n == 5:
            parent = value
        elif n == 12:
            rank = value
        elif n == 8:
            is_counter = True
        elif n == 3:
            name = next((v.decode(errors="replace") for m, v in fields(value) if m == 6), name)
    lanes[ident] = Lane(name, parent, rank, is_counter)


def read_event(event: bytes):
    kind = lane = 0
    name = ""
    notes = {}
    for n, value in fields(event):
        if n == 9:
            kind = value
        elif n == 11:
            lane = value
        elif n == 23:
            name = value.decode(errors="replace")
        elif n == 4:
            note = dict(fields(value))
            notes[note.get(10, b"").decode(errors="replace")] = note.get(6, note.get(3, note.get(7)))
    return kind, lane, name, notes


def to_lane(lane: Lane, kind: int, time: int, name: str, notes: dict) -> None:
    lane.passes(time)
    if kind == BEGIN:
        lane.open.append(Slice(name, time, notes))
    elif kind == END and lane.open:
        one = lane.open.pop()
        one.end = time
        lane.slices.append(one)
    elif kind == INSTANT:
        lane.events[name] += 1
        if name == "suspended":
            lane.events["for " + text_of(notes.get("waits_for"))] += 1


def text_of(note) -> str:
    return note.decode(errors="replace") if isinstance(note, bytes) else "something"


def milliseconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.3f} ms"


def part(of: int, whole: int) -> str:
    return f"{100 * of / whole:.1f} %" if whole > 0 else "-"


def table(rows: list[list[str]]) -> None:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))).rstrip())


def path_of(lanes: dict[int, Lane], lane: Lane) -> str:
    names = [lane.name]
    while lane.parent in lanes:
        lane = lanes[lane.parent]
        names.append(lane.name)
    return " / ".join(n for n in reversed(names) if n)


def is_worker(lane: Lane) -> bool:
    return any("function" in s.notes or s.name in ASLEEP for s in lane.slices) or lane.events["steal"] > 0 or lane.events["suspended"] > 0


def tell(path: Path, longest: int) -> None:
    lanes, first, last = read(path)
    whole = last - first
    print(f"{path}: {milliseconds(whole)} from the first event to the last")
    workers = [lane for lane in lanes.values() if not lane.is_counter and is_worker(lane)]
    if workers:
        rows = [["lane", "worked", "slept", "searched", "strands", "steals", "waits"]]
        pools = times_of_pools(lanes)
        for lane in sorted(workers, key=lambda w: path_of(lanes, w)):
            strands = sum(1 for s in lane.slices if s.name not in ASLEEP)
            begin, end = pools[lane.parent]
            time = end - (lane.first if lane.events["events dropped"] else begin)
            idle = time - lane.worked - lane.slept
            rows.append([path_of(lanes, lane), part(lane.worked, time), part(lane.slept, time), part(idle, time), str(strands),
                         str(lane.events["steal"]), str(lane.events["suspended"])])
        print("\nworkers")
        table(rows)
    others = [lane for lane in lanes.values() if not lane.is_counter and lane not in workers and lane.slices]
    spans: dict[str, list[int]] = collections.defaultdict(list)
    for lane in others:
        for s in lane.slices:
            spans[s.name].append(s.end - s.begin)
    if spans:
        rows = [["span", "times", "in all", "longest"]]
        for name, took in sorted(spans.items(), key=lambda item: -sum(item[1])):
            rows.append([name, str(len(took)), milliseconds(sum(took)), milliseconds(max(took))])
        print("\nspans, and what threads outside did")
        table(rows)
    waits = collections.Counter()
    for lane in workers:
        waits.update({name[4:]: n for name, n in lane.events.items() if name.startswith("for ")})
    if waits:
        print("\nwaits")
        table([["for", "times"], *([name, str(n)] for name, n in waits.most_common())])
    strands = [(s.end - s.begin, s, lane) for lane in workers for s in lane.slices if s.name not in ASLEEP]
    strands.sort(key=lambda one: -one[0])
    if strands[:longest]:
        print("\nthe longest slices")
        rows = [["what", "took", "began at", "lane"]]
        for took, s, lane in strands[:longest]:
            function = text_of(s.notes["function"]) if "function" in s.notes else ""
            rows.append([f"{s.name} {function}".strip(), milliseconds(took), milliseconds(s.begin - first), lane.name])
        table(rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./nopal trace", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, help="a file that NOPAL_TRACE or pool_options::trace has named")
    parser.add_argument("--longest", type=int, default=5, metavar="N", help="so many of the longest slices (5)")
    options = parser.parse_args()
    if options.longest < 0:
        parser.error(f"--longest {options.longest} is below 0")
    try:
        tell(options.trace, options.longest)
    except OSError as e:
        print(f"nopal trace: {options.trace}: {e.strerror}", file=sys.stderr)
        return 1
    except Unreadable:
        print(f"nopal trace: {options.trace} is no trace of nopal's, or was cut off; write one with NOPAL_TRACE=run.pftrace ./app", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
