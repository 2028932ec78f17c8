#!/usr/bin/env python3
"""Times the standard library's parallel algorithms on nopal, and on oneTBB: the same source compiled twice, both programs in turn, with other data
each round.

    companions/pstl/bench/times.py --library build/release/libnopal.a --csv docs/results/two-cpus/pstl-times.csv

The table has medians over the rounds, in microseconds, and nopal's time over oneTBB's: below 1 nopal is ahead. With four sizes a round takes some
minutes on two CPUs.
"""

import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
SOURCE = Path(__file__).resolve().parent / "times.cpp"
SIZES = (1_000, 30_000, 300_000, 3_000_000)
Row = tuple[str, str, int]


def compiled(args: argparse.Namespace, folder: Path) -> dict[str, Path]:
    """The two programs, by the back end."""
    common = [args.compiler, "-std=c++20", *args.flags, "-w", str(SOURCE)]
    includes = [f"-I{REPOSITORY / part}" for part in ("include", "companions/pstl/include")]
    ways = {
        "nopal": [*includes, "-include", "nopal/pstl.hpp", str(args.library), *args.link, "-pthread"],
        "onetbb": ["-ltbb", "-pthread"],
    }
    programs = {}
    for name, options in ways.items():
        programs[name] = folder / name
        subprocess.run([*common, "-o", str(programs[name]), *options], check=True)
    return programs


def measured(program: Path, seed: int, sizes: list[int]) -> dict[Row, float]:
    out = subprocess.run([str(program), str(seed), *map(str, sizes)], check=True, capture_output=True, text=True).stdout
    return {(name, elements, int(n)): float(time) for name, elements, n, time in csv.reader(out.splitlines())}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="libnopal.a or libnopal.so")
    parser.add_argument("--link", nargs="*", default=["-lhwloc"], help="what a static libnopal needs besides")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", nargs="*", default=["-O2"], help="for the compiler")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--csv", type=Path, help="where the table goes, else standard output")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    times: dict[str, dict[Row, list[float]]] = {"nopal": defaultdict(list), "onetbb": defaultdict(list)}
    with tempfile.TemporaryDirectory() as folder:
        programs = compiled(args, Path(folder))
        for k in range(args.rounds):
            for name in sorted(programs, reverse=k % 2 == 1):
                for row, time in measured(programs[name], 1_000_003 * (k + 1), args.sizes).items():
                    times[name][row].append(time)
            print(f"round {k + 1} of {args.rounds}", file=sys.stderr)
    with args.csv.open("w", newline="") if args.csv else sys.stdout as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["algorithm", "elements", "n", "nopal_us", "onetbb_us", "nopal_over_onetbb"])
        for row in times["nopal"]:
            ours, theirs = (statistics.median(times[name][row]) for name in ("nopal", "onetbb"))
            table.writerow([*row, f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.3f}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
