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
    """A wrong answer, a crash, or output that is no record. `short` fits into a table."""

    reason: str
    short: str = "failed"


Outcome = Finished | TimedOut | Failed

MEASURES = ("seconds", "median_ns")  # of which each record has one


def run(program: Path, arguments: list[str], timeout: float) -> Outcome:
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TimedOut(timeout)
    except OSError as error:
        return Failed(f"could not be started: {error.strerror}", "not started")

    complaint = done.stderr.strip()
    if done.returncode < 0:
        killer = signal.Signals(-done.returncode).name
        return Failed(f"killed by {killer} {complaint}".strip(), f"crashed: {killer}")
    status = f"exit status {done.returncode}"
    try:
        record = json.loads(done.stdout)
    except ValueError:
        return Failed(
            f"{status} {complaint}".strip() if done.returncode else "printed no record", status if done.returncode else "no record"
        )
    if not isinstance(record, dict) or "ok" not in record or not any(measure in record for measure in MEASURES):
        return Failed("printed something that is no record", "no record")
    if not record["ok"]:
        return Failed(f"wrong answer {record.get('answer', '')}".strip(), "wrong answer")
    if done.returncode != 0:
        return Failed(f"{status} {complaint}".strip(), status)
    return Finished(record)
