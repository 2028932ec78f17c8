"""The space that nopal's native stacks take: the figures of Tables 2, 3 and 4 of the Fibril paper, for its twelve programs."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import workloads
from .measure import Cell
from .workloads import Workload

RECLAIM, KEEP, PEER = "native dontneed", "native none", "tbb"
SERIAL_DEPTH, SAMPLED = "native none, one worker", "native dontneed, sampled"

LEGEND = """\
dontneed, none  nopal gives unused pages of suspended stacks back, or keeps them (pool_options::reclaim)
steals .. pages returned, of dontneed; faults: minor page faults while it ran
time            with dontneed over with none: the median over pairs of runs
ΔRSS / max      the most memory that came in while it ran, and the most the process ever had resident, in MiB
stacks          the most native stacks at once
D               nested forks on the deepest path; S1: stack pages that a single worker touched
S_P/P           the most stack pages resident at once, looked at every millisecond, by workers; the bound is S1 + D"""


@dataclass(frozen=True)
class Cells:
    """What is run for one program: the timed runs, taken in turn, and the two that only look at stacks."""

    workload: str
    reclaim: Cell
    keep: Cell
    peer: Cell | None
    serial_depth: Cell
    sampled: Cell

    @property
    def timed(self) -> list[Cell]:
        return [cell for cell in (self.reclaim, self.keep, self.peer) if cell]

    @property
    def looking(self) -> list[Cell]:
        return [self.serial_depth, self.sampled]


def cells(workload: Workload, build: Path, workers: int, size: str) -> Cells:
    programs = workloads.programs(build, workload.kernel, [workloads.NATIVE, PEER])
    if workloads.NATIVE not in programs:
        raise workloads.MissingPrograms(f"{workload.kernel} has no program on native stacks")

    def cell(label: str, impl: str, count: int, *more: str) -> Cell:
        arguments = ["--workers", str(count), "--size", workload.size(size), *workload.arguments, *more]
        return Cell(workload.title, label, count, programs[impl], arguments)

    native = workloads.NATIVE
    return Cells(
        workload=workload.title,
        reclaim=cell(RECLAIM, native, workers, "--reclaim", "dontneed"),
        keep=cell(KEEP, native, workers, "--reclaim", "none"),
        peer=cell(PEER, PEER, workers) if PEER in programs else None,
        serial_depth=cell(SERIAL_DEPTH, native, 1, "--reclaim", "none", "--sample"),
        sampled=cell(SAMPLED, native, workers, "--reclaim", "dontneed", "--sample"),
    )


@dataclass(frozen=True)
class Row:
    """The figures of one program; None where there is none."""

    workload: str
    size: str
    workers: int
    runs: int
    status: str
    steals: float | None
    suspensions: float | None
    unmaps: float | None
    pages_returned: float | None
    faults_dontneed: float | None
    faults_none: float | None
    faults_tbb: float | None
    seconds_dontneed: float | None
    seconds_none: float | None
    seconds_tbb: float | None
    time_dontneed_over_none: float | None
    rss_increase_kib_dontneed: float | None
    rss_increase_kib_none: float | None
    rss_increase_kib_tbb: float | None
    peak_rss_kib_dontneed: float | None
    peak_rss_kib_none: float | None
    peak_rss_kib_tbb: float | None
    stacks_dontneed: float | None
    stacks_none: float | None
    fork_depth: int | None
    stack_pages_serial: int | None
    stack_pages_bound: int | None
    stack_pages_peak: int | None
    stack_pages_per_worker: float | None


def row(of: Cells) -> Row:
    on, off, peer = of.reclaim, of.keep, of.peer
    everything = of.timed + of.looking
    first = on.records[0] if on.records else {}
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(on.records, off.records, strict=False)]
    depth = _first(of.serial_depth, "fork_depth")
    serial = _first(of.serial_depth, "stack_pages")
    peak = _first(of.sampled, "stack_pages_peak")
    return Row(
        workload=of.workload,
        size=first.get("size", ""),
        workers=on.workers,
        runs=len(on.records),
        status=next((cell.status for cell in everything if cell.status != "ok"), "ok"),
        steals=_median(on, "steals"),
        suspensions=_median(on, "suspensions"),
        unmaps=_median(on, "unmaps"),
        pages_returned=_median(on, "pages_returned"),
        faults_dontneed=_median(on, "page_faults"),
        faults_none=_median(off, "page_faults"),
        faults_tbb=_median(peer, "page_faults"),
        seconds_dontneed=_median(on, "seconds"),
        seconds_none=_median(off, "seconds"),
        seconds_tbb=_median(peer, "seconds"),
        time_dontneed_over_none=median(ratios) if ratios else None,
        rss_increase_kib_dontneed=_median(on, "rss_increase_kib"),
        rss_increase_kib_none=_median(off, "rss_increase_kib"),
        rss_increase_kib_tbb=_median(peer, "rss_increase_kib"),
        peak_rss_kib_dontneed=_median(on, "peak_rss_kib"),
        peak_rss_kib_none=_median(off, "peak_rss_kib"),
        peak_rss_kib_tbb=_median(peer, "peak_rss_kib"),
        stacks_dontneed=_median(on, "stacks_peak"),
        stacks_none=_median(off, "stacks_peak"),
        fork_depth=depth,
        stack_pages_serial=serial,
        stack_pages_bound=serial + depth if serial is not None and depth is not None else None,
        stack_pages_peak=peak,
        stack_pages_per_worker=peak / of.sampled.workers if peak is not None else None,
    )


def _median(cell: Cell | None, key: str) -> float | None:
    values = [record[key] for record in cell.records if key in record] if cell and cell.status == "ok" else []
    return median(values) if values else None


def _first(cell: Cell, key: str) -> int | None:
    return cell.records[0].get(key) if cell.records else None


FAULTS = ["program", "steals", "suspensions", "unmaps", "pages returned", "faults dontneed", "none", "oneTBB", "time"]
MEMORY = ["program", "ΔRSS / max dontneed", "none", "oneTBB", "stacks dontneed", "none"]
STACKS = ["program", "D", "S1", "S1 + D", "S_P/P"]


def fault_texts(of: Row) -> list[str]:
    counts = [of.steals, of.suspensions, of.unmaps, of.pages_returned, of.faults_dontneed, of.faults_none, of.faults_tbb]
    return [of.workload, *map(_count, counts), _decimal(of.time_dontneed_over_none)]


def memory_texts(of: Row) -> list[str]:
    return [
        of.workload,
        _memory(of.rss_increase_kib_dontneed, of.peak_rss_kib_dontneed),
        _memory(of.rss_increase_kib_none, of.peak_rss_kib_none),
        _memory(of.rss_increase_kib_tbb, of.peak_rss_kib_tbb),
        _count(of.stacks_dontneed),
        _count(of.stacks_none),
    ]


def stack_texts(of: Row) -> list[str]:
    counts = [of.fork_depth, of.stack_pages_serial, of.stack_pages_bound]
    return [of.workload, *map(_count, counts), _decimal(of.stack_pages_per_worker)]


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _memory(increase: float | None, peak: float | None) -> str:
    return "" if increase is None or peak is None else f"{increase / 1024:.1f} / {peak / 1024:.1f}"
