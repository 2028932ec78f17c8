#!/usr/bin/env python3
"""That tools/docs makes a program of each block, and lets none pass of which it cannot."""

import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools/docs"))

import blocks  # noqa: E402
import quotes  # noqa: E402
from for_doxygen import for_doxygen  # noqa: E402
from pages import links  # noqa: E402

MAIN = "```cpp\nint main() {}\n```\n"
AROUND = "<!--\nint main() {\n  @block\n}\n-->\n"


class Blocks(unittest.TestCase):
    def programs(self, text: str) -> tuple[dict[str, tuple[str, list[str]]], list[str]]:
        problems: list[str] = []
        with tempfile.TemporaryDirectory(dir=REPOSITORY / "docs") as folder:
            page = Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            found = blocks.programs_of(page, problems)
        return found, problems

    def test_a_block_with_a_main_is_a_program(self) -> None:
        found, problems = self.programs(MAIN)
        self.assertEqual([("int main() {}\n", [])], list(found.values()))
        self.assertEqual([], problems)

    def test_a_block_stands_in_the_comment_before_it(self) -> None:
        found, problems = self.programs(AROUND + "```cpp\nf();\n```\n")
        self.assertEqual([], problems)
        [(text, _)] = found.values()
        self.assertEqual(["int main() {", "f();", "}"], [line for line in text.split("\n") if line])

    def test_a_block_may_need_libraries_and_an_earlier_block(self) -> None:
        page = "<!--\nlibraries: tbb openmp\nname: one\nint main() {\n@block\n}\n-->\n```cpp\nint x;\n```\n"
        page += "<!--\n@block one\nint main() {\n@block\n}\n-->\n```cpp\nx = 1;\n```\n"
        found, problems = self.programs(page)
        self.assertEqual([], problems)
        (_, libraries), (text, _) = found.values()
        self.assertEqual(["tbb", "openmp"], libraries)
        self.assertIn("int x;\n", text)

    def test_what_is_in_no_program_is_a_problem(self) -> None:
        for page in (
            "```cpp\nf();\n```\n",
            "<!-- words -->\n```cpp\nf();\n```\n",
            "<!--\nint main() {}\n-->\n```cpp\nf();\n```\n",
            "<!--\n@block\n-->\n```cpp\nf();\n```\n",
            AROUND + "\nWords between.\n\n```cpp\nf();\n```\n",
            "<!--\n@block other\nint main() {\n@block\n}\n-->\n```cpp\nf();\n```\n",
        ):
            with self.subTest(page):
                self.assertEqual(1, len(self.programs(page)[1]))

    def test_code_under_another_label_is_a_problem(self) -> None:
        for label in ("c++", "cxx", "text", "", "sh", "rust"):
            with self.subTest(label):
                self.assertEqual(1, len(self.programs(f"```{label}\nnopal::parallel_for(0, n, f);\n```\n")[1]))

    def test_what_programs_print_is_none(self) -> None:
        for text in ("  1. from worker 0\n       in noise(long)::f, races.cpp:18\n", "#3   nopal::parallel_invoke<...> at x\n", "work  1 ms\n"):
            with self.subTest(text):
                self.assertEqual([], self.programs(f"```\n{text}```\n")[1])

    def test_the_readme_is_read(self) -> None:
        self.assertIn(REPOSITORY / "README.md", blocks.pages())
        self.assertTrue(any(page.parent.name == "tour" for page in blocks.pages()))


class Quotes(unittest.TestCase):
    def problems(self, comment: str, code: str) -> list[str]:
        return quotes.problems("page.md", f"{comment}\n```cmake\n{code}```\n")

    def test_lines_of_a_tested_file_pass(self) -> None:
        self.assertEqual([], self.problems("<!-- from: tests/ways/find_package/CMakeLists.txt -->", "find_package(nopal 0.2 REQUIRED)\nadd_executable(app app.cpp)\n"))

    def test_what_is_not_tested_is_a_problem(self) -> None:
        for comment, code in (
            ("<!-- from: tests/ways/find_package/CMakeLists.txt -->", "find_package(other)\n"),
            ("<!-- from: tests/ways/find_package/CMakeLists.txt -->", "add_executable(app app.cpp)\nfind_package(nopal 0.2 REQUIRED)\n"),
            ("<!-- from: tests/ways/no_such_file -->", "find_package(nopal 0.2 REQUIRED)\n"),
            ("", "find_package(nopal 0.2 REQUIRED)\n"),
        ):
            with self.subTest(code):
                self.assertEqual(1, len(self.problems(comment, code)))


class Pages(unittest.TestCase):
    def test_links_are_those_outside_of_code(self) -> None:
        page = "[a](x.md) `[b](y.md)` <!-- [c](z.md) -->\n```text\n[d](w.md)\n```\n[![e](p.svg)](q.md#r)\n"
        self.assertEqual(["x.md", "p.svg", "q.md#r"], [link["target"] for link in links(page)])


class ForDoxygen(unittest.TestCase):
    def test_what_only_compilers_need_is_left_out(self) -> None:
        said = for_doxygen("a.hpp", 'namespace nopal::inline NOPAL_ABI {\nNOPAL_API void f();\nclass [[nodiscard("x \\" y")]] c {\n  friend class d;\n')
        self.assertEqual("namespace nopal {\nvoid f();\nclass c {\n", said)

    def test_comments_of_c_are_docstrings(self) -> None:
        self.assertEqual("/** What. */\nint x; /**< How. */\n/* ---- Part. */\n", for_doxygen("a.h", "/* What. */\nint x; /* How. */\n/* ---- Part. */\n"))


if __name__ == "__main__":
    unittest.main()
