"""The files that the rules look at: what they say, what of it is code and what comment, and what they include."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

FOLDERS = ("include", "src", "companions", "tests", "bench", "examples", "docs")
CORE = "include/nopal/core/"
COMPANIONS = "companions/"
LANGUAGE = (".hpp", ".h", ".cpp", ".c", ".S")  # what has comments as C++ has them

TOKEN = re.compile(
    r"""(?P<comment> //[^\n]* | /\*.*?\*/ )
      | (?P<string> R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
      | \b\d(?:'?[\w.])*  # a number, whose ' begins no character""",
    re.VERBOSE | re.DOTALL,
)
MARKDOWN_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?P<name>[^>"\n]+)[>"]', re.MULTILINE)


@dataclass(frozen=True)
class Problem:
    file: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


@dataclass(frozen=True)
class Include:
    """A line of `file` that includes `name`, which is the tree's `target` if the tree has it."""

    file: str
    line: int
    name: str
    target: str | None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: includes {self.name}"


def blank(text: str) -> str:
    """As long as `text` and with its lines, but empty: what follows it keeps its place."""
    return re.sub(r"[^\n]", " ", text)


class Source:
    """The text of one file."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    @cached_property
    def lines(self) -> list[str]:
        return self.text.removesuffix("\n").split("\n")

    @cached_property
    def comments(self) -> list[re.Match[str]]:
        if not self.path.endswith(LANGUAGE):
            return []
        return [token for token in TOKEN.finditer(self.text) if token["comment"]]

    @cached_property
    def comment_lines(self) -> set[int]:
        """The numbers of the lines that have a comment or a part of one."""
        return {n for c in self.comments for n in range(self.line_at(c.start()), self.line_at(c.end()) + 1)}

    @cached_property
    def without_comments(self) -> str:
        return TOKEN.sub(lambda token: blank(token[0]) if token["comment"] else token[0], self.text)

    @cached_property
    def code(self) -> str:
        """The text with nothing but code: no comments and no strings. Of Markdown, what stands between `s."""
        if self.path.endswith(".md"):
            return self._only_markdown_code()
        return TOKEN.sub(lambda token: blank(token[0]) if token["comment"] or token["string"] else token[0], self.text)

    def _only_markdown_code(self) -> str:
        pieces, end = [], 0
        for code in MARKDOWN_CODE.finditer(self.text):
            pieces += [blank(self.text[end : code.start()]), code[0]]
            end = code.end()
        return "".join([*pieces, blank(self.text[end:])])


class Tree:
    """The files below a folder that belong to nopal, by their paths from there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folders = tuple(f"{folder}/" for folder in FOLDERS)
        self.files = sorted(path for path in _paths(root) if path.startswith(folders) or path == "README.md")
        self._known = set(self.files)
        self.source = cache(self._source)
        self.includes = cache(self._includes)
        self.companions = cache(self.companions)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def under(self, folders: str | tuple[str, ...], endings: str | tuple[str, ...]) -> list[str]:
        return [path for path in self.files if path.startswith(folders) and path.endswith(endings)]

    def library(self, endings: str | tuple[str, ...]) -> list[str]:
        """What the library is made of, or says in its folders: no tests."""
        return [path for path in self.under(("include/", "src/", COMPANIONS), endings) if not path.startswith(COMPANIONS) or "/tests/" not in path]

    def headers(self, folder: str) -> list[str]:
        return self.under(folder, (".hpp", ".h"))

    def implementations(self) -> list[str]:
        return [path for path in self.under(("src/", COMPANIONS), (".cpp", ".c")) if path.startswith("src/") or "/src/" in path]

    def companions(self) -> list[str]:
        """Their folders."""
        return sorted({"/".join(path.split("/")[:2]) + "/" for path in self.under(COMPANIONS, "")})

    def _source(self, path: str) -> Source:
        return Source(path, (self.root / path).read_text(encoding="utf-8", errors="replace"))

    def _includes(self, path: str) -> list[Include]:
        source = self.source(path)
        found = INCLUDE.finditer(source.without_comments)
        return [Include(path, source.line_at(i.start("name")), i["name"], self._target(path, i["name"])) for i in found]

    def _target(self, file: str, name: str) -> str | None:
        places = (str(PurePosixPath(file).parent), "include", "src", "companions", *(f"{folder}include" for folder in self.companions()))
        return next((path for place in places if (path := _join(place, name)) in self), None)


def _join(folder: str, name: str) -> str:
    """The path of `name` seen from `folder`, also where it has `..` in it."""
    parts: list[str] = []
    for part in PurePosixPath(folder, name).parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _paths(root: Path) -> Iterator[str]:
    """What git tracks or would track; all that there is where there is no git."""
    listed = _git_paths(root) if (root / ".git").exists() else None
    if listed is not None:
        yield from (path for path in listed if (root / path).is_file())
        return
    for folder in FOLDERS:
        yield from (path.relative_to(root).as_posix() for path in (root / folder).rglob("*") if path.is_file())
    if (root / "README.md").is_file():
        yield "README.md"


def _git_paths(root: Path) -> list[str] | None:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return sorted(set(result.stdout.split("\0")) - {""}) if result.returncode == 0 else None
