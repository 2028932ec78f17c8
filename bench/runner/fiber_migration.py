"""What it costs a fiber to run on another worker than the one that spawned it: processor cycles, local against stolen."""

from dataclasses import dataclass
from pathlib import Path

from . import workloads
from .fibers import MIGRATION, count, middle
from .measure import Cell

LEGEND = """\
computing    fibers that only loop; reading: fibers that add up 16 KiB that their spawner has just written
cycles       of one fiber that ran on its spawner's worker, or was stolen from it: medians within a run, of which the median
             over the runs; ticks of the constant clock
stolen       the share of the fibers that were"""


def cells(build: Path, only: list[str], workers: list[int], size: str) -> list[Cell]:
    return [
        Cell(f"fibers {MIGRATION}", impl, on, program, ["--workers", str(on), "--size", size])
        for impl, program in workloads.programs(build, "fibers_migration", only).items()
        for on in ([1] if impl == workloads.SERIAL else workers)
    ]


@dataclass(frozen=True)
class Row:
    """The figures of one kind of fibers in one cell; None where there is none."""

    impl: str
    workers: int
    status: str
    runs: int
    fibers: str
    local_cycles: float | None
    stolen_cycles: float | None
    difference: float | None
    stolen: float | None
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    return [_row(cell, kind) for cell in table for kind in ("computing", "reading")]


def _row(cell: Cell, kind: str) -> Row:
    first = cell.records[0] if cell.records else {}
    local, stolen = middle(cell, f"{kind}_local_cycles"), middle(cell, f"{kind}_stolen_cycles")
    here, elsewhere = middle(cell, f"{kind}_local_fibers") or 0, middle(cell, f"{kind}_stolen_fibers") or 0
    return Row(
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        fibers=kind,
        local_cycles=local,
        stolen_cycles=stolen,
        difference=stolen - local if stolen and local else None,
        stolen=elsewhere / (here + elsewhere) if here or elsewhere else None,
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = ["implementation", "P", "fibers", "local cycles", "stolen cycles", "difference", "", "stolen"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.status != "ok":
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    return [
        row.impl,
        str(row.workers),
        row.fibers,
        count(row.local_cycles),
        count(row.stolen_cycles),
        count(row.difference),
        f"{row.difference / row.local_cycles:+.1%}" if row.difference is not None and row.local_cycles else "",
        "" if row.stolen is None else f"{row.stolen:.0%}",
    ]
