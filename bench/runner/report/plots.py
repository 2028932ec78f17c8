"""Plots as SVG that takes its text colour from the page. Colours from Okabe and Ito, which the colour-blind can tell apart, and a marker
and a dash for each series beside them."""

import io
import re
from collections.abc import Mapping, Sequence
from itertools import count
from statistics import median

from .. import workloads
from ..fit import Fit
from .data import Values, name

try:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.ticker import FixedLocator, NullLocator
except ImportError:
    pyplot = None

INK = "#010203"  # stands for the page's text colour
FAINT = "#808080"

BLUE, SKY, GREEN, ORANGE, RED, PINK, BROWN = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#8C6D31"

# Colour and marker of each implementation; its first series is drawn whole, the others dashed.
STYLES = {
    "task": (BLUE, "o"),
    "task_stack": (GREEN, "s"),
    "native": (BLUE, "o"),
    "scope": (GREEN, "s"),
    "c": (BROWN, "P"),
    "fiber": (BLUE, "o"),
    "tbb": (ORANGE, "^"),
    "tbb_simple": (BROWN, "v"),
    "openmp": (RED, "D"),
    "openmp_dynamic": (PINK, "P"),
    "openmp_guided": (GREEN, "X"),
    "parallel_mode": (SKY, "*"),
    "libfork": (PINK, "v"),
    "libfork_busy": (PINK, "<"),
    "libfork_stack": (BROWN, "P"),
    "libfork_stack_busy": (BROWN, "X"),
    "taskflow": (SKY, "*"),
    "threads": (ORANGE, "^"),
    "thread_each": (RED, "D"),
}
DASHES = ("-", "--", ":", "-.")
OTHERS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, BROWN)
MARKERS = "os^Dv<>PX*"

SIZE = (4.6, 3.2)  # inches: legible on a phone's width

_numbers = count(1)


def styles(labels: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Colour, marker and dash of each series. One implementation's series share its colour and differ in dash and filling."""
    result, seen = {}, {}
    for index, label in enumerate(labels):
        impl = workloads.base(label)
        colour, marker = STYLES.get(impl, (OTHERS[index % len(OTHERS)], MARKERS[index % len(MARKERS)]))
        nth = seen[impl] = seen.get(impl, -1) + 1
        if len(labels) > 1 and all(workloads.base(one) == impl for one in labels):
            colour, marker = OTHERS[index % len(OTHERS)], MARKERS[index % len(MARKERS)]
        result[label] = (colour, marker, DASHES[nth % len(DASHES)])
    return result


def _figure(size: tuple[float, float] = SIZE):
    pyplot.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "nopal",  # the same results make the same page
            "font.family": "sans-serif",
            "font.size": 10,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.titlesize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": FAINT,
            "grid.alpha": 0.25,
            "legend.frameon": False,
            "legend.fontsize": 8,
        }
    )
    return pyplot.subplots(figsize=size, layout="constrained")


def _svg(figure, describes: str) -> str:
    """The figure as an element of a page, with ids of its own."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    wide = figure.get_size_inches()[0] > 1.3 * SIZE[0]
    pyplot.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    prefix = f"p{next(_numbers)}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    text = text.replace(INK, "currentColor")
    label = describes.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    text = re.sub(r' xmlns:xlink="[^"]*"| xmlns="[^"]*"', "", text).replace("xlink:href", "href")
    kind = ' class="wide"' if wide else ""
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}"{kind} ', 1)


def alone(svg: str) -> str:
    """The element as a file of its own, for readers in the light and in the dark."""
    style = "<style>svg { color: #1a1a1a } @media (prefers-color-scheme: dark) { svg { color: #e8e8e6 } }</style>"
    text = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    end = text.index(">") + 1
    return f"{text[:end]}{style}{text[end:]}"


def _spread(values: list[float]) -> tuple[float, float, float]:
    """The median, and how far the least and the greatest are from it."""
    middle = median(values)
    return middle, middle - min(values), max(values) - middle


def _workers_axis(axes, workers: Sequence[int], cpus: int) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(workers))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{p}*" if p > cpus else str(p) for p in workers])
    axes.set_xlabel("workers P" + (" (* more than CPUs)" if max(workers) > cpus else ""))


def _legend(axes) -> None:
    """Below the plot, so that it hides nothing."""
    axes.legend(loc="upper left", bbox_to_anchor=(-0.12, -0.2), ncols=2)


def lines(
    title: str,
    unit: str,
    series: Mapping[str, Values],
    cpus: int,
    *,
    ideal: bool = False,
    flat_ideal: bool = False,
    log: bool = False,
    fits: Mapping[str, Fit] | None = None,
    from_zero: bool = True,
) -> str:
    """A line for each series by workers: medians, with a bar from the least to the greatest."""
    figure, axes = _figure()
    workers = sorted({p for values in series.values() for p in values})
    look = styles(list(series))
    for index, (label, values) in enumerate(series.items()):
        colour, marker, dash = look[label]
        points = sorted(values)
        middle, below, above = zip(*(_spread(values[p]) for p in points), strict=True)
        shift = 2 ** ((index - (len(series) - 1) / 2) * 0.02)  # so that bars of one P lie side by side
        fitted = fits.get(label) if fits else None
        axes.errorbar(
            [p * shift for p in points],
            middle,
            yerr=(below, above),
            label=name(label),
            color=colour,
            marker=marker,
            markersize=5,
            linestyle="none" if fitted else dash,
            linewidth=1.4,
            capsize=2,
            elinewidth=1,
            markerfacecolor=colour if dash == "-" else "none",
        )
        if fitted:
            fine = [workers[0] * (workers[-1] / workers[0]) ** (k / 40) for k in range(41)]
            axes.plot(fine, [fitted.at(p) for p in fine], color=colour, linestyle=dash, linewidth=1)
    if ideal or flat_ideal:
        up_to = [p for p in workers if p <= cpus] or workers
        axes.plot(up_to, [1 if flat_ideal else p for p in up_to], color=FAINT, linestyle=(0, (1, 2)), linewidth=1, label="ideal")
    _workers_axis(axes, workers, cpus)
    everything = [value for values in series.values() for some in values.values() for value in some]
    if log and max(everything) > 5 * min(everything):
        axes.set_yscale("log")
    elif from_zero and not log:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(unit)
    axes.set_title(title, loc="left")
    _legend(axes)
    return _svg(figure, f"{title}: {unit} by workers")


def curves(
    title: str, unit: str, along: str, series: Mapping[str, Mapping[int, float]], bounds: Mapping[str, Mapping[int, float]]
) -> str:
    """A line for each series by a number, both on scales of powers, and a dashed one for its bound."""
    figure, axes = _figure()
    look = styles(list(series))
    for label, values in series.items():
        colour, marker, _ = look[label]
        points = sorted(values)
        axes.plot(points, [values[p] for p in points], label=label, color=colour, marker=marker, markersize=5, linewidth=1.4)
        points = sorted(bounds.get(label, {}))
        axes.plot(points, [bounds[label][p] for p in points], color=colour, linestyle="--", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(along)
    axes.set_ylabel(unit)
    axes.set_title(title, loc="left")
    _legend(axes)
    return _svg(figure, f"{title}: {unit} by {along}")


def bars(
    title: str,
    unit: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[list[float]]],
    *,
    log: bool = False,
    one: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Bars side by side for each group: medians, with a line from the least to the greatest. An empty list leaves a gap."""
    figure, axes = _figure((max(4.6, 0.18 * len(groups) * (len(series) + 1.5)), 3.4))
    look = styles(list(series))
    width = 0.8 / len(series)
    hatches = ("", "///", "...", "xxx", "\\\\\\")
    for index, (label, values) in enumerate(series.items()):
        known = [(k, _spread(some)) for k, some in enumerate(values) if some]
        if not known:
            continue
        at = [k + (index - (len(series) - 1) / 2) * width for k, _ in known]
        axes.bar(
            at,
            [middle for _, (middle, _, _) in known],
            width * 0.92,
            label=(labels or {}).get(label) or name(label),
            color=look[label][0],
            hatch=hatches[index % len(hatches)],
            edgecolor="#ffffff",
            linewidth=0.3,
            yerr=([below for _, (_, below, _) in known], [above for _, (_, _, above) in known]),
            ecolor=INK,
            error_kw={"elinewidth": 1, "capsize": 2},
        )
    if one is not None:
        axes.axhline(one, color=FAINT, linestyle=(0, (1, 2)), linewidth=1)
    if log:
        axes.set_yscale("log")
    axes.grid(axis="x", visible=False)
    axes.set_xticks(range(len(groups)), groups, rotation=35 if len(groups) > 5 else 0, ha="right" if len(groups) > 5 else "center")
    axes.set_ylabel(unit)
    columns = 3 if len(groups) > 5 else 2
    axes.set_title(title, loc="left", pad=6 if len(series) < 2 else 8 + 13 * -(-len(series) // columns))
    if len(series) > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(-0.05, 0.99), ncols=columns, borderaxespad=0.2)
    return _svg(figure, f"{title}: {unit}")
