"""How far the algorithms scale: each on simulated machines, beside the standard library's serial one and beside the bound of a greedy scheduler."""

from dataclasses import dataclass
from pathlib import Path

from . import workloads
from .measure import Cell

STEM = "scale"
PROGRAM = workloads.PREFIX + "scale"
LEGEND = """\
serial       the standard library's serial algorithm; T1/TP: that over nopal's on the simulated machine, the best run of some
greedy       what a greedy scheduler reaches at worst: serial over work / P + span, where the README of the algorithms derives the span
goal         what is asked for; none where the work is too short for that machine
given        elements say how long they take, and nothing else counts but what the scheduler does; measured: they work"""

# By groups, each of which is a picture.
ALGORITHMS = {
    "loops and reductions": ("for_each", "transform", "transform_reduce", "reduce", "histogram", "replace_if", "adjacent_difference"),
    "searches": ("count_if", "find_if", "max_element", "min_element by a comparator", "equal", "mismatch", "is_sorted", "adjacent_find", "search"),
    "selections": ("copy_if", "remove_if", "unique", "partition", "stable_partition"),
    "scans": ("inclusive_scan", "exclusive_scan", "transform_inclusive_scan"),
    "orders": ("sort", "stable_sort", "nth_element", "partial_sort"),
    "merges": ("merge", "inplace_merge", "set_union", "set_intersection", "includes"),
    "moves": ("fill", "copy", "reverse", "rotate"),
}
NAMES = [name for group in ALGORITHMS.values() for name in group]
ONE_BY_ONE = ("reduce", "min_element by a comparator")  # the operation itself is dear, and log n of them follow each other

FEW = (16, 64, 256, 1024, 16384)
MANY = (100_000, 1_000_000, 10_000_000)
MACHINES = {"16": 0.064, "2x56": 0.64}  # and how long all elements together take, in seconds
SIZES_OF_MACHINES = ("1", "2", "4", "8", "16", "32", "2x28", "2x56")
SWEPT = 1024  # elements, on machines of all sizes

# What is asked for, from so many seconds of serial work on: by workers.
LONG_ENOUGH = {16: 0.020, 112: 0.500}
GOALS = {16: ((64, 10.0), (256, 12.0)), 112: ((1024, 50.0),)}  # from so many elements on
CHEAP_GOAL = {16: 10.0, 112: 50.0}
OWN_SPAN = 1024  # up to here sorts and the like are held against their own span,
PART_OF_BOUND = 0.8  # of whose greedy bound they reach so much


def tables(build: Path, only: list[str], smoke: bool) -> list[list[Cell]]:
    program = build / "bench" / PROGRAM
    if not program.is_file():
        raise workloads.MissingPrograms(f"{PROGRAM} was not built: ./nopal bench {STEM} builds it")
    return [_cells(program, name, smoke) for name in (only or NAMES)]


def _cells(program: Path, name: str, smoke: bool) -> list[Cell]:
    def cell(n: int, element: float, machine: str, *more: str) -> Cell:
        label = f"{n} elements of {element:g} ns, {machine}{''.join(more)}"
        arguments = ["--algorithm", name, "--size", str(n), "--element", f"{element:g}", "--machine", machine, *more]
        return Cell(f"scale {name}", label, 1, program, arguments + (["--runs", "1"] if smoke else []))

    if smoke:
        dear = [] if name in ALGORITHMS["moves"] else [cell(64, 10_000, "16"), cell(64, 1_000, "2x2", "--measured")]
        return [*dear, cell(20_000, 0, "4")]
    few = [cell(n, work / n * 1e9, machine) for machine, work in MACHINES.items() for n in FEW]
    swept = [cell(SWEPT, MACHINES["2x56"] / SWEPT * 1e9, machine) for machine in SIZES_OF_MACHINES if machine != "2x56"]
    really = [cell(n, MACHINES["16"] / n * 1e9, machine, "--measured") for machine in MACHINES for n in (64, 1024, 262_144)]
    many = [cell(n, 0, machine) for machine in ("1", *MACHINES) for n in MANY]
    return many if name in ALGORITHMS["moves"] else few + swept + really + many


@dataclass(frozen=True)
class Row:
    """None where there is no figure."""

    algorithm: str
    n: int
    element_ns: float
    machine: str
    workers: int
    clock: str
    status: str
    serial: float | None
    simulated: float | None
    speedup: float | None
    greedy: float | None
    goal: float | None
    disturbed: float | None
    lost: int
    compiler: str
    peer: str


def goal(name: str, n: int, workers: int, serial: float, dear: bool, greedy: float) -> float | None:
    """The least speed-up that is asked for."""
    if workers not in LONG_ENOUGH or serial < LONG_ENOUGH[workers]:
        return None
    if dear and n <= OWN_SPAN and (name in (*ALGORITHMS["orders"], *ALGORITHMS["merges"], *ONE_BY_ONE) or (name in ALGORITHMS["scans"] and workers > 16)):
        return PART_OF_BOUND * greedy
    asked = [at_least for least, at_least in GOALS[workers] if n >= least] if dear else [CHEAP_GOAL[workers]]
    if not asked:
        return None
    return asked[-1] / 2 if name in ("inclusive_scan", "exclusive_scan") else asked[-1]  # which do twice the work


def rows(table: list[Cell]) -> list[Row]:
    return [_row(cell) for cell in table]


def _row(cell: Cell) -> Row:
    told = dict(zip(cell.arguments[::2], cell.arguments[1::2]))
    best = min(cell.records, key=lambda record: record["seconds"]) if cell.records and cell.status == "ok" else None
    serial = min(record["serial"] for record in cell.records) if best else None
    speedup = serial / best["seconds"] if best and serial and best["seconds"] else None
    greedy = best["serial"] / best["greedy"] if best and best["greedy"] else None
    n, element = int(told["--size"]), float(told["--element"])
    workers = best["workers"] if best else 0
    return Row(
        algorithm=told["--algorithm"],
        n=n,
        element_ns=element,
        machine=told["--machine"],
        workers=workers,
        clock=best["clock"] if best else "",
        status=cell.short,
        serial=serial,
        simulated=best["seconds"] if best else None,
        speedup=speedup,
        greedy=greedy,
        goal=goal(told["--algorithm"], n, workers, serial, element > 0, greedy or 0) if serial else None,
        disturbed=best["disturbed"] if best else None,
        lost=best["lost_turns"] if best else 0,
        compiler=best.get("compiler", "") if best else "",
        peer=best.get("peer", "") if best else "",
    )


HEADER = ["elements", "P", "clock", "serial", "simulated", "T1/TP", "greedy", "goal"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    size = f"{row.n} of {row.element_ns:g} ns" if row.element_ns else str(row.n)
    if row.simulated is None or row.serial is None or row.speedup is None:
        return [size, row.machine, row.status] + [""] * (len(HEADER) - 3)
    return [
        size,
        row.machine,
        row.clock,
        f"{row.serial * 1e3:.2f} ms",
        f"{row.simulated * 1e3:.3f} ms",
        f"{row.speedup:.2f}",
        "" if row.greedy is None else f"{row.greedy:.1f}",
        "" if row.goal is None else f"{row.goal:.1f}{'' if row.speedup >= row.goal else ' missed'}",
    ]
