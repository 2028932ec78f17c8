"""What changed between two sets of results by more than noise: their times and their memory, run by run."""

from dataclasses import dataclass
from math import comb
from pathlib import Path
from statistics import median

from . import files

# A change counts where every run of the one lies beyond every run of the other, and the medians differ by this much at least.
LEAST_CHANGE = 0.03
# Two sets of as many runs of one thing lie wholly apart by chance with this probability at most; with fewer runs nothing is said.
BY_CHANCE = 0.05

MEMORY = "peak_rss_kib"
METRICS = {"seconds": "time", "median_ns": "time of a call", MEMORY: "memory"}

Key = tuple[str, str, str, int, str]


@dataclass(frozen=True)
class Change:
    where: str
    what: str
    old: float
    new: float

    @property
    def ratio(self) -> float:
        return self.new / self.old

    @property
    def is_worse(self) -> bool:
        return self.new > self.old

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.old:.4g} -> {self.new:.4g} ({self.ratio - 1:+.1%})"


@dataclass(frozen=True)
class Comparison:
    changes: list[Change]
    compared: int  # figures
    too_few: int  # figures with too few runs to tell a change from noise
    only_old: list[str]
    only_new: list[str]
    statuses: list[str]  # of cells that fail in one and not in the other


def apart(old: list[float], new: list[float]) -> bool | None:
    """Does every value of the one lie beyond every value of the other? None: there are too few to say that it is no chance."""
    if 2 / comb(len(old) + len(new), len(old)) > BY_CHANCE:
        return None
    return max(old) < min(new) or max(new) < min(old)


def _cells(results: dict[str, dict]) -> dict[Key, dict]:
    found = {}
    for stem, content in results.items():
        for run in content["runs"]:
            size = run["records"][0].get("size", "") if run["records"] else ""
            crowded = run["workers"] > content["machine"].get("usable_cpus", run["workers"])
            found[stem, run["table"], run["impl"], run["workers"], size] = {**run, "crowded": crowded}
    return found


def _name(key: Key) -> str:
    _, table, impl, workers, size = key
    return f"{table}{f' ({size})' if size and not table.endswith(size) else ''}, {impl}, {workers} worker{'s' if workers > 1 else ''}"


def compare(old: dict[str, dict], new: dict[str, dict]) -> Comparison:
    before, after = _cells(old), _cells(new)
    both = [key for key in before if key in after]
    changes, statuses, compared, too_few = [], [], 0, 0
    for key in both:
        one, other = before[key], after[key]
        if one["status"] != other["status"]:
            statuses.append(f"{_name(key)}: {one.get('short', one['status'])} -> {other.get('short', other['status'])}")
        if "ok" not in (one["status"], other["status"]) or one["status"] != other["status"]:
            continue
        for metric, what in METRICS.items():
            if metric != MEMORY and (one["crowded"] or other["crowded"]):
                continue  # the times of more workers than CPUs say nothing
            a = [record[metric] for record in one["records"] if metric in record]
            b = [record[metric] for record in other["records"] if metric in record]
            if not a or not b:
                continue
            verdict = apart(a, b)
            too_few += verdict is None
            compared += 1
            if verdict and abs(median(b) / median(a) - 1) >= LEAST_CHANGE:
                changes.append(Change(_name(key), what, median(a), median(b)))
    return Comparison(
        changes=sorted(changes, key=lambda change: -change.ratio),
        compared=compared,
        too_few=too_few,
        only_old=[_name(key) for key in before if key not in after],
        only_new=[_name(key) for key in after if key not in before],
        statuses=statuses,
    )


def lines(of: Comparison, old: dict[str, dict], new: dict[str, dict]) -> list[str]:
    """What a person reads."""
    result = []
    machines = [{str(sorted(content["machine"].items())) for content in results.values()} for results in (old, new)]
    if machines[0] != machines[1]:
        result.append("note: the machines differ, and so may everything")
    result += [f"slower or larger: {change}" for change in of.changes if change.is_worse]
    result += [f"faster or smaller: {change}" for change in of.changes if not change.is_worse]
    result += [f"status: {line}" for line in of.statuses]
    for name, only in (("old", of.only_old), ("new", of.only_new)):
        if only:
            result.append(f"only in the {name} results: {'; '.join(only[:5])}{f' and {len(only) - 5} more' if len(only) > 5 else ''}")
    told = f"{of.compared} figures compared, {len(of.changes)} changed by more than noise"
    result.append(told + (f"; {of.too_few} have too few runs to tell (4 on each side tell)" if of.too_few else ""))
    return result


def main(old_path: Path, new_path: Path) -> int:
    old, new = files.read([old_path]), files.read([new_path])
    for line in lines(compare(old, new), old, new):
        print(line)
    return 0
