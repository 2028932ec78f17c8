"""What an interrupted run has measured already, a line of JSON for each process that has ended: the next run goes on from there."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .process import Failed, Finished, Outcome, TimedOut

KINDS: dict[str, Callable[..., Outcome]] = {kind.__name__: kind for kind in (Finished, TimedOut, Failed)}


class State:
    """A file beside the results. A run that comes to its end takes it away."""

    def __init__(self, path: Path | None, fresh: bool = False) -> None:
        self._path = path
        self._known: dict[str, Outcome] = {}
        if path is None:
            return
        if fresh:
            path.unlink(missing_ok=True)
        elif path.is_file():
            for line in path.read_text().splitlines():
                self._read(line)

    def __len__(self) -> int:
        return len(self._known)

    def _read(self, line: str) -> None:
        try:
            key, kind, fields = json.loads(line)
            self._known[key] = KINDS[kind](**fields)
        except (ValueError, KeyError, TypeError):
            pass  # the line that was being written when the run was killed

    def find(self, program: Path, arguments: list[str], name: str, timeout: float) -> Outcome | None:
        """What came of this run of the program, unless it was built anew since. A run that was given less time counts for nothing."""
        found = self._known.get(_key(program, arguments, name))
        if isinstance(found, TimedOut) and found.seconds < timeout:
            return None
        return found

    def add(self, program: Path, arguments: list[str], name: str, outcome: Outcome) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line: list[Any] = [_key(program, arguments, name), type(outcome).__name__, asdict(outcome)]
        text = json.dumps(line) + "\n"
        if self._path.is_file() and not self._path.read_bytes().endswith(b"\n") and self._path.stat().st_size:
            text = "\n" + text  # what was cut off stays a line of its own
        with self._path.open("a") as file:
            file.write(text)

    def finish(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _key(program: Path, arguments: list[str], name: str) -> str:
    try:
        built = program.stat().st_mtime_ns
    except OSError:
        built = 0
    return json.dumps([str(program), built, arguments, name])
