"""The evaluation of the paper on green threads with work stealing (Ramesh and Chowdhury): its tables and plots, and victims beside."""

from statistics import median

from .. import fibers
from . import plots, stealing
from .data import Results, Values, middles
from .items import Item, Reading, Section, count, join, ratio, share, table, time
from .verdicts import NOISE, OURS, Judged, Threshold, same_size, verdict

STEM, COSTS, MIGRATION = "fibers", "fiber-costs", "fiber-migration"
FIBER, OFF = "fiber", "fiber, no stealing"
SCALE = ("balanced", "imbalanced", "fib", "heat", "bfs", "mergesort")

SWITCH = Threshold("a switch between threads over one between fibers", least=18.3)

# The paper's tables: by workers, speed-up over one worker; of bfs over the serial search.
SPEEDUPS = {
    "imbalanced": {2: 1.96, 4: 3.73, 8: 7.26},
    "fib": {2: 1.97, 4: 3.88, 8: 7.67},
    "heat": {2: 1.97, 4: 3.85, 8: 7.21},
    "nqueens": {8: 7.22},
    "mergesort": {2: 1.86, 4: 3.13, 8: 3.88},
}
BFS = {1: 0.52, 2: 0.89, 4: 1.51, 8: 1.96}
NEAR_LINEAR = 7.21 / 8  # the least for each worker that the paper calls so
LEAST_OF_SO_CALLED = "“near-linear”: of heat 7.21 on 8"
BOUND = Threshold("T₁/Tₚ by workers, which serial parts keep below what is near-linear", most=NEAR_LINEAR, paper=LEAST_OF_SO_CALLED, on=8)
FLAT = Threshold("T₁/Tₚ without stealing", least=1, most=1, paper=f"“flat”: {OURS}", slack=NOISE)
HEAT_GAIN = {2: 744 / 381, 4: 759 / 195, 8: 772 / 103}  # without stealing over with it
SPREAD = Threshold("spread of busy cycles", most=0.08, on=8)
FIB_BOUND = Threshold("T₁/Tₚ/P of fib", least=7.67 / 8, paper="“within 4 %”", on=8)
DEPTH_1 = Threshold("N-Queens, depth 1 over depth 2", most=1 / (1 + NOISE), paper=f"“insufficient parallelism”: {OURS}", on=8)
DEPTH_3 = Threshold("N-Queens, depth 3 over depth 2", most=1, paper="“no further improvement”", slack=NOISE)
MIGRATED = Threshold("what stolen computing fibers take more, by what local ones take", most=0.01, paper="3765 of 393 656 cycles")


def section(results: Results) -> Section:
    made = Section(
        "Green threads: fibers with work stealing",
        "R. Ramesh and W. Chowdhury, “M:N Green Thread Runtime with Work-Stealing Scheduler”, 2025. Measured there on 8 cores, and on 2"
        " × 64.",
        [],
        beyond="The results on 128 cores, which fall off where the second socket begins.",
    )
    if not any(stem in results for stem in (STEM, COSTS, MIGRATION)):
        made.missing = "./nopal bench fibers"
        return made
    makers = (
        _switch,
        _all,
        _balanced,
        _imbalanced,
        stealing.contention,
        stealing.victims,
        _fib,
        _heat,
        _bfs,
        _nqueens,
        _mergesort,
        _migration,
    )
    made.items = [item for make in makers if (item := make(results))]
    return made


def _table(experiment: str) -> str:
    return f"fibers {experiment}"


def _scaling(results: Results, experiment: str, label: str = FIBER) -> Values:
    """T1/TP of each run."""
    alone = results.middle(STEM, _table(experiment), label, 1)
    if not alone:
        return {}
    return results.series(STEM, _table(experiment), lambda record, _: alone / record["seconds"]).get(label, {})


def _switch(results: Results) -> Item | None:
    cells = {(cell.impl, cell.workers): cell for cell in results.cells(COSTS, _table(fibers.SWITCH))}
    each = {}
    for key, cell in cells.items():
        values = (
            [record["seconds"] * 1e9 / record["fibers"] for record in cell.records if record.get("fibers")] if cell.status == "ok" else []
        )
        if values:
            each[key] = values
    if not each:
        return None
    groups = [f"{impl}{', 2 CPUs' if on == 2 else ''}" for impl, on in each]
    rows = [
        [group, f"{median(values):.1f}", f"{min(values):.1f} .. {max(values):.1f}"]
        for group, values in zip(groups, each.values(), strict=True)
    ]
    fiber, thread = each.get((FIBER, 1)), each.get(("condition", 1))
    reading = Reading(None, "Fibers and threads were not both measured.")
    if fiber and thread:
        gain = median(thread) / median(fiber)
        told = f"A switch between two fibers is {gain:.1f} times as fast as one between two threads with a condition variable."
        reading = verdict(told, [Judged(SWITCH, gain)])
    return Item(
        "Context switch latency",
        "",
        "A switch between fibers takes 106 ns, one between threads 1941 ns: 18.3 times as long.",
        reading,
        plots=[
            plots.bars("one switch", "ns", groups, {FIBER: list(each.values())}, log=True, labels={FIBER: "median, least and greatest"})
        ],
        tables=[table(["", "ns each", "least .. greatest"], rows)],
    )


def _as_in_paper(results: Results, experiment: str, label: str = FIBER) -> Judged:
    """T₁/Tₚ on the most workers on which the paper has it too, against the paper's."""
    scaling = {p: value for p, value in middles(_scaling(results, experiment, label)).items() if p <= results.cpus}
    paper = SPEEDUPS[experiment]
    on = same_size(paper, scaling) or max(paper)
    return Judged(Threshold(f"T₁/Tₚ of {experiment}", least=paper[on], slack=NOISE, on=on), scaling.get(on), max(scaling, default=0))


def _all(results: Results) -> Item | None:
    series = {one: values for one in SCALE if (values := _scaling(results, one))}
    if queens := _scaling(results, "nqueens", "fiber, depth 2"):
        series["nqueens"] = queens
    if not series:
        return None
    on = results.most_workers(STEM)
    last = {one: middles(values).get(on) for one, values in series.items()}
    reading = Reading(None, "There is one number of workers only.")
    if on > 1:
        told = [f"{one} {value:.2f}" for one, value in last.items() if value]
        judged = [_as_in_paper(results, one) for one in ("imbalanced", "fib", "heat")]
        judged.append(_as_in_paper(results, "nqueens", "fiber, depth 2"))
        judged += [Judged(BOUND, last[one] / on if last.get(one) else None, on) for one in ("bfs", "mergesort")]
        reading = verdict(f"T₁/Tₚ on {on} workers: {join(told)}.", judged)
    within = {one: {p: v for p, v in values.items() if p <= results.cpus} for one, values in series.items()}
    return Item(
        "All workloads (N = 1 to 8)",
        "Speed-up over one worker",
        "Near-linear scaling where fibers compute; breadth-first search and mergesort are bound by their critical paths.",
        reading,
        plots=[plots.lines("speed-up of the workloads", "T₁/Tₚ", within, results.cpus, ideal=True)],
    )


def _on_and_off(results: Results, experiment: str) -> tuple[str, float | None]:
    """A plot with stealing on and off, and how much faster it is with."""
    series = results.series(
        STEM, _table(experiment), lambda record, _: record["fibers"] / record["seconds"] if record.get("fibers") else None
    )
    series = {label: {p: v for p, v in series[label].items() if p <= results.cpus} for label in (FIBER, OFF) if label in series}
    on = results.most_workers(STEM)
    with_it = results.middle(STEM, _table(experiment), FIBER, on)
    without = results.middle(STEM, _table(experiment), OFF, on)
    drawn = plots.lines(f"{experiment}: throughput", "fibers per second", series, results.cpus) if series else ""
    return drawn, without / with_it if with_it and without and on > 1 else None


def _balanced(results: Results) -> Item | None:
    drawn, gain = _on_and_off(results, "balanced")
    if not drawn:
        return None
    on = results.most_workers(STEM)
    flat = _scaling(results, "balanced", OFF)
    reading = Reading(None, "There is one number of workers only.")
    if gain and on in flat:
        stays = median(flat[on])
        gained = Threshold(f"without stealing over with it, by {on} workers", least=NEAR_LINEAR, paper=LEAST_OF_SO_CALLED)
        judged = [Judged(FLAT, stays), Judged(gained, gain / on)]
        reading = verdict(f"On {on} workers stealing makes it {gain:.2f} times as fast; without it T₁/Tₚ is {stays:.2f}.", judged)
    return Item(
        "Balanced workload",
        "1024 fibers of one length, all spawned on one worker",
        "Without stealing throughput is flat, whatever the number of workers; stealing is what makes it parallel at all.",
        reading,
        plots=[drawn],
    )


def _imbalanced(results: Results) -> Item | None:
    cells = [cell for cell in results.cells(STEM, _table("imbalanced")) if cell.impl == FIBER and cell.workers <= results.cpus]
    if not cells:
        return None
    scaling = middles(_scaling(results, "imbalanced"))
    rows, spread_by, busy_rows = [], {}, []
    for cell in cells:
        seconds, steals, attempts = cell.middle("seconds"), cell.middle("steals"), cell.middle("steal_attempts")
        each = cell.middle("fibers")
        spreads = [value for record in cell.records if (value := fibers.busy_spread(record)) is not None]
        if cell.workers > 1 and spreads:
            spread_by[cell.workers] = spreads
        rows.append(
            [
                cell.workers,
                time(seconds),
                count(each / seconds) if each and seconds else None,
                ratio(scaling.get(cell.workers)),
                count(steals),
                count(attempts),
                share(steals / attempts, 1) if steals is not None and attempts else None,
                share(median(spreads)) if spreads and cell.workers > 1 else None,
            ]
        )
        for worker in range(cell.workers):
            if values := cell.values(f"busy_cycles_{worker}"):
                busy_rows.append([cell.workers, worker, count(median(values)), count(min(values)), count(max(values))])
    on = max(spread_by, default=0)
    reading = Reading(None, "There is one number of workers only.")
    if on:
        middle, good = median(spread_by[on]), scaling.get(on)
        reading = verdict(
            f"On {on} workers their busy cycles lie {middle:.1%} of their mean apart, and T₁/Tₚ is {ratio(good)}.",
            [_as_in_paper(results, "imbalanced"), Judged(SPREAD, middle, on)],
        )
    header = ["N", "time", "fibers/s", "T₁/Tₚ", "steals", "attempts", "success", "spread of busy cycles"]
    drawn = _busy_plot([cell for cell in cells if cell.workers > 1])
    return Item(
        "Imbalanced workload",
        "a tenth of the fibers a hundred times as long",
        "7.26 times as fast on 8 workers, whose busy cycles vary by less than 8 %.",
        reading,
        plots=[drawn] if drawn else [],
        tables=[table(header, rows, "medians over the runs"), table(["N", "worker", "busy cycles", "least", "greatest"], busy_rows)],
    )


def _busy_plot(cells: list) -> str:
    if not cells:
        return ""
    most = max(cell.workers for cell in cells)
    series = {f"{cell.workers} workers": [cell.values(f"busy_cycles_{k}") for k in range(most)] for cell in cells}
    return plots.bars("busy cycles", "cycles of the clock", [f"{k}" for k in range(most)], series)


def _times(results: Results, experiment: str, label: str = FIBER) -> str:
    cells = [cell for cell in results.cells(STEM, _table(experiment)) if cell.impl == label and cell.workers <= results.cpus]
    scaling = middles(_scaling(results, experiment, label))
    rows = [
        [cell.workers, time(cell.middle("seconds")) or cell.short, ratio(scaling.get(cell.workers)), count(cell.middle("steals"))]
        for cell in cells
    ]
    return table(["N", "time", "T₁/Tₚ", "steals"], rows)


def _fib(results: Results) -> Item | None:
    scaling = middles(_scaling(results, "fib"))
    if not scaling:
        return None
    on = results.most_workers(STEM)
    reading = Reading(None, "There is one number of workers only.")
    if on > 1 and on in scaling:
        judged = [_as_in_paper(results, "fib"), Judged(FIB_BOUND, scaling[on] / on, on)]
        reading = verdict(f"{scaling[on]:.2f} on {on} workers: {scaling[on] / on:.0%} of the most there can be.", judged)
    return Item(
        "Parallel Fibonacci",
        "fib(40), serial below 20, with work in each leaf",
        "7.67 times as fast on 8 workers: within 4 % of the bound T₁/P.",
        reading,
        tables=[_times(results, "fib")],
    )


def _heat(results: Results) -> Item | None:
    on_off = {label: values for label in (FIBER, OFF) if (values := _scaling(results, "heat", label))}
    if FIBER not in on_off:
        return None
    on = results.most_workers(STEM)
    with_it, without = results.middle(STEM, _table("heat"), FIBER, on), results.middle(STEM, _table("heat"), OFF, on)
    reading = Reading(None, "It was not run with and without stealing on more than one worker.")
    if with_it and without and on > 1:
        gain = without / with_it
        gains = {
            p: off / with_stealing
            for p in HEAT_GAIN
            if p <= results.cpus
            and (with_stealing := results.middle(STEM, _table("heat"), FIBER, p))
            and (off := results.middle(STEM, _table("heat"), OFF, p))
        }
        at = same_size(HEAT_GAIN, gains) or max(HEAT_GAIN)
        wanted = Threshold("without stealing over with it", least=HEAT_GAIN[at], slack=NOISE, on=at)
        judged = [_as_in_paper(results, "heat"), Judged(wanted, gains.get(at), on)]
        reading = verdict(f"On {on} workers it is {gain:.2f} times as fast with stealing as without.", judged)
    return Item(
        "Heat diffusion",
        "strips of unequal cost, stealing on and off",
        "On 8 workers it is 7.5 times as fast with stealing as without.",
        reading,
        plots=[
            plots.lines(
                "heat",
                "T₁/Tₚ",
                {k: {p: v for p, v in by.items() if p <= results.cpus} for k, by in on_off.items()},
                results.cpus,
                ideal=True,
            )
        ],
    )


def _bfs(results: Results) -> Item | None:
    speedups = results.speedups(STEM, _table("bfs"))
    own = {p: v for p, v in speedups.get(FIBER, {}).items() if p <= results.cpus}
    if not own:
        return None
    last = max(own)
    value = median(own[last])
    both = sorted(set(BFS) & set(own))
    judged = [Judged(Threshold(f"speed-up over serial search, on {p}", least=BFS[p], slack=NOISE), median(own[p])) for p in both]
    scaling = middles(_scaling(results, "bfs"))
    judged.append(Judged(BOUND, scaling[last] / last if last in scaling else None, last))
    alone = f", {median(own[1]):.2f} on one" if 1 in own else ""
    return Item(
        "Parallel BFS",
        "10⁶ nodes of degree 16, level by level",
        "Half as fast as serial search on one worker, 1.96 times as fast on 8: the eight levels bound it at about 2.",
        verdict(f"{value:.2f} times as fast as serial search on {last} workers{alone}.", judged),
        plots=[plots.lines("breadth-first search", "speed-up Tₛ/Tₚ", {FIBER: own}, results.cpus, ideal=True)],
    )


def _nqueens(results: Results) -> Item | None:
    series = {label: values for depth in (1, 2, 3) if (values := _scaling(results, "nqueens", label := f"fiber, depth {depth}"))}
    if not series:
        return None
    on = results.most_workers(STEM)
    last = {label: median(values[on]) for label, values in series.items() if on in values}
    reading = Reading(None, "There is one number of workers only.")
    one, two, three = (last.get(f"fiber, depth {depth}") for depth in (1, 2, 3))
    if on > 1 and two and three:
        told = [f"{label.removeprefix('fiber, ')} {value:.2f}" for label, value in last.items()]
        judged = [_as_in_paper(results, "nqueens", "fiber, depth 2"), Judged(DEPTH_3, three / two)]
        judged.append(Judged(DEPTH_1, one / two if one else None, on))
        reading = verdict(f"T₁/Tₚ on {on} workers: {join(told)}.", judged)
    return Item(
        "N-Queens",
        "14, 156 or 1364 fibers",
        "14 fibers are too few for 8 workers; 156 are 7.22 times as fast; 1364 are no better.",
        reading,
        plots=[
            plots.lines(
                "n-queens",
                "T₁/Tₚ",
                {k: {p: v for p, v in by.items() if p <= results.cpus} for k, by in series.items()},
                results.cpus,
                ideal=True,
            )
        ],
    )


def _mergesort(results: Results) -> Item | None:
    scaling = middles(_scaling(results, "mergesort"))
    if not scaling:
        return None
    on = results.most_workers(STEM)
    reading = Reading(None, "There is one number of workers only.")
    if on > 1 and on in scaling:
        judged = [_as_in_paper(results, "mergesort"), Judged(BOUND, scaling[on] / on, on)]
        reading = verdict(f"{scaling[on]:.2f} on {on} workers.", judged)
    return Item(
        "Parallel mergesort",
        "5 · 10⁶ numbers, each merge serial",
        "3.88 times as fast on 8 workers: the last merges are serial.",
        reading,
        tables=[_times(results, "mergesort")],
    )


def _migration(results: Results) -> Item | None:
    rows = [
        row
        for row in results.rows(MIGRATION)
        if row["impl"] == FIBER and row["workers"] <= results.cpus and row["stolen_cycles"] and row["local_cycles"]
    ]
    if not rows:
        return None
    told = [f"{row['fibers']} {row['difference'] / row['local_cycles']:+.1%}" for row in rows]
    computing = [row["difference"] / row["local_cycles"] for row in rows if row["fibers"] == "computing"]
    judged = [Judged(MIGRATED, max(computing, default=None))]
    reading = verdict(f"Stolen fibers take more cycles than local ones by: {join(told)}.", judged)
    lines = [
        [
            row["workers"],
            row["fibers"],
            count(row["local_cycles"]),
            count(row["stolen_cycles"]),
            count(row["difference"]),
            share(row["stolen"]),
        ]
        for row in rows
    ]
    return Item(
        "Cache migration penalty",
        "",
        "A stolen fiber takes 3765 of 393 656 cycles more than a local one: about 1 %.",
        reading,
        tables=[table(["N", "fibers", "local cycles", "stolen cycles", "difference", "stolen"], lines)],
    )
