#!/usr/bin/env python3
"""Builds the parallel programs of PBBS (github.com/cmuparlay/pbbsbench) on four schedulers of ParlayLib's, and times them in turn.

    pbbs.py build --pbbs PBBS --parlay PARLAYLIB --out FOLDER [--jobs 2]   # copies both, and builds nopal there; PBBS's files stay as they are
    pbbs.py run --out FOLDER [--turns 3] [--scale 0.1] [--csv FILE]        # times; each result is looked at by PBBS's own checker
    pbbs.py table FILE [--page PAGE]                                       # the ratios, as a table

The schedulers: nopal (nopal_parlay.hpp), own (ParlayLib's), tbb and openmp (ParlayLib's plug-ins). All are compiled with the same options, and all
are given the same CPUs, as many as there are workers.

The programs are those that PBBS's `runall -par` runs, each with one input of its small set, of which --scale says what part is taken. PBBS's text of
Wikipedia, its DNA and its meshes are in no archive of its sources: there this program takes text by PBBS's own generator, and triangles at random.
What is built stays: remove FOLDER to build it anew. A process warms up for one or two seconds, as PBBS has it, and is then timed --rounds times. Its time is the median of these; a scheduler's is the median of
its turns. One is ahead or behind where all its turns are: else they are level.
"""

import argparse
import bz2
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tables  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEDULERS = ("nopal", "own", "tbb", "openmp")
NAMES = {"nopal": "nopal", "own": "ParlayLib's own", "tbb": "oneTBB", "openmp": "OpenMP"}
COMMAND = "integrations/parlay/pbbs.py"


@dataclass(frozen=True)
class Program:
    """One program: its folder, the name of its executable, the input, the options for it and for its checker, and their exit statuses where all is well."""

    folder: str
    name: str
    input: str
    options: str = ""
    check_options: str = ""
    status: int = 0
    check_status: int = 0

    @property
    def problem(self) -> str:
        return self.folder.split("/")[0]


# What PBBS's runall calls parallel and primary, in its order.
PROGRAMS = [
    Program("integerSort/parallelRadixSort", "isort", "ints", "-b 24"),
    Program("comparisonSort/sampleSort", "sort", "doubles"),
    Program("removeDuplicates/parlayhash", "dedup", "ints", status=1),
    Program("histogram/parallel", "histogram", "ints", "-b {buckets}"),
    Program("wordCounts/histogram", "wc", "words"),
    Program("invertedIndex/parallel", "index", "documents"),
    Program("suffixArray/parallelRange", "SA", "text", check_status=1),
    Program("longestRepeatedSubstring/doubling", "lrs", "text"),
    Program("classify/decisionTree", "classify", "covtype.data"),
    Program("minSpanningForest/parallelFilterKruskal", "MST", "weighted_edges"),
    Program("spanningForest/ndST", "ST", "edges"),
    Program("breadthFirstSearch/backForwardBFS", "BFS", "graph"),
    Program("maximalMatching/incrementalMatching", "matching", "edges"),
    Program("maximalIndependentSet/incrementalMIS", "MIS", "sparse_graph"),
    Program("nearestNeighbors/octTree", "neighbors", "points2", "-d 2 -k 1", "-d 2 -k 1"),
    Program("rayCast/kdTree", "ray", "triangles"),
    Program("convexHull/quickHull", "hull", "many_points2"),
    Program("delaunayTriangulation/incrementalDelaunay", "delaunay", "points2"),
    Program("delaunayRefine/incrementalRefine", "refine", "mesh"),
    Program("rangeQuery2d/parallelPlaneSweep", "range", "points2"),
    Program("nBody/parallelCK", "nbody", "points3"),
]

# How many of them PBBS's small set has, and the generator. {n} and {m} are that times --scale, {m} with as many edges for each vertex.
INPUTS = {
    "ints": (10_000_000, 0, "sequenceData/randomSeq -t int {n} {out}"),
    "doubles": (10_000_000, 0, "sequenceData/randomSeq -t double {n} {out}"),
    "words": (25_000_000, 0, "sequenceData/trigramString {n} {out}"),
    "text": (10_000_000, 0, "sequenceData/trigramString {n} {out}"),
    "documents": (10_000_000, 0, "sequenceData/trigramString {n} {out}"),
    "edges": (2_000_000, 10, "graphData/randLocalGraph -d 3 -m {m} {n} {out}"),
    "weighted_edges": (2_000_000, 10, "graphData/randLocalGraph -d 3 -m {m} {n} {out}"),
    "graph": (2_250_000, 12, "graphData/rMatGraph -j -o -a .55 -b .125 -m {m} {n} {out}"),
    "sparse_graph": (4_000_000, 5, "graphData/randLocalGraph -j -d 3 -m {m} {n} {out}"),
    "points2": (1_000_000, 0, "geometryData/randPoints -d 2 {n} {out}"),
    "many_points2": (10_000_000, 0, "geometryData/randPoints -s -d 2 {n} {out}"),
    "points3": (100_000, 0, "geometryData/randPoints -d 3 {n} {out}"),
    "mesh": (500_000, 0, "geometryData/randPoints -d 2 {n} {out}"),
    "triangles": (500_000, 0, ""),
    "covtype.data": (0, 0, ""),
}


class Failed(Exception):
    """A command that did not do what it should, with what it printed."""


def run(command: list, seconds: float = 1800, status: int = 0, **more) -> str:
    """What a command prints. It must end with that status and within that time."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, **more)
    except subprocess.TimeoutExpired:
        raise Failed(f"took more than {seconds:g} s") from None
    if done.returncode != status:
        code = done.returncode
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        raise Failed(f"{how}: {' '.join(str(word) for word in command)}\n{done.stdout[-2000:]}")
    return done.stdout


# ---- Build.


def build(arguments: argparse.Namespace) -> None:
    for what, folder, file in (("--pbbs", arguments.pbbs, "common/time_loop.h"), ("--parlay", arguments.parlay, "include/parlay/parallel.h")):
        if not (folder / file).exists():
            sys.exit(f"pbbs.py: {what} {folder} has no {file}. It names a copy of github.com/cmuparlay/{'pbbsbench' if what == '--pbbs' else 'parlaylib'}.")
    for tool in (arguments.compiler, "make", "cmake", "pkg-config"):
        if shutil.which(tool) is None:
            sys.exit(f"pbbs.py: there is no {tool} on the path. Install it, or name another compiler with --compiler.")
    out: Path = arguments.out.resolve()
    trees = [s for s in SCHEDULERS if s in arguments.schedulers or s == "own"]  # the checkers and generators are on ParlayLib's own
    for scheduler in trees:
        tree = out / scheduler
        if not tree.exists():
            shutil.copytree(arguments.pbbs, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            library = tree / "parlaylib"
            shutil.rmtree(library, ignore_errors=True)
            library.symlink_to(arguments.parlay.resolve())
    how = {s: options_of(s, arguments, out) for s in trees}

    def make(scheduler: str, folder: str, *targets: str) -> bool:
        compile_options, link_options = how[scheduler]
        command = ["make", "-s", "-C", out / scheduler / folder, f"CC={arguments.compiler}", f"CFLAGS={compile_options}", f"LFLAGS={link_options}", *targets]
        print(f"  {scheduler}: {folder}: {' '.join(targets)}", flush=True)
        try:
            run(command)
        except Failed as failed:
            print(f"{scheduler}: {folder}: {failed}", file=sys.stderr, flush=True)
            return False
        return True

    # The checkers are made first: the programs' makefiles ask for them, too.
    makers = {maker for program in arguments.programs for maker in makers_of(program.input)}
    first = [("own", f"testData/{folder}", name) for folder, name in (maker.split("/") for maker in sorted(makers))]
    first += [("own", f"benchmarks/{program.problem}/bench", f"{program.name}Check") for program in arguments.programs]
    then = [(scheduler, program) for program in arguments.programs for scheduler in arguments.schedulers]
    mesher = next(program for program in PROGRAMS if program.name == "delaunay")
    if ("own", mesher) not in then and any(program.input == "mesh" for program in arguments.programs):
        then.append(("own", mesher))
        first.append(("own", f"benchmarks/{mesher.problem}/bench", f"{mesher.name}Check"))
    for scheduler, program in then:
        if scheduler != "own":  # the one checker is on ParlayLib's own
            (out / scheduler / "benchmarks" / program.problem / "bench" / f"{program.name}Check").touch()
    rest = [(scheduler, f"benchmarks/{program.folder}", program.name) for scheduler, program in then]
    made: list[bool] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for some in (first, rest):
            made += list(pool.map(lambda job: make(*job), some))
    if not all(made):
        sys.exit(f"{COMMAND}: {made.count(False)} of {len(made)} were not built; why stands above.")


def options_of(scheduler: str, arguments: argparse.Namespace, out: Path) -> tuple[str, str]:
    """The options to compile and to link with, PBBS's own but for the language: nopal needs C++20, so all have it."""
    to_compile, to_link = "-O2 -std=c++20 -DNDEBUG -mcx16 -w -I .", "-pthread -ldl -latomic"
    if scheduler == "tbb":
        return f"{to_compile} -DPARLAY_TBB", f"{to_link} -ltbb"
    if scheduler == "openmp":
        return f"{to_compile} -DPARLAY_OPENMP -fopenmp", f"-fopenmp {to_link}"
    if scheduler == "own":
        return f"{to_compile} -pthread", to_link
    built, prefix = out / "nopal-build", out / "nopal-installed"
    print("  nopal itself", flush=True)
    run(["cmake", "-S", REPOSITORY, "-B", built, "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={arguments.compiler}", "-DNOPAL_BUILD_TESTS=OFF",
         "-DNOPAL_BUILD_BENCHMARKS=OFF", "-DNOPAL_BUILD_EXAMPLES=OFF", "-DNOPAL_ALPI=OFF", "-DNOPAL_MPI=OFF"])  # fmt: skip
    run(["cmake", "--build", built, "-j", str(arguments.jobs)])
    run(["cmake", "--install", built, "--prefix", prefix])
    package = next(prefix.glob("**/nopal.pc"))
    flags = {word: run(["pkg-config", word, package]).strip() for word in ("--cflags", "--libs")}
    adapter = REPOSITORY / "integrations/parlay"
    return f"{to_compile} -pthread -I{adapter} {flags['--cflags']} -include nopal_parlay.hpp", f"{flags['--libs']} {to_link}"


# ---- Inputs.


def makers_of(name: str) -> list[str]:
    """PBBS's programs that make an input."""
    more = {"weighted_edges": ["graphData/addWeights"], "triangles": ["geometryData/addRays"]}
    return INPUTS[name][2].split()[:1] + more.get(name, [])


def make_input(name: str, scale: float, out: Path) -> tuple[list[Path], int]:
    """The files of an input, made where they are not there yet, and how many numbers, points or vertices it has."""
    size, degree, generator = INPUTS[name]
    n = max(1000, int(size * scale))
    test_data = out / "own/testData"
    data = out / "data"
    data.mkdir(exist_ok=True)
    if name == "covtype.data":
        for part in ("train", "test", "labels"):
            file = data / f"{name}.{part}"
            if not file.exists():
                write(file, bz2.decompress((test_data / f"data/{name}.{part}.bz2").read_bytes()))
        return [data / name], 0
    file = data / f"{name}_{n}"
    if name == "triangles":
        rays = data / f"rays_{n}"
        if not rays.exists():
            write(file, triangles(n))
            made = data / f"rays_{n}.part"
            run([test_data / "geometryData/addRays", file, made])
            made.replace(rays)
        return [file, rays], n
    if file.exists():
        return [file], n
    made = data / f"{name}_{n}.part"
    program, *options = generator.format(n=n, m=n * degree, out=made).split()
    run([test_data / program, *options], cwd=(test_data / program).parent)  # where one of them looks for its table of trigrams
    if name == "weighted_edges":
        weighted = data / f"{name}_{n}.weighted"
        run([test_data / "graphData/addWeights", made, weighted])
        weighted.replace(made)
    elif name == "mesh":
        mesh = data / f"{name}_{n}.triangles"
        run([out / "own/benchmarks/delaunayTriangulation/incrementalDelaunay/delaunay", "-o", mesh, made], env=environment("own", 1))
        mesh.replace(made)
    elif name == "documents":
        text = made.read_bytes()
        write(made, b"".join(b"<doc>\n" + text[k : k + 5000] + b"\n" for k in range(0, len(text), 5000)))
    made.replace(file)
    return [file], n


def write(file: Path, content: bytes) -> None:
    """Whole, or not at all."""
    part = file.with_name(file.name + ".new")
    part.write_bytes(content)
    part.replace(file)


def triangles(n: int) -> bytes:
    """As PBBS's own generator, which does not compile any more: n small ones in a cube, the same each time."""
    chance = random.Random(1)
    d = n**-0.5
    lines = ["pbbs_triangles", str(3 * n), str(n)]
    for _ in range(n):
        x, y, z = chance.random(), chance.random(), chance.random()
        lines += [f"{x:.6f} {y:.6f} {z:.6f}", f"{x + d:.6f} {y + d:.6f} {z:.6f}", f"{x + d:.6f} {y:.6f} {z + d:.6f}"]
    lines += [f"{3 * k + 1} {3 * k + 2} {3 * k + 3}" for k in range(n)]  # numbered from 1, as addRays and the program read them
    return ("\n".join(lines) + "\n").encode()


# ---- Run.


@dataclass
class Row:
    """A run: one process, and the median of its rounds."""

    program: str
    input: str
    scheduler: str
    workers: int
    turn: int
    status: str
    seconds: float | None


def environment(scheduler: str, workers: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NOPAL_", "OMP_", "KMP_", "PARLAY_", "TBB_"))}
    sizes = {"nopal": {"NOPAL_WORKERS": str(workers)}, "own": {"PARLAY_NUM_THREADS": str(workers)}, "openmp": {"OMP_NUM_THREADS": str(workers)}, "tbb": {}}
    return kept | sizes[scheduler]


def time_once(program: Program, scheduler: str, files: list[Path], n: int, arguments: argparse.Namespace) -> tuple[str, float | None]:
    """How a run went, `ok` or what is wrong, and its time."""
    out = arguments.out.resolve()
    result = out / "data" / "result"
    result.unlink(missing_ok=True)
    executable = out / scheduler / "benchmarks" / program.folder / program.name
    if not executable.exists():
        return "not built", None
    options = program.options.format(buckets=n).split()
    try:
        text = run([executable, *options, "-r", arguments.rounds, "-o", result, *files], seconds=arguments.limit, status=program.status,
                   env=environment(scheduler, arguments.workers))  # fmt: skip
    except Failed as failed:
        return str(failed).splitlines()[0].split(": ")[0], None
    times = [float(line.removeprefix("Parlay time:")) for line in text.splitlines() if line.startswith("Parlay time:")]
    if len(times) != arguments.rounds:
        return f"printed {len(times)} times, not {arguments.rounds}", None
    try:
        checker = out / "own/benchmarks" / program.problem / "bench" / f"{program.name}Check"
        said = run([checker, *program.check_options.split(), *files, result], status=program.check_status, env=environment("own", arguments.workers))
    except Failed as failed:
        return f"wrong: the checker {str(failed).splitlines()[0].split(': ')[0]}", None
    # PBBS's checkers end well even so; what does not begin with a colon is a complaint.
    complaints = [line for line in said.splitlines() if line and not line.startswith(":")]
    return (f"wrong: {complaints[0]}", None) if complaints else ("ok", statistics.median(times))


def run_all(arguments: argparse.Namespace) -> None:
    usable = sorted(os.sched_getaffinity(0))
    arguments.workers = arguments.workers or len(usable)
    if not 1 <= arguments.workers <= len(usable):
        sys.exit(f"pbbs.py: --workers {arguments.workers}: there are {len(usable)} CPUs for this process, and a worker needs one of its own. Say 1 to {len(usable)}.")
    os.sched_setaffinity(0, usable[: arguments.workers])  # oneTBB has no variable for it; so all learn it in the same way
    out = arguments.out.resolve()
    if not (out / "own").exists():
        sys.exit(f"pbbs.py: {out} has no programs. Run pbbs.py build --out {out} first.")
    rows: list[Row] = []
    for program in arguments.programs:
        files, n = make_input(program.input, arguments.scale, out)
        for turn in range(1, arguments.turns + 1):
            first = (turn - 1) % len(arguments.schedulers)
            for scheduler in arguments.schedulers[first:] + arguments.schedulers[:first]:
                status, seconds = time_once(program, scheduler, files, n, arguments)
                rows.append(Row(program.folder, files[0].name, scheduler, arguments.workers, turn, status, seconds))
                print(f"{program.folder} {turn} {scheduler}: {status if seconds is None else f'{seconds:.4f} s'}", flush=True)
    if arguments.csv:
        tables.write(arguments.csv, [field.name for field in fields(Row)], [list(vars(row).values()) for row in rows], {"scale": f"{arguments.scale:g}"})
    print(table(rows))
    # A program that fails on its own scheduler as well is no fault of nopal's.
    failed = {scheduler: {row.program for row in rows if row.scheduler == scheduler and row.status != "ok"} for scheduler in ("nopal", "own")}
    sys.exit(1 if failed["nopal"] - failed["own"] else 0)


# ---- Table.


def verdict(mine: list[float], other: list[float]) -> str:
    """Where each of nopal's turns is shorter than each of the other's, or longer; else they are level. One turn tells nothing."""
    if min(len(mine), len(other)) < 2:
        return "level"
    if max(mine) < min(other):
        return "ahead"
    return "behind" if min(mine) > max(other) else "level"


def table(rows: list[Row]) -> str:
    """For each program nopal's time, and the others' in parts of it: above 1 nopal is faster."""
    others = [s for s in SCHEDULERS[1:] if any(row.scheduler == s for row in rows)]
    lines = ["| program | nopal, ms | " + " | ".join(f"{NAMES[s]} / nopal" for s in others) + " |", "| --- " * (2 + len(others)) + "|"]
    counts = {s: {"ahead": 0, "level": 0, "behind": 0} for s in others}
    for program in dict.fromkeys(row.program for row in rows):
        times = {s: [row.seconds for row in rows if row.program == program and row.scheduler == s and row.seconds is not None] for s in SCHEDULERS}
        status = {s: next((row.status for row in rows if row.program == program and row.scheduler == s and row.status != "ok"), "ok") for s in SCHEDULERS}
        cells = [f"`{program}`", f"{statistics.median(times['nopal']) * 1000:.1f}" if status["nopal"] == "ok" and times["nopal"] else status["nopal"]]
        for s in others:
            if status[s] != "ok" or not times[s]:
                cells.append(status[s])
            elif status["nopal"] != "ok" or not times["nopal"]:
                cells.append("")
            else:
                how = verdict(times["nopal"], times[s])
                counts[s][how] += 1
                ratio = statistics.median(times[s]) / statistics.median(times["nopal"])
                cells.append(f"{ratio:.2f}" + ("" if how == "level" else f" {how}"))
        lines.append("| " + " | ".join(cells) + " |")
    for s in others:
        lines.append(f"\nBeside {NAMES[s]}: " + ", ".join(f"{how} in {count}" for how, count in counts[s].items()) + ".")
    return "\n".join(lines)


def print_table(arguments: argparse.Namespace) -> None:
    head, lines = tables.read(arguments.file)
    rows = [
        Row(r["program"], r["input"], r["scheduler"], int(r["workers"]), int(r["turn"]), r["status"], float(r["seconds"]) if r["seconds"] else None)
        for r in lines
    ]
    print(table(rows))
    if arguments.page:
        what = f"Inputs of {head['scale']} of PBBS's small ones"
        turns = [max(row.turn for row in rows if row.program == program) for program in {row.program for row in rows}]
        said = tables.caption(head, rows[0].workers, max(turns), what, COMMAND, min(turns))
        tables.put(arguments.page, "by pbbs.py", f"{said}\n\n{table(rows)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    for name, function in (("build", build), ("run", run_all)):
        verb = verbs.add_parser(name)
        verb.set_defaults(function=function)
        verb.add_argument("--out", type=Path, required=True, help="the folder where all is built and run")
        verb.add_argument("--programs", nargs="+", default=[p.problem for p in PROGRAMS], help="some of PBBS's problems, as integerSort")
        verb.add_argument("--schedulers", nargs="+", default=list(SCHEDULERS), choices=SCHEDULERS)
        if name == "build":
            verb.add_argument("--pbbs", type=Path, required=True)
            verb.add_argument("--parlay", type=Path, required=True)
            verb.add_argument("--compiler", default="clang++-22")
            verb.add_argument("--jobs", type=int, default=1, help="compilers at once")
        else:
            verb.add_argument("--turns", type=int, default=3)
            verb.add_argument("--rounds", type=int, default=3, help="of each process")
            verb.add_argument("--scale", type=float, default=0.1, help="the part of the small inputs' size; 1 is PBBS's own")
            verb.add_argument("--workers", type=int, default=0, help="all CPUs where it is not said")
            verb.add_argument("--limit", type=float, default=300, help="seconds that one process may take")
            verb.add_argument("--csv", type=Path)
    verb = verbs.add_parser("table")
    verb.set_defaults(function=print_table)
    verb.add_argument("file", type=Path)
    verb.add_argument("--page", type=Path, help="a page whose table is written anew")
    arguments = parser.parse_args()
    if "programs" in arguments:
        unknown = sorted(set(arguments.programs) - {p.problem for p in PROGRAMS})
        if unknown:
            sys.exit(f"pbbs.py: --programs {unknown[0]}: there is none of that name. There are: {', '.join(p.problem for p in PROGRAMS)}.")
        arguments.programs = [p for p in PROGRAMS if p.problem in arguments.programs]
    arguments.function(arguments)


if __name__ == "__main__":
    main()
