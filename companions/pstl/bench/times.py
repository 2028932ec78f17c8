#!/usr/bin/env python3
"""Times the standard library's parallel algorithms on nopal, and on oneTBB: the same source compiled twice, both programs in turn, with other data
in each call. How long a short loop takes depends on where it happens to lie: so each source is compiled in two layouts, loops and functions at multiples
of 32 or of 64 bytes, and what counts is the better one of each program, row by row.

    companions/pstl/bench/times.py --library build/release/libnopal.a --compiler g++-12 --rounds 3 --csv docs/results/two-cpus/pstl-times.csv
    companions/pstl/bench/times.py --report docs/results/two-cpus/pstl-times.csv --page docs/results/README.md --date 2026-12-01

The table has medians over the rounds, in microseconds, and nopal's time over oneTBB's: below 1 nopal is ahead; the least and the greatest ratio of a
round; and the ratio of what both take on one CPU, which tells what the loops themselves take from what the threads do. The second command measures nothing: it writes what the table says into the page, between the marks <!-- pstl-times --> and <!-- end of pstl-times -->.
"""

import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
SOURCE = Path(__file__).resolve().parent / "times.cpp"
SIZES = (1_000, 30_000, 300_000, 3_000_000)
Row = tuple[str, str, int]
LAYOUTS = (["-falign-loops=32", "-falign-functions=32"], ["-falign-loops=64", "-falign-functions=64"])
WAYS = ("nopal", "onetbb")
LEVEL = 1.10  # up to so much of oneTBB's time is no more than noise
DOCUMENT = "docs/pstl.md"
MARKS = ("<!-- pstl-times -->", "<!-- end of pstl-times -->")
WIDTH = 160  # of a line of the page


def compiled(args: argparse.Namespace, folder: Path) -> dict[tuple[str, int], Path]:
    """The programs, by the back end and the layout."""
    includes = [f"-I{REPOSITORY / part}" for part in ("include", "companions/pstl/include")]
    ways = {
        "nopal": [*includes, "-include", "nopal/pstl.hpp", str(args.library), *args.link, "-pthread"],
        "onetbb": ["-ltbb", "-pthread"],
    }
    programs = {(way, k): folder / f"{way}{k}" for way in WAYS for k in range(len(LAYOUTS))}
    with ThreadPoolExecutor(max_workers=2) as pool:
        for made in [
            pool.submit(
                subprocess.run,
                [args.compiler, "-std=c++20", *args.flags, *LAYOUTS[k], "-w", str(SOURCE), "-o", str(program), *ways[way]],
                check=True,
            )
            for (way, k), program in programs.items()
        ]:
            made.result()
    return programs


def measured(program: Path, seed: int, args: argparse.Namespace, one_cpu: bool) -> dict[Row, float]:
    where = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if one_cpu else []
    command = [*where, str(program), str(seed), *map(str, args.sizes), *args.algorithms]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {(name, elements, int(n)): float(time) for name, elements, n, time in csv.reader(out.splitlines())}


class Times:
    """What the programs took, in all rounds."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, int], dict[Row, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, program: tuple[str, int], times: dict[Row, float]) -> None:
        for row, time in times.items():
            self.of[program][row].append(time)

    def rounds(self, way: str, row: Row) -> list[float]:
        """Round by round, of the better layout."""
        return min((self.of[way, k][row] for k in range(len(LAYOUTS))), key=statistics.median)

    def ratio(self, row: Row) -> float:
        ours, theirs = (statistics.median(self.rounds(way, row)) for way in WAYS)
        return ours / theirs


class Line:
    """A line of the table."""

    def __init__(self, row: dict[str, str]) -> None:
        self.algorithm, self.elements, self.n = row["algorithm"], row["elements"], int(row["n"])
        self.microseconds, self.ratio = float(row["nopal_us"]), float(row["nopal_over_onetbb"])
        self.least, self.greatest = float(row["least_ratio"]), float(row["greatest_ratio"])
        self.one_cpu = float(row["one_cpu_ratio"])
        self.bytes = self.n * (4 if self.elements == "int" else 32)  # read, of one range


CACHES = 64 << 20
BLOCKS_OF_BINARY_SEARCHES = {"includes", "set_union", "set_intersection", "set_difference"}


def reason(row: Line) -> str:
    """Why nopal may be behind, as a part of a sentence. On one CPU no thread comes late, and none shares the memory."""
    if row.elements != "int" and row.algorithm.endswith("_scan"):
        return "parts of a scan of what is no whole number do not depend on what elements take, so that sums have the same bits each time"
    if row.algorithm == "transform_reduce_double" or (row.elements != "int" and row.algorithm == "reduce"):
        return "leaves of a sum of what is no whole number do not depend on what elements take, so that it has the same bits each time"
    if row.one_cpu <= LEVEL and row.microseconds <= 260:
        return "a thread may come a tenth of a millisecond after it was woken, and what takes less than 0.12 ms wakes none, though on one CPU it takes no longer"
    if row.algorithm in BLOCKS_OF_BINARY_SEARCHES:
        return "the library begins each part with binary searches in all elements, and nopal's parts are shorter"
    if row.algorithm == "lexicographical_compare" and row.elements == "int":
        return "how long that loop takes depends on where it lies in the program, with oneTBB too"
    if row.bytes > CACHES and row.greatest - row.least > row.ratio - 1:
        return "they wait for the memory, whose speed changes: rounds differ by more than nopal is behind"
    if row.one_cpu <= LEVEL:
        return "not known: on one CPU it takes no longer"
    return "not known: on one CPU it takes longer as well"


def wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def report(table: Path, date: str) -> str:
    """What the table says, as paragraphs of Markdown, each with the comment that tools/docs/figures.py reads."""
    with table.open(newline="") as file:
        lines = csv.DictReader(file)
        if not {"least_ratio", "greatest_ratio", "one_cpu_ratio"} <= set(lines.fieldnames or ()):
            sys.exit(f"{table}: has no columns least_ratio, greatest_ratio and one_cpu_ratio: measure anew, by --csv")
        rows = [Line(row) for row in lines]
    ahead = sum(row.ratio < 1 / LEVEL and row.greatest < 1 for row in rows)
    behind = [row for row in rows if row.ratio > LEVEL and row.least > 1]
    said = (
        f"**The standard library's parallel algorithms** on nopal take {statistics.median(row.ratio for row in rows):.2f} of the time that they take on oneTBB, in the "
        f"median of {len(rows):,} rows: {len({row.algorithm for row in rows})} algorithms, two types of elements, sizes of "
        f"{', '.join(f'{n:,}' for n in sorted({row.n for row in rows}))}. Nopal is ahead in {ahead:,}, behind in {len(behind):,}: by more than "
        f"{LEVEL - 1:.0%}, and in each round. Else they are level.".replace("%", " %")
    )
    why: dict[str, list[str]] = defaultdict(list)
    for row in behind:
        which = "numbers" if row.elements == "int" else "records"
        why[reason(row)].append(f"`{row.algorithm}` of {row.n:,} {which} ({row.ratio:.2f})")
    paragraphs = [said, *(f"Behind, and the reason is {cause if cause.startswith('not known') else 'that ' + cause}: {', '.join(which)}." for cause, which in why.items())]
    source = f"{table.name} by times.py --report ({DOCUMENT}), {date}"
    marked = []
    for paragraph in paragraphs:
        text = re.sub(r"`[^`]*`", "", paragraph)
        figures = ", ".join(re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?(?: %)?", text))
        marked.append(wrapped(paragraph) + (f"\n\n<!-- figures of {table.parent.name}\n{figures} from {source}\n-->" if figures else ""))
    return "\n\n".join(marked)


def write_into(page: Path, text: str) -> None:
    before, begin, rest = page.read_text().partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not begin or not end:
        sys.exit(f"{page}: has no place for the report: write the lines {MARKS[0]} and {MARKS[1]} where it is to be")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, help="libnopal.a or libnopal.so")
    parser.add_argument("--link", nargs="*", default=["-lhwloc"], help="what a static libnopal needs besides")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", nargs="*", default=["-O2"], help="for the compiler")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--algorithms", nargs="*", default=[], help="only these")
    parser.add_argument("--csv", type=Path, help="where the table goes, else standard output")
    parser.add_argument("--report", type=Path, metavar="CSV", help="measure nothing: say what this table says")
    parser.add_argument("--page", type=Path, help="with --report: where that goes, else standard output")
    parser.add_argument("--date", help="with --report: when the table was measured, as 2026-12-01")
    args = parser.parse_args()
    if args.report is None and args.library is None:
        parser.error("what is timed needs --library, libnopal.a or libnopal.so; or name a table by --report")
    if args.report is not None and args.date is None:
        parser.error("--report needs --date, the day when the table was measured, as 2026-12-01")
    return args


def main() -> int:
    args = arguments()
    if args.report:
        said = report(args.report, args.date)
        if args.page:
            write_into(args.page, said)
        else:
            print(said)
        return 0
    times, on_one_cpu = Times(), Times()
    with tempfile.TemporaryDirectory() as folder:
        programs = compiled(args, Path(folder))
        for k in range(args.rounds):
            for name, program in sorted(programs.items(), reverse=k % 2 == 1):
                times.add(name, measured(program, 1_000_003 * (k + 1), args, one_cpu=False))
                on_one_cpu.add(name, measured(program, 1_000_003 * (k + 1), args, one_cpu=True))
            print(f"round {k + 1} of {args.rounds}", file=sys.stderr)
    with args.csv.open("w", newline="") if args.csv else sys.stdout as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["algorithm", "elements", "n", "nopal_us", "onetbb_us", "nopal_over_onetbb", "least_ratio", "greatest_ratio", "one_cpu_ratio"])
        for row in times.of["nopal", 0]:
            ours, theirs = (times.rounds(way, row) for way in WAYS)
            ratios = sorted(a / b for a, b in zip(ours, theirs))
            medians = [f"{statistics.median(all_of_them):.2f}" for all_of_them in (ours, theirs)]
            table.writerow([*row, *medians, f"{times.ratio(row):.3f}", f"{ratios[0]:.3f}", f"{ratios[-1]:.3f}", f"{on_one_cpu.ratio(row):.3f}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
