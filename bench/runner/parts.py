"""The parts of a run: what is measured together, shown together, and written into files of its own."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from . import fiber_costs, fiber_migration, fibers, kernels, latency, loops, memory, scale, simulation, space, workloads
from .measure import Cell, Limits, measure
from .state import State
from .terminal import PlainTerminal

# What each group runs nopal's pools with, unless an option says otherwise.
LIBFORK_POOLS = {"idle": ["lazy", "busy"]}
FIBRIL_POOLS = {"reclaim": ["dontneed", "none"]}


@dataclass
class Part:
    """`kind` makes a table of cells into rows, and rows into texts; `stem` names its files."""

    kind: ModuleType
    stem: str
    tables: list[list[Cell]]

    @property
    def cells(self) -> list[Cell]:
        return [cell for table in self.tables for cell in table]

    @property
    def runs(self) -> list[tuple[Cell, int]]:
        """Each cell, and how often it is run at most: 0 for as often as any."""
        return [(cell, 0) for cell in self.cells]

    def run(self, limits: Limits, out: PlainTerminal, state: State) -> None:
        for table in self.tables:
            measure(table, limits, out, state)
            show(out, self.kind, table)
        out.say(self.kind.LEGEND)
        out.say("")

    def rows(self) -> list[Any]:
        return [row for table in self.tables for row in self.kind.rows(table)]

    def complaints(self) -> list[str]:
        """What makes the run fail though each of its cells is well."""
        return []


@dataclass
class MemoryPart(Part):
    """What the timed part has measured, and the same programs on more workers."""

    timed: list[Cell] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the tables, which may be empty: where enough workers are timed

    def run(self, limits: Limits, out: PlainTerminal, state: State) -> None:
        few = Limits(min(limits.rounds, 2), limits.timeout, limits.share)
        for name, table in zip(self.names, self.tables, strict=True):
            for cell in table:
                memory.take_time_into_account(cell, self.timed)
            if table:
                measure(table, few, out, state)
            show(out, memory, self._whole(name, table))
        out.say(memory.LEGEND)
        out.say("")

    @property
    def runs(self) -> list[tuple[Cell, int]]:
        return [(cell, 2) for cell in self.cells]

    def rows(self) -> list[Any]:
        return [row for name, table in zip(self.names, self.tables, strict=True) for row in memory.rows(self._whole(name, table))]

    def _whole(self, name: str, table: list[Cell]) -> list[Cell]:
        return [cell for cell in self.timed if cell.table == name] + table


@dataclass
class SpacePart(Part):
    programs: list[space.Cells] = field(default_factory=list)

    @property
    def runs(self) -> list[tuple[Cell, int]]:
        return [(cell, 1 if cell is one.serial_depth else 0) for one in self.programs for cell in one.all]

    def run(self, limits: Limits, out: PlainTerminal, state: State) -> None:
        for one in self.programs:
            measure(one.timed, limits, out, state)
            measure([one.serial_depth], Limits(1, limits.timeout), out, state)
        for impl, name in space.FRONT_ENDS.items():
            rows = [row for row in self.rows() if row.front_end == impl]
            if not rows:
                continue
            for title, header, texts in space.TABLES:
                out.table(f"{name}: {title} on {rows[0].workers} workers", header, [texts(row) for row in rows], lambda _: False)
        out.say(space.LEGEND)
        out.say("")

    def rows(self) -> list[Any]:
        return [space.row(one) for one in self.programs]

    def complaints(self) -> list[str]:
        return space.too_much(self.rows())


@dataclass
class CheckPart(Part):
    """What is predicted beside what is measured."""

    def run(self, limits: Limits, out: PlainTerminal, state: State) -> None:
        for table in self.tables:
            measure(table, limits, out, state)
            texts = [simulation.check_texts(row) for row in simulation.check_rows(table)]
            out.table(table[0].table, simulation.CHECK_HEADER, texts, lambda _: False)
        out.say(simulation.LEGEND)
        out.say("")

    def rows(self) -> list[Any]:
        return [row for table in self.tables for row in simulation.check_rows(table)]


def show(out: PlainTerminal, kind: ModuleType, table: list[Cell]) -> None:
    rows = kind.rows(table)
    sizes = {record["size"] for cell in table for record in cell.records if "size" in record}
    title = table[0].table
    if len(sizes) == 1 and not title.endswith(size := sizes.pop()):
        title += f", size {size}"
    out.table(title, kind.HEADER, [kind.texts(row) for row in rows], lambda i: workloads.is_nopal(rows[i].impl))


def kernel_part(options: argparse.Namespace, chosen: Iterable[workloads.Workload], stem: str = "kernels") -> Part:
    repeat = 20 if options.smoke else 1  # so that thieves come in time, and what they leave is checked
    only, pools = options.impl, options.pools
    if stem == "libfork":
        only, pools = only or workloads.LIBFORK_IMPLS, pools if options.smoke else {**LIBFORK_POOLS, **pools}
    if stem == "fibril":
        only, pools = only or workloads.FIBRIL_IMPLS, pools if options.smoke else {**FIBRIL_POOLS, **pools}
    tables = [kernels.cells(one, options.build, only, options.workers, options.size, repeat, pools) for one in chosen]
    if stem == "fibril" and not options.pools:  # Fig. 4 wants no more of scopes than they are
        tables = [
            [cell for cell in table if workloads.base(cell.impl) != workloads.SCOPE or cell.impl == workloads.SCOPE] for table in tables
        ]
    return Part(kernels, stem, tables)


def libfork_parts(options: argparse.Namespace) -> list[Part]:
    paper = options.size == "paper"
    chosen = [workloads.BY_DEFAULT[0]] if options.smoke else workloads.LIBFORK_PAPER if paper else workloads.LIBFORK
    timed = kernel_part(options, chosen, "libfork")
    more = memory.workers(options.workers)
    tables, names = [], []
    for table in timed.tables:
        if table[0].table == "matmul":
            continue  # the matrices are all its memory, and the paper leaves it out too
        programs = {cell.impl: cell for cell in table if cell.impl != workloads.SERIAL}
        tables.append([_on(cell, count) for cell in programs.values() for count in more])
        names.append(table[0].table)
    return [timed, MemoryPart(memory, "libfork-memory", tables, timed.cells, names)]


def _on(cell: Cell, workers: int) -> Cell:
    """The same on so many workers."""
    arguments = [*cell.arguments]
    arguments[arguments.index("--workers") + 1] = str(workers)
    return Cell(cell.table, cell.impl, workers, cell.program, arguments)


def space_part(options: argparse.Namespace, chosen: Iterable[workloads.Workload]) -> SpacePart:
    impls = [impl for impl in space.FRONT_ENDS if not options.impl or impl in options.impl] or [workloads.NATIVE]
    workers = options.space_workers
    programs = [space.cells(one, options.build, workers, options.size, impl) for one in chosen for impl in impls]
    return SpacePart(space, "space", [one.all for one in programs], programs)


def fibril_parts(options: argparse.Namespace) -> list[Part]:
    return [kernel_part(options, workloads.FIBRIL, "fibril"), *([] if options.smoke else [space_part(options, workloads.FIBRIL)])]


def latency_part(options: argparse.Namespace) -> Part:
    rests, calls = ([0], 20) if options.smoke else (options.rest, None)
    return Part(latency, "latency", latency.tables(options.build, options.impl, max(options.workers), rests, calls))


def loops_part(options: argparse.Namespace) -> Part:
    return Part(loops, "loops", loops.tables(options.build, options.impl, options.workers, options.smoke))


def scale_part(options: argparse.Namespace) -> Part:
    return Part(scale, scale.STEM, scale.tables(options.build, options.algorithms, options.smoke))


def simulation_parts(options: argparse.Namespace) -> list[Part]:
    checked = [] if options.smoke else [simulation.check_cells(options.build, options.workers, options.size)]
    return [
        *([CheckPart(simulation, "simulation-check", checked)] if checked else []),
        Part(simulation, "simulation", simulation.figure_tables(options.build, options.machine, options.size, options.smoke)),
    ]


class SimulatedPart(Part):
    def complaints(self) -> list[str]:
        return simulation.disturbed(self.rows())


def simulated_fibers_part(options: argparse.Namespace, names: list[str]) -> Part:
    return SimulatedPart(simulation, simulation.FIBERS, simulation.fiber_tables(options.build, names, options.size))


def simulated_flows_part(options: argparse.Namespace) -> Part:
    return SimulatedPart(simulation, simulation.FLOWS, simulation.flow_tables(options.build, options.size))


def fiber_parts(options: argparse.Namespace, names: Iterable[str]) -> list[Part]:
    build, only, workers, size = options.build, options.impl, options.workers, options.size
    repeat = 5 if options.smoke else 1
    scaling = [
        fibers.cells(experiment, build, only, workers, size, repeat, options.pools)
        for experiment in fibers.SCALING.values()
        if experiment.name in names
    ]
    costs = [fiber_costs.switch_cells(build, only, workers, size)] if fibers.SWITCH in names else []
    costs += [fiber_costs.cost_cells(build, only, size)] if fibers.COST in names else []
    moved = [fiber_migration.cells(build, only, workers, size)] if fibers.MIGRATION in names else []
    parts = [
        Part(fiber_costs, "fiber-costs", costs),
        Part(fibers, "fibers", scaling),
        Part(fiber_migration, "fiber-migration", moved),
    ]
    return [part for part in parts if part.tables]
