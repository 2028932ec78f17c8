"""The experiments on fibers, those of the green-threads paper: which there are, and the cells and figures of those that scale."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import series, workloads
from .kernels import ratio, unit
from .measure import Cell

LEGEND = """\
time         median over the runs, each in a process of its own; (fastest .. slowest)
fibers/s     fibers, or what takes their place, by that time
Ts/TP        speed-up: the serial projection's time over this one's
T1/TP        the time of the same on one worker over this one's
steals       by thieves that found something, of their attempts, the looks at another worker; success: the share
busy         how far the workers' busy cycles lie apart: the most less the fewest, by their mean; one within a run, median over the runs
threads      a block of the work for each of as many threads as workers; thread_each: a thread for each fiber"""


@dataclass(frozen=True)
class Variant:
    """One way to run the fibers of an experiment: what its line is called, and what its program is told."""

    label: str
    arguments: tuple[str, ...] = ()


FIBER = Variant("fiber")
NO_STEALING = Variant("fiber, no stealing", ("--no-steal",))
CONTENDED = "contention"
CONTENTION = (
    Variant("fiber, scan, no back-off", ("--victims", "scan", "--no-back-off")),
    Variant("fiber, scan, back-off", ("--victims", "scan")),
    Variant("fiber, uniform, no back-off", ("--victims", "uniform", "--no-back-off")),
    Variant("fiber, uniform, back-off", ("--victims", "uniform")),
    Variant("fiber, Eq. (6), back-off"),
)


@dataclass(frozen=True)
class Experiment:
    name: str
    kernel: str
    arguments: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = (FIBER, NO_STEALING)
    at_least: int = 0  # workers, though there be fewer CPUs: where steals are counted more than time
    peers: bool = True
    own_options: tuple[str, ...] = ()  # of the pool, which the variants choose


SCALING = {
    experiment.name: experiment
    for experiment in (
        Experiment("balanced", "fibers_loops"),
        Experiment("imbalanced", "fibers_loops", ("--imbalanced",)),
        Experiment(CONTENDED, "fibers_loops", ("--imbalanced",), CONTENTION, at_least=8, peers=False, own_options=("victims", "backoff")),
        Experiment("fib", "fibers_fib"),
        Experiment("heat", "fibers_heat"),
        Experiment("bfs", "fibers_bfs"),
        Experiment(
            "nqueens",
            "fibers_nqueens",
            variants=(
                *(Variant(f"fiber, depth {depth}", ("--depth", str(depth))) for depth in (1, 2, 3)),
                Variant("fiber, depth 2, no stealing", ("--depth", "2", "--no-steal")),
            ),
        ),
        Experiment("mergesort", "fibers_mergesort"),
    )
}
SWITCH, MIGRATION, COST = "switch", "migration", "cost"
NAMES = (SWITCH, *SCALING, MIGRATION, COST)


def cells(
    of: Experiment,
    build: Path,
    only: list[str],
    workers: list[int],
    size: str,
    repeat: int = 1,
    pools: series.Chosen | None = None,
) -> list[Cell]:
    """A cell for each variant, each series and each number of workers, and for each peer; one for the serial projection."""
    result = []
    pools = {name: values for name, values in (pools or {}).items() if name not in of.own_options}
    if of.at_least > max(workers):
        workers = [*workers, of.at_least]
    for impl, program in workloads.programs(build, of.kernel, only).items():
        if workloads.is_peer(impl) and not of.peers:
            continue
        for variant in of.variants if impl == workloads.FIBER else [Variant(impl)]:
            for way in series.of(impl, pools):
                for count in [1] if impl == workloads.SERIAL else workers:
                    arguments = ["--workers", str(count), "--size", size, "--repeat", str(repeat)]
                    arguments += [*of.arguments, *variant.arguments, *way.arguments]
                    result.append(Cell(f"fibers {of.name}", way.label(variant.label), count, program, arguments))
    return result


@dataclass(frozen=True)
class Row:
    """The figures of one cell; None where there is none."""

    experiment: str
    size: str
    impl: str
    workers: int
    status: str
    runs: int
    seconds: float | None
    fastest: float | None
    slowest: float | None
    fibers: float | None
    fibers_per_second: float | None
    speedup: float | None
    scaling: float | None
    steals: float | None
    steal_attempts: float | None
    success: float | None
    busy_spread: float | None
    peak_rss_kib: float | None
    compiler: str
    peer: str


def rows(table: list[Cell]) -> list[Row]:
    times = {(cell.impl, cell.workers): middle(cell, "seconds") for cell in table}
    return [_row(cell, times) for cell in table]


def busy_spread(record: dict) -> float | None:
    """How far apart the busy cycles of the run's workers are, by their mean."""
    busy = [value for key, value in record.items() if key.startswith("busy_cycles_")]
    mean = sum(busy) / len(busy) if busy else 0
    return (max(busy) - min(busy)) / mean if mean else None


def _busy_spread(cell: Cell) -> float | None:
    if cell.status != "ok" or cell.workers == 1:
        return None
    spreads = [spread for record in cell.records if (spread := busy_spread(record)) is not None]
    return median(spreads) if spreads else None


def middle(cell: Cell, key: str) -> float | None:
    """The median over the cell's runs, where they have that figure."""
    values = [record[key] for record in cell.records if key in record] if cell.status == "ok" else []
    return median(values) if values else None


def _row(cell: Cell, times: dict[tuple[str, int], float | None]) -> Row:
    is_serial = cell.impl == workloads.SERIAL
    seconds = times[cell.impl, cell.workers]
    serial, alone = times.get((workloads.SERIAL, 1)), times.get((cell.impl, 1))
    fibers = None if is_serial else middle(cell, "fibers")
    steals, attempts = middle(cell, "steals"), middle(cell, "steal_attempts")
    first = cell.records[0] if cell.records else {}
    all_seconds = [record["seconds"] for record in cell.records]
    return Row(
        experiment=cell.table,
        size=first.get("size", ""),
        impl=cell.impl,
        workers=cell.workers,
        status=cell.short,
        runs=len(cell.records),
        seconds=seconds,
        fastest=min(all_seconds) if seconds else None,
        slowest=max(all_seconds) if seconds else None,
        fibers=fibers,
        fibers_per_second=fibers / seconds if fibers and seconds else None,
        speedup=serial / seconds if serial and seconds and not is_serial else None,
        scaling=alone / seconds if alone and seconds and cell.workers > 1 else None,
        steals=steals,
        steal_attempts=attempts,
        success=steals / attempts if steals is not None and attempts else None,
        busy_spread=_busy_spread(cell),
        peak_rss_kib=middle(cell, "peak_rss_kib"),
        compiler=first.get("compiler", ""),
        peer=first.get("peer", ""),
    )


HEADER = [
    *("implementation", "P", "time", "(fastest .. slowest)", "fibers/s", "Ts/TP", "T1/TP"),
    *("steals", "attempts", "success", "busy"),
]


def texts(row: Row) -> list[str]:
    """The row as it stands in a terminal's table."""
    if row.seconds is None or row.fastest is None or row.slowest is None:
        return [row.impl, str(row.workers), row.status] + [""] * (len(HEADER) - 3)
    scale, name = unit(row.seconds)
    return [
        row.impl,
        str(row.workers),
        f"{row.seconds * scale:.1f} {name}",
        f"({row.fastest * scale:.1f} .. {row.slowest * scale:.1f})",
        count(row.fibers_per_second),
        ratio(row.speedup),
        ratio(row.scaling),
        count(row.steals),
        count(row.steal_attempts),
        "" if row.success is None else f"{row.success:.1%}",
        "" if row.busy_spread is None else f"{row.busy_spread:.0%}",
    ]


def count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"
