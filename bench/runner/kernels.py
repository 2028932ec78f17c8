"""The fork-join kernels: their cells, and the figures of their tables."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import series, workloads
from .measure import Cell
from .workloads import Workload

LEGEND = """\
time         median over the runs, each in a process of its own; (fastest .. slowest)
Ts/TP        speed-up: the serial projection's time over this one's; /P: efficiency, that by the number of workers
T1/Ts        overhead: the time on one worker over the serial projection's
best peer/x  the best peer's time on as many workers over this one's: above 1, this is faster than every peer
memory       peak resident memory of the process, median over the runs"""


def cells(
    workload: Workload,
    build: Path,
    only: list[str],
    workers: list[int],
    size: str,
    repeat: int = 1,
    pools: series.Chosen | None = None,
) -> list[Cell]:
    """A cell for each implementation, each series of nopal's, and each number of workers; one for the serial projection."""
    result = []
    for impl, program in workloads.programs(build, workload.kernel, only).items():
        for way in series.of(impl, pools or {}):
            for count in [1] if impl == workloads.SERIAL else workers:
                arguments = ["--workers", str(count), "--size", workload.size(size), *workload.arguments, *way.arguments]
                if repeat > 1:
                    arguments += ["--repeat", str(repeat)]
                result.append(Cell(workload.title, way.label(impl), count, program, arguments))
    return result


@dataclass(frozen=True)
class Row:
    """The figures of one cell; None where there is none."""

    workload: str
    size: str
    impl: str
    workers: int
    status: str
    runs: int
    seconds: float | None
    fastest: float | None
    slowest: float | None
    speedup: float | None
    efficiency: float | None
    overhead: float | None
    best_peer_ratio: float | None
    peak_rss_kib: float | None
    steals: float | None
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    times = {(cell.impl, cell.workers): _seconds(cell) for cell in table if cell.status == "ok" and cell.records}
    serial = times.get((workloads.SERIAL, 1))
    return [_row(cell, times, serial) for cell in table]


def _seconds(cell: Cell) -> float:
    return median(record["seconds"] for record in cell.records)


def _row(cell: Cell, times: dict[tuple[str, int], float], serial: float | None) -> Row:
    seconds = times.get((cell.impl, cell.workers)) if cell.status == "ok" else None
    is_serial = cell.impl == workloads.SERIAL
    peers = [time for (impl, workers), time in times.items() if workloads.is_peer(impl) and workers == cell.workers]
    speedup = serial / seconds if serial and seconds and not is_serial else None
    first = cell.records[0] if cell.records else {}
    all_seconds = [record["seconds"] for record in cell.records]
    return Row(
        workload=cell.table,
        size=first.get("size", ""),
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        seconds=seconds,
        fastest=min(all_seconds) if seconds else None,
        slowest=max(all_seconds) if seconds else None,
        speedup=speedup,
        efficiency=speedup / cell.workers if speedup else None,
        overhead=seconds / serial if serial and seconds and not is_serial and cell.workers == 1 else None,
        best_peer_ratio=min(peers) / seconds if peers and seconds and not is_serial else None,
        peak_rss_kib=median(record["peak_rss_kib"] for record in cell.records) if seconds else None,
        steals=median(record["steals"] for record in cell.records) if seconds and "steals" in first else None,
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = ["implementation", "P", "time", "(fastest .. slowest)", "Ts/TP", "/P", "T1/Ts", "best peer/x", "memory"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.seconds is None or row.fastest is None or row.slowest is None or row.peak_rss_kib is None:
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    scale, name = unit(row.seconds)
    return [
        row.impl,
        str(row.workers),
        f"{row.seconds * scale:.1f} {name}",
        f"({row.fastest * scale:.1f} .. {row.slowest * scale:.1f})",
        ratio(row.speedup),
        ratio(row.efficiency),
        ratio(row.overhead),
        ratio(row.best_peer_ratio),
        f"{row.peak_rss_kib / 1024:.1f} MiB",
    ]


def unit(seconds: float) -> tuple[float, str]:
    if seconds >= 10:
        return 1, "s"
    return (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")


def ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
