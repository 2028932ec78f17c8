#!/usr/bin/env python3
"""What ./nopal makes of its arguments. Nothing is built or installed: where it would be, functions of the script are replaced."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of a script that was read. `exec` too: what is run in the end is said.
REPLACED = """
need() { say "installing $*"; }
step() { shift 2; echo "step: $*"; }
exec() { echo "exec: $*"; }
debian_python() { echo python3; }
cmake() { printf 'nopal_bench_%s: phony\\n' fib_task heat_task integrate_task nqueens_tbb matmul_serial uts_task uts_task_stack loops_tbb; }
"""


class Script(unittest.TestCase):
    """A copy of the script, in a tree that is nearly empty, and a folder where the caller is."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree, self.here = Path(folder.name).resolve() / "tree", Path(folder.name).resolve() / "here"
        for made in (self.tree, self.here):
            made.mkdir()
        shutil.copy(ROOT / "nopal", self.tree)

    def call(self, function: str) -> subprocess.CompletedProcess:
        words = ["bash", "-c", f"source {self.tree}/nopal help >/dev/null\n{REPLACED}\n{function}"]
        return subprocess.run(words, cwd=self.here, capture_output=True, text=True, check=False)

    def make(self, file: str, text: str) -> None:
        path = self.tree / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def test_onetbb_from_pypi(self):
        self.make("build/tbb/lib/cmake/tbb/TBBConfig.cmake", "")
        said = self.call("run_bench --tbb pypi fib --runs=3")
        self.assertEqual(said.returncode, 0, said.stderr)
        steps = [line.split() for line in said.stdout.splitlines() if line.startswith("step: cmake")]
        self.assertIn(f"-DTBB_DIR={self.tree}/build/tbb/lib/cmake/tbb", steps[0])
        self.assertEqual(set(steps[1][steps[1].index("--target") + 1 :]), {"nopal_bench_fib_task"})
        self.assertIn("exec: python3 bench/run.py --build build/pypi --out build/release fib --runs=3", said.stdout.splitlines())

    def test_benchmarks_build_what_they_run(self):
        fib = {"nopal_bench_fib_task"}  # by which bench/run.py tells the peers
        uts = {"nopal_bench_uts_task", "nopal_bench_uts_task_stack"}
        kernels = fib | uts | {"nopal_bench_integrate_task", "nopal_bench_nqueens_tbb", "nopal_bench_matmul_serial"}
        everything = {"bench/all"}
        for arguments, built in (
            ("", kernels),
            ("--runs 3 --size smoke", kernels),
            ("--smoke", everything),
            ("--smoke heat", fib | {"nopal_bench_heat_task"}),
            ("T1 T3XXL", fib | uts),
            ("uts --workers 1,2", fib | uts),
            ("fib loops", everything),
            ("--latency", everything),
        ):
            with self.subTest(arguments):
                said = self.call(f"run_bench {arguments}")
                self.assertEqual(said.returncode, 0, said.stderr)
                words = said.stdout.splitlines()[2].split()
                self.assertEqual(set(words[words.index("--target") + 1 :]), built)

    def test_pypi_has_no_onetbb(self):
        said = self.call("run_bench --tbb pypi")
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("build/tbb/lib/cmake/tbb", said.stderr)
        self.assertNotIn("exec:", said.stdout)

    def test_the_file_of_calibrate_is_where_the_caller_is(self):
        self.make("build/release/bench/nopal_calibrate", "#!/bin/sh\necho look=1\n")
        self.assertEqual(self.call("run_calibrate mine").returncode, 0)
        self.assertEqual((self.here / "mine").read_text(), "look=1\n")
        self.assertEqual(self.call("run_calibrate").returncode, 0)
        self.assertEqual((self.tree / "build/calibration").read_text(), "look=1\n")


class Tools(unittest.TestCase):
    def call(self, folder: str, *words: str) -> subprocess.CompletedProcess:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NOPAL_")}
        return subprocess.run([ROOT / "nopal", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)

    def test_trace_reads_where_the_caller_is(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.pftrace").write_text("x\n")
            self.assertIn("run.pftrace is no trace of nopal's", self.call(folder, "trace", "run.pftrace").stderr)

    def test_shrink_runs_where_the_caller_is_and_quotes(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "fails"
            program.write_text("#!/bin/sh\nexit 1\n")
            program.chmod(0o755)
            said = self.call(folder, "shrink", "--", "./fails", "two words", "$x")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn("NOPAL_SCHEDULE='only:random:0' ./fails 'two words' '$x'", said.stdout)


if __name__ == "__main__":
    unittest.main()
