#!/usr/bin/env python3
"""Lets tools/shrink.py find planted races, and checks what it says.

    python3 shrinking.py SHRINK PROGRAM CASE
"""

import os
import re
import subprocess
import sys

MOST_SWITCHES = 3


class Failed(Exception):
    pass


def run(words: list[str], schedule: str | None = None) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NOPAL_")}
    if schedule is not None:
        environment["NOPAL_SCHEDULE"] = schedule
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=500)


class Case:
    def __init__(self, shrink: str, program: str):
        self.shrink, self.program = shrink, program

    def check(self, race: str, places: list[str], *options: str) -> None:
        """The race fails; few of its switches are left, in these functions; and by them alone it fails again, and without the last not."""
        said = run([sys.executable, "-B", self.shrink, *options, "--", self.program, race])
        if said.returncode != 0:
            raise Failed(f"status {said.returncode}:\n{said.stdout}\n{said.stderr}")
        before = re.search(r"fails: .*, (\d+) switches", said.stdout)
        left = re.search(r"(\d+) switches are left", said.stdout)
        again = re.search(r"NOPAL_SCHEDULE='(only:[^']*)'", said.stdout)
        if before is None or left is None or again is None:
            raise Failed(said.stdout)
        if not 1 <= int(left[1]) <= MOST_SWITCHES or int(left[1]) > int(before[1]):
            raise Failed(f"{left[1]} of {before[1]} switches are left:\n{said.stdout}")
        if not any(place in said.stdout for place in places) or "races.cpp:" not in said.stdout:
            raise Failed(f"none of {places} is named:\n{said.stdout}")
        if run([self.program, race], again[1]).returncode == 0:
            raise Failed(f"it does not fail again:\n{said.stdout}")
        kept = again[1].split(":")
        fewer = ":".join([*kept[:3], *filter(None, [kept[3].rpartition(",")[0]])])
        if run([self.program, race], fewer).returncode != 0:
            raise Failed(f"it fails with fewer, {fewer}:\n{said.stdout}")

    def lost_update(self) -> None:
        self.check("lost_update", ["deposit", "audit"])

    def order(self) -> None:
        self.check("order", ["fill", "order"])

    def flag(self) -> None:
        self.check("flag", ["make_table", "entry"])

    def by_priority(self) -> None:
        self.check("lost_update", ["deposit", "audit"], "--schedule", "pct:0:d=2:k=40")

    def nothing(self) -> None:
        """Where nothing fails it says so."""
        said = run([sys.executable, "-B", self.shrink, "--seeds", "5", "--", self.program, "right"])
        if said.returncode != 2 or "none of 5 seeds fails; try more" not in said.stdout:
            raise Failed(f"status {said.returncode}:\n{said.stdout}\n{said.stderr}")

    def messages(self) -> None:
        for words, status, text in (
            ([], 2, "no program: write it behind --"),
            (["--schedule", "always", "--", self.program, "order"], 2, "'always' cannot be shrunk; write random:SEED"),
            (["--schedule", f"random:{2**64}", "--", self.program, "order"], 2, f"the seed {2**64} is more than"),
            (["--", "./nonexistent"], 2, "'./nonexistent' is no program that can be run; name one by its path"),
            (["--", "/"], 2, "'/' is no program that can be run"),
            (["--timeout", "0", "--", self.program, "order"], 2, "'0' is no time; write seconds above 0"),
            (["--timeout", "nan", "--", self.program, "order"], 2, "'nan' is no time"),
            (["--seeds", "-3", "--", self.program, "order"], 2, "'-3' is no number of seeds; write one from 1"),
            (["--seeds", "0", "--", self.program, "order"], 2, "'0' is no number of seeds"),
        ):
            said = run([sys.executable, "-B", self.shrink, *words])
            if said.returncode != status or text not in said.stderr:
                raise Failed(f"status {said.returncode}:\n{said.stdout}\n{said.stderr}")


def main() -> int:
    shrink, program, case = sys.argv[1:]
    try:
        getattr(Case(shrink, program), case)()
    except Failed as e:
        print(e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
