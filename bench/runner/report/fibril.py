"""The evaluation of the Fibril paper (Yang and Mellor-Crummey): Figs. 3 and 4, Tables 2, 3 and 4."""

from statistics import median

from .. import workloads
from ..space import FRONT_ENDS
from . import plots
from .data import Results, name
from .items import Item, Reading, Section, count, join, ratio, table
from .verdicts import NOISE, OURS, Judged, Threshold, verdict

STEM, SPACE = "fibril", "space"
KEEP = f"{workloads.NATIVE}, reclaim none"
FINE = ("fib", "integrate", "knapsack", "matmul", "nqueens", "quicksort")  # where Fibril led most

# "Serial performance": by how much Fibril outperforms TBB on one thread; cholesky by no figure, and the others are "almost the same".
FIG_3 = {
    **{"fib": 6.0, "integrate": 3.6, "knapsack": 4.2, "matmul": 2.5, "nqueens": 2.3, "quicksort": 2.0},
    **dict.fromkeys(("cholesky", "fft", "heat", "lu", "rectmul", "strassen"), 1.0),
}
OVER_TBB = {program: Threshold(f"oneTBB over parallel_invoke in {program}", least=least, slack=NOISE) for program, least in FIG_3.items()}
# "Parallel performance": the same on 72 threads; the others are "better or similar".
FIG_4 = {"cholesky": 3.0, "fib": 7.9, "integrate": 4.5, "knapsack": 4.8, "matmul": 4.3, "nqueens": 2.8}
SIMILAR = Threshold("oneTBB over parallel_invoke, the least", least=1, paper="“better or similar”", slack=NOISE)
UNMAPPING = Threshold("with unmapping over without, the median", most=1.05, paper=f"“negligible”: {OURS}")
UNMAPPING_MOST = Threshold("with unmapping over without, the most", most=1.10, paper=f"“negligible”: {OURS}")

# Table 2: unmaps over steals; and programs in which Fibril takes more page faults than Cilk Plus, which unmaps nothing.
LEAST_UNMAPS = Threshold("unmaps by steals of parallel_invoke, the least", least=0.33)
MOST_UNMAPS = Threshold("unmaps by steals of parallel_invoke, the most", most=0.92)
MORE_FAULTS = Threshold("of twelve programs, those with more page faults with unmapping than without", least=9, paper="beside Cilk Plus")

# Tables 3 and 4.
STACK_SPACE = Threshold("Sₚ/P over S₁ + D of parallel_invoke, the most", most=0.60)
OWN_BOUND = Threshold("programs above nopal's own bound", most=0, paper="ours")
LESS_MEMORY = Threshold("ΔRSS of parallel_invoke over oneTBB's, the most", most=0.94, paper="fft: 1540 of 1639 MB")
STACKS = Threshold("stacks of parallel_invoke for each worker, the most", most=356 / 72)

# Table 3 of the paper: D, S1, S1 + D and S72/72.
PAPER_STACKS = {
    "cholesky": (10, 2, 12, 4.82),
    "fft": (19, 5, 24, 13.90),
    "fib": (41, 3, 44, 8.46),
    "heat": (12, 1, 13, 4.49),
    "integrate": (32, 3, 35, 8.76),
    "knapsack": (32, 3, 35, 5.71),
    "lu": (8, 2, 10, 4.92),
    "matmul": (10, 2, 12, 4.90),
    "nqueens": (14, 3, 17, 6.19),
    "quicksort": (69, 4, 73, 9.89),
    "rectmul": (24, 3, 27, 9.31),
    "strassen": (6, 2, 8, 4.79),
}


def section(results: Results) -> Section:
    made = Section(
        "Fibril: fork and join on native stacks",
        "C. Yang and J. Mellor-Crummey, “A Practical Solution to the Cactus Stack Problem”, SPAA 2016. Measured there on 72 hardware"
        " threads.",
        [],
        beyond="Cilk Plus, which compilers no longer have; and what 72 hardware threads show.",
    )
    if STEM not in results and SPACE not in results:
        made.missing = "./nopal bench fibril"
        return made
    if STEM in results:
        made.items += [_fig_3(results), _fig_4(results)]
    if SPACE in results:
        rows = results.rows(SPACE)
        made.items += [_table_2(rows), _table_3(rows, results.cpus), _table_4(rows)]
    return made


def _fig_3(results: Results) -> Item:
    programs = results.tables(STEM)
    labels = [workloads.NATIVE, workloads.SCOPE, "tbb"]
    relative = {label: [] for label in labels}
    for program in programs:
        serial = results.serial(STEM, program)
        for label in labels:
            cell = results.cell(STEM, program, label, 1)
            relative[label].append([serial / value for value in cell.values("seconds")] if cell and serial else [])
    relative = {label: values for label, values in relative.items() if any(values)}
    rows = [
        [program, *(ratio(median(relative[label][k])) if relative[label][k] else None for label in relative)]
        for k, program in enumerate(programs)
    ]
    won, compared, told, over = 0, 0, [], {}
    for k, program in enumerate(programs):
        if all(label in relative and relative[label][k] for label in (workloads.NATIVE, "tbb")):
            own, peer = median(relative[workloads.NATIVE][k]), median(relative["tbb"][k])
            compared += 1
            won += own > peer * (1 - NOISE)
            over[program] = own / peer
            if program in FINE:
                told.append(f"{program} {own / peer:.1f}")
    reading = Reading(None, "oneTBB was not measured.")
    if compared:
        said = f"parallel_invoke is as fast as oneTBB or faster in {won} of {compared}, on one worker. Over oneTBB: {join(told)}."
        reading = verdict(said, [Judged(OVER_TBB[program], over.get(program)) for program in FIG_3])
    return Item(
        "Fig. 3",
        "Relative performance on one worker, Tₛ/T₁",
        "Fibril outperforms Cilk Plus and TBB in all twelve: TBB by 6.0 in fib, 3.6 in integrate, 4.2 in knapsack, 2.5 in matmul, 2.3 in"
        " nqueens, 2.0 in quicksort. Where tasks compute much, all are the same.",
        reading,
        plots=[plots.bars("1/T₁, serial = 1", "Tₛ/T₁", programs, relative, one=1)] if relative else [],
        tables=[table(["program", *map(name, relative)], rows)],
        note=_from_c(results),
    )


def _from_c(results: Results) -> str:
    """Of the one program that is also written in C."""
    own, other = (results.middle(STEM, "fib", label, 1) for label in (workloads.NATIVE, "c"))
    serial = results.serial(STEM, "fib")
    if not own or not other or not serial:
        return ""
    return f"fib in C by nopal_parallel_invoke: Tₛ/T₁ is {serial / other:.2f}, and it takes {other / own:.2f} of the time in C++."


def _fig_4(results: Results) -> Item:
    drawn, with_over_without, over_own, unmaps = [], {}, {}, 0.0
    on = results.most_workers(STEM)
    for program in results.tables(STEM):
        speedups = results.speedups(STEM, program)
        if speedups:
            drawn.append(plots.lines(program, "speed-up Tₛ/Tₚ", speedups, results.cpus, ideal=True))
        given, kept = results.middle(STEM, program, workloads.NATIVE, on), results.middle(STEM, program, KEEP, on)
        peer = results.middle(STEM, program, "tbb", on)
        if given and kept:
            with_over_without[program] = given / kept
            unmaps += results.middle(STEM, program, workloads.NATIVE, on, "unmaps") or 0
        if given and peer:
            over_own[program] = peer / given
    reading = Reading(None, "It was not run with and without unmapping.")
    if with_over_without:
        middle = median(with_over_without.values())
        worst = max(with_over_without, key=with_over_without.__getitem__)
        won = sum(value > 1 - NOISE for value in over_own.values())
        # Where nothing is unmapped, the times say nothing of what that costs.
        unmapped = unmaps > 0 and set(FIG_3) <= set(with_over_without)
        judged = [
            Judged(UNMAPPING, middle if unmaps else None, whole=unmapped),
            Judged(UNMAPPING_MOST, with_over_without[worst] if unmaps else None, whole=unmapped),
            Judged(SIMILAR, min(over_own.values(), default=None), whole=set(FIG_3) <= set(over_own)),
            *(
                Judged(Threshold(f"oneTBB over parallel_invoke in {program}", least=least, on=72), over_own.get(program), on)
                for program, least in FIG_4.items()
            ),
        ]
        reading = verdict(
            f"On {on} workers the time with unmapping over that without is {middle:.2f} in the median and {with_over_without[worst]:.2f} at"
            f" most ({worst}){'' if unmaps else ', and nothing was unmapped'}. parallel_invoke is as fast as oneTBB or faster in {won} of"
            f" {len(over_own)}.",
            judged,
        )
    return Item(
        "Fig. 4",
        "Speed-up by workers, with and without unmapping",
        "Fibril outperforms Cilk Plus and TBB for most benchmarks, and the difference between Fibril with and without unmapping is"
        " negligible.",
        reading,
        plots=drawn,
        note="“pages kept” is pool_options::reclaim = none, the paper's “w/o unmap”.",
    )


def _of(rows: list[dict], front_end: str) -> list[dict]:
    return [row for row in rows if row["front_end"] == front_end]


def _front_ends(rows: list[dict]) -> list[str]:
    return [front_end for front_end in FRONT_ENDS if _of(rows, front_end)]


def _table_2(rows: list[dict]) -> Item:
    header = ["program", "steals", "suspensions", "unmaps", "unmaps by steals", "purges", "faults", "faults, pages kept", "faults, oneTBB"]
    tables, parts, more_faults, own_more, own_lines = [], [], 0, 0, 0
    for front_end in _front_ends(rows):
        lines = []
        for row in _of(rows, front_end):
            part = row["unmaps"] / row["steals"] if row["steals"] and row["unmaps"] is not None else None
            if part is not None and front_end == workloads.NATIVE:
                parts.append(part)
            numbers = [row["steals"], row["suspensions"], row["unmaps"]]
            faults = [row["purges"], row["faults_dontneed"], row["faults_none"], row["faults_tbb"]]
            lines.append([row["workload"], *map(count, numbers), ratio(part), *map(count, faults)])
            more = (row["faults_dontneed"] or 0) > (row["faults_none"] or 0)
            more_faults += more
            own_more += more and front_end == workloads.NATIVE
            own_lines += front_end == workloads.NATIVE
        tables.append(table(header, lines, f"{FRONT_ENDS[front_end]}, {rows[0]['workers']} workers, medians over the runs"))
    reading = Reading(None, "Nothing was stolen.")
    if parts:
        judged = [
            Judged(LEAST_UNMAPS, min(parts), whole=len(parts) >= len(FIG_3)),
            Judged(MOST_UNMAPS, max(parts), whole=len(parts) >= len(FIG_3)),
            Judged(MORE_FAULTS, own_more + len(FIG_3) - own_lines, whole=own_lines >= len(FIG_3)),
        ]
        reading = verdict(
            f"Of the steals {min(parts):.0%} to {max(parts):.0%} cause an unmap with parallel_invoke. Unmapping takes more page faults than"
            f" keeping the pages in {more_faults} of {len(rows)} lines.",
            judged,
        )
    return Item(
        "Table 2",
        "Key operations",
        "Not every steal causes an unmap: 33 % to 92 % of them do. Unmapping takes more page faults, which cost next to nothing.",
        reading,
        tables=tables,
        note=(
            "An unmap is counted where the unused pages of a stack that waits go back, as in the paper. Purges are those of free stacks,"
            " which the paper does not count."
        ),
    )


def _table_3(rows: list[dict], cpus: int) -> Item:
    tables, over_paper, over_own, shares = [], [], [], []
    for front_end in _front_ends(rows):
        lines = []
        for row in _of(rows, front_end):
            measured, bound = row["stack_pages_per_worker"], row["bound_of_paper"]
            own = row["bound_of_nopal"]
            if measured is not None and bound:
                if front_end == workloads.NATIVE:
                    shares.append(measured / bound)
                    if measured > bound:
                        over_paper.append(row["workload"])
                if own and measured > own:
                    over_own.append(f"{row['workload']} ({FRONT_ENDS[front_end]})")
            paper = PAPER_STACKS.get(row["workload"])
            lines.append(
                [
                    row["workload"],
                    row["fork_depth"],
                    row["stack_pages_serial"],
                    bound,
                    ratio(measured),
                    own,
                    paper and f"{paper[2]}",
                    paper and f"{paper[3]:.2f}",
                ]
            )
        caption = f"{FRONT_ENDS[front_end]}, P = {rows[0]['workers']}, pages of 4 KiB; the most over {rows[0]['runs']} runs"
        header = ["program", "D", "S₁", "S₁ + D", "Sₚ/P", "nopal's own bound", "paper: S₁ + D", "paper: S₇₂/72"]
        tables.append(table(header, lines, caption))
    reading = Reading(None, "There is no figure.")
    whole = len(shares) >= len(FIG_3)
    if shares:
        told = f"With parallel_invoke Sₚ/P is {median(shares):.0%} of S₁ + D in the median, {max(shares):.0%} at most."
        if over_paper:
            told += f" It is above S₁ + D in {join(over_paper)}."
        told += f" Above nopal's own bound: {join(over_own)}." if over_own else " Nothing is above nopal's own bound."
        reading = verdict(told, [Judged(STACK_SPACE, max(shares), whole=whole), Judged(OWN_BOUND, len(over_own), whole=whole)])
    many = rows and rows[0]["workers"] > cpus
    return Item(
        "Table 3",
        "Stack space against the bound of Theorem 4.2",
        "Stack use is well below the bound P(S₁ + D): less than 60 % of it in all twelve.",
        reading,
        tables=tables,
        note=(
            "Sₚ is reckoned from how deep each stack was used when its pages went back, and cannot be missed by a sample: it is rather too"
            " high. nopal's own bound is that of core/stack/README.md, “Space”, for each way to fork."
        )
        + (" More workers than CPUs: only space is shown." if many else ""),
    )


def _mib(row: dict, of: str) -> str | None:
    increase, peak = row[f"rss_increase_kib_{of}"], row[f"peak_rss_kib_{of}"]
    return None if increase is None or peak is None else f"{increase / 1024:.1f} / {peak / 1024:.1f}"


def _table_4(rows: list[dict]) -> Item:
    tables, increases, stacks_each = [], {}, []
    for front_end in _front_ends(rows):
        lines = []
        for row in _of(rows, front_end):
            own, peer = row["rss_increase_kib_dontneed"], row["rss_increase_kib_tbb"]
            if front_end == workloads.NATIVE:
                if own is not None and peer:
                    increases[row["workload"]] = own / peer
                if row["stacks_dontneed"] is not None:
                    stacks_each.append(row["stacks_dontneed"] / row["workers"])
            kept, stacks = _mib(row, "none"), [row["stacks_dontneed"], row["stacks_none"]]
            lines.append([row["workload"], _mib(row, "dontneed"), kept, _mib(row, "tbb"), *map(count, stacks)])
        header = ["program", "ΔRSS / max RSS in MiB", "pages kept", "oneTBB", "stacks", "stacks, pages kept"]
        tables.append(table(header, lines, f"{FRONT_ENDS[front_end]}, {rows[0]['workers']} workers, medians over the runs"))
    reading = Reading(None, "oneTBB was not measured.")
    if increases:
        above = [f"{program} {value:.2f}" for program, value in increases.items() if value > LESS_MEMORY.most]
        told = f"parallel_invoke's ΔRSS is at most {LESS_MEMORY.most} of oneTBB's in {len(increases) - len(above)} of {len(increases)}"
        told += f"; not in {join(above)}" if above else ""
        judged = [
            Judged(LESS_MEMORY, max(increases.values()), whole=len(increases) >= len(FIG_3)),
            Judged(STACKS, max(stacks_each, default=None), whole=len(stacks_each) >= len(FIG_3)),
        ]
        reading = verdict(told + ".", judged)
    return Item(
        "Table 4",
        "Resident memory and stacks",
        "Fibril takes much less memory than TBB, and 313 to 356 stacks on 72 threads: fewer than five for each.",
        reading,
        tables=tables,
        note="ΔRSS is the most that came in while the program ran. A program that is above its bound in Table 3 fails the run.",
    )
