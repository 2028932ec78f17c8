"""One benchmark program, run once in a process of its own."""

import json
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """The program ran to its end; `record` is the line that it printed."""

    record: dict


@dataclass(frozen=True)
class TimedOut:
    seconds: float


@dataclass(frozen=True)
class Failed:
    """A wrong answer, a crash, or output that is no record."""

    reason: str


Outcome = Finished | TimedOut | Failed


def run(program: Path, arguments: list[str], timeout: float) -> Outcome:
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return TimedOut(timeout)

    complaint = done.stderr.strip()
    if done.returncode < 0:
        return Failed(f"killed by {signal.Signals(-done.returncode).name} {complaint}".strip())
    try:
        record = json.loads(done.stdout)
    except ValueError:
        return Failed(f"exit status {done.returncode} {complaint}".strip())
    if not record["ok"]:
        return Failed(f"wrong answer {record.get('answer', '')}".strip())
    if done.returncode != 0:
        return Failed(f"exit status {done.returncode} {complaint}".strip())
    return Finished(record)
