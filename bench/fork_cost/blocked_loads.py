#!/usr/bin/env python3
"""Counts the loads of a fork that wait, because what they read was written by several stores just before.

A processor forwards a store that is still on its way to the cache to a later load, but only where that one store wrote all that the load
reads. Otherwise the load waits until all are in the cache: some 13 ns, more than a fork. Compilers make such loads when they join two
members into one wide load, or copy a structure that was written member by member.

Builds arguments.cpp beside this file, has valgrind trace the memory accesses of each of its programs at two sizes, and divides the
difference by the difference in forks. Start-up cancels out, but for a few loads that depend on threads: a hundredth of a
load a fork.

    python3 bench/fork_cost/blocked_loads.py [--cxx clang++-22] [--where]

Exit status 1 if one of the programs has a blocked load in every fork, or in every tenth. Needs valgrind and the compiler.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

from arguments import build

STORES_ON_THEIR_WAY = 40  # so many of the latest stores are surely not in the cache yet
SMALL, LARGE = 4, 12


def forks_of_fib(n):
    a, b = 0, 1
    for _ in range(n + 1):
        a, b = b, a + b
    return a - 1


def forks_of_tree(n):
    return 2**n - 1


PROGRAMS = {"word": forks_of_fib, "nothing": forks_of_fib, "two_words": forks_of_tree, "five_words": forks_of_tree,
            "five_ints": forks_of_tree, "closures": forks_of_tree, "scopes": forks_of_tree}


def blocked(binary, program, n):
    """How often each instruction's load was blocked."""
    trace = subprocess.Popen(["valgrind", "--tool=lackey", "--trace-mem=yes", str(binary), program, str(n)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    writer = {}  # the number of the store that last wrote a byte
    stores = 0
    instruction = 0
    counts = collections.Counter()
    for line in trace.stderr:
        if line.startswith("I "):
            instruction = int(line[2:].split(",")[0], 16)
            continue
        if line[:2] not in (" L", " S", " M"):
            continue
        address, size = line[2:].split(",")
        access = range(int(address, 16), int(address, 16) + int(size))
        if line[1] in "LM":
            writers = {writer.get(byte, 0) for byte in access}
            if len(writers) > 1 and max(writers) > stores - STORES_ON_THEIR_WAY:
                counts[instruction] += 1
        if line[1] in "SM":
            stores += 1
            writer.update(dict.fromkeys(access, stores))
    if trace.wait() != 0:
        sys.exit(f"valgrind --tool=lackey failed for {program} {n}")
    return counts


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--cxx", default="clang++-22")
    args.add_argument("--where", action="store_true", help="also the instructions' functions")
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary = pathlib.Path(folder) / "arguments"
        build(args.cxx, binary, "-no-pie")  # the trace then names the addresses that addr2line knows
        print(f"blocked loads per fork ({args.cxx})")
        worst = 0.0
        for program, forks in PROGRAMS.items():
            extra = blocked(binary, program, LARGE)
            extra.subtract(blocked(binary, program, SMALL))
            per_fork = {at: n / (forks(LARGE) - forks(SMALL)) for at, n in extra.items()}
            worst = max(worst, sum(per_fork.values()))
            print(f"{sum(per_fork.values()):6.2f}  {program}")
            for at, each in sorted(per_fork.items(), key=lambda x: -x[1]) if args.where else ():
                if each >= 0.05:
                    name = subprocess.run(["addr2line", "-Cfe", str(binary), hex(at)], capture_output=True, text=True).stdout.split("\n")[0]
                    print(f"        {each:.2f} at {at:#x} in {name}")
    return int(worst >= 0.1)


if __name__ == "__main__":
    sys.exit(main())
