#!/usr/bin/env python3
"""Compares the figures in the pages with the stored results that they come from, so that none goes stale.

A comment after a paragraph, a list or a table says where its figures come from. Readers do not see it:

    On one worker fib takes 5.1 times the serial time, with libfork 14.3; the trees 0.98 to 1.03. GCC's by hand: 2.9.

    <!-- figures of two-cpus
    5.1, 14.3 = libfork[fib; task | libfork; 1; overhead]
    0.98 to 1.03 = libfork[uts *; task; 1; overhead]
    is fibril[*; tbb; 1] / fibril[*; native; 1] > 0.95
    2.9 from nopal_bench_fib_task --workers 1, 2026-11-23
    -->

- `FILE[KEY; KEY; ...; COLUMN]` are the values of docs/results/two-cpus/bench-FILE.csv in the rows of these keys, which KEYS below names; without
  COLUMN the file's own. `a | b` are several rows in that order, and `*` any text. They are calculated with: + - * /, min, max, median, sum, len.
- As many figures as there are values, in their order; or one that all of them are; or `A to B`: the least and the greatest. Each value, rounded as the
  figure is written, must be that figure. `10 %` is a part; `~1,700` has two digits that count.
- `is` says no figure: what must be true of every value.
- `from` is for what no stored result has: the command that measured it, and its date; or the paper or the source that says so.
- `table of two-cpus`: each line is `COLUMN = ...`, and {} in it is the first cell of the row, where a comma parts keys; `COLUMN from ...` as above.

The figures of a line stand in the text in this order, and each as often as the comment names it. One that stands in the comment and not in the text
is an error, and so is one that nobody names: in docs/results/README.md, in what links to it, and wherever such a comment stands.

    python3 tools/docs/figures.py [PAGE...]
    python3 tools/docs/figures.py --renew [PAGE...]

--renew writes the stored values into pages and comments in place of figures that are wrong, and says which. What a sentence makes of them (more, level,
ahead) is for a reader to look at. It leaves alone what it cannot place.
"""

import ast
import csv
import operator
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

from pages import COMMENT, FENCE

REPOSITORY = Path(__file__).resolve().parents[2]
# By what a row of each file is found, and the column that is meant where none is named.
KEYS = {
    **dict.fromkeys(("libfork", "fibril", "sort", "paper-size", "sort-paper-size", "kernels", "flows"), (("workload", "impl", "workers"), "seconds")),
    "libfork-memory": (("workload", "impl"), "memory"),
    "fibers": (("experiment", "impl", "workers"), "seconds"),
    "fiber-costs": (("experiment", "impl", "workers"), "ns_each"),
    "fiber-migration": (("impl", "workers", "fibers"), "difference"),
    "loops": (("shape", "rest_ms", "impl", "workers"), "median_ns"),
    "verdicts": (("finding",), "holds"),
    "space": (("workload", "front_end"), "stack_pages_per_worker"),
    "simulation": (("workload", "impl", "workers"), "simulated"),
    "simulation-fibers": (("workload", "impl", "workers"), "simulated"),
    "simulation-check": (("workload", "impl", "workers"), "ratio"),
    "dear": (("algorithm", "size"), "best_peer_ratio"),
    "scale": (("algorithm", "n", "element_ns", "machine", "clock"), "speedup"),
}
NUMBER = r"~?\d+(?:,\d{3})*(?:\.\d+)?(?: %)?"
LINE = re.compile(rf"(?P<figures>{NUMBER}(?:(?:,| to) {NUMBER})*) (?P<how>=|from) (?P<what>.+)")
COLUMN = re.compile(r"(?P<column>.+?) (?P<how>=|from) (?P<what>.+)")
QUERY = re.compile(r"([a-z]+(?:-[a-z]+)*)\[([^\]]*)\]")
MEANT = re.compile(r"\s*(?:figures?|tables?)\b[^\n]*\n.*(?: = | from |\bis )", re.DOTALL)
MARK = re.compile(r"\s*(?P<kind>figures|table) of (?P<set>[\w-]+)\n(?P<lines>.*)", re.DOTALL)
# What counts as a figure where all must be named. Versions and sections have two points, or follow a name; code and links are none.
FIGURE = re.compile(r"(?<![\w.,/-])(?:\d+(?:,\d{3})*\.\d+(?![\d.]*\.\d)|\d+(?:,\d{3})*(?=\s?(?:%|×(?!\s?\d)|times\b|[KMG]i?B\b|[nµum]?s\b|th\b)))(?!\w*-)")
NAMED = r"(?:Linux|Debian|GCC|Clang|LLVM|C\+\+|Challenge|Theorem|Section|Listing|Algorithm|Table|Fig\.)\s\d[\d.]*"
MANY_NAMED = r"(?:Theorems|Sections|Tables|Figs\.)\s\d+(?:,\s\d+)*\s(?:and|or|to)\s\d+"
NOT_TEXT = re.compile(rf"`[^`]*`|\]\([^)]*\)|\b\d{{4}}-\d\d-\d\d\b|{MANY_NAMED}|{NAMED}")
# Any number in a text, of which a comment may say that it is a figure.
ANY = re.compile(r"(?<![\w.,·¹²³⁰-⁹-])\d+(?:,\d{3})*(?:\.\d+)?(?![\d·¹²³⁰-⁹]|[.,]\d)")
PATH = re.compile(r"\b(?:src|include|bench|docs)/[\w./-]*\w")
DATED = re.compile(rf"\b\d{{4}}-\d\d-\d\d\b|\bpaper\b|{PATH.pattern}")


class Problem(Exception):
    """What is wrong with one line."""


class Values(list):
    """Numbers that are calculated with one by one."""

    def apply(self, of: Callable, other: "Values") -> "Values":
        if len(self) != len(other) and 1 not in (len(self), len(other)):
            raise Problem(f"{len(self)} values beside {len(other)}")
        length = max(len(self), len(other))
        return Values(of(a, b) for a, b in zip(self * (length // len(self)), other * (length // len(other)), strict=True))


OPERATORS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq},
}
FUNCTIONS = {"min": min, "max": max, "median": median, "sum": sum, "len": len}


class Stored:
    """The stored results of one machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, list[dict[str, str]]] = {}

    def rows(self, name: str) -> list[dict[str, str]]:
        if name not in self._rows:
            file = self.folder / f"bench-{name}.csv"
            if name not in KEYS or not file.is_file():
                raise Problem(f"there is no {file.name} in {self.folder.name}, or figures.py does not know its keys")
            with file.open(newline="", encoding="utf-8") as lines:
                self._rows[name] = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        return self._rows[name]

    def values(self, name: str, query: str) -> Values:
        rows = self.rows(name)
        keys, column = KEYS[name]
        parts = [part.strip() for part in query.split(";")]
        if len(parts) == len(keys) + 1:
            column = parts.pop()
        if len(parts) != len(keys):
            raise Problem(f"{name}[{query}]: the keys are {'; '.join(keys)}, and then a column")
        if column.split(" ")[0] not in rows[0]:
            raise Problem(f"{name} has no column {column}, but {', '.join(rows[0])}")
        wanted = [[one.strip() for one in part.split("|")] for part in parts]
        found = Values()
        for choice in _choices(wanted):
            here = [row for row in rows if all(fnmatchcase(row[key], one) for key, one in zip(keys, choice, strict=True))]
            if not here:
                raise Problem(f"{name} has no row {'; '.join(choice)}")
            found += [value for row in here if (value := _value(row, column, choice)) is not None]
        if not found:
            raise Problem(f"{name}[{query}]: {column} is empty")
        return found

    def calculate(self, expression: str) -> Values:
        given: dict[str, Values] = {}

        def name(match: re.Match[str]) -> str:
            given[key := f"value_{len(given)}"] = self.values(match[1], match[2])
            return key

        text = QUERY.sub(name, expression)
        try:
            return _evaluate(ast.parse(text, mode="eval").body, given)
        except SyntaxError:
            raise Problem(f"cannot be calculated: {expression}") from None


def _choices(wanted: list[list[str]]) -> list[list[str]]:
    result: list[list[str]] = [[]]
    for ones in wanted:
        result = [[*before, one] for before in result for one in ones]
    return result


def _value(row: dict[str, str], column: str, choice: list[str]) -> float | None:
    """`memory 8` is that of eight workers. None where any row is asked for, and this one has no value."""
    column, _, of = column.partition(" ")
    text = row[column]
    if of:
        text = str(ast.literal_eval(text).get(int(of), ""))
    if not text and any("*" in one for one in choice):
        return None
    try:
        return float(text)
    except ValueError:
        raise Problem(f"{column} of {'; '.join(choice)} is no number: '{text}'") from None


def _evaluate(node: ast.expr, given: dict[str, Values]) -> Values:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return _evaluate(node.left, given).apply(OPERATORS[type(node.op)], _evaluate(node.right, given))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
        return _evaluate(node.left, given).apply(OPERATORS[type(node.ops[0])], _evaluate(node.comparators[0], given))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
        return Values([FUNCTIONS[node.func.id]([value for argument in node.args for value in _evaluate(argument, given)])])
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Values([float(node.value)])
    if isinstance(node, ast.Name) and node.id in given:
        return given[node.id]
    raise Problem(f"cannot be calculated: {ast.unparse(node)}")


def as_written(figure: str, value: float) -> str:
    """The value, rounded as the figure is."""
    digits = figure.strip("~% ").replace(",", "")
    places = len(digits.partition(".")[2])
    value *= 100 if figure.endswith("%") else 1
    if figure.startswith("~"):
        whole = float(f"{value:.2g}")
        return f"{whole:.{places}f}"
    rounded = f"{value:.{places}f}"
    # What lies in the middle between two may be rounded to either.
    return digits if abs(float(digits) - value) <= 0.5 * 10**-places * (1 + 1e-9) else rounded


def compare(figures: list[str], values: Values, is_range: bool) -> list[str]:
    if is_range:
        values = Values([min(values), max(values)])
    if len(figures) == 1:
        figures = figures * len(values)
    if len(figures) != len(values):
        return [f"{len(figures)} figures for {len(values)} values"]
    return [
        f"{figure.strip('~')}, and stored is {as_written(figure, value)}{' %' if figure.endswith('%') else ''} ({value:.6g})"
        for figure, value in zip(figures, values, strict=True)
        if as_written(figure, value) != figure.strip("~% ").replace(",", "")
    ]


@dataclass(frozen=True)
class Mark:
    """A comment on figures, and the text that it is of."""

    kind: str
    of: str
    lines: list[str]
    text: str
    line: int
    at: int = 0  # where the text begins in the page
    comment: tuple[int, int] = (0, 0)  # where the comment is


def blank(page: str, expression: re.Pattern[str], keep: Callable[[re.Match[str]], bool] = lambda _: False) -> str:
    """The page with other characters but line breaks in place of what matches."""
    return expression.sub(lambda m: m[0] if keep(m) else re.sub(r"[^\n]", "\0", m[0]), page)


def paragraphs(page: str) -> tuple[list[Mark], list[Mark]]:
    """What has a mark, and what has none."""
    page = blank(page, FENCE)
    page = blank(page, COMMENT, lambda m: MEANT.match(m["text"]) is not None)
    marked, bare = [], []
    pending: list[tuple[str, int, int]] = []
    position = 0
    for comment in [*COMMENT.finditer(page), None]:
        end = comment.start() if comment else len(page)
        for part in re.finditer(r"(?:(?!\n[ \t]*\n).)+", page[position:end], re.DOTALL):
            text = part[0]
            if text.replace("\0", "").strip():
                at = position + part.start()
                pending.append((text, page.count("\n", 0, at + len(text) - len(text.lstrip())) + 1, at))
        if comment and MEANT.match(comment["text"]):
            found = MARK.fullmatch(comment["text"])
            text, line, at = pending.pop() if pending else ("", page.count("\n", 0, comment.start()) + 1, comment.start())
            lines = [one.strip() for one in found["lines"].splitlines() if one.strip()] if found else []
            kind, of = (found["kind"], found["set"]) if found else ("", "")
            marked.append(Mark(kind, of, lines, text, line, at, comment.span()))
        position = comment.end() if comment else len(page)
    bare = [Mark("", "", [], text, line, at) for text, line, at in pending]
    return marked, bare


def unnamed(text: str, named: list[str]) -> list[str]:
    """The figures in a text that nobody names."""
    text = blank(text, NOT_TEXT)
    found = [m for m in FIGURE.finditer(text) if not re.match(r"20\d\d\.", m[0])]
    return list(dict.fromkeys(m[0] for m in found if m[0] not in named))


def misplaced(text: str, lines: list[list[str]]) -> list[str]:
    """Those of the figures in the lines that do not stand in the text as often as they are named, or not in the order of their line."""
    numbers = ANY.findall(blank(text, NOT_TEXT))
    named = Counter(one for line in lines for one in line)
    problems = []
    for one, times in named.items():
        if not (there := numbers.count(one)):
            problems.append(f"{one} is named, and does not stand in the text")
        elif there != times:
            problems.append(f"{one} is named {times} times, and stands in the text {there} times")
    for line in lines:
        rest = iter(numbers)
        if all(one in numbers for one in line) and not all(one in rest for one in line):
            problems.append(f"{', '.join(line)} do not stand in the text in this order")
    return problems


def check_source(how: str, what: str) -> list[str]:
    if how != "from":
        return []
    gone = [f"there is no {path}" for path in PATH.findall(what) if not (REPOSITORY / path).exists()]
    return gone if DATED.search(what) else ["'from' names the command and its date, or the paper"]


def check_text(mark: Mark, stored: Stored) -> list[str]:
    problems: list[str] = []
    named: list[list[str]] = []
    for line in mark.lines:
        try:
            if line.startswith("is "):
                if not all(stored.calculate(line.removeprefix("is "))):
                    problems.append(f"is not so: {line.removeprefix('is ')}")
                continue
            if not (found := LINE.fullmatch(line)):
                raise Problem(f"is neither FIGURES = ..., FIGURES from ... nor is ...: {line}")
            figures = re.findall(NUMBER, found["figures"])
            named.append([figure.strip("~% ") for figure in figures])
            problems += check_source(found["how"], found["what"])
            if found["how"] == "=":
                problems += [f"{one}: {line}" for one in compare(figures, stored.calculate(found["what"]), " to " in found["figures"])]
        except Problem as problem:
            problems.append(str(problem))
    bare = unnamed(mark.text, [one for line in named for one in line])
    return problems + misplaced(mark.text, named) + [f"{one}: no line of the comment says where it comes from" for one in bare]


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def values_of_row(what: str, row: list[str], stored: Stored) -> Values:
    """The values of a table's column in one row, which its first cell names."""
    return stored.calculate(what.replace("{}", row[0].replace(", ", "; ")))


def renewed(figures: list[str], values: Values, separates: bool) -> list[str] | None:
    """The values as figures that are written as the old ones are. `separates`: large ones get commas. None: there is no such figure."""
    if len(figures) == 1 and len({as_written(figures[0], value) for value in values}) == 1:
        values = Values(values[:1])
    if len(figures) != len(values) or min(values) < 0:
        return None
    result = []
    for figure, value in zip(figures, values, strict=True):
        digits = as_written(figure, value)
        whole, point, places = digits.partition(".")
        if "," in figure or (separates and len(figure.strip("~% ").partition(".")[0]) < 4):
            whole = f"{int(whole):,}"
        result.append(f"{'~' if figure.startswith('~') else ''}{whole}{point}{places}{' %' if figure.endswith('%') else ''}")
    return result


def renew_line(line: str, stored: Stored) -> tuple[str, list[tuple[str, str]]]:
    """The line of a comment with the stored values, and its figures before and after."""
    found = LINE.fullmatch(line)
    if not found:
        return line, []
    figures = re.findall(NUMBER, found["figures"])
    after: list[str] | None = None
    if found["how"] == "=":
        try:
            values = stored.calculate(found["what"])
            after = renewed(figures, Values([min(values), max(values)]) if " to " in found["figures"] else values, True)
        except Problem:
            pass
    after = after or figures
    rest = iter(after)
    return re.sub(NUMBER, lambda _: next(rest), found["figures"]) + line[len(found["figures"]) :], list(zip(figures, after, strict=True))


def renew_text(text: str, lines: list[list[tuple[str, str]]]) -> str | None:
    """The text with each line's figures renewed in their order. None if it is not clear where they stand."""
    left = [[(before.strip("~% "), after.strip("~% ")) for before, after in line] for line in lines]
    result, end = [], 0
    for number in ANY.finditer(blank(text, NOT_TEXT)):
        found = [line for line in left if line and line[0][0] == number[0]]
        if len({line[0][1] for line in found}) > 1:
            return None
        if found:
            result += [text[end : number.start()], found[0].pop(0)[1]]
            end = number.end()
    return None if any(left) else "".join(result) + text[end:]


def renew_table(text: str, mark: Mark, stored: Stored) -> tuple[str, list[str]]:
    """The table with the stored values in its cells, and what has changed."""
    header: list[str] = []
    lines, told = text.split("\n"), []
    sources = [found for line in mark.lines if (found := COLUMN.fullmatch(line)) and found["how"] == "="]
    for at, line in enumerate(lines):
        if not line.strip().startswith("|"):
            continue
        row = cells(line)
        header = header or row
        parts = line.split("|")  # the first is empty: so part k + 1 is cell k
        for found in sources:
            if row is header or found["column"] not in header:
                continue
            column = header.index(found["column"]) + 1
            figures = re.findall(NUMBER, parts[column])
            try:
                after = renewed(figures, values_of_row(found["what"], row, stored), False) if figures else None
            except Problem:
                continue
            if after is None:
                continue
            told += [f"{row[0]}, {found['column']}: {old} is {new}" for old, new in zip(figures, after, strict=True) if old != new]
            rest = iter(after)
            parts[column] = re.sub(NUMBER, lambda _, rest=rest: next(rest), parts[column])
        lines[at] = "|".join(parts)
    return "\n".join(lines), told


def renew(page: Path, repository: Path = REPOSITORY) -> list[str]:
    """Writes the stored values into a page. Returns what has changed."""
    before = page.read_text(encoding="utf-8")
    content, told = before, []
    for mark in reversed(paragraphs(before)[0]):  # so that what stands earlier stays where it is
        stored = Stored(repository / "docs/results" / mark.of)
        where = f"{page.relative_to(repository)}:{mark.line}"
        end = mark.at + len(mark.text)
        text, comment = before[mark.at : end], before[slice(*mark.comment)]
        if mark.kind == "table":
            new_text, changed = renew_table(text, mark, stored)
            content = content[: mark.at] + new_text + content[end:]
            told += [f"{where}: {one}" for one in reversed(changed)]
        if mark.kind != "figures":
            continue
        lines = [renew_line(line, stored) for line in mark.lines]
        changes = [f"{old} is {new}" for _, figures in lines for old, new in figures if old != new]
        if not changes:
            continue
        placed = renew_text(text, [figures for _, figures in lines])
        renewed_lines = {f"\n{old}\n": f"\n{new}\n" for old, (new, _) in zip(mark.lines, lines, strict=True) if old != new}
        if placed is None or any(comment.count(old) != 1 for old in renewed_lines):
            told.append(f"{where}: left alone, since it is not clear where its figures stand: {', '.join(changes)}")
            continue
        for old, new in renewed_lines.items():
            comment = comment.replace(old, new)
        content = content[: mark.at] + placed + content[end : mark.comment[0]] + comment + content[mark.comment[1] :]
        told.append(f"{where}: {', '.join(changes)}")
    if content != before:
        page.write_text(content, encoding="utf-8")
    return told[::-1]


def check_table(mark: Mark, stored: Stored) -> list[str]:
    rows = [cells(row) for row in mark.text.strip().splitlines() if row.strip().startswith("|")]
    if len(rows) < 3:
        return ["there is no table before the comment"]
    header, _, *rows = rows
    problems, known = [], set()
    for line in mark.lines:
        found = COLUMN.fullmatch(line)
        if not found or found["column"] not in header:
            problems.append(f"names none of the columns {', '.join(header)}: {line}")
            continue
        known.add(at := header.index(found["column"]))
        problems += check_source(found["how"], found["what"])
        for row in rows if found["how"] == "=" else []:
            try:
                figures = re.findall(NUMBER, row[at])
                told = compare(figures, values_of_row(found["what"], row, stored), False) if figures else []
                problems += [f"{row[0]}, {found['column']}: {one}" for one in told]
            except Problem as problem:
                problems.append(f"{row[0]}, {found['column']}: {problem}")
    bare = [name for at, name in enumerate(header) if at and at not in known and any(re.search(r"\d", row[at]) for row in rows)]
    return problems + [f"column {name}: no line of the comment says where it comes from" for name in bare]


def check(page: Path, repository: Path = REPOSITORY) -> list[str]:
    """What is wrong with a page's figures."""
    relative = page.relative_to(repository)
    marked, bare = paragraphs(page.read_text(encoding="utf-8"))
    problems = []
    for mark in marked:
        stored = Stored(repository / "docs/results" / mark.of)
        if not mark.kind:
            problems.append(f"{relative}:{mark.line}: a comment on figures begins with 'figures of' or 'table of', and the set")
            continue
        found = (check_table if mark.kind == "table" else check_text)(mark, stored)
        problems += [f"{relative}:{mark.line}: {problem}" for problem in found]
    strict = relative == Path("docs/results/README.md")
    for part in bare:
        if strict or "results/README.md)" in part.text:
            found = unnamed(part.text, [])
            problems += [f"{relative}:{part.line}: no comment says where {', '.join(found)} comes from: tools/docs/figures.py says how"] if found else []
    return problems


def pages(repository: Path = REPOSITORY) -> list[Path]:
    found = [repository / "README.md", *sorted((repository / "docs").rglob("*.md")), *sorted((repository / "bench").glob("*.md"))]
    return [page for page in [*found, *sorted((repository / "include").rglob("*.md")), *sorted((repository / "companions").rglob("*.md"))] if page.is_file()]


def main() -> int:
    names = [name for name in sys.argv[1:] if name != "--renew"]
    given = [Path(name).resolve() for name in names] or pages()
    if "--renew" in sys.argv:
        print(*[told for page in given for told in renew(page)], sep="\n")
    problems = [problem for page in given for problem in check(page)]
    marks = [mark for page in given for mark in paragraphs(page.read_text(encoding="utf-8"))[0]]
    print(*problems, sep="\n", file=sys.stderr)
    print(f"{sum(len(mark.lines) for mark in marks)} lines on figures in {len(marks)} places, {len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
