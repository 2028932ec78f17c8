#!/usr/bin/env python3
"""Runs nopal_execution_times for two workers and for one, keeps its numbers in a file, and makes the tables of docs/execution.md of such a file.

    companions/execution/bench/table.py run PROGRAM [--runs 5] [--csv FILE]   # PROGRAM: nopal_execution_times, as ./nopal nightly execution builds it
    companions/execution/bench/table.py page FILE                            # writes the tables into docs/execution.md
"""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "integrations"))
import tables  # noqa: E402

COMMAND = "companions/execution/bench/table.py"
COLUMNS = ["workers", "run", "pool", "what", "value"]
POOLS = {"nopal": "nopal", "static_thread_pool": "`exec::static_thread_pool`", "asio_thread_pool": "`exec::asio`"}
# The program's columns, in its order.
WHATS = (
    "`sync_wait(schedule)` from a thread outside, ns",
    "an operation that starts the next one, ns each",
    "eight such chains at once, ns each",
    "one operation, started outside and waited for by `std::atomic::wait`, us",
    "`bulk`, 1,000,000 additions, us",
    "`bulk`, 1000 empty bodies, us",
    "`bulk`, 4 bodies of 200 us, us",
    "`bulk`, 64 bodies, the first half ten times as long, us",
)


def run(arguments: argparse.Namespace) -> None:
    rows: list[list] = []
    for number in range(1, arguments.runs + 1):
        for workers in (2, 1):
            text = subprocess.run([arguments.program, str(workers)], check=True, text=True, stdout=subprocess.PIPE).stdout
            for line in text.splitlines()[2:]:  # the head has two lines
                pool, *values = line.split()
                if pool not in POOLS or len(values) != len(WHATS):
                    sys.exit(f"{COMMAND}: {arguments.program} has printed another line than was expected: {line}")
                rows += [[workers, number, pool, what, value] for what, value in zip(WHATS, values, strict=True)]
    tables.write(arguments.csv, COLUMNS, rows)


def short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def page(arguments: argparse.Namespace) -> None:
    head, rows = tables.read(arguments.file)
    runs = max(int(row["run"]) for row in rows)
    pools = [pool for pool in POOLS if any(row["pool"] == pool for row in rows)]
    parts = []
    for workers in ("2", "1"):
        lines = [tables.caption(head, int(workers), runs, "The least of 60 rounds; two series in each run", COMMAND), ""]
        lines += [f"| workers: {workers} | " + " | ".join(POOLS[pool] for pool in pools) + " |", "| --- " * (1 + len(pools)) + "|"]
        for what in WHATS:
            cells = []
            for pool in pools:
                values = [float(row["value"]) for row in rows if (row["workers"], row["pool"], row["what"]) == (workers, pool, what)]
                cells.append(f"{short(statistics.median(values))} ({short(min(values))} to {short(max(values))})")
            lines.append(f"| {what} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    tables.put(REPOSITORY / "docs/execution.md", "by table.py", "\n\n".join(parts))


if __name__ == "__main__":
    tables.command_line(__doc__, "execution-times.csv", run, page)
