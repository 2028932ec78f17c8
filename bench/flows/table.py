#!/usr/bin/env python3
"""Makes the table of docs/flows.md out of stored results: bench-flows.csv, and bench-simulation-flows.csv if it is there.

    bench/flows/table.py                 # writes the table into the page
    bench/flows/table.py --check         # whether it is the one that the results give
    bench/flows/table.py --results DIR   # of another folder than docs/results/two-cpus
    bench/flows/table.py --print         # shows it, and leaves the page alone

A row in which another library is ahead says why: WHY below has a text for each. One that has none ends the script with status 1.
"""

import argparse
import csv
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "flows.md"
RESULTS = REPOSITORY / "docs" / "results" / "two-cpus"
BEGIN, END = "<!-- made by bench/flows/table.py -->", "<!-- end of what bench/flows/table.py makes -->"
OURS, PEERS = "task", ("tbb", "taskflow")
NAMES = {"task": "nopal", "tbb": "oneTBB", "taskflow": "Taskflow"}
BEHIND = 0.98  # what is nearer than that to the best peer is level

# Why a peer is ahead, by shape: shown where the results say that one is.
WHY: dict[str, str] = {
    "scan": "each block is also summed up on its own, so that no result depends on the workers",
    "primes": "the test of a number is given by its name, and called through its address; in a lambda nopal took 133 ms and oneTBB 134, on one worker, 2026-11-30",
    "reduce-sum": "8 MiB that are read for the first time, which nopal does no faster on two workers than on one; again, one takes 0.08 ms, and oneTBB's 0.49, 2026-11-30",
    "matrices": "the second worker sleeps when the last loop begins, and comes 0.1 ms later, by traces of 2026-11-30",
}


def read(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The comments of a file of results, and its rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    told = [line[2:].partition(": ")[::2] for line in lines if line.startswith("# ")]
    return dict(told), list(csv.DictReader(line for line in lines if not line.startswith("#")))


def number(text: str) -> float | None:
    return float(text) if text else None


def time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    milliseconds = seconds * 1e3
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}" if milliseconds >= 0.1 else f"{milliseconds:.3f}"


def mebibytes(kib: float | None) -> str:
    return "–" if kib is None else f"{kib / 1024:.0f}"


def table(results: Path) -> tuple[str, list[str]]:
    """The table in Markdown, and the shapes in which a peer is ahead and no reason stands."""
    about, rows = read(results / "bench-flows.csv")
    found = {(row["workload"].removeprefix("flows "), row["impl"], int(row["workers"])): row for row in rows}
    shapes = list(dict.fromkeys(shape for shape, _, _ in found))
    counts = sorted({workers for _, impl, workers in found if impl == OURS})
    impls = [impl for impl in (OURS, *PEERS) if any(key[1] == impl for key in found)]
    simulated: dict[tuple[str, int], float] = {}
    simulated_on = about
    if (path := results / "bench-simulation-flows.csv").is_file():
        simulated_on, simulated_rows = read(path)
        for row in simulated_rows:
            if (speedup := number(row["speedup"])) is not None:
                simulated[row["workload"].removeprefix("flows "), int(row["workers"])] = speedup
    machines = sorted({workers for _, workers in simulated if workers > 1})

    def of(shape: str, impl: str, workers: int, key: str) -> float | None:
        row = found.get((shape, impl, workers))
        return number(row[key]) if row else None

    header = ["shape", "size", "serial"]
    header += [f"{NAMES[impl]}, {count}" for count in counts for impl in impls]
    header += [f"memory, {NAMES[impl]}" for impl in impls] + [f"simulated, {count}" for count in machines]
    lines, unexplained = [], []
    for shape in shapes:
        cells = [shape, next(row["size"] for key, row in found.items() if key[0] == shape), time(of(shape, "serial", 1, "seconds"))]
        behind = False
        for count in counts:
            own = of(shape, OURS, count, "seconds")
            times = [of(shape, impl, count, "seconds") for impl in impls]
            best = min((t for t in times if t is not None), default=None)
            behind |= own is None or best is not None and best < BEHIND * own
            cells += [f"**{time(t)}**" if t is not None and t == best else time(t) for t in times]
        cells += [mebibytes(of(shape, impl, max(counts), "peak_rss_kib")) for impl in impls]
        cells += [f"{simulated[shape, count]:.1f}" if (shape, count) in simulated else "–" for count in machines]
        if behind and shape in WHY:
            cells[0] += f" ({WHY[shape]})"
        elif behind:
            unexplained.append(shape)
        lines.append(cells)
    text = f"Milliseconds, medians of {max(int(row['runs']) for row in rows)} runs in turn, each a process of its own, on one and more workers; "
    text += f"peak memory in MiB on {max(counts)} workers"
    text += f"; speed-up over one worker on simulated machines of {' and '.join(map(str, machines))}" if machines else ""
    text += f". {about['cpu']}, {about['usable_cpus']} CPUs, {about['finished'][:10]}, {', '.join(sorted({row['peer'] for row in rows} - {'serial'}))}."
    if (simulated_on["cpu"], simulated_on["finished"][:10]) != (about["cpu"], about["finished"][:10]):
        text += f" Simulated on {simulated_on['cpu']}, {simulated_on['finished'][:10]}."
    text += "\n\n"
    text += "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *lines)) + "\n"
    return text, unexplained


def put(page: str, text: str) -> str:
    """The page with that text between the two marks."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"table.py: the page has no '{BEGIN}' and '{END}'")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--print", action="store_true", dest="only_shown")
    options = parser.parse_args()
    if not (options.results / "bench-flows.csv").is_file():
        print(f"table.py: {options.results} has no bench-flows.csv: bench/README.md, 'Flows', has the command that writes it", file=sys.stderr)
        return 1
    text, unexplained = table(options.results)
    for shape in unexplained:
        print(f"table.py: in {shape} another library is ahead: WHY in table.py must say why", file=sys.stderr)
    page = options.page.read_text(encoding="utf-8")
    if options.only_shown:
        print(text)
    elif options.check and put(page, text) != page:
        print(f"table.py: the table of {options.page} is not that of the results: run bench/flows/table.py", file=sys.stderr)
        return 1
    elif not options.check:
        options.page.write_text(put(page, text), encoding="utf-8")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
