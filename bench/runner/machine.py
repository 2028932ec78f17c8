"""The machine that the figures belong to."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    cpu: str
    usable_cpus: int
    cpus: int
    memory_gib: float
    system: str

    def __str__(self) -> str:
        return f"{self.cpu}, {self.usable_cpus} of {self.cpus} CPUs usable, " f"{self.memory_gib:.0f} GiB, {self.system}"


def this_machine() -> Machine:
    return Machine(
        cpu=_cpu_model(),
        usable_cpus=usable_cpus(),
        cpus=os.cpu_count() or 1,
        memory_gib=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
    )


def usable_cpus() -> int:
    """What the affinity mask leaves, and the cgroup's quota of it."""
    by_mask = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        return by_mask
    if quota == "max":
        return by_mask
    return max(1, min(by_mask, int(quota) // int(period)))


def sweep(most: int) -> list[int]:
    """1, 2, 4, ... up to all CPUs."""
    result = [1]
    while 2 * result[-1] <= most:
        result.append(2 * result[-1])
    return result if result[-1] == most else [*result, most]


def busy_note() -> str | None:
    """A warning where other programs compete for the CPUs."""
    load = os.getloadavg()[0]
    if load < 0.5:
        return None
    return f"the load average is {load:.1f}: other programs are running, and the figures will show it"


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
