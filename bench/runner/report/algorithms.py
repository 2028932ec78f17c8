"""Loops and sorts, of which the papers say nothing: nopal's beside those of other libraries, and the serial ones."""

from statistics import median

from .. import workloads
from . import plots
from .data import Cell, Results, name
from .items import Item, Reading, Section, join, table, time

LOOPS, SORT = "loops", "sort"
ALIKE = 0.05
LARGE = ("stream", "hash", "triangle", "nested", "turns")
WORDS = {True: "Level or ahead in all", False: "Not level in all", None: "Not compared"}

LOOP_NAMES = {
    "native": "nopal::parallel_for",
    "tbb": "oneTBB auto",
    "tbb_simple": "oneTBB simple",
    "openmp": "OpenMP static",
    "openmp_dynamic": "OpenMP dynamic",
    "openmp_guided": "OpenMP guided",
    "parallel_mode": "std::for_each, par",
}
SORT_NAMES = {"native": "nopal", "tbb": "oneTBB parallel_sort", "parallel_mode": "std, par"}


def section(results: Results) -> Section:
    made = Section(
        "Loops and sorts",
        "Not of the papers: nopal's algorithms beside those of other libraries.",
        [],
        of_paper=False,
    )
    if LOOPS not in results and SORT not in results:
        made.missing = "./nopal bench loops sort"
        return made
    if LOOPS in results:
        whole = results.tables(LOOPS)
        rested = [one for one in whole if "rest" in one]
        large = [one for one in whole if _short(one) in LARGE]
        small = [one for one in whole if one not in rested and one not in large]
        made.items += [
            item
            for tables, title, compared in (
                (large, "long ones", _LARGE_SAY),
                (small, "short ones, one after the other", _SMALL_SAY),
                (rested, "short ones after a rest", _RESTED_SAY),
            )
            if (item := _item(results, LOOPS, "Loops", tables, LOOP_NAMES, "median_ns", 1e-9, title, compared))
        ]
    if SORT in results:
        for kernel, title in (("sort ", "sort"), ("stable_sort ", "stable_sort")):
            tables = [one for one in results.tables(SORT) if one.startswith(kernel)]
            item = _item(results, SORT, "Sorts", tables, SORT_NAMES, "seconds", 1, title, _SORT_SAY[title] + _sizes(results, tables))
            if item:
                made.items.append(item)
    return made


_WAYS = (
    " The serial loop, with the same body and compiler flags, is 1. oneTBB's parallel_for has its auto_partitioner or its"
    " simple_partitioner,"
    " OpenMP the static, the dynamic or the guided schedule, and the standard library its parallel mode (std::execution::par)."
)
_LARGE_SAY = (
    "Loops that take milliseconds: stream is bound by memory, hash mixes numbers and writes 80 MB; triangle has iterations of unequal length, nested a loop"
    " in each iteration, and turns is 1000 loops of 5000 iterations one after the other." + _WAYS
)
_SMALL_SAY = (
    "One loop of 100 to 100 000 iterations of some 9 ns each, called again and again: what it costs to begin and to end one. The"
    " libraries are those above."
)
_RESTED_SAY = "The same where each call comes after 5 ms in which nothing runs: workers sleep, or have been kept awake."
_SORT_SAY = {
    "sort": "nopal::sort beside std::sort, which is 1, oneTBB's parallel_sort and the standard library's parallel mode.",
    "stable_sort": "nopal::stable_sort beside std::stable_sort, which is 1, and the standard library's parallel mode; oneTBB has none.",
}


def _sizes(results: Results, tables: list[str]) -> str:
    sizes = dict.fromkeys(
        record["size"] for one in tables for cell in results.cells(SORT, one) for record in cell.records if "size" in record
    )
    return f" Values: {join(list(sizes))}." if sizes else ""


def _short(title: str) -> str:
    """A table's name without that of what all of them are, and without the rest."""
    return title.split(" ", 1)[1].split(" after")[0].removeprefix("stable-")


def _item(
    results: Results, stem: str, number: str, tables: list[str], names: dict[str, str], of: str, unit: float, title: str, compared: str
) -> Item | None:
    on = results.most_workers(stem)
    speedups = {one: results.series(stem, one, _over_serial(results, stem, one, of)) for one in tables}
    labels = [label for label in _labels(results, stem, tables) if any(label in by for by in speedups.values())]
    if not labels:
        return None
    said = {label: names.get(label, name(label)) for label in labels}
    drawn = {label: [by.get(label, {}).get(on, []) for by in speedups.values()] for label in labels}
    groups = [_short(one) for one in tables]
    return Item(
        number,
        title,
        compared,
        _reading(results, stem, tables, of, on),
        plots=[plots.bars(f"speed-up on {on} workers, serial = 1", "Tₛ/Tₚ", groups, drawn, one=1, labels=said)],
        tables=[_times(results, stem, tables, said, of, unit, p) for p in sorted({1, on})],
        label="Compared",
    )


def _over_serial(results: Results, stem: str, one: str, of: str):
    serial = results.middle(stem, one, workloads.SERIAL, 1, of)
    return lambda record, _: serial / record[of] if serial and record.get(of) else None


def _labels(results: Results, stem: str, tables: list[str]) -> list[str]:
    return list(dict.fromkeys(cell.impl for one in tables for cell in results.cells(stem, one) if cell.impl != workloads.SERIAL))


def _times(results: Results, stem: str, tables: list[str], said: dict[str, str], of: str, unit: float, workers: int) -> str:
    rows = []
    for one in tables:
        cells = [results.cell(stem, one, workloads.SERIAL, 1), *(results.cell(stem, one, label, workers) for label in said)]
        rows.append([_short(one), *(_time(cell, of, unit) for cell in cells)])
    caption = f"times on {workers} worker{'s' if workers > 1 else ''}, medians over the runs"
    return table(["", "serial", *said.values()], rows, caption)


def _time(cell: Cell | None, of: str, unit: float) -> str | None:
    if cell is None:
        return None
    middle = cell.middle(of)
    return cell.short if middle is None else time(middle * unit)


def _reading(results: Results, stem: str, tables: list[str], of: str, on: int) -> Reading:
    ratios = {}
    for one in tables:
        times = {cell.impl: cell.middle(of) for cell in results.cells(stem, one) if cell.workers == on}
        own = [value for impl, value in times.items() if value and workloads.is_nopal(impl)]
        peers = [value for impl, value in times.items() if value and workloads.is_peer(impl)]
        if own and peers:
            ratios[_short(one)] = min(peers) / min(own)
    if not ratios:
        return Reading(None, "There is no peer's time on as many workers.", WORDS[None])
    behind = [f"{one} {value:.2f}" for one, value in ratios.items() if value < 1 - ALIKE]
    told = (
        f"On {on} workers the best peer's time over nopal's is {median(ratios.values()):.2f} in the median,"
        f" {min(ratios.values()):.2f} at least and {max(ratios.values()):.2f} at most."
    )
    told += f" nopal is more than {ALIKE:.0%} behind the best in {join(behind)}." if behind else ""
    return Reading(not behind, told, WORDS[not behind])
