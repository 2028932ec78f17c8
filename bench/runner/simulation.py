"""Simulated machines: what is predicted beside what is measured on this one, and the figures of larger ones."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import fibers, workloads
from .measure import Cell
from .workloads import Workload

LEGEND = """\
measured     median over the runs on this machine, each in a process of its own; (fastest .. slowest)
simulated    what is predicted, from workers that ran one at a time; /measured: the one over the other
work         the time in strands, summed up over the workers, over that of one worker
lost         how often a worker waited in a way that the simulation does not see: where it is not 0 the time is not to be trusted"""

# What fills some tenths of a second on one worker, where the default size does not.
SIZES = {"fib": "38", "integrate": "1200", "nqueens": "13", "knapsack": "30"}
FIGURES = ("fib", "integrate", "T1", "T3", "T3L")  # Figs. 5 and 6 of libfork
LONG = "T3L"  # takes many seconds each: by lazy workers only, of few numbers
CHECKED = (
    *(("fib", impl) for impl in ("task", "native")),
    *(("integrate", impl) for impl in ("task", "native")),
    *(("nqueens", impl) for impl in ("task", "native")),
    *(("matmul", impl) for impl in ("task", "native")),
    ("T1", "task"),
    *((name, "native") for name in ("cholesky", "fft", "heat", "knapsack", "lu", "quicksort", "rectmul", "strassen")),
)
SERIES = (("", ()), (", busy", ("--idle", "busy")), (", uniform", ("--victims", "uniform")))
CHECK_TABLE = "predicted and measured"
FIBERS = "simulation-fibers"
FLOWS = "simulation-flows"
LIKELY = 1.25  # for each worker: the speed-up that caches might explain
FIBER_MACHINES = ((4, "4"), (8, "8"), (128, "2x64"))  # those of the paper on green threads, and half of its smaller one
FLOW_MACHINES = ((16, "16"), (112, "2x56"))
FIBER_VARIANTS = {"nqueens": (fibers.Variant("fiber", ("--depth", "2")),)}


def workers_of(machine: str) -> list[int]:
    """1, 2, 4, … up to all CPUs of a machine as "128" or "2x56", and each node whole."""
    numbers = [int(part) for part in machine.split("x")]
    total = numbers[0] * (numbers[1] if len(numbers) > 1 else 1)
    result = {1, total, numbers[-1]}
    count = 2
    while count < total:
        result.add(count)
        count *= 2
    return sorted(result)


def _cell(table: str, one: Workload, impl: str, label: str, build: Path, workers: int, size: str, more: tuple[str, ...]) -> Cell:
    program = workloads.programs(build, one.kernel, [workloads.SERIAL, impl])[impl]
    chosen = SIZES.get(one.name, size) if size == "default" else one.size(size)
    return Cell(table, label, workers, program, ["--workers", str(workers), "--size", chosen, *one.arguments, *more])


def check_cells(build: Path, workers: list[int], size: str) -> list[Cell]:
    """Each program measured, and simulated, with as many workers as there are CPUs; and with one."""
    result = []
    for name, impl in CHECKED:
        one = workloads.WORKLOADS[name]
        label = f"{name} {impl}"
        for count in sorted({1, max(workers)}):
            result.append(_cell(CHECK_TABLE, one, impl, label, build, count, size, ()))
            result.append(_cell(CHECK_TABLE, one, impl, f"{label}, simulated", build, count, size, ("--simulate", str(count))))
    return result


def figure_tables(build: Path, machine: str, size: str, smoke: bool) -> list[list[Cell]]:
    """The programs of libfork's figures by tasks, lazy, busy and with uniform victims; those of the Fibril paper by native forks."""
    if smoke:
        one = workloads.WORKLOADS["fib"]
        more = ("--simulate", machine, "--repeat", "3")
        return [[_cell(f"fib on {machine}", one, "task", "task", build, count, size, more) for count in (1, 8)]]
    tables = []
    for name in FIGURES:
        one = workloads.WORKLOADS[name]
        counts = workers_of(machine)
        ways = SERIES
        if name == LONG:
            counts, ways = sorted({1, *counts[-3:]}), SERIES[:1]
        tables.append(
            [
                _cell(f"{one.title} on {machine}", one, "task", f"task{suffix}", build, count, size, ("--simulate", machine, *told))
                for suffix, told in ways
                for count in counts
            ]
        )
    for one in workloads.FIBRIL:
        title = f"fibril {one.title} on {machine}"
        counts = [count for count in workers_of(machine) if count in (1, 8, 32) or count >= 56]
        tables.append([_cell(title, one, "native", "native", build, count, size, ("--simulate", machine)) for count in counts])
    return tables


def fiber_tables(build: Path, names: list[str], size: str) -> list[list[Cell]]:
    """The experiments on fibers that scale, on one worker and on whole machines of each size."""
    tables = []
    for name, of in fibers.SCALING.items():
        if name not in names or name == fibers.CONTENDED:
            continue
        program = workloads.programs(build, of.kernel, [workloads.FIBER])[workloads.FIBER]
        [variant] = FIBER_VARIANTS.get(name, (fibers.FIBER,))
        machines = ((1, "8"), *FIBER_MACHINES)
        tables.append(
            [
                Cell(
                    f"fibers {name}",
                    variant.label,
                    count,
                    program,
                    ["--workers", str(count), "--size", size, *of.arguments, *variant.arguments, "--simulate", machine],
                )
                for count, machine in machines
            ]
        )
    return tables


def flow_tables(build: Path, size: str) -> list[list[Cell]]:
    """Each shape of Taskflow's benchmarks on one worker and on whole machines."""
    machines = ((1, FLOW_MACHINES[0][1]), *FLOW_MACHINES)
    return [
        [_cell(one.title, one, "task", "task", build, count, size, ("--simulate", machine)) for count, machine in machines]
        for one in workloads.FLOWS
    ]


@dataclass(frozen=True)
class CheckRow:
    """None where there is no figure."""

    workload: str
    impl: str
    workers: int
    status: str
    runs: int
    measured: float | None
    fastest: float | None
    slowest: float | None
    simulated: float | None
    ratio: float | None
    lost: int
    compiler: str
    peer: str


def _seconds(cell: Cell | None) -> list[float]:
    return [record["seconds"] for record in cell.records] if cell and cell.status == "ok" else []


def _lost(cell: Cell | None) -> int:
    return sum(record.get("simulated", {}).get("lost_turns", 0) for record in cell.records) if cell else 0


def check_rows(table: list[Cell]) -> list[CheckRow]:
    by = {(cell.impl, cell.workers): cell for cell in table}
    rows = []
    for cell in table:
        if cell.impl.endswith(", simulated"):
            continue
        other = by.get((f"{cell.impl}, simulated", cell.workers))
        real, predicted = _seconds(cell), _seconds(other)
        first = cell.records[0] if cell.records else {}
        name, impl = cell.impl.rsplit(" ", 1)
        rows.append(
            CheckRow(
                workload=name,
                impl=impl,
                workers=cell.workers,
                status=cell.short if cell.status != "ok" or other is None else other.short,
                runs=min(len(real), len(predicted)),
                measured=median(real) if real else None,
                fastest=min(real) if real else None,
                slowest=max(real) if real else None,
                simulated=median(predicted) if predicted else None,
                ratio=median(predicted) / median(real) if real and predicted else None,
                lost=_lost(other),
                compiler=first.get("compiler", ""),
                peer=first.get("peer", ""),
            )
        )
    return rows


CHECK_HEADER = ["program", "P", "measured", "(fastest .. slowest)", "simulated", "/measured", "lost"]


def check_texts(row: CheckRow) -> list[str]:
    """The row as it stands in a terminal's table."""
    name = f"{row.workload} {row.impl}"
    if row.measured is None or row.simulated is None or row.fastest is None or row.slowest is None:
        return [name, str(row.workers), row.status] + [""] * (len(CHECK_HEADER) - 3)
    return [
        name,
        str(row.workers),
        f"{row.measured * 1e3:.1f} ms",
        f"({row.fastest * 1e3:.1f} .. {row.slowest * 1e3:.1f})",
        f"{row.simulated * 1e3:.1f} ms",
        f"{row.ratio:.3f}",
        str(row.lost),
    ]


@dataclass(frozen=True)
class Row:
    """None where there is no figure."""

    workload: str
    size: str
    impl: str
    workers: int
    status: str
    runs: int
    simulated: float | None
    speedup: float | None  # over one worker
    efficiency: float | None
    work: float | None
    searching: float | None  # of all the time that the workers had
    asleep: float | None
    steals: float | None
    far_steals: float | None
    lost: int
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    alone = {cell.impl: median(_seconds(cell)) for cell in table if cell.workers == 1 and _seconds(cell)}
    works = {
        cell.impl: median(record["simulated"]["working"] for record in cell.records)
        for cell in table
        if cell.workers == 1 and _seconds(cell)
    }
    return [_row(cell, alone.get(cell.impl), works.get(cell.impl)) for cell in table]


def _row(cell: Cell, alone: float | None, work: float | None) -> Row:
    seconds = _seconds(cell)
    told = [record["simulated"] for record in cell.records] if seconds else []
    middle = median(seconds) if seconds else None
    first = cell.records[0] if cell.records else {}

    def of(key: str) -> float | None:
        return median(one[key] / (s * cell.workers) for one, s in zip(told, seconds, strict=True)) if told else None

    return Row(
        workload=cell.table,
        size=first.get("size", ""),
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        simulated=middle,
        speedup=alone / middle if alone and middle else None,
        efficiency=alone / middle / cell.workers if alone and middle else None,
        work=median(one["working"] for one in told) / work if told and work else None,
        searching=of("searching"),
        asleep=of("asleep"),
        steals=median(sum(one["steals"]) for one in told) if told else None,
        far_steals=median(sum(one["steals"][1:]) for one in told) if told else None,
        lost=_lost(cell),
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


def disturbed(found: list[Row]) -> list[str]:
    """What to say of each row that cannot be: where other programs took the CPUs for long, turns came too late."""
    return [
        f"{row.workload}, {row.impl} on {row.workers}: {row.speedup:.1f} times as fast as on one worker, which cannot be: run it with nothing else on the machine"
        for row in found
        if row.speedup is not None and row.speedup > LIKELY * row.workers
    ]


HEADER = ["implementation", "P", "simulated", "T1/TP", "/P", "work", "searching", "steals", "of these far", "lost"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.simulated is None:
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    return [
        row.impl,
        str(row.workers),
        f"{row.simulated * 1e3:.2f} ms",
        "" if row.speedup is None else f"{row.speedup:.2f}",
        "" if row.efficiency is None else f"{row.efficiency:.2f}",
        "" if row.work is None else f"{row.work:.2f}",
        "" if row.searching is None else f"{row.searching:.1%}",
        f"{row.steals:,.0f}",
        f"{row.far_steals:,.0f}",
        str(row.lost),
    ]
