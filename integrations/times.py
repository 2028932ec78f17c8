#!/usr/bin/env python3
"""Runs the programs that time libraries on nopal, each several times and in turn, and makes the tables of their pages.

    times.py run --build FOLDER [--runs 5] [--csv FILE] [LIBRARY...]   # FOLDER was configured with -DNOPAL_BUILD_INTEGRATIONS=ON
    times.py pages FILE                                                # writes the tables of the pages from such a file

Each line of such a program is the median of nine calls; the file has that of each run, and the tables the median of the runs. ParlayLib's two programs, on
nopal and on its own scheduler, run one after the other each time.
"""

import argparse
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
import tables  # noqa: E402

HERE = Path(__file__).resolve().parent
COMMAND = "integrations/times.py"
COLUMNS = ["library", "what", "how", "workers", "run", "ms"]


@dataclass(frozen=True)
class Program:
    """One program, and what each of the numbers is that its lines end with."""

    name: str
    hows: tuple[str, ...]


LIBRARIES = {
    "fftw": (Program("nopal_fftw_times", ("serial inside", "FFTW's threads inside", "nopal inside")),),
    "halide": (Program("nopal_halide_times", ("serial inside", "Halide's threads inside", "nopal inside")),),
    "blosc2": (Program("nopal_blosc2_times", ("serial inside", "C-Blosc2's threads inside", "nopal inside")),),
    "openmp": (Program("nopal_openmp_times", ("OpenMP alone", "OpenMP's teams in a nopal loop", "the recipe")),),
    "parlay": (Program("nopal_parlay_own_times", ("ParlayLib's own",)), Program("nopal_parlay_times", ("nopal",))),
}


def lines_of(program: Program, folder: Path, workers: int) -> list[tuple[str, list[float]]]:
    """What a run says: each thing that it does, and its numbers."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NOPAL_", "OMP_", "KMP_", "PARLAY_"))}
    path = folder / program.name
    done = subprocess.run([path, str(workers)], stdout=subprocess.PIPE, text=True, env=clean, timeout=1200, check=False)
    if done.returncode != 0:
        sys.exit(f"{COMMAND}: {path} ended with {done.returncode}.\n{done.stdout}")
    result, group = [], ""
    for line in done.stdout.splitlines()[2:]:  # the head has two lines
        words = line.split()
        numbers = [float(word) for word in words[-len(program.hows) :]]
        what = " ".join(words[: -len(program.hows)])
        # "the same in a loop" is said of the line above it, which has the size.
        if what.startswith(("the same", "them")) or what.split()[1:3] == ["of", "them"]:
            what = f"{group}: {what}"
        else:
            group = what.removesuffix(", one after the other")
        result.append((what, numbers))
    if not result:
        sys.exit(f"{COMMAND}: {path} printed no times.\n{done.stdout}")
    return result


def run(arguments: argparse.Namespace) -> None:
    folder = arguments.build / "integrations"
    workers = arguments.workers or len(os.sched_getaffinity(0))
    libraries = arguments.libraries or [name for name, programs in LIBRARIES.items() if all((folder / p.name).exists() for p in programs)]
    missing = [p.name for name in libraries for p in LIBRARIES[name] if not (folder / p.name).exists()]
    if missing or not libraries:
        sys.exit(f"{COMMAND}: {folder} has no {missing[0] if missing else 'program that times'}. Configure it with -DNOPAL_BUILD_INTEGRATIONS=ON, and build it.")
    rows = []
    for turn in range(1, arguments.runs + 1):
        for library in libraries:
            for program in LIBRARIES[library]:
                print(f"{turn} of {arguments.runs}: {program.name}", flush=True)
                for what, numbers in lines_of(program, folder, workers):
                    rows += [[library, what, how, workers, turn, ms] for how, ms in zip(program.hows, numbers, strict=True)]
    if arguments.csv:
        tables.write(arguments.csv, COLUMNS, rows)
    named = [dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows]
    for library in libraries:
        print(f"\n{library}\n{table(library, named)}")


def table(library: str, rows: list[dict[str, str]]) -> str:
    mine = [row for row in rows if row["library"] == library]
    hows = [how for program in LIBRARIES[library] for how in program.hows]
    lines = ["| | " + " | ".join(hows) + " |", "| --- " * (1 + len(hows)) + "|"]
    for what in dict.fromkeys(row["what"] for row in mine):
        cells = []
        for how in hows:
            ms = [float(row["ms"]) for row in mine if row["what"] == what and row["how"] == how]
            cells.append(f"{statistics.median(ms):.3g}" if statistics.median(ms) < 100 else f"{statistics.median(ms):.0f}")
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def pages(arguments: argparse.Namespace) -> None:
    head, rows = tables.read(arguments.file)
    for library in dict.fromkeys(row["library"] for row in rows):
        mine = [row for row in rows if row["library"] == library]
        said = tables.caption(head, int(mine[0]["workers"]), max(int(row["run"]) for row in mine), "In ms", COMMAND)
        tables.put(HERE / library / "README.md", "by times.py", f"{said}\n\n{table(library, rows)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("run")
    verb.set_defaults(function=run)
    verb.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"some of {', '.join(LIBRARIES)}; all that are built where none is named")
    verb.add_argument("--build", type=Path, required=True)
    verb.add_argument("--runs", type=int, default=5)
    verb.add_argument("--workers", type=int, default=0, help="as many as there are CPUs where it is not said")
    verb.add_argument("--csv", type=Path)
    verb = verbs.add_parser("pages")
    verb.set_defaults(function=pages)
    verb.add_argument("file", type=Path)
    arguments = parser.parse_args()
    unknown = sorted(set(getattr(arguments, "libraries", [])) - set(LIBRARIES))
    if unknown:
        parser.error(f"there is no library {unknown[0]}. There are: {', '.join(LIBRARIES)}.")
    arguments.function(arguments)


if __name__ == "__main__":
    main()
