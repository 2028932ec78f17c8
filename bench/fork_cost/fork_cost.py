#!/usr/bin/env python3
"""Counts the instructions of one fork, by what they are for.

Builds arguments.cpp beside this file with debug information, runs its fib(20) and fib(25) under callgrind, and divides the difference by
the difference in forks: start-up and the first fork's slow path cancel out, and the count is the same on every run. Each instruction
counts for the innermost inlined source line; the table below says which part that line belongs to. docs/fork-cost.md has the result.

    python3 bench/fork_cost/fork_cost.py [--cxx clang++-22]

Needs valgrind and the compiler. A fork of fib is one fork, one call, one join and two task frames.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from arguments import build

# (file, regular expression for the head of the enclosing function, part); the first that matches decides. Files are those of
# include/nopal/core and of the standard library.
PARTS = [
    ("arena.hpp", r"", "frame: memory (bump, release)"),
    ("thread_words.hpp", r"", "reading what this thread works for"),
    ("fork_state.hpp", r"undisturbed|must_throw", "call: did the child have to be left?"),
    ("fork_state.hpp", r"", "reading what this thread works for"),
    ("instructions.hpp", r"stack_pointer|stack_below", "guard: native depth, has a thief requested work, did the child have to be left?"),
    ("frame.hpp", r"", "frame: birth (parent, slot, state, join word)"),
    ("join_word.hpp", r"", "frame: birth (parent, slot, state, join word)"),
    ("stl_construct.h", r"", "frame: birth (parent, slot, state, join word)"),
    ("deque.hpp", r"must_poll", "guard: native depth, has a thief requested work, did the child have to be left?"),
    ("deque.hpp", r"push", "push"),
    ("deque.hpp", r"pop", "pop"),
    ("continuation.hpp", r"make_offer|take_back", "pop"),
    ("promise.hpp", r"operator (new|delete)|promise_base\(\)", "frame: birth (parent, slot, state, join word)"),
    ("promise.hpp", r"return_value|put|check_joined", "return: the result into its slot"),
    ("promise.hpp", r"", "start: hand-over to the child"),
    ("awaiters.hpp", r"", "join: nothing stolen, nothing thrown?"),
    ("child.hpp", r"", "start: hand-over to the child"),
    ("task.hpp", r"", "start: hand-over to the child"),
    ("worker.hpp", r"", "reading what this thread works for"),
    ("pack.hpp", r"", "start: hand-over to the child"),
    ("invoke.h", r"", "start: hand-over to the child"),
    ("instructions.hpp", r"", "push and pop: loads and stores of bottom and split"),
    ("sync.hpp", r"", "push and pop: loads and stores of bottom and split"),
    ("atomic_base.h", r"", "push and pop: loads and stores of bottom and split"),
    ("atomic", r"", "push and pop: loads and stores of bottom and split"),
    ("arguments.cpp", r"", "the coroutine itself: its body, frame set-up, calls and returns by the compiler"),
]


def run(binary, n, folder):
    out = folder / f"callgrind.{n}"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no", "--compress-pos=no",
                    str(binary), "word", str(n)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    costs = collections.Counter()
    file = None
    called = False
    for line in out.read_text().splitlines():
        if m := re.match(r"f[lie]=(.*)", line):
            file = m[1]
        elif line.startswith("calls="):
            called = True  # the next line is the inclusive cost of the callee
        elif m := re.match(r"(\d+) (\d+)$", line):
            if not called:
                costs[file, int(m[1])] += int(m[2])
            called = False
    return costs


def function_at(cache, path, line):
    """The nearest line at or above `line` that looks like a function's head."""
    if path not in cache:
        try:
            cache[path] = pathlib.Path(path).read_text().splitlines()
        except OSError:
            cache[path] = []
    text = cache[path]
    for i in range(min(line, len(text)) - 1, max(-1, line - 40), -1):
        if re.search(r"\b\w+\([^;]*\)[^;]*\{|operator (new|delete)", text[i]):
            return text[i]
    return ""


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--cxx", default="clang++-22")
    args.add_argument("--lines", action="store_true", help="also every source line that costs at least half an instruction")
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        build(args.cxx, folder / "arguments")
        small, large = run(folder / "arguments", 20, folder), run(folder / "arguments", 25, folder)
    forks = 121_392 - 10_945
    parts, lines, cache = collections.Counter(), [], {}
    for key in set(small) | set(large):
        each = (large[key] - small[key]) / forks
        if abs(each) < 0.01:
            continue
        file, line = key
        head = function_at(cache, file, line)
        part = next((p for f, r, p in PARTS if pathlib.Path(file).name == f and re.search(r, head)), f"other: {file}")
        parts[part] += each
        lines.append((each, f"{pathlib.Path(file).name}:{line}", part))
    for part, each in parts.most_common():
        print(f"{each:7.1f}  {part}")
    print(f"{sum(parts.values()):7.1f}  instructions per fork ({args.cxx})")
    if args.lines:
        for each, where, part in sorted(lines, reverse=True):
            if each >= 0.5:
                print(f"{each:7.1f}  {where:28} {part}")


if __name__ == "__main__":
    sys.exit(main())
