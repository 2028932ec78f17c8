"""What the page is made of: sections, one for each paper, and items, one for each of its figures and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True)
class Reading:
    """Whether the paper's finding holds here, where that can be told, and the figures that say so."""

    holds: bool | None
    text: str
    said: str = ""  # where it is no finding of a paper's
    thresholds: str = ""  # by which it was decided: a table of HTML

    @property
    def word(self) -> str:
        return self.said or {True: "holds here", False: "does not hold here", None: "cannot be told here"}[self.holds]


@dataclass
class Item:
    """A figure or table of a paper: what the paper found, what is found here, and the plots and tables of it. Or another comparison, where
    `found` says what is compared, and `label` that it does."""

    number: str
    title: str
    found: str
    reading: Reading
    plots: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    note: str = ""
    label: str = "The paper"

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in f"{self.number} {self.title}".lower())


@dataclass
class Section:
    title: str
    source: str
    items: list[Item]
    missing: str = ""  # how to get the results that there are none of
    beyond: str = ""  # what these machines cannot show
    of_paper: bool = True


def table(header: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """An HTML table whose first column names its rows. Everything is text; None is an empty cell."""

    def row(values: Sequence[object], names: int) -> str:
        texts = ["" if value is None else escape(str(value)) for value in values]
        named = "".join(f'<th scope="{"col" if names > 1 else "row"}">{text}</th>' for text in texts[:names])
        return f"<tr>{named}{''.join(f'<td>{text}</td>' for text in texts[names:])}</tr>"

    head = f"<thead>{row(header, len(header))}</thead>"
    body = "".join(row(values, 1) for values in rows)
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{said}{head}<tbody>{body}</tbody></table></div>'


def ratio(value: float | None, digits: int = 2) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


def count(value: float | None) -> str | None:
    return None if value is None else f"{value:,.0f}"


def share(value: float | None, digits: int = 0) -> str | None:
    return None if value is None else f"{value:.{digits}%}"


def error(value: float | None, its_error: float | None, digits: int = 2) -> str | None:
    return None if value is None or its_error is None else f"{value:.{digits}f} ± {its_error:.{digits}f}"


def time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    if seconds >= 10:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def join(parts: Sequence[str]) -> str:
    """a, b and c."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
