#!/usr/bin/env python3
"""What the page on installing tells its readers to write is what tests/ways runs: each block with commands, or of a build system, follows a
comment that says where it is from,

    <!-- from: tests/ways/find_package/CMakeLists.txt -->

and its lines stand there, one below the other; further in, or with more behind them, is fine.
"""

import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools/docs"))

from pages import blocks  # noqa: E402

PAGES = ["docs/site/guides/installing.md"]
QUOTED = ("sh", "cmake", "json", "ini", "meson")
FROM = re.compile(r"from: (\S+)")


def is_in(quoted: list[str], source: list[str]) -> bool:
    return any(
        all(line.strip() in other for line, other in zip(quoted, source[first:], strict=False))
        for first in range(len(source) - len(quoted) + 1)
    )


def problems(name: str, text: str) -> list[str]:
    found = []
    for block in blocks(text):
        if block.label not in QUOTED:
            continue
        where, said = f"{name}:{block.line}", FROM.search(block.comment)
        if said is None:
            found.append(f"{where}: no comment before this block says from which tested file it is: <!-- from: FILE -->")
        elif not (REPOSITORY / said[1]).is_file():
            found.append(f"{where}: it is from {said[1]}, which does not exist")
        elif not is_in(block.text.splitlines(), (REPOSITORY / said[1]).read_text(encoding="utf-8").splitlines()):
            found.append(f"{where}: these lines do not stand one below the other in {said[1]}")
    return found


def main() -> int:
    found = [problem for name in PAGES for problem in problems(name, (REPOSITORY / name).read_text(encoding="utf-8"))]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
