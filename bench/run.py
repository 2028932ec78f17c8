#!/usr/bin/env python3
"""Runs nopal's benchmarks and prints a table for each workload. See README.md beside this file."""

import argparse
import sys
from pathlib import Path
from types import ModuleType

from runner import fiber_costs, fiber_migration, fibers, files, kernels, latency, machine, space, workloads
from runner.measure import Cell, measure
from runner.terminal import PlainTerminal, terminal

REPOSITORY = Path(__file__).resolve().parent.parent
WRONG, UNUSABLE = 1, 2  # exit statuses
FIBERS = "fibers"


# What makes cells into rows and rows into texts, the stem of its files, and its tables.
Part = tuple[ModuleType, str, list[list[Cell]]]


def names(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "workload",
        nargs="*",
        help=f"which to run: {', '.join([*workloads.WORKLOADS, *workloads.GROUPS])} "
        f"(default: {' '.join(workload.name for workload in workloads.BY_DEFAULT)}); "
        f"with --fibers: {', '.join(fibers.NAMES)} (default: all)",
    )
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build" / "release", help="the build folder")
    parser.add_argument("--out", type=Path, help="where the CSV and JSON files go (default: the build folder)")
    parser.add_argument("--impl", type=names, default=[], help="only these implementations, as in serial,task")
    parser.add_argument("--workers", type=numbers, help="numbers of workers, as in 1,4 (default: 1 and all usable CPUs)")
    parser.add_argument("--runs", type=int, default=5, help="processes for each cell (default: 5)")
    parser.add_argument("--size", default="default", help="smoke, default, paper, or a number")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each process (default: 120)")
    parser.add_argument("--latency", action="store_true", help="the latency of small jobs instead of the workloads")
    parser.add_argument(
        "--rest", type=numbers, default=[0, 20], help="with --latency: milliseconds between calls (default: 0,20)"
    )
    parser.add_argument(
        "--space", action="store_true", help="the space of native stacks instead (default: fibril on 8 workers)"
    )
    parser.add_argument(
        "--fibers", action="store_true", help="the experiments on fibers instead; 'fibers' as a workload says the same"
    )
    parser.add_argument("--smoke", action="store_true", help="everything once, smallest size, no files unless --out")
    options = parser.parse_args()

    if FIBERS in options.workload:
        options.fibers = True
        options.workload = [name for name in options.workload if name != FIBERS]
    known = fibers.NAMES if options.fibers else {*workloads.WORKLOADS, *workloads.GROUPS}
    if unknown := [name for name in options.workload if name not in known]:
        parser.error(f"no workload {unknown[0]!r}")
    if options.runs < 1 or min(options.workers or [1]) < 1:
        parser.error("--runs and --workers take positive numbers")
    if options.space + options.latency + options.fibers > 1:
        parser.error("--space, --latency and --fibers are different things")
    if options.workers is None:
        options.workers = [8] if options.space else sorted({1, machine.usable_cpus()})
    if options.out is None and not options.smoke:
        options.out = options.build
    if options.smoke:
        options.runs, options.size = 1, "smoke"
    return options


def chosen(options: argparse.Namespace) -> list[workloads.Workload]:
    if options.smoke and not options.workload:
        return [*workloads.BY_DEFAULT, workloads.FLAT]
    return workloads.select(options.workload)


def kernel_tables(options: argparse.Namespace) -> list[list[Cell]]:
    repeat = 20 if options.smoke else 1  # so that thieves come in time, and what they leave is checked
    return [
        kernels.cells(workload, options.build, options.impl, options.workers, options.size, repeat)
        for workload in chosen(options)
    ]


def latency_tables(options: argparse.Namespace) -> list[list[Cell]]:
    rests, calls = ([0], 20) if options.smoke else (options.rest, None)
    return latency.tables(options.build, options.impl, max(options.workers), rests, calls)


def fiber_parts(options: argparse.Namespace) -> list[Part]:
    names = options.workload or fibers.NAMES
    build, only, workers, size = options.build, options.impl, options.workers, options.size
    repeat = 5 if options.smoke else 1
    scaling = [
        fibers.cells(experiment, build, only, workers, size, repeat)
        for experiment in fibers.SCALING.values()
        if experiment.name in names
    ]
    costs = [fiber_costs.switch_cells(build, only, workers, size)] if fibers.SWITCH in names else []
    costs += [fiber_costs.cost_cells(build, only, size)] if fibers.COST in names else []
    moved = [fiber_migration.cells(build, only, workers, size)] if fibers.MIGRATION in names else []
    parts = [
        (fiber_costs, "fiber-costs", costs),
        (fibers, "fibers", scaling),
        (fiber_migration, "fiber-migration", moved),
    ]
    return [part for part in parts if part[2]]


def show(out: PlainTerminal, kind: ModuleType, table: list[Cell]) -> None:
    rows = kind.rows(table)
    sizes = {record["size"] for cell in table for record in cell.records if "size" in record}
    title = table[0].table
    if len(sizes) == 1 and not title.endswith(size := sizes.pop()):
        title += f", size {size}"
    out.table(title, kind.HEADER, [kind.texts(row) for row in rows], lambda i: workloads.is_nopal(rows[i].impl))


def show_versions(out: PlainTerminal, cells: list[Cell]) -> None:
    records = [record for cell in cells for record in cell.records]
    for key, title in (("compiler", "compiler"), ("peer", "implementations")):
        values = dict.fromkeys(record[key] for record in records if record[key] != "serial")
        out.say(f"{title}: {'; '.join(values)}")


def chosen_parts(options: argparse.Namespace) -> list[Part]:
    if options.fibers:
        return fiber_parts(options)
    parts: list[Part] = []
    if options.smoke or not options.latency:
        parts.append((kernels, "kernels", kernel_tables(options)))
    if options.latency or (options.smoke and not options.workload):
        parts.append((latency, "latency", latency_tables(options)))
    return parts


def run_all(options: argparse.Namespace) -> int:
    """Measures, shows and writes; returns the exit status."""
    parts = chosen_parts(options)
    here = machine.this_machine()
    everything = [cell for _, _, tables in parts for table in tables for cell in table]
    with terminal(len(everything) * options.runs, options.runs) as out:
        out.say(str(here))
        if note := machine.busy_note():
            out.say(f"note: {note}")
        for kind, stem, tables in parts:
            for table in tables:
                measure(table, options.runs, options.timeout, out)
                show(out, kind, table)
            out.say(kind.LEGEND)
            out.say("")
            if options.out:
                rows = [row for table in tables for row in kind.rows(table)]
                cells = [cell for table in tables for cell in table]
                for path in files.write(options.out, f"bench-{stem}", here, rows, cells):
                    out.say(f"written: {path}")
        return finish(out, everything)


def run_space(options: argparse.Namespace) -> int:
    """The same for the space of native stacks."""
    programs = workloads.select(options.workload or ["fibril"])
    parts = [space.cells(workload, options.build, max(options.workers), options.size) for workload in programs]
    here = machine.this_machine()
    everything = [cell for part in parts for cell in part.timed + part.looking]
    with terminal(sum(len(part.timed) * options.runs + len(part.looking) for part in parts), options.runs) as out:
        out.say(str(here))
        for part in parts:
            measure(part.timed, options.runs, options.timeout, out)
            measure(part.looking, 1, options.timeout, out)
        rows = [space.row(part) for part in parts]
        on = f"on {max(options.workers)} workers, size {options.size}"
        for title, header, texts in (
            ("page faults", space.FAULTS, space.fault_texts),
            ("memory", space.MEMORY, space.memory_texts),
            ("stack pages", space.STACKS, space.stack_texts),
        ):
            out.table(f"{title} {on}", header, [texts(row) for row in rows], lambda _: False)
        out.say(space.LEGEND)
        out.say("")
        if options.out:
            for path in files.write(options.out, "bench-space", here, rows, everything):
                out.say(f"written: {path}")
        return finish(out, everything)


def finish(out: PlainTerminal, cells: list[Cell]) -> int:
    show_versions(out, cells)
    for cell in cells:
        if cell.status != "ok":
            out.say(f"{'FAILED' if cell.failed else cell.status}: {cell}: {cell.reason}")
    return WRONG if any(cell.failed for cell in cells) else 0


def main() -> int:
    options = arguments()
    try:
        return run_space(options) if options.space else run_all(options)
    except workloads.MissingPrograms as error:
        print(f"run.py: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
