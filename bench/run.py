#!/usr/bin/env python3
"""Runs nopal's benchmarks and prints a table for each workload, or makes a page of what was run. See README.md beside this file."""

import argparse
import re
import sys
from pathlib import Path

from runner import compare, fibers, files, machine, parts, scale, series, workloads
from runner.measure import Cell, Limits
from runner.parts import Part
from runner.state import State
from runner.terminal import PlainTerminal, terminal

REPOSITORY = Path(__file__).resolve().parent.parent
WRONG, UNUSABLE = 1, 2  # exit statuses
FIBERS, LIBFORK, FIBRIL, LOOPS, SORT, FLOWS, SCALE, SIMULATE = "fibers", "libfork", "fibril", "loops", "sort", "flows", "scale", "simulate"
PAPERS = (LIBFORK, FIBRIL, FIBERS)
PAPER_SIZE = "paper-size"  # single workloads and sorts of that size lie apart, so that they can be kept beside the rest

# Seconds for each process, and for all runs of a cell: of the groups by paper, whose trees take long, of what is run where nothing is
# named, and of all else.
GROUP_TIMEOUT, GROUP_SHARE, DEFAULT_SHARE = 30, 6, 3
TIMEOUT, PAPER_TIMEOUT = 120, 3600


def names(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__)
    result.add_argument(
        "workload",
        nargs="*",
        help=f"which to run: the papers {', '.join(PAPERS)}; {LOOPS}, {SORT}, {FLOWS}, {SCALE}, {SIMULATE}; {', '.join([*workloads.WORKLOADS, 'uts'])} "
        f"(default: {' '.join(workload.name for workload in workloads.BY_DEFAULT)}); "
        f"with fibers: {', '.join(fibers.NAMES)} (default: all), and with {SIMULATE} beside it, as {FLOWS}, on simulated machines; with {SCALE}: algorithms (default: all); with --report: folders or files of results",
    )
    result.add_argument("--build", type=Path, default=REPOSITORY / "build" / "release", help="the build folder")
    result.add_argument("--out", type=Path, help="where the CSV files go, and the page (default: the build folder)")
    result.add_argument("--impl", type=names, default=[], help="only these implementations, as in serial,task")
    result.add_argument("--workers", type=numbers, help="numbers of workers, as in 1,4 (default: 1, 2, 4, ... and all usable CPUs)")
    result.add_argument("--runs", type=int, default=5, help="processes for each cell, at most (default: 5)")
    result.add_argument(
        "--share",
        type=float,
        help="seconds for all runs of a cell; it runs once at least "
        f"(default: {GROUP_SHARE} for the papers, {DEFAULT_SHARE} where nothing is named, no limit for others and with --size paper)",
    )
    result.add_argument("--size", default="default", help="smoke, default, paper, or a number")
    result.add_argument(
        "--timeout",
        type=float,
        help=f"seconds for each process (default: {TIMEOUT}; {GROUP_TIMEOUT} for the papers, " f"{PAPER_TIMEOUT} with --size paper)",
    )
    result.add_argument("--machine", default="2x56", help=f"with {SIMULATE}: which, as 128 or 2x56 (default: 2x56)")
    result.add_argument("--fresh", action="store_true", help="begin anew, also where an interrupted run could go on")
    result.add_argument("--latency", action="store_true", help="the latency of small jobs instead of the workloads")
    result.add_argument("--rest", type=numbers, default=[0, 20], help="with --latency: milliseconds between calls (default: 0,20)")
    result.add_argument("--space", action="store_true", help="the space of native stacks instead (default: fibril on 8 workers)")
    result.add_argument("--fibers", action="store_true", help="the experiments on fibers instead; 'fibers' says the same")
    result.add_argument("--smoke", action="store_true", help="everything once, smallest size, no files unless --out")
    result.add_argument("--report", action="store_true", help="run nothing: make report.html of the results given, or of those in --out")
    result.add_argument(
        "--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="what changed by more than noise, of two folders or files"
    )
    series.add_arguments(result)
    return result


def arguments() -> argparse.Namespace:
    of = parser()
    options = of.parse_args()
    if options.out is None and not options.smoke:
        options.out = options.build
    if options.report or options.compare:
        return options
    options.by_default = not (options.workload or options.space or options.latency or options.fibers)
    options.scale = SCALE in options.workload
    options.algorithms = [name for name in options.workload if name != SCALE] if options.scale else []
    if unknown := [name for name in options.algorithms if name not in scale.NAMES]:
        of.error(f"{SCALE}: no algorithm {unknown[0]!r}; there are {', '.join(scale.NAMES)}")
    if options.scale:
        options.workload = []
    options.papers = [name for name in options.workload if name in PAPERS]
    options.loops = LOOPS in options.workload
    options.sort = SORT in options.workload
    options.flows = FLOWS in options.workload
    options.simulate = SIMULATE in options.workload
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)?", options.machine):
        of.error(f"--machine takes a number of CPUs, as 128, or nodes and cores, as 2x56, not {options.machine!r}")
    rest = [name for name in options.workload if name not in (*PAPERS, LOOPS, SORT, FLOWS, SIMULATE)]
    options.fibers = options.fibers or FIBERS in options.papers
    options.experiments = (rest or list(fibers.NAMES)) if options.fibers else []
    options.workload = [] if options.fibers else rest
    known = fibers.NAMES if options.fibers else {*workloads.WORKLOADS, *workloads.GROUPS}
    if unknown := [name for name in rest if name not in known]:
        of.error(f"no workload {unknown[0]!r}")
    if options.runs < 1 or min(options.workers or [1]) < 1:
        of.error("--runs and --workers take positive numbers")
    if options.space + options.latency + options.fibers > 1:
        of.error("--space, --latency and --fibers are different things")
    try:
        options.pools = series.chosen(options)
    except ValueError as error:
        of.error(str(error))
    fill_in(options)
    return options


def fill_in(options: argparse.Namespace) -> None:
    """What depends on other options."""
    cpus = machine.usable_cpus()
    options.space_workers = max(options.workers or [8])
    if options.workers is None:
        options.workers = machine.sweep(cpus)
    in_paper = bool(options.papers)
    if options.smoke:
        options.runs, options.size = 1, "smoke"
    if options.timeout is None:
        options.timeout = PAPER_TIMEOUT if options.size == "paper" else GROUP_TIMEOUT if in_paper else TIMEOUT
    if options.share is None:
        share = GROUP_SHARE if in_paper else DEFAULT_SHARE if options.by_default else float("inf")
        options.share = share if options.size != "paper" else float("inf")


def chosen_parts(options: argparse.Namespace) -> list[Part]:
    if options.space:
        return [parts.space_part(options, workloads.select(options.papers + options.workload or [FIBRIL]))]
    result: list[Part] = []
    if LIBFORK in options.papers:
        result += parts.libfork_parts(options)
    if FIBRIL in options.papers:
        result += parts.fibril_parts(options)
    if options.fibers and options.simulate:
        return [parts.simulated_fibers_part(options, options.experiments)]
    if options.flows and options.simulate:
        return [parts.simulated_flows_part(options)]
    if options.fibers:
        result += parts.fiber_parts(options, options.experiments)
    if options.loops:
        result.append(parts.loops_part(options))
    if options.sort:
        result.append(parts.kernel_part(options, workloads.SORT, f"{SORT}-{PAPER_SIZE}" if options.size == "paper" else SORT))
    if options.flows:
        result.append(parts.kernel_part(options, workloads.FLOWS, FLOWS))
    if options.scale:
        result.append(parts.scale_part(options))
    if options.simulate:
        result += parts.simulation_parts(options)
    if options.workload or not (result or options.latency):
        everything = options.smoke and not options.workload
        chosen = [*workloads.BY_DEFAULT, workloads.FLAT] if everything else workloads.select(options.workload)
        result.append(parts.kernel_part(options, chosen, PAPER_SIZE if options.size == "paper" else "kernels"))
        if everything:
            result += [parts.latency_part(options), parts.loops_part(options), *parts.simulation_parts(options)]
    if options.latency:
        result.append(parts.latency_part(options))
    return result


def run_all(options: argparse.Namespace) -> int:
    """Measures, shows and writes; returns the exit status."""
    chosen = chosen_parts(options)
    here = machine.this_machine()
    state = State(options.out and options.out / "bench-state.jsonl", options.fresh)
    limits = Limits(options.runs, options.timeout, options.share)
    total = sum(min(most or options.runs, options.runs) for part in chosen for _, most in part.runs)
    missing = workloads.missing_peers(options.build)
    with terminal(total, options.runs) as out:
        out.say(str(here))
        if note := machine.busy_note():
            out.say(f"note: {note}")
        if max(options.workers) > here.usable_cpus and not options.simulate:
            out.say("note: more workers than CPUs: their times say nothing, only their memory and counts do")
        if len(state):
            out.say(f"an interrupted run had done {len(state)} processes: those are not run again (--fresh runs them)")
        for part in chosen:
            part.run(limits, out, state)
            if options.out:
                for path in files.write(options.out, part.stem, here, part.rows(), part.cells, options.size, missing):
                    out.say(f"written: {path}")
        status = finish(out, chosen, missing)
    state.finish()
    return status


def finish(out: PlainTerminal, chosen: list[Part], missing: list[str]) -> int:
    cells: list[Cell] = [cell for part in chosen for cell in part.cells]
    records = [record for cell in cells for record in cell.records]
    for key, title in (("compiler", "compiler"), ("peer", "implementations")):
        values = dict.fromkeys(record[key] for record in records if record.get(key, "serial") != "serial")
        out.say(f"{title}: {'; '.join(values)}")
    for line in missing:
        out.say(f"not found: {line}")
    for cell in cells:
        if cell.status not in ("ok", "skipped"):
            out.say(f"{'FAILED' if cell.failed else cell.status}: {cell}: {cell.reason}")
    complaints = [line for part in chosen for line in part.complaints()]
    for line in complaints:
        out.say(f"FAILED: {line}")
    return WRONG if complaints or any(cell.failed for cell in cells) else 0


def main() -> int:
    options = arguments()
    try:
        if options.compare:
            return compare.main(*options.compare)
        if options.report:
            from runner import report  # only here, since what draws takes a second to load

            return report.main([Path(name) for name in options.workload] or [options.out], options.out)
        return run_all(options)
    except (workloads.MissingPrograms, files.NoResults, files.Unusable) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
