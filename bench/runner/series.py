"""The options of a pool that a benchmark can be run with. Each combination of those asked for is a series of its own."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from . import workloads


@dataclass(frozen=True)
class Option:
    """One option of run.py: its values, the first of which is the pool's own choice, and what a program is told for each."""

    name: str
    arguments: Mapping[str, tuple[str, ...]]
    what: str
    stacks_only: bool = False  # it changes nothing for coroutine tasks

    @property
    def default(self) -> str:
        return next(iter(self.arguments))

    def label(self, value: str) -> str:
        """What a series is called that has this value, where that is not the default."""
        if value in ("on", "off"):
            return f"{'no ' if value == 'off' else ''}{self.name}"
        return f"{self.name} {value}" if value in ("free", "none") else value


def _told(option: str, *values: str) -> dict[str, tuple[str, ...]]:
    return {value: (f"--{option}", value) if index else () for index, value in enumerate(values)}


OPTIONS = (
    Option("idle", _told("idle", "lazy", "busy"), "what a worker does that finds nothing"),
    Option("steal", {"on": (), "off": ("--no-steal",)}, "whether workers steal"),
    Option("reclaim", _told("reclaim", "dontneed", "free", "remap", "none"), "what becomes of unused stack pages", True),
    Option("pin", {"auto": (), "on": ("--pin",), "off": ("--no-pin",)}, "whether each worker has a CPU of its own"),
    Option("victims", _told("victims", "eq6", "uniform", "scan"), "which worker a thief tries"),
    Option("backoff", {"on": (), "off": ("--no-back-off",)}, "whether thieves pause that found nothing"),
    Option("resume", _told("resume", "anywhere", "home"), "which thread resumes a suspended stack", True),
)


@dataclass(frozen=True)
class Series:
    """One way to run a program of nopal's: what is added to its name, and to its arguments."""

    suffix: str = ""
    arguments: tuple[str, ...] = ()

    def label(self, impl: str) -> str:
        return impl + self.suffix


PLAIN = Series()
Chosen = Mapping[str, list[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of nopal's pools", "each takes one value or several, as in --idle lazy,busy")
    for option in OPTIONS:
        values = ", ".join(option.arguments)
        group.add_argument(f"--{option.name}", metavar="VALUES", help=f"{option.what}: {values} (default: {option.default})")


def chosen(arguments: argparse.Namespace) -> Chosen:
    """The values asked for, by option. ValueError for one that there is not."""
    result = {}
    for option in OPTIONS:
        if (text := getattr(arguments, option.name)) is None:
            continue
        result[option.name] = text.split(",")
        for value in result[option.name]:
            if value not in option.arguments:
                raise ValueError(f"--{option.name} takes {', '.join(option.arguments)}, not {value!r}")
    return result


def of(impl: str, values: Chosen) -> list[Series]:
    """The series of an implementation: one for each combination, or the plain one where its program takes no options."""
    if not workloads.takes_pool_options(impl):
        return [PLAIN]
    ways = []
    for option in OPTIONS:
        if option.stacks_only and not workloads.has_native_stacks(impl):
            continue
        if option.name in values:
            ways.append([(option, value) for value in values[option.name]])
    result = []
    for combination in product(*ways):
        told = [one for option, value in combination for one in option.arguments[value]]
        names = [option.label(value) for option, value in combination if value != option.default]
        result.append(Series("".join(f", {name}" for name in names), tuple(told)))
    return result
