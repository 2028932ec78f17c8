#!/usr/bin/env python3
"""Composes programs at random: a source, views, a projection, an algorithm, a size and a context. Each must give what std::ranges gives.

    pipelines.py write FILE --seed 7 --count 60       the program of a seed, for GoogleTest
    pipelines.py write FILE --seed 7 --only 12        of one of its compositions alone
    pipelines.py run --library build/release/libnopal.a --compiler clang++-22 --options=-O0 --options=-O2 --seeds 5
                                                      compiles and runs the programs of so many seeds, from --seed on; without it from one by
                                                      the clock. The seed is printed first. Status 1 if one fails
"""

import argparse
import random
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
WRONG = 1  # exit status
MOST = 100_003


@dataclass(frozen=True)
class Range:
    """A range while it is composed: the C++ that makes it of `data`, the type of its elements, what its references are, and what it has."""

    make: str  # data of n elements
    view: str  # of data
    value: str
    reference: str  # lvalue, prvalue, proxy
    sized: bool = True
    views: int = 0


SOURCES = [
    Range("numbers<std::vector<long>>", "all_of(data)", "long", "lvalue"),
    Range("numbers<std::deque<long>>", "all_of(data)", "long", "lvalue"),
    Range("numbers<std::vector<int>>", "std::ranges::subrange{data.data(), data.data() + data.size()}", "int", "lvalue"),
    Range("bools", "all_of(data)", "bool", "proxy"),
    Range("strings<std::vector<std::string>>", "all_of(data)", "std::string", "lvalue"),
    Range("strings<std::deque<std::string>>", "all_of(data)", "std::string", "lvalue"),
    Range("records<std::vector<record>>", "all_of(data)", "record", "lvalue"),
    Range("records<std::deque<record>>", "views::counted(data.begin(), static_cast<std::ptrdiff_t>(data.size()))", "record", "lvalue"),
    Range("records<std::deque<record>>", "counted_of(data)", "record", "lvalue"),
    Range("columns_of", "zip(data)", "zipped", "proxy"),
    Range("itself", "views::iota(0L, static_cast<long>(data))", "long", "prvalue"),
    Range("itself", "views::iota(0, static_cast<int>(data))", "int", "prvalue"),
    Range("itself", "views::iota(std::size_t{5}) | views::take(data)", "std::size_t", "prvalue"),
]

# What a number, a string or a record may be turned into by value.
OF_NUMBER = {"long": "to_half", "record": "to_record", "std::string": "to_string", "int": "to_int"}

# Projections by the type of the elements.
PROJECTIONS = {
    "number": ["std::identity{}", "[](auto n) { return 3 * static_cast<long>(n); }", "[](auto const& n) -> auto const& { return n; }"],
    "bool": ["std::identity{}", "[](bool b) { return b ? 5L : 7L; }"],
    "std::string": ["std::identity{}", "&std::string::size", "[](std::string const& s) -> std::string const& { return s; }",
                    "[](std::string const& s) { return s + \"!\"; }", "[](std::string s) { return s; }"],
    "record": ["std::identity{}", "&record::name", "&record::key", "&record::half", "&record::named", "std::mem_fn(&record::name)",
               "[](record const& r) -> std::string const& { return r.name; }", "[](record r) { return r; }",
               "[](auto&& r) -> auto&& { return std::forward<decltype(r)>(r).name; }", "[](record const& r) { return r.name + \"!\"; }"],
    "zipped": ["std::identity{}", "[](auto const& z) -> std::string const& { return z.name; }", "[](auto const& z) { return z.key; }"],
}
READING = ["reduce", "plain_sum", "transform_reduce", "transform_reduce_pairs", "transform_reduce_both", "count", "count_if", "find", "find_if",
           "any_all_none", "least", "least_and_greatest", "for_each", "transform", "transform_pairs", "copy_if", "merge"]
READING_ELEMENTS = ["scans", "histogram"]


def family(value: str) -> str:
    return "number" if value in ("long", "int", "std::size_t") else value


def with_view(r: Range, dice: random.Random) -> Range:
    """The range with one more view."""

    def then(view: str, **changed: object) -> Range:
        return replace(r, view=f"{r.view} | {view}", views=r.views + 1, **changed)

    options = [lambda: then(f"views::drop({dice.choice([0, 1, 2, 5])})")]
    if r.sized:
        options += [lambda: then("views::reverse"), lambda: then("views::take(n_of(data) / 2 + 3)")]
    if family(r.value) == "number":
        to = dice.choice(sorted(OF_NUMBER))
        options += [lambda: then(f"views::transform({OF_NUMBER[to]})", value=to, reference="prvalue")] * 2
        options.append(lambda: then("views::transform(to_pair) | views::keys", value=r.value, reference="prvalue"))
    if r.value == "record":
        options.append(lambda: then("views::transform(&record::key)", value="long"))
        options.append(lambda: then("views::transform(&record::name)", value="std::string"))
        options.append(lambda: then("views::transform(&record::half)", value="long", reference="prvalue"))
        options.append(lambda: then("views::transform([](record const& r) { return r; })", reference="prvalue"))
    if r.value == "std::string":
        options.append(lambda: then("views::transform([](std::string const& s) { return s + s; })", reference="prvalue"))
        options.append(lambda: then("views::transform(&std::string::size)", value="std::size_t", reference="prvalue"))
    return dice.choice(options)()


# A view that names a member of what its own base gives by value would refer to what is gone: std::ranges has the same fault.
def dangles(before: Range, after: Range) -> bool:
    added = after.view[len(before.view):]
    return before.reference != "lvalue" and ("&record::key)" in added or "&record::name)" in added)


def composition(seed: int, number: int) -> str:
    """The C++ of one: a test by itself, which depends on the seed and its number only."""
    dice = random.Random(f"{seed} {number}")
    r = dice.choice(SOURCES)
    for _ in range(dice.choice([0, 1, 1, 2, 2, 3, 4])):
        longer = with_view(r, dice)
        if not dangles(r, longer):
            r = longer
    algorithm = dice.choice(READING * 3 + READING_ELEMENTS * 3)
    projection = "std::identity{}" if algorithm in READING_ELEMENTS else dice.choice(PROJECTIONS[family(r.value)])
    n = min(MOST, int(10 ** dice.uniform(0, 5.001)) - 1) if dice.random() < 0.8 else dice.choice([0, 1, 2, 3, 17, 1000, MOST])
    context = dice.randrange(7)
    return f"""TEST(pipelines, seed_{seed}_number_{number}) {{
  auto const view = [](auto& data) {{ return {r.view}; }};
  once<{algorithm}>(R"({r.view} of {r.make})", {r.make}, view, projection{{R"({projection})", {projection}}}, {n}, {context});
}}
"""


def program(seed: int, numbers: range) -> str:
    tests = "\n".join(composition(seed, number) for number in numbers)
    return f"""// Composed by pipelines.py --seed {seed}, numbers {numbers.start} to {numbers.stop - 1}.

#include "pipelines.hpp"

namespace {{

using namespace test::matrix;
namespace views = std::views;

{tests}
}}  // namespace
"""


def write(args: argparse.Namespace) -> int:
    numbers = range(args.count) if args.only is None else range(args.only, args.only + 1)
    text = program(args.seed, numbers)
    args.file.parent.mkdir(parents=True, exist_ok=True)
    args.file.write_text(text)
    return 0


def run(args: argparse.Namespace) -> int:
    first = int(time.time()) if args.seed is None else args.seed
    levels = args.options or ["-O0", "-O2"]
    failed = 0
    for seed in range(first, first + args.seeds):
        for options in levels:
            print(f"pipelines: --seed {seed} --count {args.count}, {args.compiler} {options}", flush=True)
            failed += not holds(args, seed, options)
    print(f"pipelines: {failed} of {args.seeds * len(levels)} programs failed")
    return WRONG if failed else 0


def holds(args: argparse.Namespace, seed: int, options: str) -> bool:
    """Compiles the program of a seed, and runs it."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "pipelines.cpp", Path(folder) / "pipelines"
        source.write_text(program(seed, range(args.count)))
        compile_it = [args.compiler, "-std=c++20", *shlex.split(options), f"-I{REPOSITORY / 'include'}", f"-I{HERE}", source,
                      HERE / "contexts.cpp", "-o", binary, args.library, "-lhwloc", "-lgtest", "-lgtest_main", "-lpthread"]
        for what, command in (("compile", compile_it), ("run", [binary, "--gtest_brief=1"])):
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
            except subprocess.TimeoutExpired as late:
                print((late.stdout or b"").decode(errors="replace")[-4000:], f"pipelines: seed {seed}: {what} took more than 600 s", sep="\n")
                return False
            if done.returncode != 0:
                print(done.stdout.decode(errors="replace")[-8000:], f"pipelines: seed {seed}: {what} failed, status {done.returncode}", sep="\n")
                return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    writes = ways.add_parser("write", help="write a program")
    writes.add_argument("file", type=Path)
    writes.add_argument("--seed", type=int, required=True)
    writes.add_argument("--count", type=int, default=60)
    writes.add_argument("--only", type=int, help="this composition alone")
    writes.set_defaults(do=write)
    runs = ways.add_parser("run", help="compile and run programs")
    runs.add_argument("--library", type=Path, required=True)
    runs.add_argument("--compiler", required=True)
    runs.add_argument("--options", action="append", help="each time the compiler's options for one program; -O0 and -O2 if none are given")
    runs.add_argument("--seed", type=int)
    runs.add_argument("--seeds", type=int, default=1)
    runs.add_argument("--count", type=int, default=60)
    runs.set_defaults(do=run)
    args = parser.parse_args()
    return args.do(args)


if __name__ == "__main__":
    sys.exit(main())
