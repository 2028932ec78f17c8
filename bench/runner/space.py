"""The space that nopal's native stacks take: the figures of Tables 2, 3 and 4 of the Fibril paper, for its twelve programs, with forks by
parallel_invoke and by scopes."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import workloads
from .measure import Cell
from .workloads import Workload

FRONT_ENDS = {workloads.NATIVE: "parallel_invoke", workloads.SCOPE: "scope"}
PEER = "tbb"
CACHED_STACKS = 256  # that a worker keeps free: core/stack/README.md, "Space"

LEGEND = """\
dontneed, none  nopal gives unused pages of suspended stacks back, or keeps them (pool_options::reclaim)
steals .. pages returned, of dontneed; unmaps: of stacks that wait, as the paper counts; purges: of free stacks, which it does not
faults          minor page faults while it ran
time            with dontneed over with none: the median over pairs of runs
ΔRSS / max      the most memory that came in while it ran, and the most the process ever had resident, in MiB
stacks          the most native stacks at once
D               nested forks on the deepest path; S1: stack pages that a single worker touched
S_P/P           the most pages that all stacks ever held, by their own high-water marks, in the worst of the runs, by workers
S1 + D          the bound of Theorem 4.2; nopal's: what core/stack/README.md, "Space", promises. A run above that fails"""


@dataclass(frozen=True)
class Cells:
    """What is run for one program and one way to fork: the timed runs, taken in turn, and the one that looks how deep it goes."""

    workload: str
    front_end: str
    reclaim: Cell
    keep: Cell
    peer: Cell | None
    serial_depth: Cell

    @property
    def timed(self) -> list[Cell]:
        return [cell for cell in (self.reclaim, self.keep, self.peer) if cell]

    @property
    def all(self) -> list[Cell]:
        return [*self.timed, self.serial_depth]


def cells(workload: Workload, build: Path, workers: int, size: str, impl: str = workloads.NATIVE) -> Cells:
    programs = workloads.programs(build, workload.kernel, [impl, PEER])
    if impl not in programs:
        raise workloads.MissingPrograms(f"{workload.kernel} has no program {impl}")

    def cell(label: str, of: str, count: int, *more: str) -> Cell:
        arguments = ["--workers", str(count), "--size", workload.size(size), *workload.arguments, *more]
        return Cell(f"space of {workload.title}", label, count, programs[of], arguments)

    with_peer = PEER in programs and impl == workloads.NATIVE
    return Cells(
        workload=workload.title,
        front_end=impl,
        reclaim=cell(impl, impl, workers),
        keep=cell(f"{impl}, none", impl, workers, "--reclaim", "none"),
        peer=cell(PEER, PEER, workers) if with_peer else None,
        serial_depth=cell(f"{impl}, none, one worker", impl, 1, "--reclaim", "none", "--sample"),
    )


@dataclass(frozen=True)
class Row:
    """The figures of one program and one way to fork; None where there is none."""

    workload: str
    front_end: str
    size: str
    workers: int
    runs: int
    status: str
    steals: float | None
    suspensions: float | None
    unmaps: float | None
    purges: float | None
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
    bound_of_paper: int | None
    bound_of_nopal: int | None
    stack_pages_peak: int | None
    stack_pages_per_worker: float | None

    @property
    def exceeds_paper(self) -> bool:
        return _exceeds(self.stack_pages_per_worker, self.bound_of_paper)

    @property
    def exceeds_nopal(self) -> bool:
        return _exceeds(self.stack_pages_per_worker, self.bound_of_nopal)


def _exceeds(pages: float | None, bound: int | None) -> bool:
    return pages is not None and bound is not None and pages > bound


def own_bound(front_end: str, serial: int, depth: int) -> int:
    """Pages for each worker, as core/stack/README.md, "Space", has it: what is in use, and free stacks. Those of scopes keep what they have
    touched, the others two pages each."""
    if front_end == workloads.SCOPE:
        return (depth + 1 + CACHED_STACKS) * (serial + 2)
    return 2 * serial + 4 * depth + 4 + 2 * CACHED_STACKS


def row(of: Cells) -> Row:
    on, off, peer = of.reclaim, of.keep, of.peer
    first = on.records[0] if on.records else {}
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(on.records, off.records, strict=False)]
    depth = _first(of.serial_depth, "fork_depth")
    serial = _first(of.serial_depth, "stack_pages")
    known = serial is not None and depth is not None
    peak = max((record["stack_pages_peak"] for record in on.records), default=None)
    return Row(
        workload=of.workload,
        front_end=of.front_end,
        size=first.get("size", ""),
        workers=on.workers,
        runs=len(on.records),
        status=next((cell.short for cell in of.all if cell.status != "ok"), "ok"),
        steals=_median(on, "steals"),
        suspensions=_median(on, "suspensions"),
        unmaps=_median(on, "unmaps"),
        purges=_median(on, "purges"),
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
        bound_of_paper=serial + depth if known else None,
        bound_of_nopal=own_bound(of.front_end, serial, depth) if known else None,
        stack_pages_peak=peak,
        stack_pages_per_worker=peak / on.workers if peak is not None else None,
    )


def too_much(rows: list[Row]) -> list[str]:
    """What to say of each row that is above nopal's own bound."""
    return [
        f"{row.workload}, {row.front_end}: S_P/P is {row.stack_pages_per_worker:.2f} pages, more than nopal's bound of {row.bound_of_nopal}"
        for row in rows
        if row.exceeds_nopal
    ]


def _median(cell: Cell | None, key: str) -> float | None:
    values = [record[key] for record in cell.records if key in record] if cell and cell.status == "ok" else []
    return median(values) if values else None


def _first(cell: Cell, key: str) -> int | None:
    return cell.records[0].get(key) if cell.records else None


FAULTS = [
    *("program", "steals", "suspensions", "unmaps", "purges", "pages returned"),
    *("faults dontneed", "none", "oneTBB", "time"),
]
MEMORY = ["program", "ΔRSS / max dontneed", "none", "oneTBB", "stacks dontneed", "none"]
STACKS = ["program", "D", "S1", "S1 + D", "nopal's", "S_P/P"]


def fault_texts(of: Row) -> list[str]:
    counts = [of.steals, of.suspensions, of.unmaps, of.purges, of.pages_returned, of.faults_dontneed, of.faults_none, of.faults_tbb]
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
    counts = [of.fork_depth, of.stack_pages_serial, of.bound_of_paper, of.bound_of_nopal]
    return [of.workload, *map(_count, counts), _decimal(of.stack_pages_per_worker)]


# Title, header, and what makes a row into texts: Tables 2, 4 and 3 of the paper.
TABLES = (("page faults", FAULTS, fault_texts), ("memory", MEMORY, memory_texts), ("stack pages", STACKS, stack_texts))


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _memory(increase: float | None, peak: float | None) -> str:
    return "" if increase is None or peak is None else f"{increase / 1024:.1f} / {peak / 1024:.1f}"
