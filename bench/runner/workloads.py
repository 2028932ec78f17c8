"""What can be run: the workloads, and the programs that the build made for them."""

from dataclasses import dataclass
from pathlib import Path

PREFIX = "nopal_bench_"

# An implementation that is neither the serial projection nor one of these is nopal's own.
PEERS = (
    *("tbb", "tbb_simple", "openmp", "openmp_dynamic", "openmp_guided", "parallel_mode", "libfork", "libfork_busy", "libfork_stack", "libfork_stack_busy", "taskflow"),
    *("threads", "thread_each", "condition", "semaphore", "ucontext", "boost_fcontext", "boost_context", "boost_fiber"),
    "parallel_mode",
)
SERIAL = "serial"

NATIVE = "native"
SCOPE = "scope"
FIBER = "fiber"
BARE = "context"  # nopal's, without a pool


@dataclass(frozen=True)
class Workload:
    name: str
    kernel: str
    arguments: tuple[str, ...] = ()
    paper: str = "paper"  # what its programs are told for the size of that name

    def size(self, size: str) -> str:
        return self.paper if size == "paper" else size

    @property
    def title(self) -> str:
        return self.name if self.name == self.kernel else f"{self.kernel} {self.name}"


def _tree(name: str) -> Workload:
    return Workload(name, "uts", ("--tree", name))


BY_DEFAULT = (
    Workload("fib", "fib"),
    Workload("integrate", "integrate"),
    Workload("nqueens", "nqueens"),
    Workload("matmul", "matmul"),
    _tree("T1"),
    _tree("T3"),
)
FLAT = Workload("flat", "flat")

# The programs of the Fibril paper, in its order; its matrices for matmul are smaller than those of the paper that tasks follow.
FIBRIL = (
    Workload("cholesky", "cholesky"),
    Workload("fft", "fft"),
    Workload("fib", "fib"),
    Workload("heat", "heat"),
    Workload("integrate", "integrate"),
    Workload("knapsack", "knapsack"),
    Workload("lu", "lu"),
    Workload("matmul", "matmul", paper="2048"),
    Workload("nqueens", "nqueens"),
    Workload("quicksort", "quicksort"),
    Workload("rectmul", "rectmul"),
    Workload("strassen", "strassen"),
)
SUBMIT = Workload("submit", "submit")
TENFOLD = Workload("tenfold", "tenfold")
FILES = Workload("files", "files")
BY_NAME = (FLAT, TENFOLD, FILES, SUBMIT, _tree("T1L"), _tree("T3L"), _tree("T1XXL"), _tree("T3XXL"))

# What sorts are given: random values, then pairs in patterns.
SORTED = ("ints", "doubles", "strings", "pairs", "sorted", "reversed", "equal", "sawtooth", "few")
SORT = (
    *(Workload(name, "sort", ("--data", name)) for name in SORTED),
    *(Workload(f"stable-{name}", "stable_sort", ("--data", name)) for name in SORTED[:4]),
)

# What Taskflow's own benchmarks have, where this folder does not: graphs, made and run, or run ten times; pipelines; tasks; loops.
SHAPES = {
    "graphs": ("chain", "chain-again", "tree", "tree-again", "wavefront", "wavefront-again", "traversal", "traversal-again", "apart", "apart-again", "diamonds"),
    "pipelines": ("pipeline", "pipeline-serial", "pipeline-empty", "pipeline-typed", "pipeline-graph"),
    "tasks": ("queens", "skynet", "jobs", "merge-sort"),
    "loops": ("primes", "for-each", "reduce-sum", "scan", "std-sort", "mandelbrot", "matrices", "black-scholes"),
}
FLOWS = tuple(Workload(name, "flows", ("--shape", name)) for group in SHAPES.values() for name in group)

# The programs of the libfork paper, in the order of its Table I; the last two only at the paper's size.
LIBFORK = (*BY_DEFAULT[:4], _tree("T1"), _tree("T1L"), _tree("T3"), _tree("T3L"))
LIBFORK_PAPER = (*LIBFORK, _tree("T1XXL"), _tree("T3XXL"))

# What the papers compare with, where it is found, beside nopal's own part of each.
LIBFORK_IMPLS = [
    *(SERIAL, "task", "task_stack"),
    *("libfork", "libfork_busy", "libfork_stack", "libfork_stack_busy", "tbb", "openmp", "taskflow"),
]
FIBRIL_IMPLS = [SERIAL, NATIVE, SCOPE, "c", "tbb"]

# Where two have one name, the default one has it.
WORKLOADS = {workload.name: workload for workload in FIBRIL + BY_NAME + SORT + FLOWS + BY_DEFAULT}
GROUPS = {"uts": (_tree("T1"), _tree("T3")), "fibril": FIBRIL, "libfork": LIBFORK, "sort": SORT, "flows": FLOWS}


class MissingPrograms(Exception):
    """The build lacks what has to be there."""


def select(names: list[str]) -> list[Workload]:
    """The workloads of these names, in the order given; all default ones for no name. KeyError for an unknown one."""
    if not names:
        return list(BY_DEFAULT)
    return [workload for name in names for workload in GROUPS.get(name) or (WORKLOADS[name],)]


def base(label: str) -> str:
    """The implementation's own name, without that of a series."""
    return label.split(",")[0]


def is_peer(label: str) -> bool:
    return base(label) in PEERS


def takes_pool_options(label: str) -> bool:
    return is_nopal(label) and base(label) != BARE


def has_native_stacks(label: str) -> bool:
    return base(label) in (NATIVE, SCOPE, FIBER)


def is_nopal(label: str) -> bool:
    return base(label) != SERIAL and not is_peer(label)


# What each peer is recognised by, and how it is added.
HOW_TO_ADD = {
    "tbb": ("fib", "oneTBB: Debian's libtbb-dev, or ./nopal bench --tbb pypi for the newest"),
    "openmp": ("fib", "OpenMP: Debian's libomp-22-dev, for the compiler in use"),
    "libfork": ("fib", "libfork: install it where CMake finds it, as by CMAKE_PREFIX_PATH: github.com/ConorWilliams/libfork"),
    "taskflow": ("fib", "Taskflow 4.0 or newer: install it where CMake finds it, as by CMAKE_PREFIX_PATH: taskflow.github.io"),
    "boost_fiber": ("fibers_switch", "Boost.Fiber: Debian's libboost-fiber-dev"),
}


def missing_peers(build: Path) -> list[str]:
    """A line for each peer that the build has not found, which says how to add it."""
    return [how for impl, (kernel, how) in HOW_TO_ADD.items() if not (build / "bench" / f"{PREFIX}{kernel}_{impl}").is_file()]


def programs(build: Path, kernel: str, only: list[str]) -> dict[str, Path]:
    """The kernel's programs by implementation: serial first, then nopal's own, then the peers."""
    prefix = f"{PREFIX}{kernel}_"
    found = {path.name.removeprefix(prefix): path for path in (build / "bench").glob(prefix + "*") if path.is_file()}
    if only:
        found = {impl: path for impl, path in found.items() if impl in only}
    # A comparison that lacks nopal or the serial time says nothing, unless neither was asked for.
    missing = [impl for impl in (SERIAL,) if impl not in found and impl in (only or [SERIAL])]
    if not any(is_nopal(impl) for impl in found):
        missing += [impl for impl in only if is_nopal(impl)] or ([] if only else ["task", NATIVE, FIBER])
    if missing or not found:
        wanted = ", ".join(prefix + impl for impl in missing or only)
        raise MissingPrograms(f"{build / 'bench'} lacks {wanted}: build the target bench/all, or name another --build")
    return dict(sorted(found.items(), key=lambda item: _rank(item[0])))


def _rank(impl: str) -> tuple[int, int, str]:
    if impl == SERIAL:
        return (0, 0, impl)
    if is_peer(impl):
        return (2, PEERS.index(impl), impl)
    return (1, 0, impl)
