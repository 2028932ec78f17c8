"""Verdicts on what the papers found. A threshold is the paper's, and is written down before any figure is looked at; where the paper gives
none in figures, it says so, and whose it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .items import Reading, table

NOISE = 0.05  # by which two medians of times may differ and count as the same
OURS = "the paper gives no figure"


@dataclass(frozen=True)
class Threshold:
    what: str  # that is measured
    least: float | None = None
    most: float | None = None
    paper: str = ""  # what the paper says, where it is more than the figure itself
    slack: float = 0.0  # the part of the threshold that counts as noise
    on: int = 0  # workers, with fewer than which the paper's figure cannot be expected, and the threshold says nothing

    def holds(self, value: float | None, workers: int = 0) -> bool | None:
        """None where there is nothing to judge."""
        if value is None or workers < self.on:
            return None
        if self.least is not None and value < self.least * (1 - self.slack):
            return False
        return self.most is None or value <= self.most * (1 + self.slack)

    @property
    def said(self) -> str:
        """The threshold in words."""
        bounds = [f"at least {self.least:.3g}" if self.least is not None else "", f"at most {self.most:.3g}" if self.most is not None else ""]
        more = [f"within {self.slack:.0%}" if self.slack else "", f"on {self.on} workers" if self.on else "", self.paper]
        return "; ".join([" and ".join(bound for bound in bounds if bound), *(text for text in more if text)])


@dataclass(frozen=True)
class Judged:
    threshold: Threshold
    value: float | None
    workers: int = 0
    whole: bool = True  # or else it is of a part of what the paper has, or not exact: that can miss a threshold, and cannot meet it

    @property
    def holds(self) -> bool | None:
        holds = self.threshold.holds(self.value, self.workers)
        return None if holds and not self.whole else holds


def verdict(text: str, judged: Sequence[Judged]) -> Reading:
    """A finding holds where all of its thresholds are met, does not where one is missed, and cannot be told otherwise."""
    outcomes = [one.holds for one in judged]
    holds = False if False in outcomes else None if None in outcomes or not outcomes else True
    words = {True: "met", False: "missed", None: "cannot be told"}
    rows = [
        [one.threshold.what, one.threshold.said, "" if one.value is None else f"{one.value:.3g}", words[outcome]]
        for one, outcome in zip(judged, outcomes, strict=True)
    ]
    return Reading(holds, text, thresholds=table(["of", "threshold", "here", ""], rows) if rows else "")


def same_size(paper: Iterable[int], measured: Iterable[int]) -> int | None:
    """The most workers on which both the paper and we have a figure."""
    return max(set(paper) & set(measured), default=None)
