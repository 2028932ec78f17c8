#!/usr/bin/env python3
"""Compiles and runs libstdc++'s own tests of its parallel algorithms, on nopal and on oneTBB. Status 1 if a test that passes on oneTBB, or that oneTBB is not asked
about, fails on nopal.

    companions/pstl/tests/gcc_testsuite.py GCC_SOURCES --library build/release/libnopal.a
    companions/pstl/tests/gcc_testsuite.py GCC_SOURCES --library build/release/libnopal.a --beside-onetbb --jobs 4

GCC_SOURCES is a source tree of GCC, of the version whose library the compiler uses: on Debian the package gcc-12-source has it, as an archive.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDERS = ("25_algorithms/pstl", "20_util/specialized_algorithms/pstl", "26_numerics/pstl")
INCLUDES = ("include", "companions/pstl/include")
SECONDS = 300  # of a test; each takes some seconds


@dataclass(frozen=True)
class BackEnd:
    name: str
    flags: list[str]
    libraries: list[str]


def back_ends(args: argparse.Namespace) -> list[BackEnd]:
    includes = [f"-I{REPOSITORY / folder}" for folder in INCLUDES]
    ends = [BackEnd("nopal", [*includes, "-include", "nopal/pstl.hpp"], [str(args.library), *args.link, "-pthread"])]
    if args.beside_onetbb:
        ends.append(BackEnd("oneTBB", [], ["-ltbb", "-pthread"]))
    return ends


def is_for_others(text: str) -> bool:
    """True of a test that must not compile, or is only compiled."""
    return "dg-do run" not in text


def failure(args: argparse.Namespace, end: BackEnd, test: Path, testsuite: Path) -> str:
    """Compiles and runs a test. Returns what went wrong; nothing if it passed."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "test"
        compile_it = [args.compiler, "-std=gnu++20", *args.flags, *end.flags, f"-I{testsuite / 'util'}", "-w", str(test), "-o", str(program), *end.libraries]
        made = subprocess.run(compile_it, capture_output=True, text=True)
        if made.returncode != 0:
            lines = [line for line in made.stderr.splitlines() if "error" in line or "undefined" in line] or made.stderr.splitlines()
            return "does not compile: " + lines[0][:300] if lines else "does not compile"
        try:
            ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=SECONDS, env=dict(os.environ))
        except subprocess.TimeoutExpired:
            return f"took more than {SECONDS} s"
        if ran.returncode != 0:
            return f"status {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-300:]}"
    return ""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, metavar="GCC_SOURCES")
    parser.add_argument("--library", type=Path, required=True, help="libnopal.a or libnopal.so")
    parser.add_argument("--link", nargs="*", default=["-lhwloc"], help="what a static libnopal needs besides")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", nargs="*", default=["-O1"], help="for the compiler")
    parser.add_argument("--beside-onetbb", action="store_true", help="compile and run each on oneTBB too")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="tests whose path matches this regular expression")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    testsuite = args.root / "libstdc++-v3" / "testsuite"
    tests = sorted(test for folder in FOLDERS for test in (testsuite / folder).rglob("*.cc") if re.search(args.only, str(test)))
    if not tests or not (testsuite / "util" / "pstl").is_dir():
        print(f"{args.root}: no tests in libstdc++-v3/testsuite/{FOLDERS[0]}, or no testsuite/util/pstl; name the top folder of a source tree of GCC", file=sys.stderr)
        return 2
    tests = [test for test in tests if not is_for_others(test.read_text(errors="replace"))]
    ends = back_ends(args)
    with ThreadPoolExecutor(args.jobs) as pool:
        results = {(end.name, test): pool.submit(failure, args, end, test, testsuite) for test in tests for end in ends}
        worse = 0
        passed = dict.fromkeys((end.name for end in ends), 0)
        for test in tests:
            said = {end.name: results[end.name, test].result() for end in ends}
            for name, what in said.items():
                passed[name] += not what
                print(f"{test.relative_to(testsuite)} on {name}: {what or 'passes'}", flush=True)
            worse += bool(said["nopal"]) and not said.get("oneTBB")
    print(", ".join(f"{name}: {count} of {len(tests)} pass" for name, count in passed.items()))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
