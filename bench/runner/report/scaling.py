"""How far the algorithms scale on simulated machines: curves, beside the bound of a greedy scheduler, and what misses its goal."""

from .. import scale
from . import plots
from .data import Results
from .items import Item, Reading, Section, ratio, table

MACHINES = ("16", "2x56")


def section(results: Results) -> Section:
    made = Section(
        "How far the algorithms scale",
        "Each algorithm on simulated machines, beside the standard library's serial one. Elements that take long say how long, so that only the"
        " scheduler and the algorithm count; elements that cost next to nothing are measured.",
        [],
        of_paper=False,
    )
    if scale.STEM not in results:
        made.missing = "./nopal bench scale"
        return made
    rows = [row for row in results.rows(scale.STEM) if row["speedup"] is not None]
    for machine in MACHINES:
        made.items += [item for item in (_few(rows, machine), _many(rows, machine)) if item]
    if swept := _swept(rows):
        made.items.append(swept)
    return made


def _few(rows: list[dict], machine: str) -> Item | None:
    here = [row for row in rows if row["machine"] == machine and row["element_ns"] > 0 and row["clock"] == "given"]
    return _item(here, f"Few elements that take long, on {machine}", f"Together they take {scale.MACHINES[machine] * 1e3:.0f} ms.")


def _many(rows: list[dict], machine: str) -> Item | None:
    here = [row for row in rows if row["machine"] == machine and row["clock"] == "measured"]
    return _item(
        here,
        f"Measured, on {machine}",
        "Elements that really work for 64 ms together, and many that cost next to nothing. What 1 to 112 cores do to each other's bandwidth and caches is left"
        " out, and what one processor's caches lose by all strands is in it.",
    )


def _item(rows: list[dict], title: str, compared: str) -> Item | None:
    if not rows:
        return None
    drawn = []
    for group, names in scale.ALGORITHMS.items():
        curves = {name: _curve(rows, name, "speedup") for name in names}
        bounds = {name: _curve(rows, name, "greedy") for name in names}
        if any(curves.values()):
            drawn.append(plots.curves(group, "T₁/Tₚ", "elements", curves, bounds))
    held = [row for row in rows if row["goal"] is not None]
    missed = [row for row in held if row["speedup"] < row["goal"]]
    told = f"{len(held) - len(missed)} of {len(held)} reach what is asked for."
    lines = [
        [row["algorithm"], f"{row['n']:,}", _element(row), ratio(row["speedup"], 1), ratio(row["greedy"], 1), ratio(row["goal"], 1)]
        for row in rows
    ]
    caption = "T₁/Tₚ; a greedy scheduler at worst; what is asked for"
    return Item(
        "Scaling",
        title,
        compared + " Dashed: what a greedy scheduler reaches at worst, T₁/P + T∞.",
        Reading(not missed, told, f"{len(held) - len(missed)} of {len(held)}"),
        plots=drawn,
        tables=[table(["", "elements", "each", "T₁/Tₚ", "greedy", "goal"], lines, caption)],
        label="Compared",
    )


def _element(row: dict) -> str:
    ns = row["element_ns"]
    if ns >= 1e6:
        return f"{ns / 1e6:g} ms"
    return f"{ns / 1e3:.3g} µs" if ns >= 1e3 else f"{ns:.3g} ns" if ns else "cheap"


def _curve(rows: list[dict], name: str, of: str) -> dict[int, float]:
    """The best of those that have as many elements."""
    result: dict[int, float] = {}
    for row in rows:
        if row["algorithm"] == name and row[of] is not None:
            result[row["n"]] = max(row[of], result.get(row["n"], 0))
    return result


def _swept(rows: list[dict]) -> Item | None:
    work = scale.MACHINES["2x56"] / scale.SWEPT * 1e9
    here = [row for row in rows if row["n"] == scale.SWEPT and row["clock"] == "given" and abs(row["element_ns"] - work) < 1]
    if not here:
        return None
    drawn = []
    for group, names in scale.ALGORITHMS.items():
        curves = {name: {row["workers"]: row["speedup"] for row in here if row["algorithm"] == name} for name in names}
        bounds = {name: {row["workers"]: row["greedy"] for row in here if row["algorithm"] == name} for name in names}
        if any(curves.values()):
            drawn.append(plots.curves(group, "T₁/Tₚ", "workers", curves, bounds))
    return Item(
        "Scaling",
        f"{scale.SWEPT} elements on 1 to 112 workers",
        "They take 640 ms together. Dashed: what a greedy scheduler reaches at worst.",
        Reading(None, "", "simulated"),
        plots=drawn,
        label="Compared",
    )
