"""The evaluation of the libfork paper (Williams and Elliott): Figs. 5, 6 and 7, and the overheads of its text."""

from statistics import median

from .. import fit, workloads
from . import exponents, plots
from .data import Results, Values, efficiencies, middles, name
from .items import Item, Reading, Section, join, ratio, table, time
from .verdicts import OURS, Judged, Threshold, verdict

STEM, MEMORY, PAPER_SIZE = "libfork", "libfork-memory", "paper-size"
CLASSICAL = ("fib", "integrate", "matmul", "nqueens")
SMALL_TREES = ("uts T1", "uts T3")
LARGE_TREES = ("uts T1L", "uts T3L")  # and T1XXL and T3XXL, where they are run
OTHERS = ("openmp", "tbb", "taskflow")  # those of the paper
OWN = ("task", "task_stack")  # with the pool's default options

# Section IV-C1a: T₁/Tₛ of fib, of libfork and of the others over it.
OVERHEAD = Threshold("T₁/Tₛ of nopal task in fib", most=8.8)
OVERHEADS = {other: Threshold(f"T₁/Tₛ of {name(other)} over nopal's", least=value / 8.8) for other, value in zip(OTHERS, (41, 57, 180), strict=True)}

# Section IV-C1: Fig. 5.
LAZY_AND_BUSY = Threshold("busy over lazy or the reverse, the most", most=1.10, paper=f"“almost identical”: {OURS}")
FASTER = Threshold("the fastest of OpenMP, oneTBB, Taskflow over nopal, the least", least=1, paper="“outperforms them”")
FACTORS = {
    ("fib", "tbb"): Threshold("oneTBB over nopal in fib", least=7.5, on=112),
    ("fib", "openmp"): Threshold("OpenMP over nopal in fib", least=24, on=112),
    ("integrate", "tbb"): Threshold("oneTBB over nopal in integrate", least=4.5, on=112),
    ("integrate", "openmp"): Threshold("OpenMP over nopal in integrate", least=14, on=112),
}

# Section IV-C2: Fig. 6.
LAZY_IN_SMALL = Threshold("busy over lazy in T1 and T3, the least", least=1, paper="“the lazy scheduler mitigates this”", on=112)
STACK_API = Threshold("without the stack API over with it, the least", least=1, paper="“a small enhancement in all”")
LINEAR = Threshold("T₁/Tₚ/P of the larger trees, the least", least=0.90, paper=f"“linear”: {OURS}")

# The conclusions: Fig. 7.
THRIFTIER = Threshold("memory of OpenMP, oneTBB, Taskflow over nopal's, the least", least=1)
MEMORY_FACTORS = {
    other: Threshold(f"memory of {name(other)} over nopal's, the most", least=least, paper=said, on=112)
    for other, least, said in (("tbb", 19, ""), ("openmp", 24, ""), ("taskflow", 100, "orders of magnitude"))
}


def section(results: Results) -> Section:
    made = Section(
        "libfork: continuation stealing with coroutines",
        "C. J. Williams and J. Elliott, “Libfork: portable continuation-stealing with stackless coroutines”. Measured there on 2 × 56"
        " cores.",
        [],
        beyond="What 112 cores and two NUMA nodes show: how speed-up bends when the second socket is used, and lazy groups by node.",
    )
    if STEM not in results:
        made.missing = "./nopal bench libfork"
        return made
    tables = results.tables(STEM)
    trees = [one for one in tables if one not in CLASSICAL]
    classical = [one for one in CLASSICAL if one in tables]
    made.items = [_overheads(results, tables)]
    if classical:
        made.items.append(_classical(results, classical))
    if trees:
        made.items.append(_trees(results, trees))
    made.items += _memory(results)
    made.items += _paper_sizes(results)
    return made


def _paper_sizes(results: Results) -> list[Item]:
    """Table I as it is: where it was run, once and beside no verdict."""
    tables = results.tables(PAPER_SIZE)
    if not tables:
        return []
    rows = []
    for one in tables:
        serial = results.serial(PAPER_SIZE, one)
        for cell in results.cells(PAPER_SIZE, one):
            taken = cell.middle("seconds")
            size = cell.records[0].get("size", "") if cell.records else ""
            over = ratio(taken / serial, 3) if taken and serial and cell.impl != workloads.SERIAL else None
            rows.append([one, size, name(cell.impl), cell.workers, time(taken) or cell.short, over])
    return [
        Item(
            "Table I",
            "The paper's sizes",
            "fib of 42, integrate of 10⁴, nqueens of 14, matmul of 8192, and the trees T1XXL and T3XXL of 4 and 3 · 10⁹ nodes.",
            Reading(None, "Each ran once.", "Measured"),
            tables=[table(["workload", "size", "implementation", "P", "time", "over the serial time"], rows)],
        )
    ]


def overview(results: Results) -> str:
    """All workloads in one picture, for a README: speed-up on all CPUs; or nothing."""
    on = results.most_workers(STEM)
    tables = results.tables(STEM)
    speedups = [results.speedups(STEM, one) for one in tables]
    labels = [label for label in ("task", *workloads.PEERS) if any(on in by.get(label, {}) for by in speedups)]
    if not labels:
        return ""
    values = {label: [by.get(label, {}).get(on, []) for by in speedups] for label in labels}
    return plots.bars(
        f"speed-up over the serial program on {on} workers", "Tₛ/Tₚ", [one.removeprefix("uts ") for one in tables], values, one=1
    )


def _sizes(results: Results) -> str:
    sizes = {}
    for one in results.tables(STEM):
        for cell in results.cells(STEM, one):
            for record in cell.records[:1]:
                sizes[one] = record.get("size", "")
    return "Sizes: " + "; ".join(f"{one} {size}" if not one.endswith(size) else one for one, size in sizes.items()) + "."


def _overheads(results: Results, tables: list[str]) -> Item:
    labels: dict[str, None] = {}
    overheads: dict[str, dict[str, float]] = {}
    for one in tables:
        serial = results.serial(STEM, one)
        for cell in results.cells(STEM, one):
            alone = cell.middle("seconds")
            if cell.workers == 1 and cell.impl != workloads.SERIAL and serial and alone:
                overheads.setdefault(one, {})[cell.impl] = alone / serial
                labels[cell.impl] = None
    fib = overheads.get("fib", {})
    own = fib.get("task")
    peers = {impl: value for impl, value in fib.items() if workloads.is_peer(impl)}
    reading = Reading(None, "There are no times on one worker of nopal and of a peer.")
    if own and peers:
        told = [f"{name(impl)} {value:.1f}" for impl, value in sorted(peers.items(), key=lambda item: item[1])]
        judged = [Judged(OVERHEAD, own), *(Judged(OVERHEADS[other], peers[other] / own if other in peers else None) for other in OTHERS)]
        reading = verdict(f"In fib T₁/Tₛ is {own:.1f} with {name('task')}; {join(told)}.", judged)
    rows = [[one, *(ratio(overheads[one].get(label)) for label in labels)] for one in overheads]
    return Item(
        "Section IV-C",
        "Overhead on one worker, T₁/Tₛ",
        "A libfork task costs less than one of the others: in fib T₁/Tₛ is 8.8 for libfork, 41 for OpenMP, 57 for TBB and 180 for"
        " Taskflow.",
        reading,
        tables=[table(["workload", *map(name, labels)], rows)],
        note=_sizes(results) + " Table I has the paper's.",
    )


def _lazy_and_busy(results: Results, tables: list[str], on: int) -> tuple[list[str], dict[str, float]]:
    """Of nopal's task, the busy time over the lazy one; and what is said of it."""
    found = {}
    for one in tables:
        lazy, busy = results.middle(STEM, one, "task", on), results.middle(STEM, one, "task, busy", on)
        if lazy and busy:
            found[one] = busy / lazy
    return [f"{one} {value:.2f}" for one, value in found.items()], found


def _against_peers(results: Results, tables: list[str], on: int) -> tuple[int, int]:
    """In how many of the tables nopal is faster than every peer, of how many."""
    won = compared = 0
    for one in tables:
        times = {cell.impl: cell.middle("seconds") for cell in results.cells(STEM, one) if cell.workers == on}
        own = [time for impl, time in times.items() if time and impl in OWN]
        peers = [time for impl, time in times.items() if time and workloads.is_peer(impl)]
        if own and peers:
            compared += 1
            won += min(own) < min(peers)
    return won, compared


def _others_over_own(results: Results, one: str, on: int, of: str = "seconds") -> dict[str, float]:
    """By the others of the paper: what they take over what nopal takes."""
    own = [value for impl in OWN if (value := results.middle(STEM, one, impl, on, of))]
    found = {other: results.middle(STEM, one, other, on, of) for other in OTHERS}
    return {other: value / min(own) for other, value in found.items() if value} if own else {}


def _plots(results: Results, tables: list[str]) -> list[str]:
    made = []
    for one in tables:
        speedups = results.speedups(STEM, one)
        if speedups:
            made.append(plots.lines(one, "speed-up Tₛ/Tₚ, Eq. (15)", speedups, results.cpus, ideal=True))
            made.append(plots.lines(one, "efficiency, Eq. (16)", efficiencies(speedups), results.cpus, flat_ideal=True))
    return made


def _failures(results: Results, tables: list[str]) -> str:
    cells = [cell for one in tables for cell in results.cells(STEM, one) if cell.status != "ok"]
    told = [f"{cell.table}, {name(cell.impl)} on {cell.workers}: {cell.short}" for cell in cells]
    return "Without a figure: " + "; ".join(told) + "." if told else ""


def _classical(results: Results, tables: list[str]) -> Item:
    on = results.most_workers(STEM)
    told, ratios = _lazy_and_busy(results, tables, on)
    won, compared = _against_peers(results, tables, on)
    reading = Reading(None, "Lazy and busy workers were not both run.")
    if ratios:
        over = {one: _others_over_own(results, one, on) for one in CLASSICAL}
        judged = [
            Judged(LAZY_AND_BUSY, max(max(value, 1 / value) for value in ratios.values()), whole=set(CLASSICAL) <= set(ratios)),
            Judged(
                FASTER,
                min((value for by in over.values() for value in by.values()), default=None),
                whole=all(len(by) == len(OTHERS) for by in over.values()),
            ),
            *(Judged(wanted, over[one].get(other), on) for (one, other), wanted in FACTORS.items()),
        ]
        reading = verdict(
            f"Time with busy workers over that with lazy ones, on {on}: {join(told)}. nopal is faster than every peer, libfork too, in"
            f" {won} of {compared}.",
            judged,
        )
    return Item(
        "Fig. 5",
        "Classical benchmarks",
        "The lazy and the busy scheduler have almost identical performance; libfork is faster than TBB, OpenMP and Taskflow.",
        reading,
        plots=_plots(results, tables),
        note=_failures(results, tables),
    )


def _trees(results: Results, tables: list[str]) -> Item:
    on = results.most_workers(STEM)
    gains = {}
    scaling = {}
    for one in tables:
        plain, stack = results.middle(STEM, one, "task", on), results.middle(STEM, one, "task_stack", on)
        if plain and stack:
            gains[one] = plain / stack
        alone = results.middle(STEM, one, "task_stack", 1)
        if alone and stack and on > 1:
            scaling[one] = alone / stack / on
    reading = Reading(None, "There is no time of task and of task_stack on the same number of workers.")
    if gains:
        large = {one: value for one, value in scaling.items() if one not in SMALL_TREES}
        small = _lazy_and_busy(results, list(SMALL_TREES), on)[1]
        told = f"The stack API makes it faster by {join([f'{value:.2f} in {one}' for one, value in gains.items()])}, on {on}."
        if large:
            told += f" T₁/Tₚ/P is {join([f'{value:.2f} in {one}' for one, value in large.items()])}."
        won, compared = _against_peers(results, tables, on)
        judged = [
            Judged(STACK_API, min(gains.values()), whole={*SMALL_TREES, *LARGE_TREES} <= set(gains)),
            Judged(LINEAR, min(large.values(), default=None), whole=set(LARGE_TREES) <= set(large)),
            Judged(LAZY_IN_SMALL, min(small.values(), default=None), on, whole=set(SMALL_TREES) <= set(small)),
        ]
        reading = verdict(f"{told} nopal is faster than every peer in {won} of {compared}.", judged)
    return Item(
        "Fig. 6",
        "Unbalanced tree search",
        "The larger trees scale linearly, and the stack API (there marked *) is a small gain in all of them. The small T1 and T3 take some"
        " 10 ms on 112 cores and scale less; there lazy workers do better than busy ones.",
        reading,
        plots=_plots(results, tables),
        note=_failures(results, tables),
    )


def _points(results: Results, one: str) -> dict[str, Values]:
    """The peak memory in KiB, by workers: of the timed runs and of those for memory alone."""
    result = results.series(STEM, one, lambda record, _: float(record["peak_rss_kib"]))
    for label, values in results.series(MEMORY, one, lambda record, _: float(record["peak_rss_kib"])).items():
        result.setdefault(label, {}).update(values)
    return result


def _m1(results: Results, one: str) -> float:
    cell = results.cell(STEM, one, workloads.SERIAL, 1)
    values = [record["peak_rss_kib"] - record["rss_before_kib"] for record in cell.records if "rss_before_kib" in record] if cell else []
    return max(4.0, median(values)) if values else 0


def _memory(results: Results) -> list[Item]:
    fits: dict[str, dict[str, fit.Fit | str]] = {}
    drawn, increases = [], []
    labels: dict[str, None] = {}
    for one in results.tables(STEM):
        if one == "matmul":
            continue
        points = _points(results, one)
        m1 = _m1(results, one)
        fits[one] = {label: fit.fit([(p, y) for p, ys in values.items() for y in ys], m1) for label, values in points.items()}
        labels.update(dict.fromkeys(points))
        in_mib = {label: {p: [y / 1024 for y in ys] for p, ys in values.items()} for label, values in points.items()}
        scaled = {
            label: fit.Fit(f.a / 1024, f.b / 1024, f.n, 0, 0, 0, f.m1, f.points) for label, f in fits[one].items() if isinstance(f, fit.Fit)
        }
        if in_mib:
            drawn.append(plots.lines(one, "peak memory in MiB", in_mib, results.cpus, log=True, fits=scaled))
            increases.append((one, in_mib))
    return [_fig_7(results, drawn, increases), exponents.table_ii(fits, list(labels), OWN)]


def _fig_7(results: Results, drawn: list[str], increases: list[tuple[str, dict[str, Values]]]) -> Item:
    ratios, others, most = [], {other: [] for other in OTHERS}, 0
    for one, series in increases:
        top = max((p for label, values in series.items() if label in OWN for p in values), default=0)
        last = {label: middles(values)[top] for label, values in series.items() if top in values}
        own = min((value for label, value in last.items() if label in OWN), default=None)
        peer = min(((value, label) for label, value in last.items() if workloads.is_peer(label)), default=None)
        if own and peer:
            ratios.append((one, peer[0] / own, peer[1]))
            most = max(most, top)
            for other in OTHERS:
                others[other] += [last[other] / own] if other in last else []
    reading = Reading(None, "There is no peer to compare with.")
    if ratios:
        told = [f"{one} {value:.2f} ({name(label)})" for one, value, label in ratios]
        judged = [
            # The paper too has no figure where Taskflow or OpenMP came to no end.
            Judged(THRIFTIER, min((value for values in others.values() for value in values), default=None), whole=all(others.values())),
            *(Judged(MEMORY_FACTORS[other], max(values, default=None), most) for other, values in others.items()),
        ]
        reading = verdict(f"On the most workers measured the thriftiest peer's over nopal's: {join(told)}.", judged)
    starred = max((p for _, series in increases for values in series.values() for p in values), default=1) > results.cpus
    return Item(
        "Fig. 7",
        "Peak memory by workers, with the fits of Eq. (17)",
        "libfork takes less memory than all others: up to 19 times less than TBB, 24 times less than OpenMP, and orders of magnitude less"
        " than Taskflow.",
        reading,
        plots=drawn,
        note=(
            "Numbers of workers with * are more than the CPUs here: they show memory, which does not depend on that much, and no time is "
            "taken of them."
            if starred
            else ""
        ),
    )
