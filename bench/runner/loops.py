"""Loops: the shapes that programs have, their cells, and the figures of their tables."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import workloads
from .measure import Cell

SHAPES = ("stream", "hash", "triangle", "nested", "turns", "100", "1000", "10000", "100000")
RESTED = ("1000", "10000", "100000")  # also after a rest
REST = 5  # milliseconds

LEGEND = """\
median, p90  of the time of one solution, called by the main thread; each the median over the runs
/serial      the median over that of the serial loop: 1 on one worker is free
best peer/x  the best peer's median on as many workers over this one's: above 1, this is faster than every peer
shapes       stream: a·x + y of 10⁷ floats; hash: 10⁷ numbers mixed; triangle: iteration i takes i steps; nested: a loop of 1000 in each
             of 2000; turns: 1000 loops of 5000; a number: one loop of so many iterations of some 9 ns"""


def tables(build: Path, only: list[str], workers: list[int], smoke: bool) -> list[list[Cell]]:
    """A table for each shape, and one more where a rest comes before each call."""
    programs = workloads.programs(build, "loops", only)
    chosen = [(shape, 0) for shape in SHAPES] + [(shape, REST) for shape in RESTED if not smoke]
    result = []
    for shape, rest in chosen:
        title = f"loops {shape}" + (f" after {rest} ms of rest" if rest else "")
        table = []
        for impl, program in programs.items():
            for count in [1] if impl == workloads.SERIAL else workers:
                arguments = ["--workers", str(count), "--shape", shape, "--rest", str(rest), *(["--smoke"] if smoke else [])]
                table.append(Cell(title, impl, count, program, arguments))
        result.append(table)
    return result


@dataclass(frozen=True)
class Row:
    """The figures of one cell; None where there is none."""

    shape: str
    rest_ms: int
    impl: str
    workers: int
    status: str
    runs: int
    median_ns: float | None
    p90_ns: float | None
    serial_ratio: float | None
    best_peer_ratio: float | None
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    times = {(cell.impl, cell.workers): _median(cell, "median_ns") for cell in table if cell.status == "ok" and cell.records}
    return [_row(cell, times) for cell in table]


def _median(cell: Cell, key: str) -> float:
    return median(record[key] for record in cell.records)


def _row(cell: Cell, times: dict[tuple[str, int], float]) -> Row:
    first = cell.records[0] if cell.records else {}
    time = times.get((cell.impl, cell.workers))
    serial = times.get((workloads.SERIAL, 1))
    peers = [other for (impl, workers), other in times.items() if workloads.is_peer(impl) and workers == cell.workers]
    is_serial = cell.impl == workloads.SERIAL
    return Row(
        shape=first.get("shape", ""),
        rest_ms=first.get("rest_ms", 0),
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        median_ns=time,
        p90_ns=_median(cell, "p90_ns") if time is not None else None,
        serial_ratio=time / serial if time and serial and not is_serial else None,
        best_peer_ratio=min(peers) / time if peers and time and not is_serial else None,
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = ["implementation", "P", "median", "p90", "/serial", "best peer/x"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.median_ns is None or row.p90_ns is None:
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    ratios = ["" if ratio is None else f"{ratio:.2f}" for ratio in (row.serial_ratio, row.best_peer_ratio)]
    return [row.impl, str(row.workers), f"{row.median_ns / 1000:,.2f} us", f"{row.p90_ns / 1000:,.2f} us", *ratios]
