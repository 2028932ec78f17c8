#!/usr/bin/env python3
"""Makes a program of each block of C++ and C in the site's pages, for tests/docs to compile and run.

A block with a main is a program. Any other stands in a comment's program, which is right before it and which readers do not see:

    <!--
    #include <vector>
    int main() {
      std::vector<long> v(1000, 1);
      @block
      check(sum == 1000);
    }
    -->
    ```cpp
    long const sum = nopal::reduce(v, 0L);
    ```

A comment may begin with words for the build: `libraries: tbb openmp`. `@block NAME` in a later comment of the page is the block whose comment
says `name: NAME`. <nopal/nopal.hpp>, the standard library and `check` of tests/docs/prelude.hpp are there without being included. What is
neither a program nor in one is an error, and so is C++ under a label that is not compiled.

    python3 tools/docs/blocks.py --out build/release/tests/docs
"""

import argparse
import re
import sys
from pathlib import Path

from pages import Block, blocks

REPOSITORY = Path(__file__).resolve().parents[2]
COMPILED = {"cpp": "cpp", "c": "c"}
# Labels of what is no C++: commands, what programs print, languages that Debian has no compiler for, and what makes pages.
OTHERS = {"", "sh", "text", "cmake", "console", "cilk", "json", "ini", "meson", "make", "sql"}
PARTS = re.compile(r"^\{[a-z-]+\}")
LOOKS_LIKE_CODE = re.compile(r"nopal::\w+\s*[({<]|#\s*include|\bco_await\b|\bstd::\w+\s*[({<]|^\s*(int|void|auto)\s+\w+\s*\(", re.MULTILINE)
HEAD = re.compile(r"^\s*(?:(?P<key>libraries|name):(?P<value>[^\n]*)\n)")


class Problem(Exception):
    pass


def pages() -> list[Path]:
    """The site's own pages, the README and the guides of docs/."""
    return [*sorted((REPOSITORY / "docs/site").rglob("*.md")), REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def head_of(comment: str) -> tuple[dict[str, str], str]:
    words = {}
    while found := HEAD.match(comment):
        words[found["key"]] = found["value"].strip()
        comment = comment[found.end() :]
    return words, comment


def program(block: Block, named: dict[str, str]) -> tuple[str, list[str]]:
    """Its text, and the libraries that it needs."""
    words, around = head_of(block.comment)
    if name := words.get("name"):
        named[name] = block.text
    libraries = words.get("libraries", "").split()
    if re.search(r"\bint main\(", block.text):
        return block.text, libraries
    if not re.search(r"^[ \t]*@block[ \t]*$", around, re.MULTILINE):
        raise Problem("has no main, and no comment with @block before it that makes it a program")
    if not re.search(r"\bint main\(", around):
        raise Problem("the comment before it has no main")
    text = re.sub(r"^[ \t]*@block[ \t]*$", lambda _: block.text, around, flags=re.MULTILINE)

    def by_name(match: re.Match[str]) -> str:
        if match[1] not in named:
            raise Problem(f"@block {match[1]}: no block before it has the name {match[1]}")
        return named[match[1]]

    return re.sub(r"^[ \t]*@block (\S+)[ \t]*$", by_name, text, flags=re.MULTILINE), libraries


def programs_of(page: Path, problems: list[str]) -> dict[str, tuple[str, list[str]]]:
    """Of each program its text and libraries, by its file's name."""
    relative = page.relative_to(REPOSITORY)
    stem = str(relative.with_suffix("")).removeprefix("docs/").removeprefix("site/").replace("/", "_").lower()
    found: dict[str, tuple[str, list[str]]] = {}
    named: dict[str, str] = {}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{relative}:{block.line}"
        if block.label in COMPILED:
            try:
                found[f"{stem}_{len(found) + 1}.{COMPILED[block.label]}"] = program(block, named)
            except Problem as problem:
                problems.append(f"{where}: {problem}")
        elif block.label not in OTHERS and not PARTS.match(block.label):
            problems.append(f"{where}: nobody compiles what is labelled '{block.label}': write cpp or c, or one of {', '.join(sorted(OTHERS - {''}))}")
        elif block.label in ("", "text", "console", "sh") and LOOKS_LIKE_CODE.search(block.text) and not is_output(block.text):
            problems.append(f"{where}: this looks like C++, and is not compiled: label it cpp, or quote a program's output only")
    return found


def is_output(text: str) -> bool:
    """What gdb, reports and profiles print has names of functions in it, which stand behind numbers, places or words."""
    return bool(re.search(r"^#\d+ |^\(gdb\)|^nopal(:(?!:)| )|^  +in |%  |switches", text, re.MULTILINE))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the folder that gets the programs, and list.txt: NAME|LIBRARY,…")
    parser.add_argument("--pages", action="store_true", help="say which pages are read")
    args = parser.parse_args()
    if args.pages:
        print(*pages(), sep="\n")
        return 0
    problems: list[str] = []
    lines = []
    for page in pages():
        for name, (text, libraries) in programs_of(page, problems).items():
            lines.append(f"{name}|{','.join(libraries)}")
            if args.out is None:
                continue
            args.out.mkdir(parents=True, exist_ok=True)
            file = args.out / name
            if not file.exists() or file.read_text(encoding="utf-8") != text:  # so that what has not changed is not compiled again
                file.write_text(text, encoding="utf-8")
    if args.out is not None and not problems:
        (args.out / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(*problems, sep="\n", file=sys.stderr)
    print(f"{len(lines)} programs")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
