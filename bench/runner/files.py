"""The figures as files: CSV for spreadsheets, JSON with every single run."""

import csv
import json
from dataclasses import asdict, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .machine import Machine
from .measure import Cell


def write(folder: Path, stem: str, machine: Machine, rows: list[Any], cells: list[Cell]) -> list[Path]:
    """Writes STEM.csv and STEM.json, and returns their paths."""
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
        "rows": [asdict(row) for row in rows],
        "runs": [
            {"table": cell.table, "impl": cell.impl, "workers": cell.workers, "status": cell.status,
             "reason": cell.reason, "records": cell.records}
            for cell in cells
        ],
    }
    everything.write_text(json.dumps(content, indent=1) + "\n")
    return [table, everything]
