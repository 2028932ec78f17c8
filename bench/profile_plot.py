#!/usr/bin/env python3
"""Draws the speed-up that a profile predicts, between its bounds, and what was measured.

    python3 bench/profile_plot.py profile.json --measured 1:2.10,2:1.09,4:0.60 --out speed-up.svg

profile.json is what nopal::profile_report::json() or NOPAL_PROFILE_OUT has written: docs/profile.md. Above the upper bound no schedule can come: the
number of workers, and the parallelism, work / span. The lower bound is what work stealing may be expected to reach,
work / (work / P + 1.7 * burdened span). Measured points are times, of which the first is the time of one worker. Needs matplotlib.
"""

import argparse
import json
import sys
from pathlib import Path

SPAN_COEFFICIENT = 1.7  # as in companions/profile/src/report.cpp
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#808080"
UNUSABLE = 2  # exit status


def bounds(profile: dict, workers: int) -> tuple[float, float]:
    """The speed-up to be expected on so many workers, and the greatest there can be."""
    work, span, burdened = profile["work"], profile["span"], profile["burdened_span"]
    greatest = min(workers, work / span) if span > 0 else workers
    time = work / workers + SPAN_COEFFICIENT * burdened
    return (work / time if time > 0 else 1.0), greatest


def measured(text: str) -> dict[int, float]:
    """Speed-ups by the number of workers, of "workers:time" pairs."""
    times = {}
    for pair in text.split(","):
        workers, colon, time = pair.partition(":")
        if not colon or not workers.isdigit() or int(workers) == 0 or not _is_positive(time):
            raise argparse.ArgumentTypeError(f"'{pair}' is no workers:time, such as 2:1.09")
        times[int(workers)] = float(time)
    if min(times) != 1:
        raise argparse.ArgumentTypeError("the time of one worker is missing, such as 1:2.10")
    return {workers: times[1] / time for workers, time in sorted(times.items())}


def _is_positive(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def draw(profile: dict, most: int, points: dict[int, float], title: str, out: Path) -> None:
    import matplotlib

    matplotlib.use("svg" if out.suffix == ".svg" else "agg")
    from matplotlib import pyplot

    workers = sorted({1, *range(2, most + 1, max(1, most // 64)), most})
    expected, greatest = zip(*(bounds(profile, p) for p in workers))
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    axes.fill_between(workers, expected, greatest, color=BLUE, alpha=0.12, linewidth=0)
    axes.plot(workers, workers, color=GREY, linestyle=":", label="one for each worker")
    axes.plot(workers, greatest, color=BLUE, label="at most: min(P, work / span)")
    axes.plot(workers, expected, color=BLUE, linestyle="--", label="to be expected, with the burden of stealing")
    if points:
        axes.plot(list(points), list(points.values()), "o", color=ORANGE, label="measured")
    axes.set_xlim(1, most)
    axes.set_ylim(0, 1.1 * max(*greatest, *points.values(), 1))
    axes.set_xlabel("workers")
    axes.set_ylabel("speed-up over one worker")
    axes.set_title(title)
    axes.legend(loc="upper left", fontsize="small")
    figure.savefig(out)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", type=Path, help="the profile, in JSON")
    parser.add_argument("--measured", type=measured, default={}, help="times by workers: 1:2.10,2:1.09")
    parser.add_argument("--workers", type=int, default=0, help="how far to draw; else to twice the parallelism, or the measured points")
    parser.add_argument("--title", default="", help="what it is of; else the file's name")
    parser.add_argument("--out", type=Path, default=Path("speed-up.svg"), help="the picture, .svg or .png")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    try:
        profile = json.loads(args.profile.read_text())
        parallelism = profile["work"] / profile["span"] if profile["span"] > 0 else 1
        most = args.workers or max(2, min(512, round(2 * parallelism)), *args.measured)
        draw(profile, most, args.measured, args.title or args.profile.stem, args.out)
    except ImportError:
        print("this needs matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return UNUSABLE
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{args.profile}: {error!r}; give a profile in JSON, and a place for the picture", file=sys.stderr)
        return UNUSABLE
    print(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
