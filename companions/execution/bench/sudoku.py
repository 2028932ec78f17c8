#!/usr/bin/env python3
"""Times a program that knows nothing of nopal, stdexec's examples/sudoku.cpp, before and after: on stdexec's own pool of threads, and with nopal's
parallel scheduler linked in. One object file, compiled from the checkout as it is, and linked twice; the two programs run in turn. Says whether the
file is that of the commit that nopal is tested with, and fails if the two find another number of solutions, or with another number of tasks.

    python3 companions/execution/bench/sudoku.py STDEXEC_ROOT BUILD [--runs 5] [--compiler clang++-22] [--out FOLDER]

BUILD: a build folder of nopal, with libnopal.a. Prints, for each puzzle whose solutions are all searched for, the least and the median time in s."""

import argparse
import hashlib
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

TESTED = "e92245d53dfc37f9bc2a7ef0cc44d570bb7b3386"
BLOB = "36f028f542fb762bdd769ffd2e00ccac4d0f998c"  # of examples/sudoku.cpp there
ROW = re.compile(r"Time for all\s+(\d+) solutions using\s+(\d+) tasks:\s+([\d.]+)s")


def blob(text: bytes) -> str:
    """The name that git gives a file."""
    return hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()


def run(*command: object) -> str:
    return subprocess.run([str(c) for c in command], check=True, text=True, stdout=subprocess.PIPE).stdout


def build(root: pathlib.Path, library: pathlib.Path, compiler: str, out: pathlib.Path) -> dict[str, pathlib.Path]:
    nopal = pathlib.Path(__file__).resolve().parents[3]
    companions = ("execution", "simulation", "profile", "trace")
    includes = [f"-I{nopal}/include", *(f"-I{nopal}/companions/{name}/include" for name in companions)]
    # Without NDEBUG an assertion of the program's own fails, on any scheduler.
    options = ["-std=c++20", "-O2", "-DNDEBUG", "-w", "-isystem", root / "include"]
    run(compiler, *options, "-DSTDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY", "-c", root / "examples/sudoku.cpp", "-o", out / "sudoku.o")
    run(compiler, *options, *includes, "-c", nopal / "companions/execution/src/parallel_scheduler.cpp", "-o", out / "parallel_scheduler.o")
    before, after = out / "sudoku-before", out / "sudoku-after"
    run(compiler, out / "sudoku.o", "-lpthread", "-o", before)
    run(compiler, out / "sudoku.o", out / "parallel_scheduler.o", library, "-lhwloc", "-lpthread", "-o", after)
    return {"stdexec": before, "nopal": after}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path, metavar="STDEXEC_ROOT")
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--compiler", default="clang++-22")
    parser.add_argument("--out", type=pathlib.Path, help="where the programs are kept; a folder that is removed, if not given")
    given = parser.parse_args()
    library = given.build / "libnopal.a"
    if not library.is_file():
        parser.error(f"there is no {library}: build nopal there first, cmake --build {given.build} --target nopal")
    source = given.root / "examples/sudoku.cpp"
    if not source.is_file():
        parser.error(f"there is no {source}: name a checkout of NVIDIA/stdexec")
    same = blob(source.read_bytes()) == BLOB
    print(f"{source.name}: {'as at' if same else 'NOT as at'} commit {TESTED}", flush=True)
    with tempfile.TemporaryDirectory() as removed:
        out = given.out or pathlib.Path(removed)
        out.mkdir(parents=True, exist_ok=True)
        programs = build(given.root, library.resolve(), given.compiler, out)
        found: dict[str, dict[tuple[str, str], list[float]]] = {name: {} for name in programs}
        for _ in range(given.runs):
            for name, program in programs.items():
                for solutions, tasks, seconds in ROW.findall(run(program)):
                    found[name].setdefault((solutions, tasks), []).append(float(seconds))
    if not found["nopal"] or found["nopal"].keys() != found["stdexec"].keys():
        print(f"the two found different things: {[sorted(f) for f in found.values()]}", file=sys.stderr)
        return 1
    print(f"{'solutions':>9} {'tasks':>8} {'stdexec':>18} {'nopal':>18}")
    for key in found["nopal"]:
        times = "".join(f" {min(found[name][key]):8.3f} {statistics.median(found[name][key]):9.3f}" for name in programs)
        print(f"{key[0]:>9} {key[1]:>8}{times}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
