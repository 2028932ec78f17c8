#!/usr/bin/env python3
"""That times.py and parlay/pbbs.py read what programs print, see results that are wrong, and say who is ahead: with programs that only print."""

import argparse
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "parlay")]
import pbbs  # noqa: E402
import tables  # noqa: E402
import times  # noqa: E402

PROGRAM = pbbs.Program("sorts/fast", "sort", "ints")


def script(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", encoding="utf-8")
    file.chmod(0o755)


def rows(nopal: list, own: list) -> list[pbbs.Row]:
    """Of one program: the times of each, or how a run went."""
    result = []
    for scheduler, runs in (("nopal", nopal), ("own", own)):
        for turn, run in enumerate(runs, 1):
            seconds = None if isinstance(run, str) else run
            result.append(pbbs.Row("sorts/fast", "ints", scheduler, 2, turn, run if seconds is None else "ok", seconds))
    return result


class Pbbs(unittest.TestCase):
    def run_once(self, program: list[str], checker: list[str]) -> tuple[str, float | None]:
        with tempfile.TemporaryDirectory() as name:
            out = Path(name)
            (out / "data").mkdir()
            script(out / "tbb/benchmarks/sorts/fast/sort", *program)
            script(out / "own/benchmarks/sorts/bench/sortCheck", *checker)
            arguments = argparse.Namespace(out=out, rounds=3, workers=1, limit=60)
            return pbbs.time_once(PROGRAM, "tbb", [out / "data/ints"], 10, arguments)

    def test_the_median_of_the_rounds(self):
        self.assertEqual(self.run_once(["for t in 0.3 0.1 0.2; do echo Parlay time: $t; done"], ["echo : a remark"]), ("ok", 0.2))

    def test_a_checker_that_complains(self):
        program = ["for t in 0.3 0.1 0.2; do echo Parlay time: $t; done"]
        self.assertEqual(self.run_once(program, ["echo not sorted"]), ("wrong: not sorted", None))
        self.assertEqual(self.run_once(program, ["exit 3"]), ("wrong: the checker ended with 3", None))

    def test_a_program_that_fails(self):
        self.assertEqual(self.run_once(["kill -SEGV $$"], []), ("ended by SIGSEGV", None))
        self.assertEqual(self.run_once(["exit 2"], []), ("ended with 2", None))
        self.assertEqual(self.run_once(["echo Parlay time: 1"], []), ("printed 1 times, not 3", None))

    def test_ahead_and_behind_are_outside_of_the_spread(self):
        self.assertEqual(pbbs.verdict([1.0, 1.2], [1.3, 1.5]), "ahead")
        self.assertEqual(pbbs.verdict([1.0, 1.4], [1.3, 1.5]), "level")
        self.assertEqual(pbbs.verdict([1.0, 1.4], [0.8, 0.9]), "behind")
        self.assertEqual(pbbs.verdict([1.0], [0.5]), "level")

    def test_ratios_of_medians(self):
        self.assertIn("| `sorts/fast` | 200.0 | 1.50 ahead |", pbbs.table(rows([0.2, 0.2, 0.1], [0.3, 0.9, 0.3])))
        self.assertIn("| `sorts/fast` | 200.0 | 1.00 |", pbbs.table(rows([0.2, 0.2, 0.1], [0.2, 0.9, 0.1])))

    def test_a_run_that_failed_has_no_ratio(self):
        self.assertIn("| `sorts/fast` | ended by SIGSEGV | ended by SIGSEGV |", pbbs.table(rows(["ended by SIGSEGV"], ["ended by SIGSEGV"])))
        self.assertIn("| `sorts/fast` | ended by SIGSEGV |  |", pbbs.table(rows(["ended by SIGSEGV"], [0.5])))

    def test_triangles_are_numbered(self):
        lines = pbbs.triangles(7).decode().split("\n")
        self.assertEqual(lines[:3], ["pbbs_triangles", "21", "7"])
        self.assertEqual([int(word) for line in lines[24:31] for word in line.split()], list(range(1, 22)))


class Times(unittest.TestCase):
    PROGRAM = times.Program("nopal_fake_times", ("serial", "nopal"))

    def test_lines(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            script(folder / "nopal_fake_times", "printf '2 workers; ms\\n   serial   nopal\\n8 of 64, one after the other   2.0   1.5\\nthe same in a nopal loop  1.0 0.5\\n'")
            lines = times.lines_of(self.PROGRAM, folder, 2)
        self.assertEqual(lines, [("8 of 64, one after the other", [2.0, 1.5]), ("8 of 64: the same in a nopal loop", [1.0, 0.5])])

    def test_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as name:
            script(Path(name) / "nopal_fake_times", "exit 4")
            with self.assertRaisesRegex(SystemExit, "ended with 4"):
                times.lines_of(self.PROGRAM, Path(name), 2)


class Tables(unittest.TestCase):
    def test_a_file_and_a_page(self):
        with tempfile.TemporaryDirectory() as name:
            file, page = Path(name) / "times.csv", Path(name) / "page.md"
            tables.write(file, ["a", "b"], [[1, "x, y"]], {"scale": "0.1"})
            head, found = tables.read(file)
            self.assertEqual((head["scale"], found), ("0.1", [{"a": "1", "b": "x, y"}]))
            page.write_text("before\n<!-- table by it -->\n\nold\n\n<!-- end of table by it -->\nafter\n", encoding="utf-8")
            tables.put(page, "by it", "new")
            self.assertEqual(page.read_text(encoding="utf-8"), "before\n<!-- table by it -->\n\nnew\n\n<!-- end of table by it -->\nafter\n")
            with self.assertRaisesRegex(SystemExit, "has no lines"):
                tables.put(page, "by another", "new")


if __name__ == "__main__":
    unittest.main()
