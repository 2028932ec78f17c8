#!/usr/bin/env python3
"""Writes a deleted function template for each name that the headers call something by: a namespace of users that includes it has them all.

    names.py FILE INCLUDE...   of the headers below each INCLUDE
"""

import re
import sys
from pathlib import Path

# Words of the language, and macros of the standard library.
WORDS = frozenset("""alignas alignof and asm assert auto bool catch char co_await co_return co_yield concept const constexpr consteval constinit
decltype defined delete do double else explicit float for if int long new noexcept not offsetof operator or requires return short signed sizeof
static_assert switch this throw try typeid unsigned void volatile while const_cast dynamic_cast reinterpret_cast static_cast""".split())


def called(text: str) -> set[str]:
    """All that stands before a parenthesis, template arguments in between or not, in lower case as the library's and users' functions."""
    code = re.sub(r'//.*|"(\\.|[^"\\\n])*"', "", text)
    return set(re.findall(r"\b([a-z]\w*)\s*(?:<[^;(){}]*>)?\(", code)) - WORDS


def main() -> None:
    file, *includes = (Path(a) for a in sys.argv[1:])
    names = set().union(*(called(header.read_text()) for include in includes for header in include.rglob("*.hpp")))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"template <class... A>\nvoid {name}(A&&...) = delete;\n" for name in sorted(names)))


if __name__ == "__main__":
    main()
