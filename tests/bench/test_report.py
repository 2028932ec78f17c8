"""The page: of made results, whose readings are known. It is well formed, has its own of everything, and needs nothing from outside."""

import re
import tempfile
import unittest
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

from fakes import WithPrograms

MACHINE = {"cpu": "<made> & up", "usable_cpus": 8, "cpus": 8, "memory_gib": 16.0, "system": "none"}
VOID = {"meta", "link", "br", "hr", "img", "input", "path", "use", "rect", "circle", "line"}


class Checker(HTMLParser):
    """Collects what is wrong with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe", "object"):
            self.wrong.append(f"<{tag}>")
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href"):
                (self.links if (value or "").startswith("#") else self.outside).append(value or "")
            self.links += re.findall(r"url\((#[^)]*)\)", value or "")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> out of order")

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    return checker


def run(table: str, impl: str, workers: int, seconds: float, **more: object) -> dict:
    record = {
        "seconds": seconds,
        "size": "1",
        "ok": True,
        "peak_rss_kib": 5000,
        "rss_before_kib": 4000,
        "compiler": "cc 1",
        "peer": impl,
        **more,
    }
    records = [{**record, "seconds": seconds * factor} for factor in (0.99, 1.0, 1.01)]
    return {"table": table, "impl": impl, "workers": workers, "status": "ok", "short": "ok", "reason": "", "records": records}


def results(runs: list[dict], rows: list[dict] | None = None) -> dict:
    return {
        "finished": "2000-01-02T03:04:05",
        "machine": MACHINE,
        "size": "default",
        "missing": ["Taskflow: how"],
        "rows": rows or [],
        "runs": runs,
    }


def libfork(busy: float = 1.0, peer: float = 3.0, exponent: float = 0.45) -> dict[str, dict]:
    runs = []
    for table in ("fib", "integrate", "matmul", "nqueens", "uts T1", "uts T1L", "uts T3", "uts T3L"):
        runs.append(run(table, "serial", 1, 8.0))
        for p in (1, 2, 4, 8):
            memory = {"peak_rss_kib": round(4000 + 2000 * p**exponent)}
            runs += [run(table, "task", p, 8 / p, **memory), run(table, "task, busy", p, 8 / p * busy, **memory)]
            runs += [run(table, "tbb", p, 8 * peer / p, peak_rss_kib=9000 + 3000 * p)]
            if table.startswith("uts"):
                runs.append(run(table, "task_stack", p, 7.9 / p, **memory))
    return {"libfork": results(runs)}


@unittest.skipIf(find_spec("matplotlib") is None or find_spec("jinja2") is None, "matplotlib or Jinja is not installed")
class Page(unittest.TestCase):
    def page(self, contents: dict[str, dict]) -> str:
        from runner.report.page import page

        return page(contents)

    def reading(self, page: str, number: str) -> str:
        """What stands in the line with the reading of the item of this number."""
        text = " ".join(checked(page).text.split())
        return text[text.index("The paper:", text.rindex(f"{number}:")) :][:700]

    def test_is_well_formed_and_needs_nothing_from_outside(self) -> None:
        page = self.page(libfork())
        found = checked(page)
        self.assertEqual(found.wrong, [])
        self.assertEqual(found.open, [])
        self.assertEqual(found.outside, [])
        self.assertEqual(len(found.ids), len(set(found.ids)))
        self.assertLessEqual({link.removeprefix("#") for link in found.links}, set(found.ids))
        self.assertNotRegex(page, r"@import|@font-face|https?://")
        self.assertIn("<made> & up", found.text)

    def test_is_the_same_for_the_same_results(self) -> None:
        few = {"libfork": results([one for one in libfork()["libfork"]["runs"] if one["table"] == "fib"])}
        one, other = (re.sub(r"\bp\d+-", "", self.page(few)) for _ in range(2))
        self.assertTrue(one == other, "ids that are drawn by chance")

    def test_readings_follow_from_the_figures(self) -> None:
        page = self.page(libfork())
        self.assertIn("Holds here.", self.reading(page, "Table II")[:500])
        for number in ("Fig. 5", "Fig. 6", "Fig. 7"):  # the paper's factors are those of 112 cores
            self.assertIn("Cannot be told here.", self.reading(page, number)[:500], number)
        self.assertIn("0.45 ± 0.00", page)
        self.assertIn("nopal is faster than every peer, libfork too, in 4 of 4", self.reading(page, "Fig. 5"))
        self.assertIn("oneTBB over nopal in fibat least 7.5; on 112 workers3cannot be told", self.reading(page, "Fig. 5"))

    def test_what_does_not_hold_is_said_so(self) -> None:
        self.assertIn("Does not hold here.", self.reading(self.page(libfork(busy=2.0)), "Fig. 5"))
        self.assertIn("Does not hold here.", self.reading(self.page(libfork(peer=0.5)), "Section IV-C"))
        self.assertIn("Does not hold here.", self.reading(self.page(libfork(exponent=1.4)), "Table II"))

    def test_the_picture_for_a_readme_is_a_file_of_its_own(self) -> None:
        from xml.etree import ElementTree

        from runner.report import libfork as section
        from runner.report import plots
        from runner.report.data import Results

        drawn = plots.alone(section.overview(Results(libfork())))
        self.assertTrue(ElementTree.fromstring(drawn).tag.endswith("svg"))
        self.assertIn("T1L", drawn)
        self.assertEqual(section.overview(Results({"space": results([], [])})), "")

    def test_papers_without_results_say_how_to_get_them(self) -> None:
        text = checked(self.page(libfork())).text
        self.assertIn("./nopal bench fibril", text)
        self.assertIn("./nopal bench fibers", text)

    def test_a_cell_without_a_figure_and_a_peer_that_is_not_there_are_told(self) -> None:
        contents = libfork()
        broken = contents["libfork"]["runs"][3]
        broken.update(status="failed", short="crashed: SIGSEGV", reason="killed by SIGSEGV")
        text = checked(self.page(contents)).text
        self.assertIn("crashed: SIGSEGV (killed by SIGSEGV)", text)
        self.assertIn("Taskflow: how", text)

    def test_stack_space_above_the_bound_does_not_hold(self) -> None:
        from runner.report.fibril import FIG_3

        def row(measured: float, program: str = "fib") -> dict:
            numbers = dict.fromkeys(("steals", "suspensions", "unmaps", "purges", "pages_returned", "stacks_dontneed", "stacks_none"), 4.0)
            for of in ("dontneed", "none", "tbb"):
                numbers |= {f"faults_{of}": 1.0, f"rss_increase_kib_{of}": 10.0, f"peak_rss_kib_{of}": 5000.0}
            return {
                "workload": program,
                "front_end": "native",
                "workers": 8,
                "runs": 5,
                "fork_depth": 10,
                "stack_pages_serial": 4,
                "bound_of_paper": 14,
                "bound_of_nopal": 40,
                "stack_pages_per_worker": measured,
                **numbers,
            }

        self.assertIn("Holds here.", self.reading(self.page({"space": results([], [row(8.4, program) for program in FIG_3])}), "Table 3"))
        self.assertIn("Cannot be told here.", self.reading(self.page({"space": results([], [row(8.4)])}), "Table 3"), "one program of twelve")
        above = self.reading(self.page({"space": results([], [row(15.0)])}), "Table 3")
        self.assertIn("Does not hold here.", above)
        self.assertIn("above S₁ + D in fib", above)

    def loops_and_sorts(self, own: float) -> dict[str, dict]:
        """In which nopal takes so much of oneTBB's time."""
        loops, sorts = [], []
        for table in ("loops stream", "loops 1000", "loops 1000 after 5 ms of rest"):
            loops.append(run(table, "serial", 1, 1.0, median_ns=8000.0))
            for p in (1, 2, 8):
                loops += [run(table, "native", p, 1.0, median_ns=8000.0 / p * own), run(table, "tbb", p, 1.0, median_ns=8000.0 / p)]
        for table in ("sort ints", "stable_sort stable-ints"):
            sorts.append(run(table, "serial", 1, 1.0))
            sorts += [run(table, impl, 8, seconds) for impl, seconds in (("native", 0.2 * own), ("parallel_mode", 0.2))]
        return {"loops": results(loops), "sort": results(sorts)}

    def comparison(self, page: str, title: str) -> str:
        text = " ".join(checked(page).text.split())
        return text[text.index("Compared:", text.rindex(title)) :][:1000]

    def test_loops_and_sorts_stand_beside_others(self) -> None:
        page = self.page(self.loops_and_sorts(0.5))
        self.assertEqual(checked(page).wrong, [])
        for title in ("Loops: long ones", "Loops: short ones, one", "Loops: short ones after", "Sorts: sort", "Sorts: stable_sort"):
            found = self.comparison(page, title)
            self.assertIn("Level or ahead in all. On 8 workers the best peer's time over nopal's is 2.00 in the median", found, title)
        found = self.comparison(page, "Loops: long ones")
        self.assertIn("times on 1 worker, medians over the runsserialnopal::parallel_foroneTBB autostream8.0 µs4.0 µs8.0 µs", found)
        self.assertIn("serialnopalstd, parints1000.0 ms100.0 ms200.0 ms", self.comparison(page, "Sorts: sort"))
        behind = self.comparison(self.page(self.loops_and_sorts(2.0)), "Loops: short ones after")
        self.assertIn("Not level in all.", behind)
        self.assertIn("more than 5% behind the best in 1000 0.50", behind)

    def test_findings_of_papers_are_counted_without_other_comparisons(self) -> None:
        text = " ".join(checked(self.page(self.loops_and_sorts(0.5))).text.split())
        summary = text[text.index("Of what the papers found") :][:300]
        self.assertNotIn("Loops and sorts", summary)

    def test_fib_in_c_stands_beside_that_in_cpp(self) -> None:
        runs = [run("fib", impl, 1, seconds) for impl, seconds in (("serial", 0.1), ("native", 0.4), ("c", 0.5), ("tbb", 4.0))]
        self.assertIn("Tₛ/T₁ is 0.20, and it takes 1.25 of the time in C++", self.page({"fibril": results(runs)}))
        self.assertNotIn("nopal_parallel_invoke", self.page({"fibril": results([one for one in runs if one["impl"] != "c"])}))

    def test_the_papers_sizes_and_simulated_fibers_are_shown_without_a_verdict(self) -> None:
        from runner.report.page import verdicts

        sizes = [run("uts T1XXL", "serial", 1, 330.0, size="T1XXL"), run("uts T1XXL", "task", 2, 165.0, size="T1XXL")]
        fibers = [{"workload": "fibers fib", "workers": p, "speedup": s, "impl": "fiber"} for p, s in ((1, 1.0), (8, 7.9), (128, 90.7))]
        few = {"libfork": results([one for one in libfork()["libfork"]["runs"] if one["table"] == "fib"])}
        contents = {**few, "paper-size": results(sizes), "simulation-fibers": results([], fibers)}
        page = self.page(contents)
        text = " ".join(checked(page).text.split())
        self.assertEqual(checked(page).wrong, [])
        self.assertIn("Measured. Each ran once.", text)
        self.assertIn("uts T1XXLT1XXLnopal task2165.0 s0.500", text)
        self.assertIn("Simulated. T₁/Tₚ on 128 workers: fib 90.7.", text)
        self.assertEqual(len(verdicts(contents).splitlines()), len(verdicts(few).splitlines()))

    def test_fewer_attempts_and_more_success_are_what_back_off_buys(self) -> None:
        runs = []
        for label, attempts, steals in (("fiber, scan, no back-off", 58597, 900), ("fiber, uniform, back-off", 4421, 904)):
            runs.append(run("fibers contention", label, 8, 0.03, steal_attempts=attempts, steals=steals, fibers=1024))
        reading = self.reading(self.page({"fibers": results(runs)}), "Challenge 2")
        self.assertIn("Holds here.", reading)
        self.assertIn("13.3 times fewer attempts", reading)
        self.assertIn("20.4% instead of 1.5%", reading)


@unittest.skipIf(find_spec("matplotlib") is None or find_spec("jinja2") is None, "matplotlib or Jinja is not installed")
class Command(WithPrograms):
    def test_makes_a_page_of_earlier_results_and_compares_two(self) -> None:
        for impl in ("serial", "task"):
            self.make("fib", impl)
        self.assertEqual(self.run_it("fib", "--workers", "1", "--runs", "1").returncode, 0)
        with tempfile.TemporaryDirectory() as elsewhere:
            done = self.run_it("--report", str(self.out), "--out", elsewhere)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("the papers, reproduced", (Path(elsewhere) / "report.html").read_text())
        done = self.run_it("--compare", str(self.out), str(self.out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 changed by more than noise", done.stdout)

    def test_without_results_says_what_to_do(self) -> None:
        self.out.mkdir()
        done = self.run_it("--report")
        self.assertEqual(done.returncode, 2)
        self.assertIn("run the benchmarks first", done.stderr)
        (self.out / "runs-x.csv").write_text("table\n")
        self.assertIn("cannot be read as results", self.run_it("--report").stderr)


if __name__ == "__main__":
    unittest.main()
