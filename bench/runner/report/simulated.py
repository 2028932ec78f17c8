"""Simulated machines: whether predictions hold on this one, and the papers' figures on larger ones."""

from statistics import median

from .. import simulation, workloads
from . import plots
from .data import Results, Values
from .items import Item, Reading, Section, count, join, ratio, share, table, time

CHECK, STEM = "simulation-check", "simulation"
WITHIN = 0.05


def section(results: Results) -> Section:
    made = Section(
        "Simulated machines",
        "Workers run one at a time, each by a clock of its own; what they decide is done by the code that ships. Bandwidth, shared caches and clock"
        " rates are left out.",
        [],
        of_paper=False,
    )
    if not any(stem in results for stem in (CHECK, STEM, simulation.FIBERS)):
        made.missing = "./nopal bench simulate"
        return made
    made.items += [item for item in (_check(results), *_libfork(results), _fibril(results), _fibers(results)) if item]
    return made


def _check(results: Results) -> Item | None:
    rows = [row for row in results.rows(CHECK) if row["ratio"] is not None]
    if not rows:
        return None
    most = max(row["workers"] for row in rows)
    ratios = {f"{row['workload']} {row['impl']}": row["ratio"] for row in rows if row["workers"] == most}
    near = [label for label, value in ratios.items() if abs(value - 1) <= WITHIN]
    far = [f"{label} {value:.2f}" for label, value in ratios.items() if abs(value - 1) > WITHIN]
    told = f"On {most} workers {len(near)} of {len(ratios)} predictions are within {WITHIN:.0%} of what was measured."
    told += f" The others, predicted over measured: {join(far)}." if far else ""
    lines = [
        [
            f"{row['workload']} {row['impl']}",
            row["workers"],
            time(row["measured"]),
            f"{time(row['fastest'])} to {time(row['slowest'])}",
            time(row["simulated"]),
            ratio(row["ratio"], 3),
        ]
        for row in rows
    ]
    return Item(
        "Simulation",
        "Predicted and measured",
        "Each program as it is on this machine, and on a simulated one of its size. Medians.",
        Reading(not far, told, f"{len(near)} of {len(ratios)} within {WITHIN:.0%}"),
        tables=[table(["program", "P", "measured", "fastest to slowest", "simulated", "simulated / measured"], lines)],
        label="Compared",
    )


def _speedups(results: Results, one: str) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for row in results.rows(STEM):
        if row["workload"] == one and row["speedup"]:
            found.setdefault(row["impl"], {})[row["workers"]] = [row["speedup"]]
    return found


def _libfork(results: Results) -> list[Item]:
    tables = [one for one in results.tables(STEM) if not one.startswith("fibril ")]
    if not tables:
        return []
    machine = tables[0].rsplit(" on ", 1)[1]
    drawn, rows, behind, idle, victims = [], [], [], [], []
    for one in tables:
        speedups = _speedups(results, one)
        if not speedups:
            continue
        top = max(p for values in speedups.values() for p in values)
        drawn.append(plots.lines(f"{one.rsplit(' on ', 1)[0]}, simulated", "T₁/Tₚ", speedups, top, ideal=True, log=True))
        last = {row["impl"]: row for row in results.rows(STEM) if row["workload"] == one and row["workers"] == top}
        for label, row in last.items():
            rows.append(
                [
                    f"{one.rsplit(' on ', 1)[0]}, {label}",
                    time(row["simulated"]),
                    ratio(row["speedup"], 1),
                    ratio(row["work"]),
                    share(row["searching"], 1),
                    share(row["asleep"], 1),
                    count(row["steals"]),
                    count(row["far_steals"]),
                ]
            )
        plain, busy, uniform = (last.get(f"task{suffix}") for suffix, _ in simulation.SERIES)
        if plain and busy and plain["simulated"] and busy["simulated"]:
            idle.append(plain["simulated"] / busy["simulated"])
        if plain and uniform and plain["simulated"] and uniform["simulated"]:
            victims.append(plain["simulated"] / uniform["simulated"])
            if plain["steals"] and uniform["steals"]:
                behind.append((plain["far_steals"] / plain["steals"], uniform["far_steals"] / uniform["steals"]))
    if not drawn:
        return []
    told = []
    if idle:
        told.append(f"On all workers lazy pools take {median(idle):.2f} of the time of busy ones, in the median over the programs")
    if victims:
        near, far = median(one for one, _ in behind), median(other for _, other in behind)
        told.append(
            f"Eq. (6) takes {median(victims):.2f} of the time of uniform victims, and {near:.0%} of its steals are from the other node, where"
            f" {far:.0%} of theirs are"
        )
    return [
        Item(
            "Figs. 5, 6",
            f"libfork's programs on {machine} simulated cores",
            "The lazy and the busy scheduler have almost identical performance. The larger trees scale linearly; the small T1 and T3 take some"
            " 10 ms on 112 cores and scale less, and there lazy workers do better than busy ones.",
            Reading(None, ". ".join(told) + ".", "simulated"),
            plots=drawn,
            tables=[
                table(
                    ["on all workers", "T_P", "T₁/T_P", "work", "searching", "asleep", "steals", "from the other node"],
                    rows,
                )
            ],
            note="Simulated: no machine of this size was at hand.",
            label="The paper",
        )
    ]


def _fibril(results: Results) -> Item | None:
    tables = [one for one in results.tables(STEM) if one.startswith("fibril ")]
    if not tables:
        return None
    machine = tables[0].rsplit(" on ", 1)[1]
    speedups = {
        one.removeprefix("fibril ").rsplit(" on ", 1)[0]: next(iter(_speedups(results, one).values()), {}) for one in tables
    }
    speedups = {label: values for label, values in speedups.items() if values}
    if not speedups:
        return None
    workers = sorted({p for values in speedups.values() for p in values if p > 1})
    drawn = {f"{p} workers": [values.get(p, []) for values in speedups.values()] for p in workers}
    top = max(workers)
    best = sorted(((values[top][0], label) for label, values in speedups.items() if top in values), reverse=True)
    told = f"On {top} workers the speed-ups are from {best[-1][0]:.1f} ({best[-1][1]}) to {best[0][0]:.1f} ({best[0][1]})."
    return Item(
        "Fig. 4",
        f"Fibril's programs on {machine} simulated cores",
        "The speed-ups of the twelve programs on up to 72 hardware threads.",
        Reading(None, told, "simulated"),
        plots=[plots.bars("speed-up over one worker, simulated", "T₁/Tₚ", list(speedups), drawn, log=True)],
        tables=[
            table(
                ["", *(f"{p} workers" for p in workers)],
                [[label, *(ratio(values[p][0], 1) if p in values else None for p in workers)] for label, values in speedups.items()],
                "speed-up over one worker",
            )
        ],
        note="Simulated, with the sizes that this machine's runs have: for 112 cores they are small. Bandwidth is left out.",
    )


def _fibers(results: Results) -> Item | None:
    speedups: dict[str, Values] = {}
    for row in results.rows(simulation.FIBERS):
        if row["speedup"]:
            speedups.setdefault(row["workload"].removeprefix("fibers "), {})[row["workers"]] = [row["speedup"]]
    if not speedups:
        return None
    workers = sorted({p for values in speedups.values() for p in values if p > 1})
    told = join([f"{label} {values[workers[-1]][0]:.1f}" for label, values in speedups.items() if workers[-1] in values])
    return Item(
        "All workloads",
        "The experiments on fibers, on 4, 8 and 2 × 64 simulated cores",
        "Near-linear on 8 cores where fibers compute; on 128 fib and heat fall off where the second socket begins, n-queens stays as it is, and breadth-first search"
        " reaches 1.61 times the serial one.",
        Reading(None, f"T₁/Tₚ on {workers[-1]} workers: {told}.", "simulated"),
        plots=[plots.bars("T₁/Tₚ, simulated", "T₁/Tₚ", list(speedups), {f"{p} workers": [v.get(p, []) for v in speedups.values()] for p in workers}, log=True)],
        tables=[
            table(
                ["", *(f"{p} workers" for p in workers)],
                [[label, *(ratio(values[p][0], 1) if p in values else None for p in workers)] for label, values in speedups.items()],
                "speed-up over one worker",
            )
        ],
        note="Simulated, with the sizes that this machine's runs have: for 128 cores they are small. Bandwidth is left out.",
        label="The paper",
    )
