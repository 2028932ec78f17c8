"""Rules on what the files say: which words they use, and that each memory order has its reason."""

import re
from collections.abc import Iterator

from tree import LANGUAGE, Problem, Source, Tree, blank
from words import RETIRED, Retired

MARKER = re.compile(r"^[ \t]*(//+<?|/\*+<?|\*(?!/))", re.MULTILINE)  # what a line of a comment begins with

ORDER = re.compile(r"\bmemory_order(_|::)(relaxed|acquire|release|acq_rel)\b|\b__ATOMIC_\w+|\b\w*fence(?= *\()")
NEAR = 6  # lines
NO_FUNCTION = re.compile(r"\s*(class|struct|union|enum|namespace|extern|public|protected|private)\b")


def words(tree: Tree) -> list[Problem]:
    """No retired word, and no comment that begins with "The same"."""
    files = [*tree.library((*LANGUAGE, ".md")), *tree.under(("docs/", "README.md"), ".md")]
    return [problem for file in files for problem in _words_of_file(tree.source(file))]


def _words_of_file(source: Source) -> list[Problem]:
    found = [*_the_same(source), *(problem for word in RETIRED for problem in _retired(source, word))]
    return sorted(found, key=lambda problem: problem.line)


def _retired(source: Source, word: Retired) -> Iterator[Problem]:
    text = source.code if word.only_code else _without_markers(source.text)
    for match in word.regex.finditer(text):
        said = " ".join(match[0].split())
        line = source.line_at(match.start())
        yield Problem(source.path, line, f"says '{said}', a retired word", f"instead: {word.instead}")


def _without_markers(text: str) -> str:
    """So that words which the end of a line parts stand beside each other."""
    return MARKER.sub(lambda marker: blank(marker[0]), text)


def _the_same(source: Source) -> Iterator[Problem]:
    for comment in source.comments:
        says = MARKER.sub("", comment[0], count=1).lstrip()
        line = source.line_at(comment.start())
        if re.match(r"The same\b", says) and not _is_continued(source, line):
            remedy = "name what this is like and how it differs: 'As f, but ...'"
            yield Problem(source.path, line, "a comment begins with 'The same'", remedy)


def _is_continued(source: Source, line: int) -> bool:
    """Is this line of // in the midst of a comment's paragraph?"""
    above = source.lines[line - 2] if line > 1 else ""
    return all(re.match(r"\s*//+<?\s*[^\s/<]", text) for text in (above, source.lines[line - 1]))


def orders(tree: Tree) -> list[Problem]:
    """Each memory order but seq_cst, and each fence, has a comment near it that can give its reason."""
    files = tree.library((".hpp", ".h", ".cpp", ".c"))
    return [problem for file in files for problem in _orders_of_file(tree.source(file))]


def _orders_of_file(source: Source) -> Iterator[Problem]:
    code = source.code.split("\n")
    for line, text in enumerate(code, start=1):
        order = ORDER.search(text)
        if order and not _is_explained(source.comment_lines, code, line):
            yield Problem(source.path, line, f"{order[0]} without a comment", "say why it suffices, and what it pairs with")


def _is_explained(comments: set[int], code: list[str], line: int) -> bool:
    if any(near in comments for near in range(line - NEAR, line + 1)):
        return True
    return any(start in comments or start - 1 in comments for start in _enclosing(code, line))


def _enclosing(code: list[str], line: int) -> Iterator[int]:
    """Where the statement of a line begins, then the statements around that, by their indentation, out to the function."""
    while True:
        line = _start(code, line)
        if NO_FUNCTION.match(code[line - 1]):
            return
        yield line
        inner = _indentation(code[line - 1])
        outer = (n for n in range(line - 1, 0, -1) if code[n - 1].strip() and _indentation(code[n - 1]) < inner)
        line = next(outer, 0)
        if line == 0:
            return


def _start(code: list[str], line: int) -> int:
    """The first line of the statement that a line belongs to: the one before ends another."""
    while line > 1 and (above := code[line - 2].rstrip()) and above[-1] not in ";{}:" and not above.lstrip().startswith("#"):
        line -= 1
    return line


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())
