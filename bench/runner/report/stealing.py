"""What victims at random and back-off buy: steal contention, and uniform victims against Eq. (6) of libfork."""

from statistics import median

from .. import fibers, workloads
from . import plots
from .data import Results, name
from .items import Item, Reading, count, share, table, time
from .verdicts import Judged, Threshold, same_size, verdict

STEM = "fibers"
TABLE = f"fibers {fibers.CONTENDED}"

# Challenge 2, by workers: attempts before over those after, and the success after, of which the table of the imbalanced workload says 20.4 %.
ATTEMPTS = {p: Threshold(f"attempts of a scan over those of random victims with back-off, on {p} workers", least=x) for p, x in ((4, 16_689 / 1_707), (8, 13))}
SUCCESS = {p: Threshold(f"success of random victims with back-off, on {p} workers", least=x) for p, x in ((4, 0.452), (8, 0.204))}


def _contended(results: Results) -> dict[int, dict[str, tuple[list[float], list[float]]]]:
    """By workers and label: attempts, and the part of them that found something."""
    found: dict[int, dict[str, tuple[list[float], list[float]]]] = {}
    for cell in results.cells(STEM, TABLE):
        attempts, steals = cell.values("steal_attempts"), cell.values("steals")
        if cell.impl != workloads.SERIAL and cell.workers > 1 and attempts:
            success = [s / a if a else 0 for s, a in zip(steals, attempts, strict=True)]
            found.setdefault(cell.workers, {})[cell.impl] = (attempts, success)
    return found


def contention(results: Results) -> Item | None:
    found = _contended(results)
    if not found:
        return None
    groups = [f"{p}{'*' if p > results.cpus else ''}" for p in found]
    labels = list(dict.fromkeys(label for by in found.values() for label in by))
    short = {label: label.removeprefix("fiber, ") for label in labels}
    attempts = {label: [by.get(label, ([], []))[0] for by in found.values()] for label in labels}
    success = {label: [[100 * v for v in by.get(label, ([], []))[1]] for by in found.values()] for label in labels}
    rows = [
        [
            p,
            short[label],
            count(median(by[label][0])),
            share(median(by[label][1]), 1),
            time(results.middle(STEM, TABLE, label, p)) if p <= results.cpus else "-",
        ]
        for p, by in found.items()
        for label in by
    ]
    most = same_size(ATTEMPTS, found)
    by = found.get(most or 0, {})
    before, after = by.get("fiber, scan, no back-off"), by.get("fiber, uniform, back-off")
    reading = Reading(None, "Not all ways to search were run, or not on 4 or 8 workers.")
    if most and before and after:
        fewer = median(before[0]) / median(after[0])
        judged = [Judged(ATTEMPTS[most], fewer), Judged(SUCCESS[most], median(after[1]))]
        reading = verdict(
            f"On {most} workers random victims and back-off take {fewer:.1f} times fewer attempts than a scan without back-off, and succeed"
            f" in {median(after[1]):.1%} instead of {median(before[1]):.1%}.",
            judged,
        )
    starred = any(p > results.cpus for p in found)
    return Item(
        "Challenge 2",
        "Steal contention: victims by a scan and at random, with and without back-off",
        "Random victims and back-off take 13 times fewer attempts on 8 workers, and succeed in 21.0 % instead of 1.5 %.",
        reading,
        plots=[
            plots.bars("attempts to steal", "attempts", groups, attempts, log=True, labels=short),
            plots.bars("attempts that found something", "%", groups, success, labels=short),
        ],
        tables=[table(["N", "victims", "attempts", "success", "time"], rows)],
        note="* more workers than CPUs: attempts are counted, and times say nothing." if starred else "",
    )


def victims(results: Results) -> Item | None:
    one, other = "fiber, uniform, back-off", "fiber, Eq. (6), back-off"
    on = results.most_workers(STEM)
    cells = [results.cell(STEM, TABLE, label, on) for label in (one, other)]
    if not all(cells) or on == 1:
        return None
    seconds = [cell.middle("seconds") for cell in cells if cell]
    if not all(seconds):
        return None
    difference = seconds[1] / seconds[0]
    told = f"On {on} workers Eq. (6) takes {difference:.2f} of the time of uniform victims, of which the paper measured nothing."
    told += " With two workers there is one victim, and both are the same." if on == 2 else ""
    reading = Reading(None, told, "Compared")
    rows = [
        [
            name(cell.impl).removeprefix("nopal fiber, "),
            time(cell.middle("seconds")),
            count(cell.middle("steals")),
            count(cell.middle("steal_attempts")),
        ]
        for cell in cells
        if cell
    ]
    return Item(
        "Eq. (6) of libfork",
        "Near victims more often, against uniform ones",
        "libfork draws victims by their distance, so that thieves stay near; this paper draws them uniformly, and proposes the same for two"
        " sockets.",
        reading,
        tables=[table(["victims", "time", "steals", "attempts"], rows, f"the imbalanced workload on {on} workers")],
    )
