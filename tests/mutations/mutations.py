#!/usr/bin/env python3
"""Do the tests of the space bounds fail where what keeps a bound is taken out? Each mutation is made in a copy of the sources, the one test
program is built there, and the tests that are named must fail, every one. First all of them must pass as the sources are."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
COPIED = (".clang-format", "CMakeLists.txt", "cmake", "include", "src", "companions", "tests")
TARGET = "nopal_embedding_bounds"


@dataclass(frozen=True)
class Mutation:
    """`old`, which stands in the file once, becomes `new`; then these tests must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = (
    Mutation(
        "the cap on kept segments",
        "src/task/arena.cpp",
        "return 2 * (segment_ != nullptr ? segment_->size : first_size);",
        "return max_request;",
        ("at/bounds.of_what_stays_after_scratch/1", "at/bounds.of_what_stays_after_scratch/2"),
    ),
    Mutation(
        "the list of segments no larger than what was used",
        "src/task/arena.cpp",
        "excess = take_excess();",
        "",
        ("at/bounds.of_segments_of_all_sizes/1", "at/bounds.of_segments_of_all_sizes/2"),
    ),
    Mutation(
        "the purge of free stacks",
        "src/stack/stack_pool.cpp",
        "if (how_ == reclaim::none) return;",
        "return;",
        (
            "at/bounds.of_stacks_that_wait_at_joins/2",
            "at/bounds.of_stacks_that_wait_at_joins/4",
            "at/bounds.of_free_stacks/1",
            "at/bounds.of_free_stacks/2",
            "at/bounds.of_free_stacks_of_scopes/1",
        ),
    ),
    Mutation(
        "the purge of a stack that a resumed one replaces",
        "src/stack/stack_pool.cpp",
        "pool_.give_back(*warm_);",
        "static_cast<void>(end);",
        ("at/bounds.of_free_stacks/1", "at/bounds.of_stacks_that_wait_at_joins/2"),
    ),
    Mutation(
        "the sharing of free stacks",
        "include/nopal/core/stack/stack_pool.hpp",
        "if (count_ > 1 && (grows || pool_.is_short())) [[unlikely]]",
        "if (grows && count_ > most) [[unlikely]]",
        ("at/bounds.of_free_stacks_that_go_round/4", "at/bounds.of_free_stacks_that_go_round/8"),
    ),
    Mutation(
        "the reclaim at a join",
        "src/stack/stack_pool.cpp",
        "if (used_from <= word(s.low())) return;",
        "return;",
        ("at/bounds.of_stacks_that_wait_at_joins/2", "at/bounds.of_stacks_that_wait_at_joins/4"),
    ),
    Mutation(
        "the cap on free stacks",
        "src/stack/stack_pool.cpp",
        "keep_{keep},",
        "keep_{keep + 1'000'000},",
        ("at/bounds.of_free_stacks/1", "at/bounds.of_free_stacks/2"),
    ),
)


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__)
    result.add_argument("--root", type=Path, default=REPOSITORY, help="the sources")
    result.add_argument("--build", type=Path, help="where the copy is, and is built; it stays there (default: a folder that is removed)")
    result.add_argument("--texts", action="store_true", help="build nothing: only look whether each mutation finds what it takes out")
    result.add_argument("--only", default="", help="only mutations whose names contain this")
    result.add_argument("--cxx", default=os.environ.get("CXX", "clang++-22"), help="the compiler")
    result.add_argument("--cc", default=os.environ.get("CC", "clang-22"), help="the C compiler that belongs to it")
    return result


def copy_changed(source: str, to: str) -> None:
    """What is the same already stays, with its time, so that a second run builds little; what an ended run has left mutated does not."""
    if not Path(to).exists() or Path(source).read_bytes() != Path(to).read_bytes():
        shutil.copyfile(source, to)


def copy(root: Path, to: Path) -> None:
    for name in COPIED:
        if (root / name).is_dir():
            leaves_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / name, to / name, dirs_exist_ok=True, ignore=leaves_out, copy_function=copy_changed)
        else:
            copy_changed(str(root / name), str(to / name))


def quietly(*command: object) -> None:
    """Runs it, and ends the program with all that it has said if it fails."""
    done = subprocess.run([str(one) for one in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nmutations: this failed: {' '.join(str(one) for one in command)}")


def outcomes(program: Path, tests: tuple[str, ...]) -> dict[str, str]:
    """What became of each test: OK or FAILED; nothing of one that did not end or is not there."""
    done = subprocess.run(
        [program, f"--gtest_filter={':'.join(tests)}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    found = re.findall(r"^\[ +(OK|FAILED) +\] ([\w/.]+)(?:,.*)? \(\d+ ms\)$", done.stdout, re.MULTILINE)
    return {name: outcome for outcome, name in found}


def text_with(sources: Path, mutation: Mutation) -> str:
    """The file of the mutation. Ends the program unless it has what is taken out, once."""
    text = (sources / mutation.file).read_text()
    if text.count(mutation.old) != 1:
        sys.exit(f"mutations: {mutation.name}: {mutation.file} must have this once, not {text.count(mutation.old)} times: {mutation.old}")
    return text


def survived(sources: Path, build: Path, mutation: Mutation) -> list[str]:
    """Builds with the mutation, which is undone afterwards. The tests that do not fail as they must."""
    file = sources / mutation.file
    text = text_with(sources, mutation)
    file.write_text(text.replace(mutation.old, mutation.new))
    try:
        quietly("cmake", "--build", build, "--target", TARGET)
        found = outcomes(build / "tests" / "embedding" / TARGET, mutation.tests)
    finally:
        file.write_text(text)
    return [test for test in mutation.tests if found.get(test) != "FAILED"]


def main() -> int:
    options = parser().parse_args()
    chosen = [one for one in MUTATIONS if options.only in one.name]
    if not chosen:
        sys.exit(f"mutations: there is none whose name contains {options.only!r}: {'; '.join(one.name for one in MUTATIONS)}")
    if options.texts:
        for one in chosen:
            text_with(options.root, one)
        print(f"mutations: {len(chosen)} find what they take out")
        return 0
    folder = options.build or Path(tempfile.mkdtemp(prefix="nopal-mutations-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return look(options, chosen, folder / "sources", folder / "build")
    finally:
        if options.build is None:
            shutil.rmtree(folder)


def look(options: argparse.Namespace, chosen: list[Mutation], sources: Path, build: Path) -> int:
    sources.mkdir(exist_ok=True)
    copy(options.root, sources)
    quietly(
        *("cmake", "-S", sources, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *(f"-DCMAKE_CXX_COMPILER={options.cxx}", f"-DCMAKE_C_COMPILER={options.cc}"),
        *("-DNOPAL_BUILD_TESTS=ON", "-DNOPAL_BUILD_BENCHMARKS=OFF", "-DNOPAL_BUILD_EXAMPLES=OFF", "-DNOPAL_MPI=OFF", "-DCMAKE_CXX_FLAGS=-w"),  # what is taken out leaves names unused
    )
    quietly("cmake", "--build", build, "--target", TARGET)
    tests = tuple(dict.fromkeys(test for one in chosen for test in one.tests))
    found = outcomes(build / "tests" / "embedding" / TARGET, tests)
    status = 0
    for test in tests:
        if found.get(test) != "OK":
            print(f"mutations: nothing taken out: {test} must pass, and it is: {found.get(test, 'not there, skipped or not at its end')}")
            status = 1
    for one in chosen:
        passing = survived(sources, build, one)
        print(f"mutations: {one.name}: {'CAUGHT' if not passing else 'SURVIVED in ' + ', '.join(passing)}", flush=True)
        status |= bool(passing)
    return status


if __name__ == "__main__":
    sys.exit(main())
