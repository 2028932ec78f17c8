"""What times.py, parlay/pbbs.py and the table of std::execution share: files of measured times that say where and when they were measured, and tables in pages."""

import argparse
import csv
import datetime
import os
import sys
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def cpu() -> str:
    """The processor's name, as the system has it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "an unnamed processor"


def write(file: Path, columns: list[str], rows: list[list], more: dict[str, str] | None = None) -> None:
    """A CSV file, with lines before it that begin with # and say on what and when the rows were measured."""
    head = {"cpu": cpu(), "usable_cpus": len(os.sched_getaffinity(0)), "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")}
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="", encoding="utf-8") as text:
        for name, value in (head | (more or {})).items():
            text.write(f"# {name}: {value}\n")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def read(file: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """What the lines with # say, with the file's path in the repository, and the rows."""
    lines = file.read_text(encoding="utf-8").splitlines()
    head = dict(line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# "))
    path = file.resolve()
    stored = path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path.name
    return head | {"file": str(stored)}, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def caption(head: dict[str, str], workers: int, runs: int, what: str, command: str, least: int | None = None) -> str:
    """The sentence before a table: its unit, the machine, the date and the command. `least`: of how many runs some lines are."""
    month = datetime.datetime.fromisoformat(head["finished"]).strftime("%B %Y")
    of_runs = f"medians of {runs if least in (None, runs) else f'{least} to {runs}'} runs" if runs > 1 else "one run"
    return f"{what}, {of_runs} with {workers} worker{'s' if workers > 1 else ''} on {head['usable_cpus']} CPUs of an {head['cpu']}, {month} (`{command}`; stored in `{head['file']}`):"


def put(page: Path, name: str, text: str) -> None:
    """Writes the text between the two comments in the page that name it."""
    begin, end = f"<!-- table {name} -->", f"<!-- end of table {name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ends, after = rest.partition(end)
    if not found or not ends:
        sys.exit(f"{page} has no lines {begin} and {end}. Add them where the table is to stand.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


Verb = Callable[[argparse.Namespace], None]


def command_line(description: str | None, stored: str, run: Verb, page: Verb, more: Callable[[argparse.ArgumentParser], None] = lambda verb: None) -> None:
    """Does what was asked of a script: `run PROGRAM [--runs N] [--csv FILE]`, with the options that `more` adds, or `page FILE`. `stored`: the file's name in docs/results."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("run")
    verb.set_defaults(function=run)
    verb.add_argument("program", type=Path)
    verb.add_argument("--runs", type=int, default=5)
    verb.add_argument("--csv", type=Path, default=REPOSITORY / "docs/results/two-cpus" / stored)
    more(verb)
    verb = verbs.add_parser("page")
    verb.set_defaults(function=page)
    verb.add_argument("file", type=Path)
    arguments = parser.parse_args()
    arguments.function(arguments)
