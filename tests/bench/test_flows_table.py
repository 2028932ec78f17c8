"""The table of docs/flows.md, made of results; and the one that stands there, if results are stored."""

import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "bench" / "flows"))

import table  # noqa: E402

ABOUT = "# finished: 2026-01-02T03:04:05+00:00\n# cpu: a CPU\n# usable_cpus: 2\n"
HEAD = "workload,size,impl,workers,status,runs,seconds,peak_rss_kib,peer\n"


class Table(unittest.TestCase):
    def made(self, rows: str, simulated: str = "") -> tuple[str, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "bench-flows.csv").write_text(ABOUT + HEAD + rows)
            if simulated:
                Path(folder, "bench-simulation-flows.csv").write_text(ABOUT + "workload,workers,speedup\n" + simulated)
            return table.table(Path(folder))

    def test_a_row_has_times_memory_and_speedups(self) -> None:
        text, unexplained = self.made(
            "flows chain,10,serial,1,ok,3,0.001,1024,serial\n"
            "flows chain,10,task,1,ok,3,0.002,2048,nopal 1\nflows chain,10,task,2,ok,3,0.0015,3072,nopal 1\n"
            "flows chain,10,tbb,1,ok,3,0.004,4096,oneTBB 1\nflows chain,10,tbb,2,ok,3,0.25,5120,oneTBB 1\n",
            "flows chain,1,1.0\nflows chain,16,8.25\n",
        )
        self.assertIn("| chain | 10 | 1 | **2** | 4 | **1.5** | 250 | 3 | 5 | 8.2 |", text)
        self.assertIn("medians of 3 runs", text)
        self.assertNotIn("Simulated on", text)
        self.assertEqual(unexplained, [])

    def test_who_is_behind_says_why(self) -> None:
        rows = "flows tree,10,task,1,ok,3,0.002,2048,nopal 1\nflows tree,10,tbb,1,ok,3,0.001,4096,oneTBB 1\n"
        self.assertEqual(self.made(rows)[1], ["tree"])
        table.WHY["tree"] = "it is a test"
        self.addCleanup(table.WHY.pop, "tree")
        text, unexplained = self.made(rows)
        self.assertEqual(unexplained, [])
        self.assertIn("| tree (it is a test) | 10 |", text)

    def test_two_percent_are_level(self) -> None:
        rows = "flows tree,10,task,1,ok,3,0.00101,2048,nopal 1\nflows tree,10,tbb,1,ok,3,0.001,4096,oneTBB 1\n"
        self.assertEqual(self.made(rows)[1], [])

    def test_a_run_that_failed_is_behind(self) -> None:
        rows = "flows tree,10,task,1,wrong answer,0,,,\nflows tree,10,tbb,1,ok,3,0.001,4096,oneTBB 1\n"
        self.assertEqual(self.made(rows)[1], ["tree"])

    def test_the_page_keeps_what_is_around(self) -> None:
        self.assertEqual(table.put(f"a\n{table.BEGIN}\nold\n{table.END}\nb", "new\n"), f"a\n{table.BEGIN}\nnew\n{table.END}\nb")
        with self.assertRaises(SystemExit):
            table.put("no marks", "new")

    def test_the_page_has_what_is_stored(self) -> None:
        page = table.PAGE.read_text(encoding="utf-8")
        if not (table.RESULTS / "bench-flows.csv").is_file():
            self.assertIn(f"{table.BEGIN}\n{table.END}", page)
        else:
            self.assertEqual(table.put(page, table.table(table.RESULTS)[0]), page)


if __name__ == "__main__":
    unittest.main()
