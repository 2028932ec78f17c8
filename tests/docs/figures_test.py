#!/usr/bin/env python3
"""That tools/docs/figures.py finds what is wrong with a figure, and nothing where all is well."""

import contextlib
import re
import sys
import tempfile
import unittest
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools/docs"))

import figures  # noqa: E402

LIBFORK = """# size: default
workload,impl,workers,seconds,overhead
fib,serial,1,0.010,
fib,task,1,0.0514,5.1429
fib,libfork,1,0.1428,14.2844
uts T1,task,1,1.0292,1.0292
uts T3,task,1,0.9809,0.9809
"""
MEMORY = """workload,impl,memory
uts T3L,task,"{1: 4608, 8: 19852.0}"
uts T3L,taskflow,"{1: 4608, 8: 1741768.0}"
"""


class Figures(unittest.TestCase):
    @contextlib.contextmanager
    def stored(self, text: str, page: str = "README.md") -> Iterator[tuple[Path, Path]]:
        """A page of that text, and the repository in which it is, with stored results."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            stored = root / "docs/results/made"
            stored.mkdir(parents=True)
            (stored / "bench-libfork.csv").write_text(LIBFORK, encoding="utf-8")
            (stored / "bench-libfork-memory.csv").write_text(MEMORY, encoding="utf-8")
            file = root / page
            file.write_text(text, encoding="utf-8")
            yield file, root

    def problems(self, text: str, lines: str = "", kind: str = "figures", of: str = "made", page: str = "README.md") -> list[str]:
        with self.stored(f"{text}\n\n<!-- {kind} of {of}\n{lines}\n-->\n" if lines else text, page) as (file, root):
            return figures.check(file, root)

    def found(self, expected: str, *arguments: str, **more: str) -> None:
        problems = self.problems(*arguments, **more)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(expected, problems[0])

    def test_right_figures_are_right(self) -> None:
        text = "fib takes 5.1 times the serial time, with libfork 14.3; the trees 0.98 to 1.03, that is 3 % more at most. Memory: 19 MiB, Taskflow 1,701."
        lines = """5.1, 14.3 = libfork[fib; task | libfork; 1; overhead]
0.98 to 1.03 = libfork[uts *; task; 1; overhead]
3 % = max(libfork[uts *; task; 1; overhead]) - 1
19, 1,701 = libfork-memory[*; task | taskflow; memory 8] / 1024
is libfork[fib; libfork; 1] / libfork[fib; task; 1] > 2"""
        self.assertEqual(self.problems(text, lines), [])
        self.assertEqual(self.problems("All take 1 s.", "1 = libfork[uts *; task; 1]"), [], "one figure for several values")
        self.assertEqual(self.problems("1,700 MiB.", "~1,700 = libfork-memory[*; taskflow; memory 8] / 1024"), [])

    def renewed(self, page: str) -> tuple[str, list[str]]:
        """The page after --renew, and what that has told."""
        with self.stored(page) as (file, root):
            told = figures.renew(file, root)
            return file.read_text(encoding="utf-8"), told

    def test_wrong_figures_are_renewed_in_the_text_and_in_the_comment(self) -> None:
        page = """# fib

fib takes 6.0 times, with libfork 14.3, in 7.0 hours; the trees 0.90 to 1.03, and 1,500 MiB.

<!-- figures of made
{}, 14.3 = libfork[fib; task | libfork; 1; overhead]
7.0 from a watch, 2026-11-30
0.90 to 1.03 = libfork[uts *; task; 1; overhead]
1,500 = libfork-memory[*; taskflow; memory 8] / 1024
-->
"""
        right, told = self.renewed(page.replace("{}", "6.0"))
        self.assertEqual(right, page.replace("takes 6.0", "takes 5.1").replace("{}", "5.1").replace("0.90", "0.98").replace("1,500", "1,701"))
        self.assertEqual(told, ["README.md:3: 6.0 is 5.1, 0.90 is 0.98, 1,500 is 1,701"])
        self.assertEqual(self.renewed(right), (right, []))

    def test_what_cannot_be_placed_is_left_alone(self) -> None:
        def alone(text: str, lines: str) -> None:
            page = f"{text}\n\n<!-- figures of made\n{lines}\n-->\n"
            content, told = self.renewed(page)
            self.assertEqual(content, page)
            self.assertEqual(len(told), 1, told)
            self.assertIn("README.md:1: left alone", told[0])

        alone("fib takes long.", "6.0 = libfork[fib; task; 1; overhead]")
        alone("6.0 hours for 6.0 times.", "6.0 from a watch, 2026-11-30\n6.0 = libfork[fib; task; 1; overhead]")
        alone("fib takes 6.0 times.", "  6.0 = libfork[fib; task; 1; overhead]")

    def test_a_difference_that_changes_its_sign_is_left_to_a_writer(self) -> None:
        page = "fib is 3 % slower.\n\n<!-- figures of made\n3 % = libfork[fib; task; 1] / libfork[fib; libfork; 1] - 1\n-->\n"
        self.assertEqual(self.renewed(page), (page, []))

    def test_two_places_of_a_page_are_renewed(self) -> None:
        place = "fib takes {} times.\n\n<!-- figures of made\n{} = libfork[fib; task; 1; overhead]\n-->\n"
        right, told = self.renewed(f"{place.replace('{}', '6.0')}\n<!-- aside -->\n\n{place.replace('{}', '10.0')}")
        self.assertEqual(right, f"{place.replace('{}', '5.1')}\n<!-- aside -->\n\n{place.replace('{}', '5.1')}")
        self.assertEqual(told, ["README.md:1: 6.0 is 5.1", "README.md:9: 10.0 is 5.1"])

    def test_tables_are_renewed(self) -> None:
        page = """| program | nopal |
| --- | --- |
| fib | 9.9 |

<!-- table of made
nopal = libfork[{}; task; 1; overhead]
-->
"""
        self.assertEqual(self.renewed(page), (page.replace("9.9", "5.1"), ["README.md:1: fib, nopal: 9.9 is 5.1"]))

    def test_a_wrong_figure_is_found_with_the_right_one(self) -> None:
        self.found("README.md:1: 5.2, and stored is 5.1 (5.1429)", "fib takes 5.2 times.", "5.2 = libfork[fib; task; 1; overhead]")
        self.found("14.2, and stored is 14.3", "5.1 and 14.2.", "5.1, 14.2 = libfork[fib; task | libfork; 1; overhead]")
        self.found("0.99, and stored is 0.98", "0.99 to 1.03.", "0.99 to 1.03 = libfork[uts *; task; 1; overhead]")
        self.found("4 %, and stored is 3 %", "4 % more.", "4 % = max(libfork[uts *; task; 1; overhead]) - 1")
        self.found("20, and stored is 19", "20 MiB.", "20 = libfork-memory[*; task; memory 8] / 1024")
        self.found("is not so", "fib is fast.", "is libfork[fib; task; 1] < libfork[fib; serial; 1]")

    def test_a_comment_names_what_there_is(self) -> None:
        for expected, query in (
            ("no row fib; tbb; 1", "libfork[fib; tbb; 1]"),
            ("no bench-fibril.csv", "fibril[fib; native; 1]"),
            ("no bench-other.csv", "other[fib; native; 1]"),
            ("no column speed", "libfork[fib; task; 1; speed]"),
            ("the keys are workload; impl; workers", "libfork[fib; task]"),
            ("overhead of fib; serial; 1 is no number: ''", "libfork[fib; serial; 1; overhead]"),
            ("cannot be calculated", "libfork[fib; task; 1] +"),
            ("cannot be calculated", "open('/etc/passwd')"),
            ("1.0292", "libfork[fib | uts T1; task; 1; overhead]"),
        ):
            self.found(expected, "It takes 5.1 times.", f"5.1 = {query}")
        self.found("2 figures for 3 values", "It takes 5.1, then 14.3.", "5.1, 14.3 = libfork[fib | uts T1 | uts T3; task; 1]")
        self.found("no bench-libfork.csv in nowhere", "It takes 5.1 times.", "5.1 = libfork[fib; task; 1; overhead]", of="nowhere")
        self.found("is neither", "It is 5.", "5 is libfork[fib; task; 1; overhead]")

    def test_text_and_comment_name_the_same(self) -> None:
        self.found("5.1 is named, and does not stand", "fib takes five times.", "5.1 = libfork[fib; task; 1; overhead]")
        self.found("15.1: no line", "fib takes 5.1 times, and 15.1.", "5.1 = libfork[fib; task; 1; overhead]")

    def test_each_figure_stands_in_the_text_as_often_as_it_is_named_and_in_its_order(self) -> None:
        lines = "5.1, 14.3 = libfork[fib; task | libfork; 1; overhead]\n1.03 = libfork[uts T1; task; 1; overhead]"
        self.assertEqual(self.problems("5.1 times, libfork 14.3; T1 1.03.", lines), [])
        self.found("5.1, 14.3 do not stand in the text in this order", "14.3 times, libfork 5.1; T1 1.03.", lines)
        self.found("5.1 is named 1 times, and stands in the text 2 times", "5.1 times, libfork 14.3; T1 1.03; T3 5.1.", lines)
        self.found("1.03 is named 1 times, and stands in the text 2 times", "5.1 times, libfork 14.3; T1 1.03, T2 1.03.", lines)
        self.found("5.1 is named 2 times", "5.1 times.", "5.1 = libfork[fib; task; 1; overhead]\n5.1 = libfork[fib; task; 1; overhead]")
        others = "1 of 5.1 times; Table 1, Tables 2, 1 and 3, GCC 1, 1·10⁶, T1, `--runs 1`"
        self.assertEqual(self.problems(others, "5.1 = libfork[fib; task; 1; overhead]\n1 = libfork[uts T1; task; 1]"), [])

    def test_a_comment_that_is_meant_to_be_on_figures_is_one(self) -> None:
        line = "5.1 = libfork[fib; task; 1; overhead]"
        for wrong in (f"<!-- figure of made\n{line}\n-->", f"<!-- figures: made\n{line}\n-->", f"<!-- tables of made\n{line}\n-->"):
            self.found("a comment on figures begins with", f"fib takes 6.1 times.\n\n{wrong}\n")
        self.found("5.1 is named, and does not stand", f"<!-- figures of made\n{line}\n-->\n")
        self.assertEqual(self.problems("Text.\n\n<!-- table of what is where -->\n<!-- figures are drawn by hand -->\n"), [])

    def test_no_figure_escapes_in_the_page_of_results_nor_beside_its_link(self) -> None:
        for text in ("It takes 1.05 of the time.", "It is 3 % behind.", "It is 36 times as fast.", "- It takes 20 MiB.", "83 ns", "a 24th", "36× as fast", "36\ntimes"):
            self.found("no comment says where", text, page="docs/results/README.md")
            self.found("no comment says where", f"[results](docs/results/README.md) {text}")
            self.assertEqual(self.problems(text), [])

    def test_what_is_no_figure_is_none(self) -> None:
        for text in ("Clang 22.1.8, Linux 6.18, oneTBB 2021.8, libfork 3.8.0, GCC 12", "on 2026-11-23", "`--rest 5.1`", "[x](a-1.5.md)", "Theorem 4.2", "8 workers", "32 × 32"):
            self.assertEqual(self.problems(text, page="docs/results/README.md"), [], text)

    def test_what_is_not_stored_says_its_command_and_date(self) -> None:
        self.assertEqual(self.problems("It took 0.95 s.", "0.95 from nopal_bench_fib_task, 2026-11-23"), [])
        self.assertEqual(self.problems("It took 0.95 s.", "0.95 from the paper on fibers, Table 1"), [])
        self.found("the command and its date", "It took 0.95 s.", "0.95 from a run")
        self.found("there is no src/nowhere.hpp", "It took 0.95 s.", "0.95 from src/nowhere.hpp")

    def test_each_cell_of_a_table(self) -> None:
        rows = "| | task | by hand |\n| --- | --- | --- |\n| fib | {} | 2.0 |\n| uts T1 | 1.03 | |"
        lines = "task = libfork[{}; task; 1; overhead]\nby hand from nopal_bench_fib_task, 2026-11-23"
        self.assertEqual(self.problems(rows.replace("{}", "5.1"), lines, kind="table"), [])
        self.found("fib, task: 5.2, and stored is 5.1", rows.replace("{}", "5.2"), lines, kind="table")
        self.found("column by hand: no line", rows.replace("{}", "5.1"), lines.splitlines()[0], kind="table")
        self.found("names none of the columns", rows.replace("{}", "5.1"), lines + "\nother = 1", kind="table")
        self.found("no row uts T2", rows.replace("{}", "5.1").replace("uts T1", "uts T2"), lines, kind="table")
        keys = "| | times |\n| --- | --- |\n| fib, libfork | {} |"
        self.assertEqual(self.problems(keys.format("14.3"), "times = libfork[{}; 1; overhead]", kind="table"), [])
        self.found("fib, libfork, times: 14.2", keys.format("14.2"), "times = libfork[{}; 1; overhead]", kind="table")

    def test_a_wrong_figure_planted_in_each_page_is_found(self) -> None:
        planted = dict.fromkeys(("prose", "ratio", "percent", "range", "cell"), 0)
        for page in figures.pages():
            for mark in figures.paragraphs(page.read_text(encoding="utf-8"))[0]:
                stored = figures.Stored(REPOSITORY / "docs/results" / mark.of)
                stored.calculate = cache(stored.calculate)
                check = figures.check_table if mark.kind == "table" else figures.check_text
                self.assertEqual(check(mark, stored), [])
                for number in figures.ANY.finditer(figures.blank(mark.text, figures.NOT_TEXT)):
                    if (form := self.form(mark, number)) is None:
                        continue
                    wrong = number[0][:-1] + str((int(number[0][-1]) + 2) % 10)
                    text = mark.text[: number.start()] + wrong + mark.text[number.end() :]
                    told = check(figures.Mark(mark.kind, mark.of, mark.lines, text, mark.line), stored)
                    self.assertNotEqual(told, [], (page, text[max(0, number.start() - 60) : number.end() + 30]))
                    planted[form] += 1
        for form, times in planted.items():
            self.assertGreater(times, 5, (form, planted))

    def form(self, mark: figures.Mark, number: re.Match[str]) -> str | None:
        """What kind of figure stands there; None if no line is on it."""
        if mark.kind == "table":
            at = mark.text[mark.text.rfind("\n", 0, number.start()) + 1 : number.start()].count("|") - 1
            name = figures.cells(mark.text.strip().splitlines()[0])[at]
            return "cell" if at > 0 and any(line.startswith(f"{name} = ") for line in mark.lines) else None
        lines = [found for line in mark.lines if (found := figures.LINE.fullmatch(line))]
        named = ([one.strip("~% ") for one in re.findall(figures.NUMBER, line["figures"])] for line in lines)
        on_it = next((line for line, ones in zip(lines, named, strict=True) if number[0] in ones), None)
        if not on_it:
            return None
        if mark.text[number.end() :].lstrip().startswith("%"):
            return "percent"
        return "range" if " to " in on_it["figures"] else "ratio" if "] / " in on_it["what"] else "prose"

    def test_one_that_is_wrong_in_text_and_comment_is_found_by_its_value(self) -> None:
        planted = 0
        for page in figures.pages():
            text = page.read_text(encoding="utf-8")
            for mark in figures.paragraphs(text)[0]:
                stored = figures.Stored(REPOSITORY / "docs/results" / mark.of)
                for line in mark.lines:
                    found = figures.LINE.fullmatch(line)
                    if mark.kind == "table" or not found or found["how"] != "=":
                        continue
                    first = found["figures"].split(", ")[0].split(" to ")[0].strip("~% ")
                    wrong = first[:-1] + str((int(first[-1]) + 2) % 10)
                    lines = [one.replace(first, wrong, 1) if one is line else one for one in mark.lines]
                    told = figures.check_text(figures.Mark(mark.kind, mark.of, lines, mark.text.replace(first, wrong), mark.line), stored)
                    self.assertTrue(any(f"{wrong}" in one and "stored is" in one for one in told), (page, line, told))
                    planted += 1
        self.assertGreater(planted, 50)


if __name__ == "__main__":
    unittest.main()
