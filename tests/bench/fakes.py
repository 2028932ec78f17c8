"""Fake benchmark programs, which run.py takes for those of a build: what they do is told in files beside them."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(RUNNER))

from runner import files  # noqa: E402  below the path of the runner

PROGRAM = """#!{python}
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__)
told = json.loads((here.parent.parent / "told" / here.name).read_text())
arguments = sys.argv[1:]
with (here.parent.parent / "log").open("a") as log:
    log.write(here.name + "\\n")
time.sleep(told.get("sleep", 0))
match told.get("does", "works"):
    case "hangs":
        time.sleep(600)
    case "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    case "prints":
        print(told["text"])
        sys.exit(0)
    case "ends":
        print("no licence", file=sys.stderr)
        sys.exit(7)
workers = int(arguments[arguments.index("--workers") + 1])
memory = told.get("memory", 5000)
record = dict(kernel="fib", impl=here.name, workers=workers, size="1", seconds=told.get("seconds", 0.5), ok=told.get("does") != "errs",
              answer="42", peak_rss_kib=memory + 100 * workers, rss_before_kib=memory, rss_increase_kib=10, page_faults=1, compiler="none",
              peer=told.get("peer", here.name))
print(json.dumps(record))
sys.exit(0 if record["ok"] else 1)
"""


class WithPrograms(unittest.TestCase):
    """A build folder of fake programs, and a folder for results."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name) / "build"
        self.out = Path(folder.name) / "out"
        (self.build / "bench").mkdir(parents=True)
        self.make("fib", "serial")
        self.make("fib", "task")

    def make(self, kernel: str, impl: str, **does: object) -> Path:
        program = self.build / "bench" / f"nopal_bench_{kernel}_{impl}"
        if not program.exists():
            program.write_text(PROGRAM.format(python=sys.executable))
            program.chmod(0o755)
        (self.build / "told").mkdir(exist_ok=True)
        (self.build / "told" / program.name).write_text(json.dumps(does))
        return program

    @property
    def started(self) -> list[str]:
        """The names of the programs that were started, in order."""
        log = self.build / "log"
        return [line.removeprefix("nopal_bench_") for line in log.read_text().splitlines()] if log.exists() else []

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(RUNNER / "run.py"), "--build", str(self.build), "--out", str(self.out), *arguments]

    def run_it(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})

    def results(self, stem: str = "kernels") -> dict:
        return files.read([self.out / f"bench-{stem}.csv"])[stem]

    def cell(self, impl: str, workers: int = 1, stem: str = "kernels") -> dict:
        return next(run for run in self.results(stem)["runs"] if run["impl"] == impl and run["workers"] == workers)
