"""What result files hold, as the sections of the page ask for it."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from .. import workloads

Values = dict[int, list[float]]  # by the number of workers

NAMES = {
    "serial": "serial",
    "task": "nopal task",
    "task_stack": "nopal task, stack_array",
    "native": "nopal parallel_invoke",
    "scope": "nopal scope",
    "c": "nopal from C",
    "fiber": "nopal fiber",
    "tbb": "oneTBB",
    "tbb_simple": "oneTBB simple",
    "openmp": "OpenMP",
    "openmp_dynamic": "OpenMP dynamic",
    "openmp_guided": "OpenMP guided",
    "parallel_mode": "parallel mode of the standard library",
    "libfork": "libfork lazy",
    "libfork_busy": "libfork busy",
    "libfork_stack": "libfork lazy, stack API",
    "libfork_stack_busy": "libfork busy, stack API",
    "taskflow": "Taskflow",
}


def name(label: str) -> str:
    """What a series is called on the page."""
    impl = workloads.base(label)
    suffix = label[len(impl) :].replace("reclaim none", "pages kept")
    return NAMES.get(impl, impl) + suffix


@dataclass(frozen=True)
class Cell:
    table: str
    impl: str
    workers: int
    status: str
    short: str
    reason: str
    records: list[dict]

    def values(self, of: str) -> list[float]:
        return [record[of] for record in self.records if of in record] if self.status == "ok" else []

    def middle(self, of: str) -> float | None:
        values = self.values(of)
        return median(values) if values else None


class Results:
    """All that was read, by the stems of the files."""

    def __init__(self, contents: dict[str, dict]) -> None:
        self._contents = contents
        self._cells = {
            stem: [
                Cell(
                    run["table"], run["impl"], run["workers"], run["status"], run.get("short", run["status"]), run["reason"], run["records"]
                )
                for run in content["runs"]
            ]
            for stem, content in contents.items()
        }

    def __contains__(self, stem: str) -> bool:
        return stem in self._contents

    @property
    def contents(self) -> dict[str, dict]:
        return self._contents

    @property
    def cpus(self) -> int:
        return max(content["machine"]["usable_cpus"] for content in self._contents.values())

    @property
    def every_cell(self) -> list[Cell]:
        return [cell for cells in self._cells.values() for cell in cells]

    def rows(self, stem: str) -> list[dict]:
        return self._contents[stem]["rows"] if stem in self else []

    def tables(self, stem: str) -> list[str]:
        return list(dict.fromkeys(cell.table for cell in self._cells.get(stem, [])))

    def cells(self, stem: str, table: str) -> list[Cell]:
        return [cell for cell in self._cells.get(stem, []) if cell.table == table]

    def cell(self, stem: str, table: str, impl: str, workers: int) -> Cell | None:
        return next((cell for cell in self.cells(stem, table) if cell.impl == impl and cell.workers == workers), None)

    def middle(self, stem: str, table: str, impl: str, workers: int, of: str = "seconds") -> float | None:
        cell = self.cell(stem, table, impl, workers)
        return cell.middle(of) if cell else None

    def serial(self, stem: str, table: str) -> float | None:
        return self.middle(stem, table, workloads.SERIAL, 1)

    def series(self, stem: str, table: str, of: Callable[[dict, int], float | None]) -> dict[str, Values]:
        """For each series but the serial one its values by workers: `of` makes a record and its number of workers into one."""
        result: dict[str, Values] = {}
        for cell in self.cells(stem, table):
            if cell.impl == workloads.SERIAL or cell.status != "ok":
                continue
            values = [value for record in cell.records if (value := of(record, cell.workers)) is not None]
            if values:
                result.setdefault(cell.impl, {})[cell.workers] = values
        return result

    def speedups(self, stem: str, table: str) -> dict[str, Values]:
        """Eq. (15), of each run against the median of the serial projection's."""
        serial = self.serial(stem, table)
        return self.series(stem, table, lambda record, workers: serial / record["seconds"] if serial else None)

    def most_workers(self, stem: str) -> int:
        """The most that are not more than the CPUs."""
        return max((cell.workers for cell in self._cells.get(stem, []) if cell.workers <= self.cpus), default=1)


def efficiencies(speedups: dict[str, Values]) -> dict[str, Values]:
    """Eq. (16)."""
    return {impl: {p: [value / p for value in values] for p, values in by.items()} for impl, by in speedups.items()}


def middles(values: Values) -> dict[int, float]:
    return {workers: median(some) for workers, some in values.items()}
