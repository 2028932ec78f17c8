#!/usr/bin/env python3
"""Times heat, SUMMA and UTS over ranks: nopal, plain MPI, and MPI with OpenMP, in turn, with messages that come 0, 50 and 500 us later.

    python3 companions/mpi/bench/run.py --build build/release --ranks 2 --runs 10 --out docs/results/two-cpus/mpi-runs.csv

It writes a CSV with a row for each run, and prints for each program and delay: the median time of each way, how many times as fast nopal is as
the others, and how much of the communication each hides. The programs measure, on each worker, the time in which they compute; what a run
takes beyond that is communication that shows. Hidden is 1 - (what shows) / (what shows by plain MPI, one step after the other); UTS has no such
number. nopal's and OpenMP's programs have --workers threads in each rank.
"""

import argparse
import csv
import os
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

SIZES = {
    "heat": ["--n", "1026", "--steps", "300", "--block", "32"],
    "summa": ["--n", "1024", "--panel", "32"],
    "uts": ["--tree", "3"],
}
SMALL = {"heat": ["--n", "66", "--steps", "20", "--block", "8"], "summa": ["--n", "60", "--panel", "8"], "uts": ["--tree", "2"]}
WAYS = {  # a way: the program's last name, and more options
    "nopal": ("nopal", []),
    "plain": ("plain", []),
    "plain overlapped": ("plain", ["--overlap", "1"]),
    "openmp": ("openmp", []),
    "openmp overlapped": ("openmp", ["--overlap", "1"]),
}
COLUMNS = ["program", "way", "size", "ranks", "workers", "delay_us", "run", "seconds", "compute", "answer"]
PAIR = re.compile(r"(\w+)=(\S+)")


def find(build: Path, name: str) -> Path | None:
    return next((path for path in sorted(build.rglob(name)) if os.access(path, os.X_OK) and path.is_file()), None)


def run(command: list[str], delay: int, timeout: int) -> dict[str, str]:
    environment = os.environ | {"NOPAL_MPI_DELAY_US": str(delay), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("program=")), None)
    if done.returncode != 0 or line is None:
        sys.exit(f"{' '.join(command)} with a delay of {delay} us: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return dict(PAIR.findall(line))


def shows(row: dict[str, str]) -> float:
    return max(0.0, float(row["seconds"]) - float(row["compute"]))


def table(rows: list[dict[str, str]]) -> None:
    keys = list(dict.fromkeys((row["program"], row["delay_us"]) for row in rows))
    print("| program | delay | way | median | over nopal | communication hidden |\n| --- | --- | --- | --- | --- | --- |")
    for program, delay in keys:
        of = [row for row in rows if row["program"] == program and row["delay_us"] == delay]
        ways = list(dict.fromkeys(row["way"] for row in of))
        seconds = {way: statistics.median(float(row["seconds"]) for row in of if row["way"] == way) for way in ways}
        shown = {way: statistics.median(shows(row) for row in of if row["way"] == way) for way in ways}
        for way in ways:
            hidden = f"{1 - shown[way] / shown['plain']:.0%}" if program != "uts" and shown.get("plain") else ""
            over = f"{seconds[way] / seconds['nopal']:.2f}" if "nopal" in seconds else ""
            print(f"| {program} | {delay} us | {way} | {seconds[way]:.3f} s | {over} | {hidden} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the folder below which the programs nopal_mpi_NAME_WAY_MPI are")
    parser.add_argument("--mpirun", help="otherwise mpirun.NAME, of --mpi; it may have options")
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], default="mpich", help="whose programs")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1, help="threads in each rank, of nopal and OpenMP")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--delays", type=int, nargs="+", default=[0, 50, 500], metavar="US")
    parser.add_argument("--programs", nargs="+", choices=sorted(SIZES), default=list(SIZES))
    parser.add_argument("--small", action="store_true", help="sizes of a moment, to see that all work")
    parser.add_argument("--timeout", type=int, default=300, metavar="S", help="of one run")
    parser.add_argument("--out", type=Path, help="the CSV file")
    args = parser.parse_args()

    sizes = SMALL if args.small else SIZES
    mpirun = shlex.split(args.mpirun) if args.mpirun else [f"mpirun.{args.mpi}"]
    programs = {}
    for program in args.programs:
        for way, (kind, more) in WAYS.items():
            if program == "uts" and more:
                continue
            path = find(args.build, f"nopal_mpi_{program}_{kind}_{args.mpi}")
            if path is None:
                print(f"{args.build} has no nopal_mpi_{program}_{kind}_{args.mpi}: left out", file=sys.stderr)
                continue
            workers = ["--workers", str(args.workers)] if kind != "plain" else []
            programs[program, way] = [*mpirun, "-n", str(args.ranks), str(path), *sizes[program], *more, *workers]
    rows = []
    for n in range(args.runs):
        for delay in args.delays:
            for (program, way), command in programs.items():
                row = run(command, delay, args.timeout)
                rows.append({**{c: row.get(c, "") for c in COLUMNS}, "way": way, "delay_us": str(delay), "run": str(n)})
                print(f"run {n} {program} {way} {delay} us: {row['seconds']} s", file=sys.stderr)
    if args.out:
        with args.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    table(rows)


if __name__ == "__main__":
    main()
