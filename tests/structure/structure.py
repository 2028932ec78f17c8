#!/usr/bin/env python3
"""Checks how nopal's files are arranged and worded. Says file:line, what is wrong and what to do; status 1 if something is.

    python3 tests/structure/structure.py               all rules
    python3 tests/structure/structure.py cycles words  some of them
    python3 tests/structure/structure.py --list        which there are
"""

import argparse
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from includes import companions, cycles, mutex, named
from namespaces import namespaces
from rooms import rooms
from texts import orders, words
from tree import Problem, Tree

REPOSITORY = Path(__file__).resolve().parents[2]
WRONG, UNUSABLE = 1, 2  # exit statuses


RULES: dict[str, Callable[[Tree], list[Problem]]] = {
    rule.__name__: rule for rule in (cycles, named, rooms, mutex, companions, words, orders, namespaces)
}


def holds(name: str, tree: Tree) -> bool:
    """Checks one rule and prints what it finds."""
    problems = RULES[name](tree)
    for remedy, alike in groupby(problems, key=lambda problem: problem.remedy):
        print(*alike, f"    {remedy}", sep="\n")
    print(f"{name}: {len(problems)} found")
    return not problems


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="*", metavar="RULE", help=f"of {', '.join(RULES)}; all if none is named")
    parser.add_argument("--root", type=Path, default=REPOSITORY, help="the tree to check, else the one that this file is in")
    parser.add_argument("--list", action="store_true", help="say what the rules are, and check nothing")
    args = parser.parse_args()
    if unknown := [name for name in args.rules if name not in RULES]:
        parser.error(f"no rule {', '.join(unknown)}; there are {', '.join(RULES)}")
    return args


def main() -> int:
    args = arguments()
    if args.list:
        for name, rule in RULES.items():
            print(f"{name:8} {rule.__doc__}")
        return 0
    tree = Tree(args.root)
    if not tree.headers("include/nopal/"):
        print(f"{args.root}: there are no headers in include/nopal here", file=sys.stderr)
        return UNUSABLE
    results = [holds(name, tree) for name in args.rules or RULES]
    return 0 if all(results) else WRONG


if __name__ == "__main__":
    sys.exit(main())
