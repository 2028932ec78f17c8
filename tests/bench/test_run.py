"""run.py: series by the options of a pool, runs that are interrupted, and programs that crash, hang or are wrong."""

import os
import signal
import subprocess
import time
import unittest
from pathlib import Path
from unittest import mock

from fakes import WithPrograms
from runner import fibers
from runner.measure import Cell, Limits, measure
from runner.process import Finished
from runner.state import State


class Peers(WithPrograms):
    def row(self, impl: str) -> dict:
        return next(row for row in self.results()["rows"] if row["impl"] == impl)

    def test_the_papers_size_lies_in_a_file_of_its_own(self) -> None:
        self.assertEqual(self.run_it("fib", "--workers", "1", "--runs", "1", "--size", "paper").returncode, 0)
        self.assertEqual(self.cell("task", stem="paper-size")["status"], "ok")
        self.assertFalse((self.out / "bench-kernels.csv").exists())
        for kernel in ("sort", "stable_sort"):
            for impl in ("serial", "native"):
                self.make(kernel, impl)
        done = self.run_it("sort", "--workers", "1", "--runs", "1", "--size", "paper")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.cell("native", stem="sort-paper-size")["status"], "ok")
        self.assertFalse((self.out / "bench-sort.csv").exists(), "it would take the place of the usual size")

    def test_where_nothing_is_named_those_that_take_long_run_less_often(self) -> None:
        for kernel in ("fib", "integrate", "nqueens", "matmul", "uts"):
            for impl in ("serial", "task"):
                self.make(kernel, impl)
        self.make("fib", "tbb", sleep=1.6)
        done = self.run_it("--workers", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([self.started.count(name) for name in ("fib_task", "fib_tbb")], [5, 1])
        self.assertEqual(self.run_it("fib", "--workers", "1", "--runs", "2").returncode, 0)
        self.assertEqual(self.started.count("fib_tbb"), 3)

    def test_one_that_crashes_has_a_cell_that_says_so(self) -> None:
        self.make("fib", "tbb", does="crashes")
        done = self.run_it("fib", "--workers", "1", "--runs", "2")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.row("tbb")["status"], "crashed: SIGSEGV")
        self.assertIn("crashed: SIGSEGV", done.stdout)
        self.assertEqual(self.row("task")["status"], "ok")
        self.assertEqual(len(self.cell("task")["records"]), 2)
        self.assertIsNone(self.row("task")["best_peer_ratio"])

    def test_one_that_hangs_has_a_cell_that_says_so_and_fails_nothing(self) -> None:
        self.make("fib", "tbb", does="hangs")
        done = self.run_it("fib", "--workers", "1", "--runs", "2", "--timeout", "5")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.row("tbb")["status"], "> 5 s")
        self.assertEqual(self.started.count("fib_tbb"), 1)

    def test_one_that_is_wrong_has_a_cell_that_says_so(self) -> None:
        self.make("fib", "tbb", does="errs", seconds=0.001)
        done = self.run_it("fib", "--workers", "1", "--runs", "1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.row("tbb")["status"], "wrong answer")
        self.assertIsNone(self.row("task")["best_peer_ratio"], "a wrong answer is no time to be compared with")

    def test_one_that_prints_no_record_has_a_cell_that_says_so(self) -> None:
        for text in ("hello", "[1, 2]", "3", '{"seconds": 1}', '{"ok": true}'):
            self.make("fib", "tbb", does="prints", text=text)
            self.run_it("fib", "--workers", "1", "--runs", "1", "--fresh")
            self.assertEqual(self.row("tbb")["status"], "no record", text)

    def test_one_that_ends_by_itself_says_why(self) -> None:
        self.make("fib", "tbb", does="ends")
        done = self.run_it("fib", "--workers", "1", "--runs", "1")
        self.assertEqual(self.row("tbb")["status"], "exit status 7")
        self.assertIn("no licence", done.stdout)

    def test_one_that_cannot_be_started_says_so(self) -> None:
        self.make("fib", "tbb").write_bytes(b"\x7fELF")
        self.run_it("fib", "--workers", "1", "--runs", "1")
        self.assertEqual(self.row("tbb")["status"], "not started")

    def test_nopal_that_hangs_fails_the_run(self) -> None:
        self.make("fib", "task", does="hangs")
        self.assertEqual(self.run_it("fib", "--workers", "1", "--runs", "1", "--timeout", "5").returncode, 1)

    def test_those_that_are_not_there_are_a_line_that_says_how_to_add_them(self) -> None:
        done = self.run_it("fib", "--workers", "1", "--runs", "1")
        self.assertIn("not found: oneTBB", done.stdout)
        self.assertIn("libtbb-dev", done.stdout)
        self.assertTrue(any("Taskflow" in line for line in self.results()["missing"]))


class Series(WithPrograms):
    def test_each_combination_of_options_is_one(self) -> None:
        self.make("fib", "tbb")
        self.run_it("fib", "--workers", "1", "--runs", "1", "--idle", "lazy,busy", "--victims", "eq6,scan")
        impls = [row["impl"] for row in self.results()["rows"]]
        self.assertEqual(impls, ["serial", "task", "task, scan", "task, busy", "task, busy, scan", "tbb"])

    def test_options_of_native_stacks_are_for_programs_that_have_them(self) -> None:
        self.make("fib", "native")
        self.run_it("fib", "--workers", "1", "--runs", "1", "--reclaim", "none,free", "--resume", "home")
        impls = [row["impl"] for row in self.results()["rows"]]
        self.assertEqual(impls, ["serial", "native, reclaim none, home", "native, reclaim free, home", "task"])

    def test_options_that_an_experiment_chooses_itself_are_its_own(self) -> None:
        self.make("fibers_loops", "fiber")
        cells = fibers.cells(
            fibers.SCALING[fibers.CONTENDED], self.build, ["fiber"], [1], "smoke", pools={"victims": ["scan"], "idle": ["busy"]}
        )
        self.assertTrue(cells)
        for cell in cells:
            self.assertLessEqual(cell.arguments.count("--victims"), 1, cell.arguments)
            self.assertIn("busy", cell.impl)

    def test_a_value_that_there_is_not_is_refused_with_those_that_there_are(self) -> None:
        done = self.run_it("fib", "--victims", "nearest")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--victims takes eq6, uniform, scan, not 'nearest'", done.stderr)


class Interrupted(WithPrograms):
    def setUp(self) -> None:
        super().setUp()
        for impl in ("serial", "task"):
            self.make("fib", impl, sleep=0.3)

    def start_and_kill(self, after: int, how: signal.Signals) -> None:
        running = subprocess.Popen(self.command("fib", "--workers", "1,2", "--runs", "4"), stdout=subprocess.DEVNULL)
        while len(self.started) <= after and running.poll() is None:
            time.sleep(0.01)
        self.assertIsNone(running.poll(), "it was to be killed before its end")
        running.send_signal(how)
        running.wait()

    def test_a_run_that_was_killed_goes_on_where_it_was(self) -> None:
        self.start_and_kill(5, signal.SIGKILL)
        before = len(self.started)
        self.assertTrue((self.out / "bench-state.jsonl").exists())
        done = self.run_it("fib", "--workers", "1,2", "--runs", "4")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("an interrupted run had done", done.stdout)
        self.assertLessEqual(len(self.started), 12 + 1, "at most the one that was running is run again")
        self.assertGreater(len(self.started), before)
        self.assertEqual([len(run["records"]) for run in self.results()["runs"]], [4, 4, 4])
        self.assertFalse((self.out / "bench-state.jsonl").exists())

    def test_a_line_that_was_cut_off_is_no_run(self) -> None:
        self.start_and_kill(4, signal.SIGKILL)
        state = self.out / "bench-state.jsonl"
        whole = state.read_text()
        state.write_text(whole[: len(whole) - 20])
        self.assertEqual(self.run_it("fib", "--workers", "1,2", "--runs", "4").returncode, 0)
        self.assertEqual([len(run["records"]) for run in self.results()["runs"]], [4, 4, 4])

    def test_fresh_begins_anew(self) -> None:
        self.start_and_kill(4, signal.SIGINT)
        before = len(self.started)
        self.run_it("fib", "--workers", "1,2", "--runs", "4", "--fresh")
        self.assertEqual(len(self.started) - before, 12)

    def test_a_program_that_was_built_anew_is_run_again(self) -> None:
        self.start_and_kill(5, signal.SIGKILL)
        time.sleep(0.3)  # the process that was running has ended
        before = len(self.started)
        for impl in ("serial", "task"):
            os.utime(self.build / "bench" / f"nopal_bench_fib_{impl}", (1, 1))
        self.run_it("fib", "--workers", "1,2", "--runs", "4")
        self.assertEqual(len(self.started) - before, 12)


class Shares(unittest.TestCase):
    def runs(self, seconds: float, share: float) -> int:
        """How often a cell is run whose process takes so long."""
        cell = Cell("fib", "task", 1, Path("none"), [])
        with mock.patch("runner.process.run", lambda *_: Finished({"ok": True, "seconds": 1})), mock.patch("time.monotonic") as clock:
            clock.side_effect = [tick * seconds for tick in range(100)]
            measure([cell], Limits(5, 60, share), mock.Mock(), State(None))
        return len(cell.records)

    def test_bound_how_often_a_cell_is_run_that_takes_long(self) -> None:
        self.assertEqual(self.runs(8, 6), 1)
        self.assertEqual(self.runs(2.5, 6), 2)
        self.assertEqual(self.runs(1, 6), 5)
        self.assertEqual(self.runs(100, float("inf")), 5)


class Sweep(WithPrograms):
    def test_goes_by_powers_of_two_up_to_all_cpus(self) -> None:
        from runner.machine import sweep

        self.assertEqual(sweep(1), [1])
        self.assertEqual(sweep(2), [1, 2])
        self.assertEqual(sweep(6), [1, 2, 4, 6])
        self.assertEqual(sweep(8), [1, 2, 4, 8])


if __name__ == "__main__":
    unittest.main()
