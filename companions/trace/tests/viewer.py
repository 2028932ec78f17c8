"""The benchmarks' traces in the engine of Perfetto's viewer: what it says of them is what the programs have counted.

Each of Fibril's twelve programs and of the experiments on fibers runs with NOPAL_TRACE. Its trace is opened by trace_processor, from the PyPI
package perfetto, which fetches that program; or by the one that PERFETTO_TRACE_PROCESSOR names. Status 1 if anything differs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))
from runner import fibers, workloads  # noqa: E402

# Smaller than what is measured, so that each lane keeps all of its events; and so large that something is stolen.
SIZES = {
    "cholesky": "256", "fft": "65536", "fib": "30", "heat": "512", "integrate": "2000", "knapsack": "24", "lu": "256", "matmul": "256",
    "nqueens": "10", "quicksort": "1000000", "rectmul": "256", "strassen": "256",
}  # fmt: skip

# Question, answer for a record of the program. All of them are one number.
QUESTIONS = (
    ("steals", "select count(*) from slice where name = 'steal'", lambda record: record["steals_in_all"]),
    ("their victims", "select count(*) from slice where name = 'stolen'", lambda record: record["steals_in_all"]),
    (
        "arrows from victim to thief",
        "select count(*) from flow join slice o on o.id = slice_out join slice i on i.id = slice_in where o.name = 'stolen' and i.name = 'steal'",
        lambda record: record["steals_in_all"],
    ),
    (
        "steals with a thief or victim that is no other worker",
        "select count(*) from slice where name = 'steal' and (extract_arg(arg_set_id, 'debug.victim') is null or "
        "extract_arg(arg_set_id, 'debug.victim') not between 0 and {workers} - 1 or "
        "extract_arg(arg_set_id, 'debug.thief') = extract_arg(arg_set_id, 'debug.victim'))",
        lambda _: 0,
    ),
    ("workers", "select count(*) from track where name glob 'worker *'", lambda record: record["workers"]),
    ("lanes with events that were not kept", "select count(*) from slice where name = 'events dropped'", lambda _: 0),
    ("slices without an end", "select count(*) from slice where dur < 0", lambda _: 0),
    (
        "slices that outlast the one around them",
        "select count(*) from slice c join slice p on c.parent_id = p.id where c.ts < p.ts or c.ts + c.dur > p.ts + p.dur",
        lambda _: 0,
    ),
    ("errors of the parser", "select count(*) from stats where severity in ('error', 'data_loss') and value > 0", lambda _: 0),
)


def documented() -> list[str]:
    """The questions of docs/trace.md."""
    block = re.search(r"```sql\n(.*?)```", (ROOT / "docs/trace.md").read_text(), re.DOTALL)
    if block is None:
        sys.exit("viewer.py: docs/trace.md has no block of SQL")
    return [question.strip() for question in block.group(1).split(";") if question.strip()]


def runs(build: Path, workers: int) -> list[tuple[str, list[str]]]:
    """The programs, with what each is called."""
    result = [
        (one.title, [f"{build}/bench/nopal_bench_{one.kernel}_native", *one.arguments, "--size", SIZES[one.name]]) for one in workloads.FIBRIL
    ]
    for one in fibers.SCALING.values():
        for variant in one.variants:
            name = f"fibers {one.name}: {variant.label}"
            result.append((name, [f"{build}/bench/nopal_bench_{one.kernel}_fiber", *one.arguments, *variant.arguments, "--size", "smoke"]))
    # What the last two measure needs one worker.
    for kernel in ("switch", "migration") if workers > 1 else ("empty", "park"):
        result.append((f"fibers {kernel}", [f"{build}/bench/nopal_bench_fibers_{kernel}_fiber", "--size", "smoke"]))
    return [(name, [*command, "--workers", str(workers)]) for name, command in result]


def answer(viewer: TraceProcessor, question: str) -> int:
    (row,) = viewer.query(question)
    (value,) = vars(row).values()
    return value


def differences(command: list[str], workers: int, config: TraceProcessorConfig) -> tuple[dict, list[str]]:
    """What the program has printed, and what its trace says otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "run.pftrace"
        done = subprocess.run(command, env={**os.environ, "NOPAL_TRACE": str(trace), "NOPAL_TRACE_EVENTS": "4000000"}, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            return {}, [f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}"]
        record = json.loads(done.stdout)
        with TraceProcessor(trace=str(trace), config=config) as viewer:
            result = []
            for what, question, expected in QUESTIONS:
                seen, wanted = answer(viewer, question.format(workers=workers)), expected(record)
                if seen != wanted:
                    result.append(f"{what}: {seen} in the trace, not {wanted}: {question}")
            for question in documented():
                if not any(True for _ in viewer.query(question)) and record["steals_in_all"] != 0 and "steal" in question:
                    result.append(f"no answer to a question of docs/trace.md: {question}")
            return record, result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="where bench/ was built")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()

    config = TraceProcessorConfig(bin_path=os.environ.get("PERFETTO_TRACE_PROCESSOR"))
    wrong = steals = count = 0
    for workers in options.workers:
        for name, command in runs(options.build, workers):
            record, found = differences(command, workers, config)
            count += 1
            steals += record.get("steals_in_all", 0)
            wrong += bool(found)
            print(f"{name}, {workers} workers: {record.get('steals_in_all', '?')} steals{', WRONG' if found else ''}", flush=True)
            for line in found:
                print(f"    {line}", flush=True)
    print(f"{count} traces, {steals} steals in all, {wrong} traces WRONG" if wrong else f"{count} traces, {steals} steals in all, as counted")
    if steals == 0:
        print("nothing was stolen: that shows nothing")
    return 1 if wrong or steals == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
