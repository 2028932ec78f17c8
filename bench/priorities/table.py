#!/usr/bin/env python3
"""Runs nopal_bench_priorities, keeps its numbers in a file, and makes the table of docs/priorities.md of such a file.

    bench/priorities/table.py run PROGRAM [--runs 5] [--csv FILE]   # PROGRAM: build/release/bench/nopal_bench_priorities
    bench/priorities/table.py page FILE                            # writes the table into docs/priorities.md
"""

import argparse
import csv
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "integrations"))
import tables  # noqa: E402

COMMAND = "bench/priorities/table.py"
FIGURES = ["jobs", "median", "p99", "worst", "seconds"]
ENOUGH = 100  # jobs of high priority: of fewer, medians and percentiles say little, and are left out
COLUMNS = ["workers", "run", "what", *FIGURES]


def run(arguments: argparse.Namespace) -> None:
    rows: list[list] = []
    for number in range(1, arguments.runs + 1):
        text = subprocess.run([arguments.program, "--csv", "--workers", str(arguments.workers)], check=True, text=True, stdout=subprocess.PIPE).stdout
        rows += [[arguments.workers, number, row["what"], *(row[figure] for figure in FIGURES)] for row in csv.DictReader(text.splitlines())]
    tables.write(arguments.csv, COLUMNS, rows)


def cell(rows: list[dict[str, str]], figure: str) -> str:
    """The number of high jobs in all runs, their worst delay; the median of the runs of all else."""
    jobs = sum(int(row["jobs"]) for row in rows)
    if figure == "jobs":
        return f"{jobs:,}" if jobs else ""
    if figure != "seconds" and jobs == 0:
        return ""
    if figure in ("median", "p99") and jobs < ENOUGH:
        return "–"
    values = [float(row[figure]) for row in rows]
    value = max(values) if figure == "worst" else statistics.median(values)
    return f"{value:.3f}" if figure == "seconds" else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def page(arguments: argparse.Namespace) -> None:
    head, rows = tables.read(arguments.file)
    runs, workers = max(int(row["run"]) for row in rows), int(rows[0]["workers"])
    caption = tables.caption(head, workers, runs, "Delays of high jobs in µs, and the worst of all runs; and seconds for all the other work", COMMAND)
    lines = [caption, "", "| work, and what comes to it | high jobs | median | 99 % | worst | all of the work, s |", "| --- " * 6 + "|"]
    for what in dict.fromkeys(row["what"] for row in rows):
        of_it = [row for row in rows if row["what"] == what]
        lines.append(f"| {what} | " + " | ".join(cell(of_it, figure) for figure in FIGURES) + " |")
    tables.put(REPOSITORY / "docs/priorities.md", "by table.py", "\n".join(lines))


if __name__ == "__main__":
    tables.command_line(__doc__, "priorities.csv", run, page, lambda verb: verb.add_argument("--workers", type=int, default=2))
