"""What one switch and one fiber cost, in time and memory."""

from dataclasses import dataclass
from pathlib import Path

from . import workloads
from .fibers import COST, SWITCH, count, middle
from .kernels import ratio
from .measure import Cell

LEGEND = """\
ns each      median over the runs, by the number of switches, fibers or forks; (fastest .. slowest)
x base       that over nopal's bare context switch, or over a fork of parallel_invoke in fib(30)
bytes each   the increase of resident memory at its highest, for each fiber that waits to start
memory       peak resident memory of the process"""

BASES = ("context", "fork, parallel_invoke")
EMPTY, ALL_EMPTY = "empty, 100 at a time", "empty, all at once"
FEW_PARK, MANY_PARK = "parks once, 100 at a time", "parks once, 1000 at a time"


def switch_cells(build: Path, only: list[str], workers: list[int], size: str) -> list[Cell]:
    """All on one CPU; the threads also on two."""
    result = []
    for impl, program in workloads.programs(build, "fibers_switch", only).items():
        two = max(workers) > 1 and impl in ("condition", "semaphore")
        for on in [1, 2] if two else [1]:
            result.append(Cell(f"fibers {SWITCH}", impl, on, program, ["--workers", str(on), "--size", size]))
    return result


def cost_cells(build: Path, only: list[str], size: str) -> list[Cell]:
    """All on one worker. First what a fiber is compared with."""
    result = []

    def add(label: str, kernel: str, impl: str, *arguments: str) -> None:
        program = build / "bench" / f"{workloads.PREFIX}{kernel}_{impl}"
        if program.is_file() and (not only or impl in only):
            result.append(Cell(f"fibers {COST}", label, 1, program, ["--workers", "1", *arguments]))

    add("call", "fibers_empty", workloads.SERIAL, "--size", size)
    add(BASES[1], "fib", workloads.NATIVE, "--size", "20" if size == "smoke" else "30", "--repeat", "5")
    for impl in (workloads.FIBER, "boost_fiber"):
        add(f"{impl}, {EMPTY}", "fibers_empty", impl, "--size", size, "--batch", "100")
        add(f"{impl}, {ALL_EMPTY}", "fibers_empty", impl, "--size", size)
        add(f"{impl}, {FEW_PARK}", "fibers_park", impl, "--size", size, "--batch", "100")
        fewer = "100000" if size == "default" else size  # beyond the stacks that a worker keeps, it takes far longer
        add(f"{impl}, {MANY_PARK}", "fibers_park", impl, "--size", fewer, "--batch", "1000")
    return result


@dataclass(frozen=True)
class Row:
    """The figures of one cell; None where there is none."""

    experiment: str
    impl: str
    workers: int
    status: str
    runs: int
    number: float | None
    ns_each: float | None
    fastest: float | None
    slowest: float | None
    times_base: float | None
    bytes_each: float | None
    peak_rss_kib: float | None
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    base = next((ns for cell in table if cell.impl in BASES and (ns := _ns(cell, middle(cell, "seconds")))), None)
    return [_row(cell, base) for cell in table]


def _number(cell: Cell) -> float | None:
    """Of switches, fibers or forks."""
    if not cell.records:
        return None
    if cell.impl == BASES[1]:
        return _forks(int(cell.records[0]["size"]))
    return middle(cell, "fibers")


def _forks(n: int) -> int:
    """Those of fib(n): the next Fibonacci number less one."""
    current, following = 0, 1
    for _ in range(n + 1):
        current, following = following, current + following
    return current - 1


def _ns(cell: Cell, seconds: float | None) -> float | None:
    number = _number(cell)
    return seconds * 1e9 / number if seconds and number else None


def _row(cell: Cell, base: float | None) -> Row:
    first = cell.records[0] if cell.records else {}
    seconds = [record["seconds"] for record in cell.records]
    ns = _ns(cell, middle(cell, "seconds"))
    increase = middle(cell, "rss_increase_kib") if cell.impl.endswith(ALL_EMPTY) else None
    waiting = _number(cell)
    return Row(
        experiment=cell.table,
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        number=_number(cell),
        ns_each=ns,
        fastest=_ns(cell, min(seconds)) if ns else None,
        slowest=_ns(cell, max(seconds)) if ns else None,
        times_base=ns / base if ns and base else None,
        bytes_each=increase * 1024 / waiting if increase is not None and waiting else None,
        peak_rss_kib=middle(cell, "peak_rss_kib"),
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = ["", "P", "number", "ns each", "(fastest .. slowest)", "x base", "bytes each", "memory"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.ns_each is None or row.fastest is None or row.slowest is None or row.peak_rss_kib is None:
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    digits = 1 if row.ns_each < 1000 else 0
    return [
        row.impl,
        str(row.workers),
        count(row.number),
        f"{row.ns_each:,.{digits}f}",
        f"({row.fastest:,.{digits}f} .. {row.slowest:,.{digits}f})",
        ratio(row.times_base),
        count(row.bytes_each),
        f"{row.peak_rss_kib / 1024:.1f} MiB",
    ]
