"""What a person sees: progress while it runs, and tables. With rich in a terminal, in plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from .measure import Cell

try:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Table
except ImportError:
    Console = None  # type: ignore[assignment,misc]

LEFT_ALIGNED = 1  # columns
QUIET_SECONDS = 10  # at most, between two lines of progress


class PlainTerminal(AbstractContextManager):
    """Lines that read well in a log: one for each round of a table, and for what takes long."""

    def __init__(self, total: int, rounds: int) -> None:
        self._total = total
        self._rounds = rounds
        self._done = 0
        self._begin = self._said = time.monotonic()

    def starting(self, cell: Cell, round_number: int) -> None:
        pass

    def done(self, cell: Cell) -> None:
        self._done += 1
        if time.monotonic() - self._said > QUIET_SECONDS:
            self._say_where(f"{cell} done")

    def round_done(self, table: str, round_number: int) -> None:
        self._say_where(f"{table}: round {round_number} of {self._rounds} done")

    def _say_where(self, what: str) -> None:
        self._said = time.monotonic()
        self.say(f"[{self._done}/{self._total} runs, {self._said - self._begin:.0f} s] {what}")

    def say(self, line: str) -> None:
        print(line, flush=True)

    def table(self, title: str, header: list[str], rows: list[list[str]], strong: Callable[[int], bool]) -> None:
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        self.say(f"\n{title}")
        for row in [header, ["-" * width for width in widths], *rows]:
            texts = [
                text.ljust(width) if i < LEFT_ALIGNED else text.rjust(width)
                for i, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            self.say("  ".join(texts).rstrip())
        self.say("")

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None


class RichTerminal(PlainTerminal):
    """A bar that names the cell being run, with the tables above it."""

    def __init__(self, total: int, rounds: int) -> None:
        super().__init__(total, rounds)
        self._console = Console(highlight=False)
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=total)

    def starting(self, cell: Cell, round_number: int) -> None:
        self._bar.update(self._task, description=f"{cell}, round {round_number} of {self._rounds}")

    def done(self, cell: Cell) -> None:
        self._bar.advance(self._task)

    def round_done(self, table: str, round_number: int) -> None:
        pass

    def say(self, line: str) -> None:
        self._console.print(line, markup=False)

    def table(self, title: str, header: list[str], rows: list[list[str]], strong: Callable[[int], bool]) -> None:
        table = Table(title=title, title_justify="left", title_style="bold")
        for i, name in enumerate(header):
            table.add_column(name, justify="left" if i < LEFT_ALIGNED else "right", no_wrap=True)
        for i, row in enumerate(rows):
            table.add_row(*row, style="bold green" if strong(i) else None)
        self._console.print(table)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()


def terminal(total: int, rounds: int) -> PlainTerminal:
    if Console is not None and sys.stdout.isatty():
        return RichTerminal(total, rounds)
    return PlainTerminal(total, rounds)
