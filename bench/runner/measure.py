"""Runs the cells of a table, round by round, so that whatever drifts on the machine hits all of them alike."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from . import process, workloads
from .state import State


@dataclass
class Cell:
    """One line of a table: a program with its arguments, and what its runs gave."""

    table: str
    impl: str  # with the name of its series
    workers: int
    program: Path
    arguments: list[str]
    records: list[dict] = field(default_factory=list)
    status: str = "ok"  # ok, timeout, failed, skipped
    reason: str = ""
    short: str = "ok"  # the status as it stands in a table
    taken: float = 0  # seconds, by all its runs in this process or an earlier one

    def __str__(self) -> str:
        return f"{self.table} {self.impl} on {self.workers} worker{'s' if self.workers > 1 else ''}"

    @property
    def failed(self) -> bool:
        """A peer, or the serial projection, may take too long; nopal may not."""
        return self.status == "failed" or (self.status == "timeout" and workloads.is_nopal(self.impl))

    def end(self, status: str, reason: str, short: str) -> None:
        self.status, self.reason, self.short = status, reason, short


class Progress(Protocol):
    def starting(self, cell: Cell, round_number: int) -> None: ...
    def done(self, cell: Cell) -> None: ...
    def round_done(self, table: str, round_number: int) -> None: ...


@dataclass(frozen=True)
class Limits:
    """How often each cell is run, and how long it may take: one process, and all of them. The second bounds the repetitions only."""

    rounds: int
    timeout: float
    share: float = float("inf")


def measure(cells: list[Cell], limits: Limits, progress: Progress, state: State) -> None:
    """Every cell once, then every cell again. A cell that failed or ran out of time is not run again."""
    for round_number in range(1, limits.rounds + 1):
        for cell in cells:
            if cell.status == "ok" and _has_time(cell, limits):
                progress.starting(cell, round_number)
                _run_once(cell, round_number, limits.timeout, state)
            progress.done(cell)
        progress.round_done(cells[0].table, round_number)


def _has_time(cell: Cell, limits: Limits) -> bool:
    runs = len(cell.records)
    return runs == 0 or cell.taken + cell.taken / runs <= limits.share


def _run_once(cell: Cell, round_number: int, timeout: float, state: State) -> None:
    name = f"{cell.table}, {cell.impl}, {round_number}"
    outcome = state.find(cell.program, cell.arguments, name, timeout)
    if outcome is None:
        begin = time.monotonic()
        outcome = process.run(cell.program, cell.arguments, timeout)
        if isinstance(outcome, process.Finished):
            outcome.record["process_seconds"] = time.monotonic() - begin
        state.add(cell.program, cell.arguments, name, outcome)
    match outcome:
        case process.Finished(record):
            cell.records.append(record)
            cell.taken += record.get("process_seconds", 0)
        case process.TimedOut(seconds):
            cell.end("timeout", f"more than {seconds:g} s, see --timeout", f"> {seconds:g} s")
        case process.Failed(reason, short):
            cell.end("failed", reason, short)
