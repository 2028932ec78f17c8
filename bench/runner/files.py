"""The figures as CSV: bench-STEM.csv has the rows of the tables, below comments on what was run and where; runs-STEM.csv the times of every single run."""

import csv
import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import datetime, timezone
from itertools import takewhile
from pathlib import Path
from typing import Any

from .machine import Machine
from .measure import Cell

CELL = ("table", "impl", "workers", "status", "short", "reason")
UNSAID = {*CELL, "kernel", "ok", "answer", "process_seconds"}  # of a record: what its cell says, or what was checked when it ran
TEXTS = {"size", "shape", "machine", "short", "reason"}  # some of which look like numbers


class NoResults(Exception):
    """There is nothing to read."""


class Unusable(Exception):
    """Something that makes the page is not installed."""


def write(folder: Path, stem: str, machine: Machine, rows: list[Any], cells: list[Cell], size: str, missing: list[str]) -> list[Path]:
    """Writes both files, and returns their paths."""
    if not rows:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join(["bench/run.py", *sys.argv[1:]]),
        **asdict(machine),
        "size": size,
    }
    comments = [f"# {key}: {value}\n" for key, value in (*about.items(), *(("missing", line) for line in missing))]
    tables, runs = folder / f"bench-{stem}.csv", folder / f"runs-{stem}.csv"
    _write(tables, [field.name for field in fields(rows[0])], map(asdict, rows), comments)
    lines = []
    for cell in cells:
        of_all = {key: getattr(cell, key) for key in CELL}
        lines += [{**of_all, **{key: value for key, value in record.items() if _is_kept(key, value)}} for record in cell.records or [{}]]
    _write(runs, list(dict.fromkeys(key for line in lines for key in line)), lines)
    return [tables, runs]


def _is_kept(key: str, value: object) -> bool:
    return key not in UNSAID and isinstance(value, str | int | float)


def _write(path: Path, header: list[str], lines: Iterable[dict], comments: Iterable[str] = ()) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        file.writelines(comments)
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def read(paths: list[Path]) -> dict[str, dict]:
    """The contents of results by their stems, as "libfork" for bench-libfork.csv. A folder stands for all that lie in it."""
    found: dict[str, dict] = {}
    for path in paths:
        for file in sorted(path.glob("runs-*.csv")) if path.is_dir() else [path]:
            stem = file.stem.removeprefix("runs-").removeprefix("bench-")
            try:
                found[stem] = _content(file.with_name(f"bench-{stem}.csv"), file.with_name(f"runs-{stem}.csv"))
            except (OSError, ValueError, KeyError) as error:
                raise NoResults(f"{file} cannot be read as results: {error}") from None
    if not found:
        raise NoResults(f"no results in {', '.join(map(str, paths))}: run the benchmarks first")
    return found


def _content(tables: Path, runs: Path) -> dict:
    lines = tables.read_text(encoding="utf-8").splitlines(keepends=True)
    told = [line.strip("# \n").partition(": ")[::2] for line in takewhile(lambda line: line.startswith("#"), lines)]
    about = dict(told)
    cells: dict[tuple, dict] = {}
    with runs.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            cell = {key: _value(key, line.pop(key)) for key in CELL}
            run = cells.setdefault(tuple(cell.values()), {**cell, "records": []})
            if record := {key: _value(key, text) for key, text in line.items() if text}:
                run["records"].append(record)
    return {
        "finished": about["finished"],
        "machine": {field.name: _value(field.name, about[field.name]) for field in fields(Machine)},
        "size": about["size"],
        "missing": [text for key, text in told if key == "missing"],
        "rows": [{key: _value(key, text) for key, text in row.items()} for row in csv.DictReader(lines[len(told) :])],
        "runs": list(cells.values()),
    }


def _value(key: str, text: str) -> Any:
    """What was written as this text: None for nothing."""
    for kind in () if key in TEXTS else (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text or key in TEXTS else None
