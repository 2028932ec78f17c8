"""The evaluation of the libfork paper (Williams and Elliott): Figs. 5, 6 and 7, Table II, and the overheads of its text."""

from statistics import median

from .. import fit, memory, workloads
from . import plots
from .data import Results, Values, efficiencies, middles, name
from .items import Item, Reading, Section, count, error, join, ratio, table

STEM, MEMORY = "libfork", "libfork-memory"
CLASSICAL = ("fib", "integrate", "matmul", "nqueens")
SMALL_TREES = ("uts T1", "uts T3")
ALIKE = 0.10  # within which two medians count as the same

# Table II of the paper: n of Eq. (17).
PAPER_N = {
    "fib": ("0.86", "0.93", "1.06", "1.20", "0.00"),
    "integrate": ("0.96", "0.94", "1.04", "1.07", "0.00"),
    "nqueens": ("0.94", "1.05", "1.11", "1.30", "0.00"),
    "uts T1": ("1.06", "1.04", "0.78", "1.18", "0.46"),
    "uts T1L": ("1.08", "0.99", "0.93", "1.23", "0.99"),
    "uts T1XXL": ("0.86", "0.90", "0.92", "1.08", "-"),
    "uts T3": ("0.83", "0.87", "0.67", "0.90", "0.64"),
    "uts T3L": ("0.43", "0.52", "1.00", "1.01", "-"),
    "uts T3XXL": ("0.38", "0.36", "0.86", "1.01", "-"),
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
    return made


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
    own = {impl: value for impl, value in fib.items() if workloads.is_nopal(impl)}
    peers = {impl: value for impl, value in fib.items() if workloads.is_peer(impl)}
    reading = Reading(None, "There are no times on one worker of nopal and of a peer.")
    if own and peers:
        best = min(own, key=own.__getitem__)
        told = [f"{name(impl)} {value:.1f}" for impl, value in sorted(peers.items(), key=lambda item: item[1])]
        reading = Reading(own[best] < min(peers.values()), f"In fib T₁/Tₛ is {own[best]:.1f} with {name(best)}; {join(told)}.")
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
        own = [time for impl, time in times.items() if time and workloads.is_nopal(impl)]
        peers = [time for impl, time in times.items() if time and workloads.is_peer(impl)]
        if own and peers:
            compared += 1
            won += min(own) < min(peers)
    return won, compared


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
        alike = all(abs(value - 1) <= ALIKE for value in ratios.values())
        reading = Reading(
            alike and won == compared,
            f"Time with busy workers over that with lazy ones, on {on}: {join(told)}. nopal is faster than every peer in {won} of"
            f" {compared}.",
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
        large = {one: value for one, value in scaling.items() if one not in SMALL_TREES} or scaling
        better = all(value > 1 for value in gains.values())
        linear = all(value > 1 - ALIKE for value in large.values())
        told = f"The stack API makes it faster by {join([f'{value:.2f} in {one}' for one, value in gains.items()])}, on {on}."
        if large:
            told += f" T₁/Tₚ/P is {join([f'{value:.2f} in {one}' for one, value in large.items()])}."
        won, compared = _against_peers(results, tables, on)
        reading = Reading(better and linear, f"{told} nopal is faster than every peer in {won} of {compared}.")
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
    return [_fig_7(results, drawn, increases), _table_ii(fits, list(labels))]


def _fig_7(results: Results, drawn: list[str], increases: list[tuple[str, dict[str, Values]]]) -> Item:
    ratios = []
    for one, series in increases:
        last = {label: middles(values)[max(values)] for label, values in series.items()}
        own = min((value for label, value in last.items() if label in ("task", "task_stack")), default=None)
        peer = min(((value, label) for label, value in last.items() if workloads.is_peer(label)), default=None)
        if own and peer:
            ratios.append((one, peer[0] / own, peer[1]))
    reading = Reading(None, "There is no peer to compare with.")
    if ratios:
        told = [f"{one} {value:.1f} ({name(label)})" for one, value, label in ratios]
        reading = Reading(
            all(value > 1 for _, value, _ in ratios), f"On the most workers measured the thriftiest peer's over nopal's: {join(told)}."
        )
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


def _table_ii(fits: dict[str, dict[str, fit.Fit | str]], labels: list[str]) -> Item:
    rows, details, below, above, open_ones = [], [], [], [], 0
    for one, by_label in fits.items():
        cells = []
        for label in labels:
            found = by_label.get(label)
            if isinstance(found, fit.Fit):
                cells.append(error(found.n, found.n_error))
                details.append(
                    [
                        one,
                        name(label),
                        error(found.a / 1024, found.a_error / 1024),
                        error(found.b, found.b_error),
                        error(found.n, found.n_error),
                        count(found.m1),
                    ]
                )
                if label in ("task", "task_stack"):
                    if not found.says_something:
                        open_ones += 1
                    else:
                        (below if found.n - found.n_error < 1 else above).append(f"{one} {found.n:.2f}")
            else:
                cells.append(found or "")
        rows.append([one, *cells])
    reading = Reading(
        None, "No exponent of nopal's is known well enough: too few numbers of workers, or memory that hardly grows with them."
    )
    if below or above:
        told = f"nopal's exponents are below 1 within their error in {len(below)} of {len(below) + len(above)} fits"
        told += f"; not in {join(above)}" if above else ""
        told += f"; {open_ones} more leave the exponent open, since memory hardly grows" if open_ones else ""
        reading = Reading(not above, told + ".")
    papers = [[one, *values] for one, values in PAPER_N.items() if one in fits]
    return Item(
        "Table II",
        "Exponents n of MRSS ≈ a + b·M₁·Pⁿ",
        "The exponents of libfork are below 1 in the classical benchmarks, and far below in the deep binomial trees (T3L 0.43, T3XXL 0.38);"
        " TBB's and OpenMP's are mostly above.",
        reading,
        tables=[
            table(["workload", *map(name, labels)], rows, "n ± its standard error, here"),
            table(["workload", "Lazy-LF", "Busy-LF", "TBB", "OpenMP", "Taskflow"], papers, "n in the paper"),
            table(["workload", "implementation", "a in MiB", "b", "n", "M₁ in KiB"], details, "the whole fits"),
        ],
        note=(
            f"M₁ is measured: what the serial projection adds to its resident memory. Up to {memory.LEAST} workers at least, also where"
            " there are fewer CPUs. Errors are those of the covariance matrix."
        ),
    )
