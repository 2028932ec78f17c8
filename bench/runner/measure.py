"""Runs the cells of a table, round by round, so that whatever drifts on the machine hits all of them alike."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from . import process, workloads


@dataclass
class Cell:
    """One line of a table: a program with its arguments, and what its runs gave."""

    table: str
    impl: str
    workers: int
    program: Path
    arguments: list[str]
    records: list[dict] = field(default_factory=list)
    status: str = "ok"  # ok, timeout, failed
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.table} {self.impl} on {self.workers} worker{'s' if self.workers > 1 else ''}"

    @property
    def failed(self) -> bool:
        """A peer, or the serial projection, may take too long; nopal may not."""
        return self.status == "failed" or (self.status == "timeout" and workloads.is_nopal(self.impl))


class Progress(Protocol):
    def starting(self, cell: Cell, round_number: int) -> None: ...
    def done(self, cell: Cell) -> None: ...
    def round_done(self, table: str, round_number: int) -> None: ...


def measure(cells: list[Cell], rounds: int, timeout: float, progress: Progress) -> None:
    """Every cell once, then every cell again. A cell that failed or ran out of time is not run again."""
    for round_number in range(1, rounds + 1):
        for cell in cells:
            if cell.status == "ok":
                progress.starting(cell, round_number)
                _run_once(cell, timeout)
            progress.done(cell)
        progress.round_done(cells[0].table, round_number)


def _run_once(cell: Cell, timeout: float) -> None:
    match process.run(cell.program, cell.arguments, timeout):
        case process.Finished(record):
            cell.records.append(record)
        case process.TimedOut(seconds):
            cell.status = "timeout"
            cell.reason = f"more than {seconds:g} s, see --timeout"
        case process.Failed(reason):
            cell.status = "failed"
            cell.reason = reason
