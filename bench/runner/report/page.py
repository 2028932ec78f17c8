"""Makes the page."""

import csv
from datetime import date
from io import StringIO
from pathlib import Path
from statistics import median

from .. import files, workloads
from . import algorithms, fibril, green, libfork, plots, scaling, simulated
from .data import Results, name
from .items import Section

try:
    import jinja2
except ImportError:
    jinja2 = None  # type: ignore[assignment]

NAME, PICTURE, VERDICTS = "report.html", "overview.svg", "bench-verdicts.csv"


def main(sources: list[Path], out: Path | None) -> int:
    """Writes the page of these results into the folder, and says where. Throws files.Unusable, or files.NoResults."""
    if jinja2 is None or plots.pyplot is None:
        raise files.Unusable(
            "the page is made with Jinja and matplotlib: install python3-jinja2 and python3-matplotlib, or let ./nopal bench do it"
        )
    folder = out or Path()
    folder.mkdir(parents=True, exist_ok=True)
    contents = files.read(sources)
    made = {NAME: page(contents), VERDICTS: verdicts(contents)}
    if drawn := libfork.overview(Results(contents)):
        made[PICTURE] = plots.alone(drawn)
    for file, text in made.items():
        (folder / file).write_text(text)
        print(f"written: {folder / file}")
    return 0


def page(contents: dict[str, dict]) -> str:
    results = Results(contents)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    sections = _sections(results)
    return environment.get_template("page.html.j2").render(
        sections=sections,
        machines=_machines(contents),
        finished=max(content["finished"] for content in contents.values())[:10] or date.today().isoformat(),
        compilers=_said(results, "compiler"),
        peers=_said(results, "peer"),
        missing=_missing(contents),
        sizes=sorted({content.get("size", "default") for content in contents.values()}),
        runs=_runs(results),
        failures=_failures(results),
        summary=_summary(sections),
    )


def _sections(results: Results) -> list[Section]:
    return [of.section(results) for of in (libfork, fibril, green, algorithms, scaling, simulated)]


def verdicts(contents: dict[str, dict]) -> str:
    """CSV, for tools/docs/figures.py: each finding of a paper's, and a 1 in the column of what was found of it."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["paper", "finding", "holds", "does_not", "cannot_be_told"])
    for section in _sections(Results(contents)):
        for item in section.items:
            if not section.of_paper or item.reading.said:
                continue
            writer.writerow([section.title.partition(":")[0], item.number, *(int(item.reading.holds is want) for want in (True, False, None))])
    return text.getvalue()


def _machines(contents: dict[str, dict]) -> list[str]:
    told = []
    for content in contents.values():
        of = content["machine"]
        told.append(f"{of['cpu']}, {of['usable_cpus']} of {of['cpus']} CPUs usable, {of['memory_gib']:.0f} GiB, {of['system']}")
    return list(dict.fromkeys(told))


def _said(results: Results, key: str) -> list[str]:
    values = (record.get(key, "") for cell in results.every_cell for record in cell.records)
    return list(dict.fromkeys(value for value in values if value and value != workloads.SERIAL))


def _missing(contents: dict[str, dict]) -> list[str]:
    """What none of the results has: a peer that some have is no more missing."""
    lists = [content.get("missing", []) for content in contents.values()]
    return [line for line in dict.fromkeys(line for lines in lists for line in lines) if all(line in lines for lines in lists)]


def _runs(results: Results) -> str:
    numbers = [len(cell.records) for cell in results.every_cell if cell.status == "ok" and cell.records]
    return f"{min(numbers)} to {max(numbers)} for each figure, {median(numbers):.0f} in the median" if numbers else "none"


def _failures(results: Results) -> list[str]:
    return [
        f"{cell.table}, {name(cell.impl)} on {cell.workers} worker{'s' if cell.workers > 1 else ''}: {cell.short} ({cell.reason})"
        for cell in results.every_cell
        if cell.status not in ("ok", "skipped")
    ]


def _summary(sections: list[Section]) -> list[tuple[str, int, int, int]]:
    """For each paper: how many findings hold, do not, and cannot be told."""
    return [
        (section.title, *(sum(item.reading.holds is want for item in section.items if not item.reading.said) for want in (True, False, None)))
        for section in sections
        if section.of_paper
    ]
