"""The figures as files: CSV for spreadsheets, JSON with every single run. And such JSON read again."""

import csv
import json
from dataclasses import asdict, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .machine import Machine
from .measure import Cell


class NoResults(Exception):
    """There is nothing to read."""


class Unusable(Exception):
    """Something that makes the page is not installed."""


def write(folder: Path, stem: str, machine: Machine, rows: list[Any], cells: list[Cell], size: str, missing: list[str]) -> list[Path]:
    """Writes STEM.csv and STEM.json, and returns their paths."""
    if not rows:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{stem}.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)

    everything = folder / f"{stem}.json"
    content = {
        "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": asdict(machine),
        "size": size,
        "missing": missing,
        "rows": [asdict(row) for row in rows],
        "runs": [
            {
                "table": cell.table,
                "impl": cell.impl,
                "workers": cell.workers,
                "status": cell.status,
                "short": cell.short,
                "reason": cell.reason,
                "records": cell.records,
            }
            for cell in cells
        ],
    }
    everything.write_text(json.dumps(content, indent=1) + "\n")
    return [table, everything]


def read(paths: list[Path]) -> dict[str, dict]:
    """The contents of result files by their stems, as "libfork" for bench-libfork.json. A folder stands for all that lie in it."""
    found: dict[str, dict] = {}
    for path in paths:
        inside = sorted(path.glob("bench-*.json")) if path.is_dir() else [path]
        for file in inside:
            try:
                content = json.loads(file.read_text())
            except (OSError, ValueError) as error:
                raise NoResults(f"{file} cannot be read as results: {error}") from None
            if not isinstance(content, dict) or "runs" not in content or "machine" not in content:
                raise NoResults(f"{file} is no file of results")
            found[file.stem.removeprefix("bench-")] = content
    if not found:
        raise NoResults(f"no results in {', '.join(map(str, paths))}: run the benchmarks first")
    return found
