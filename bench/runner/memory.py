"""Peak memory by the number of workers, also of more workers than there are CPUs, and the fit of Eq. (17): Fig. 7 and Table II of the
libfork paper."""

from dataclasses import dataclass
from statistics import median

from . import fit, workloads
from .kernels import ratio
from .measure import Cell

LEAST = 8  # workers that the sweep goes up to, though there be fewer CPUs
LONGEST = 15  # seconds of a run, beyond which a cell is not run on yet more workers

LEGEND = """\
MRSS         peak resident memory of the process by its number of workers, median over the runs; of more workers than CPUs it is
             the only figure that is shown
M1           what the serial projection adds to its resident memory from its first solution on
a, b, n      of MRSS = a + b M1 P^n, Eq. (17), with their standard errors"""


def workers(timed: list[int]) -> list[int]:
    """What to add to the numbers of workers that are timed."""
    result = []
    next_one = 2 * max(timed)
    while next_one <= LEAST:
        result.append(next_one)
        next_one *= 2
    return result


def take_time_into_account(cell: Cell, timed: list[Cell]) -> None:
    """Skips the cell where the same on the most workers that were timed says that it would take too long, or fails."""
    before = [one for one in timed if one.table == cell.table and one.impl == cell.impl]
    if not before:
        return
    last = before[-1]
    if last.status != "ok":
        cell.end("skipped", f"{last} {last.short}", last.short)
    elif last.records and last.records[0].get("process_seconds", 0) > LONGEST:
        cell.end("skipped", f"it takes more than {LONGEST} s on fewer workers", "takes long")


@dataclass(frozen=True)
class Row:
    """One implementation's memory in one workload. Memory in KiB."""

    workload: str
    size: str
    impl: str
    runs: int
    memory: dict[int, float]
    m1: float | None
    a: float | None
    a_error: float | None
    b: float | None
    b_error: float | None
    n: float | None
    n_error: float | None
    no_fit: str
    compiler: str
    peer: str


def serial_m1(table: list[Cell]) -> float | None:
    """M₁: at least a page, which every program touches."""
    values = [
        record["peak_rss_kib"] - record["rss_before_kib"]
        for cell in table
        if cell.impl == workloads.SERIAL
        for record in cell.records
        if "rss_before_kib" in record
    ]
    return max(4.0, median(values)) if values else None


def rows(table: list[Cell]) -> list[Row]:
    """`table`: the timed cells of one workload, and those for memory only."""
    m1 = serial_m1(table)
    labels = dict.fromkeys(cell.impl for cell in table if cell.impl != workloads.SERIAL)
    return [
        _row(label, [cell for cell in table if cell.impl == label and cell.status == "ok" and cell.records], table, m1) for label in labels
    ]


def _row(label: str, cells: list[Cell], table: list[Cell], m1: float | None) -> Row:
    points = [(cell.workers, float(record["peak_rss_kib"])) for cell in cells for record in cell.records]
    found = fit.fit(points, m1 or 0)
    first = cells[0].records[0] if cells else {}
    fitted = found if isinstance(found, fit.Fit) else None
    return Row(
        workload=table[0].table.removeprefix("memory of "),
        size=first.get("size", ""),
        impl=label,
        runs=len(points),
        memory={cell.workers: median(record["peak_rss_kib"] for record in cell.records) for cell in cells},
        m1=m1,
        a=fitted and fitted.a,
        a_error=fitted and fitted.a_error,
        b=fitted and fitted.b,
        b_error=fitted and fitted.b_error,
        n=fitted and fitted.n,
        n_error=fitted and fitted.n_error,
        no_fit="" if fitted else str(found),
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = ["implementation", "runs", "MRSS in MiB, by P", "M1 KiB", "a MiB", "b", "n"]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    memory = "  ".join(f"{workers}: {kib / 1024:.1f}" for workers, kib in row.memory.items())
    m1 = "" if row.m1 is None else f"{row.m1:.0f}"
    if row.n is None or row.a is None or row.b is None:
        return [row.impl, str(row.runs), memory, m1, "", "", row.no_fit]
    return [
        row.impl,
        str(row.runs),
        memory,
        m1,
        f"{row.a / 1024:.1f} ± {(row.a_error or 0) / 1024:.1f}",
        f"{ratio(row.b)} ± {ratio(row.b_error)}",
        f"{ratio(row.n)} ± {ratio(row.n_error)}",
    ]
