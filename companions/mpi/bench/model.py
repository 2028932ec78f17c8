#!/usr/bin/env python3
"""What overlap gives on 2 to 1024 ranks: heat and SUMMA by the LogGP model, with and without overlap.

    mpirun -n 2 build/release/tests/mpi/nopal_mpi_pingpong_mpich  # prints L= o= g= G=
    python3 companions/mpi/bench/model.py --parameters "L=0.5 o=0.3 g=0.4 G=0.0001" [--delay 50] [--check mpi-runs.csv]

LogGP: a message of b bytes takes its sender and its receiver o of CPU each, and is there o + L + (b - 1) G + o after it was sent; two messages of
one rank are g apart. --delay is added to L, as NOPAL_MPI_DELAY_US does. The compute rate is --heat-ns for a point, --heat-block-ns where a block is
swept several steps at once, and --gemm-ns for a multiplication and an addition; --check takes them from the rows without delay, and compares the
model's times with the medians.

heat is simulated, since who waits for whom matters: each rank is blocks in a row, a worker for each rank, and the blocks' steps are events. Three
ways, as heat.cpp has them: one step after the other; the inner rows overlapped; by dependencies, in sweeps of several steps. The problem grows with the ranks (weak scaling), or with --strong it stays. Ranks in the middle are alike: so at most 16 are
simulated, and the edges of the plate make no difference beyond.

SUMMA on a grid of R x C ranks: a panel goes to C - 1 others in a row and to R - 1 in a column, from its owner, one after the other. One after the
other: each panel costs its time to come and its product. With `ahead` panels under way: the larger of the two, in a steady state.
"""

import argparse
import csv
import heapq
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

SIMULATED = 16  # ranks of a row, at most


@dataclass(frozen=True)
class Network:
    L: float  # microseconds, as all times here
    o: float
    g: float
    G: float  # for a byte

    def arrives(self, size: float) -> float:
        """From the send's begin until the receiver can have it, without the receiver's own o."""
        return self.o + self.L + max(0.0, size - 1) * self.G

    @staticmethod
    def read(text: str, delay: float) -> "Network":
        found = {name: float(value) for name, value in re.findall(r"\b([LogG])=([0-9.eE+-]+)", text)}
        if missing := {"L", "o", "g", "G"} - found.keys():
            raise SystemExit(f"--parameters lacks {', '.join(sorted(missing))}: give the line that pingpong prints")
        return Network(found["L"] + delay, found["o"], found["g"], found["G"])


def heat_in_steps(net: Network, ranks: int, n: int, rows: int, steps: int, point: float, overlap: bool) -> float:
    """One step after the other; microseconds."""
    ranks = min(ranks, SIMULATED)
    size = 8 * n
    inner = max(0, rows - 2) * n * point if overlap else 0.0
    rest = rows * n * point - inner
    clock = [0.0] * ranks
    for _ in range(steps):
        sends = [min(r, 1) + min(ranks - 1 - r, 1) for r in range(ranks)]
        sent = [clock[r] + max(0, sends[r] - 1) * max(net.o, net.g) for r in range(ranks)]  # the last of the two
        after = []
        for r in range(ranks):
            mine = clock[r] + sends[r] * net.o + inner
            theirs = [sent[q] + net.arrives(size) for q in (r - 1, r + 1) if 0 <= q < ranks]
            after.append(max([mine, *theirs]) + len(theirs) * net.o + rest)
        clock = after
    return max(clock)


def heat_by_dependencies(net: Network, ranks: int, n: int, rows: int, steps: int, point: float, block: int, together: int) -> float:
    """Sweeps of `together` steps over the strip; a worker for each rank takes the block that the sweep has come to first; microseconds."""
    ranks = min(ranks, SIMULATED)
    blocks = max(1, -(-rows // block))
    size = 8 * n
    cost = rows / blocks * n * point
    total = ranks * blocks  # one row of blocks, over all ranks
    done = [0] * total
    # In the sweep of its rank, which begins at the rank's lower edge, or for each second rank at the upper one: a block's place, and who is before
    # it. Before the first there is the last, of the sweep before.
    place, before = [0] * total, [0] * total
    for b in range(total):
        upwards = b // blocks % 2 == 0
        place[b] = blocks - 1 - b % blocks if upwards else b % blocks
        step = -1 if place[b] > 0 else blocks - 1
        before[b] = b - step if upwards else b + step
    # When a block's state s can be used by the block on its left and right: at once in the same rank, later in another.
    visible_at: dict[tuple[int, int, int], float] = {}
    idle_since = [0.0] * ranks
    busy = [False] * ranks
    events: list[tuple[float, int, int]] = []  # time, kind (0: a block ends; 1: look again), block or rank

    def is_ready(b: int, now: float) -> bool:
        s = done[b]
        if s == steps:
            return False
        if s % together == 0 and done[before[b]] < s + (place[b] > 0):
            return False
        for neighbour in (b - 1, b + 1):
            if not 0 <= neighbour < total:
                continue
            if neighbour // blocks == b // blocks:
                if done[neighbour] < s:
                    return False
            elif s > 0 and visible_at.get((neighbour, b, s), float("inf")) > now:
                return False
        return True

    def begin(rank: int, now: float) -> None:
        if busy[rank]:
            return
        ready = [b for b in range(rank * blocks, (rank + 1) * blocks) if is_ready(b, now)]
        if not ready:
            return
        b = min(ready, key=lambda b: (done[b] // together, place[b] + done[b] % together, done[b]))
        busy[rank] = True
        edges = sum(1 for q in (b - 1, b + 1) if 0 <= q < total and q // blocks != rank)
        heapq.heappush(events, (now + cost + 2 * edges * net.o, 0, b))  # a send and a receive

    for rank in range(ranks):
        begin(rank, 0.0)
    end = 0.0
    while events:
        now, kind, what = heapq.heappop(events)
        if kind == 1:
            begin(what, now)
            continue
        rank = what // blocks
        done[what] += 1
        end = max(end, now)
        busy[rank] = False
        idle_since[rank] = now
        for neighbour in (what - 1, what + 1):
            if 0 <= neighbour < total and neighbour // blocks != rank:
                at = now + net.arrives(size)
                visible_at[what, neighbour, done[what]] = at
                heapq.heappush(events, (at, 1, neighbour // blocks))
        begin(rank, now)
    return end


def grid(ranks: int) -> tuple[int, int]:
    rows = max(r for r in range(1, int(ranks**0.5) + 1) if ranks % r == 0)
    return rows, ranks // rows


def summa(net: Network, ranks: int, n: int, panel: int, multiply: float, ahead: int) -> float:
    """ahead = 0: one after the other; microseconds."""
    rows, columns = grid(ranks)
    a, b = 8 * n / rows * panel, 8 * n / columns * panel
    messages = columns - 1 + rows - 1
    sends = max(0, columns - 2) * (max(net.g, net.o) + a * net.G) + max(0, rows - 2) * (max(net.g, net.o) + b * net.G)
    come = (net.arrives(max(a if columns > 1 else 0, b if rows > 1 else 0)) + sends) if messages else 0.0
    cpu = min(2, messages) * 2 * net.o
    product = n / rows * (n / columns) * panel * multiply
    panels = n / panel
    if ahead == 0:
        return panels * (come + cpu + product)
    # A panel must come within `ahead` products; what its bytes take is shared by all that are under way.
    bytes_take = (a * max(0, columns - 1) + b * max(0, rows - 1)) * net.G
    return come + panels * max(product + cpu, come / ahead, bytes_take)


def heat_row(net: Network, ranks: int, args: argparse.Namespace) -> list[float]:
    rows = max(1, args.rows // ranks) if args.strong else args.rows // 2
    common = (net, ranks, args.n, rows, args.steps)
    point = args.heat_ns / 1000
    blocks = heat_by_dependencies(*common, args.heat_block_ns / 1000, block=args.block, together=args.together)
    return [heat_in_steps(*common, point, overlap=False), heat_in_steps(*common, point, overlap=True), blocks]


def summa_row(net: Network, ranks: int, args: argparse.Namespace) -> list[float]:
    n = args.summa_n if args.strong else int(args.summa_n * (ranks / 2) ** 0.5)
    return [summa(net, ranks, n, args.panel, args.gemm_ns / 1000, ahead) for ahead in (0, 1, args.ahead)]


def check(args: argparse.Namespace) -> None:
    with args.check.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    def median(column: str, **wanted: str) -> float | None:
        found = [float(row[column]) for row in rows if all(row[key] == value for key, value in wanted.items())]
        return statistics.median(found) if found else None

    print("| program | ranks | delay | way | measured | model | model/measured |\n| --- | --- | --- | --- | --- | --- | --- |")
    for ranks, delay in sorted({(int(row["ranks"]), int(row["delay_us"])) for row in rows}):
        key = {"ranks": str(ranks), "delay_us": str(delay)}
        rate = {"ranks": str(ranks), "delay_us": "0"}
        net = Network.read(args.parameters, delay)
        sizes = {row["program"]: row["size"] for row in rows}
        for program in ("heat", "summa"):
            compute = median("compute", program=program, way="plain", **rate)
            by_blocks = median("compute", program=program, way="nopal", **rate)
            if compute is None or by_blocks is None:
                continue
            if program == "heat":
                n, steps = (int(x) for x in sizes["heat"].split("x"))
                mine = (n - 2) // ranks
                common = (net, ranks, n, mine, steps)
                point, block_point = (seconds * 1e6 / (mine * n * steps) for seconds in (compute, by_blocks))
                blocks = heat_by_dependencies(*common, block_point, block=args.block, together=args.together)
                times = [heat_in_steps(*common, point, overlap=False), heat_in_steps(*common, point, overlap=True), blocks]
            else:
                n, panel = (int(x) for x in sizes["summa"].split("/"))
                multiply = compute * 1e6 / (n**3 / ranks)
                times = [summa(net, ranks, n, panel, multiply, ahead) for ahead in (0, 1, args.ahead)]
            for way, model in zip(("plain", "plain overlapped", "nopal"), times):
                measured = median("seconds", program=program, way=way, **key)
                if measured:
                    ratio = model / 1e6 / measured
                    print(f"| {program} | {ranks} | {delay} us | {way} | {measured:.3f} s | {model / 1e6:.3f} s | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", required=True, help="the line that pingpong prints")
    parser.add_argument("--delay", type=float, default=0, metavar="US", help="added to L")
    parser.add_argument("--strong", action="store_true", help="the same problem for any number of ranks")
    parser.add_argument("--n", type=int, default=1026, help="heat: points in a row")
    parser.add_argument("--rows", type=int, default=1024, help="heat: rows of two ranks")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--block", type=int, default=32)
    parser.add_argument("--together", type=int, default=8, help="heat: steps of a sweep")
    parser.add_argument("--heat-ns", type=float, default=1.3, help="of a point")
    parser.add_argument("--heat-block-ns", type=float, default=1.0, help="of a point of a block that is swept")
    parser.add_argument("--summa-n", type=int, default=1024, help="for two ranks")
    parser.add_argument("--panel", type=int, default=32)
    parser.add_argument("--ahead", type=int, default=4)
    parser.add_argument("--gemm-ns", type=float, default=0.4, help="of a multiplication and an addition")
    parser.add_argument("--check", type=Path, metavar="CSV", help="compare with what run.py has written")
    args = parser.parse_args()
    if args.check:
        check(args)
        return
    net = Network.read(args.parameters, args.delay)
    print("| ranks | heat, plain | overlapped | by dependencies | SUMMA, plain | 1 ahead | " f"{args.ahead} ahead |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for power in range(1, 11):
        ranks = 2**power
        heat = heat_row(net, ranks, args)
        panels = summa_row(net, ranks, args)
        cells = [f"{heat[0] / 1000:.1f} ms", *(f"{t / heat[0]:.2f}" for t in heat[1:])]
        cells += [f"{panels[0] / 1000:.1f} ms", *(f"{t / panels[0]:.2f}" for t in panels[1:])]
        print(f"| {ranks} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
