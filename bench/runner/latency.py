"""The latency of small jobs: their cells, and the figures of their tables."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import workloads
from .measure import Cell

JOBS = ("empty", "20us", "200us")

LEGEND = """\
median, p90  of the time of one call from a thread outside the pool; each the median over the runs
best peer/x  the best peer's median over this one's: above 1, this answers sooner than every peer
serial       the job done by the calling thread itself"""


def tables(build: Path, only: list[str], workers: int, rests: list[int], calls: int | None) -> list[list[Cell]]:
    """A table for each job and each rest between two calls."""
    programs = workloads.programs(build, "latency", only)
    result = []
    for rest in rests:
        for job in JOBS:
            arguments = ["--workers", str(workers), "--job", job, "--rest", str(rest)]
            if calls is not None:
                arguments += ["--calls", str(calls)]
            title = f"latency {job} " + (f"after {rest} ms of rest" if rest else "in a tight loop")
            result.append([Cell(title, impl, workers, program, arguments) for impl, program in programs.items()])
    return result


@dataclass(frozen=True)
class Row:
    """The figures of one cell; None where there is none."""

    job: str
    rest_ms: int
    impl: str
    workers: int
    status: str
    runs: int
    calls: int
    median_ns: float | None
    p90_ns: float | None
    best_peer_ratio: float | None
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    times = {cell.impl: _median(cell, "median_ns") for cell in table if cell.status == "ok" and cell.records}
    peers = [time for impl, time in times.items() if workloads.is_peer(impl)]
    return [_row(cell, times.get(cell.impl), peers) for cell in table]


def _median(cell: Cell, key: str) -> float:
    return median(record[key] for record in cell.records)


def _row(cell: Cell, time: float | None, peers: list[float]) -> Row:
    first = cell.records[0] if cell.records else {}
    is_serial = cell.impl == workloads.SERIAL
    return Row(
        job=first.get("job", ""),
        rest_ms=first.get("rest_ms", 0),
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        calls=first.get("calls", 0),
        median_ns=time,
        p90_ns=_median(cell, "p90_ns") if time is not None else None,
        best_peer_ratio=min(peers) / time if peers and time and not is_serial else None,
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = ["implementation", "P", "median", "p90", "best peer/x"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.median_ns is None or row.p90_ns is None:
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    ratio = "" if row.best_peer_ratio is None else f"{row.best_peer_ratio:.2f}"
    return [row.impl, str(row.workers), f"{row.median_ns:,.0f} ns", f"{row.p90_ns:,.0f} ns", ratio]
