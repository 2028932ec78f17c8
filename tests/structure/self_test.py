#!/usr/bin/env python3
"""That structure.py finds what it looks for: each rule what breaks it in a small tree, and nothing in a tree that keeps all."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from structure import RULES, UNUSABLE, WRONG
from tree import Problem, Tree
from words import RETIRED

Files = dict[str, str]

HERE = Path(__file__).resolve().parent
WORKER = "include/nopal/core/scheduler/worker.hpp"
WAIT = "include/nopal/core/wait/README.md"
WORD = "include/nopal/core/wait/word.hpp"
ABI = {"include/nopal/core/compiler/abi.h": "", "include/nopal/core/compiler/README.md": "`abi.h`: the version\n"}

CLEAN: Files = {
    "README.md": "# A library\n\nWhoever turns to it waits.\n",
    "docs/models.md": "# Models\n",
    "include/nopal/options.hpp": "#pragma once\n",
    "include/nopal/mutex.hpp": '#include <cstdint>\n#include "nopal/core/wait/word.hpp"\n',
    "include/nopal/pool.hpp": '#include <thread>\n#include "nopal/core/scheduler/worker.hpp"\n',
    "include/nopal/nopal.h": "/* For C. */\n",
    "include/nopal/core/README.md": "# The core\n",
    WAIT: "`word.hpp`: what waits\n",
    WORD: "#pragma once\n#include <atomic>\n// Two workers take turns.\n",
    "include/nopal/core/scheduler/README.md": "`scheduler/worker.hpp`: who works\n",
    WORKER: '#include <vector>\n#include "nopal/options.hpp"\n#include "nopal/core/wait/word.hpp"\n',
    "src/c.cpp": '#include "nopal/nopal.h"\n#include "nopal/pool.hpp"\n',
    "src/pool.cpp": '#include "nopal/pool.hpp"\n#include "wait/list.hpp"\n',
    "src/scheduler/worker.cpp": '#include "nopal/core/scheduler/worker.hpp"\n',
    "src/wait/list.cpp": '#include "list.hpp"\n',
    "src/wait/list.hpp": "#pragma once\n",
    "src/context/x86_64.S": "/* The switch. */\n",
    "tests/CMakeLists.txt": "# Tests.\n",
}

# Of each rule, what breaks it: the files that are other than in CLEAN, and where the rule must find something.
BREAKING: dict[str, list[tuple[Files, str]]] = {
    "cycles": [
        ({WORD: '#include "nopal/core/scheduler/worker.hpp"\n'}, f"{WORKER}:3"),
        ({WORD: '#include "word.hpp"\n'}, f"{WORD}:1"),
        ({"src/scheduler/worker.cpp": '// its pool\n#include "nopal/pool.hpp"\n'}, "src/scheduler/worker.cpp:2"),
        ({"src/wait/list.cpp": '#include "nopal/pool.hpp"\n'}, "src/pool.cpp:2"),
        ({"include/nopal/pool.hpp": "\n#  include <nopal/nopal.h>\n"}, "src/c.cpp:2"),
    ],
    "named": [
        ({"src/wait/other.cpp": ""}, "src/wait/other.cpp:1"),
        ({"src/scheduler/pool.cpp": ""}, "src/scheduler/pool.cpp:1"),
        ({"src/alone.c": ""}, "src/alone.c:1"),
        ({"include/nopal/wait_list.hpp": "", "src/wait_list.cpp": ""}, "src/wait_list.cpp:1"),
        ({"src/wait/other.cpp": '#include "nopal/pool.hpp"\n\n#include "wait/list.hpp"\n'}, "src/wait/other.cpp:1"),
    ],
    "rooms": [
        ({WORD: '#include "nopal/pool.hpp"\n'}, f"{WORD}:1"),
        ({WORD: '\n#include "../../nopal.h"\n'}, f"{WORD}:2"),
        ({"include/nopal/options.hpp": '#include "nopal/pool.hpp"\n'}, "include/nopal/options.hpp:1"),
        ({"include/nopal/core/loose.hpp": ""}, "include/nopal/core/loose.hpp:1"),
        ({"include/nopal/core/new/a.hpp": ""}, "include/nopal/core/new/README.md:1"),
        ({WAIT: "`keyword.hpp`, `word.hpp2`, `other/word.hpp`\n"}, f"{WAIT}:1"),
    ],
    "mutex": [
        ({"include/nopal/mutex.hpp": '#include "nopal/core/scheduler/worker.hpp"\n'}, "include/nopal/mutex.hpp:1"),
        ({WORD: '// far\n#include "nopal/core/scheduler/worker.hpp"\n'}, f"{WORD}:2"),
        ({WORD: '#include "../worker.hpp"\n', "include/nopal/core/worker.hpp": ""}, f"{WORD}:1"),
        ({WORD: "#include <string>\n"}, f"{WORD}:1"),
    ],
    "companions": [
        ({"src/scheduler/worker.cpp": '#include "trace/src/ring.hpp"\n', "companions/trace/src/ring.hpp": ""}, "src/scheduler/worker.cpp:1"),
        ({"src/pool.cpp": '\n#include "nopal/span.hpp"\n', "companions/trace/include/nopal/span.hpp": ""}, "src/pool.cpp:2"),
        ({WORD: '#include "nopal/turn.hpp"\n', "companions/profile/include/nopal/turn.hpp": ""}, f"{WORD}:1"),
    ],
    "words": [
        ({WORD: "int a;  // The same\n"}, f"{WORD}:1"),
        ({WORD: "// Text.\n///\n/// The same as f.\n"}, f"{WORD}:3"),
        ({"include/nopal/nopal.h": "/* The same. */\n"}, "include/nopal/nopal.h:1"),
        ({WORD: "// it has gone\n// on with it\n"}, f"{WORD}:1"),
        ({WORD: "// Guests come.\n"}, f"{WORD}:1"),
        ({"src/pool.cpp": "int turns_;  // turns\n"}, "src/pool.cpp:1"),
        ({"src/context/x86_64.S": "go_on_with:\n"}, "src/context/x86_64.S:1"),
        ({"docs/models.md": "A free\ndepot.\n"}, "docs/models.md:2"),
        ({"README.md": "Workers take turns: `turns`.\n"}, "README.md:1"),
    ],
    "orders": [
        ({WORD: "x.load(std::memory_order_acquire);\n"}, f"{WORD}:1"),
        ({WORD: "// far away\n" + "f();\n" * 7 + "x.store(1, std::memory_order::release);\n"}, f"{WORD}:9"),
        ({WORD: '__atomic_load_n(&x, __ATOMIC_RELAXED); f("// no comment");\n'}, f"{WORD}:1"),
        ({"src/pool.cpp": "void f() {\n  std::atomic_thread_fence(std::memory_order_seq_cst);\n}\n"}, "src/pool.cpp:2"),
    ],
    "namespaces": [
        ({"include/nopal/pool.hpp": "\nnamespace nopal {\n}\n"}, "include/nopal/pool.hpp:2"),
        ({"src/pool.cpp": "namespace nopal::core {\n}\n"}, "src/pool.cpp:1"),
        ({"src/pool.cpp": "namespace nopal::inline NOPAL_ABI2 {\n}\n"}, "src/pool.cpp:1"),
        ({WORD: "namespace nopal::inline NOPAL_ABI::core {\n}\n"}, f"{WORD}:1"),
    ],
}

# What looks as if it broke a rule and does not.
HARMLESS: dict[str, list[Files]] = {
    "cycles": [
        {WORD: '// #include "nopal/core/scheduler/worker.hpp"\n/*\n#include "word.hpp"\n*/\n'},
        {"src/wait/list.cpp": '#include "nopal/core/wait/word.hpp"\n#include "wait/list.hpp"\n\n#include "nopal/pool.hpp"\n'},
    ],
    "named": [
        {"src/context/aarch64.S": ""},
        {"src/wait/more.hpp": ""},
        {"src/wait/all.cpp": '#include "nopal/core/wait/word.hpp"\n#include "wait/list.hpp"\n'},
        {"src/locks.cpp": '#include "nopal/mutex.hpp"\n'},
    ],
    "rooms": [{WAIT: "In nopal/core/wait/word.hpp.\n"}],
    "mutex": [{"include/nopal/mutex.hpp": "#include <atomic>\n// #include <thread>\n"}],
    "companions": [
        {"companions/trace/src/ring.cpp": '#include "trace/src/ring.hpp"\n#include "trace/src/file.hpp"\n', "companions/trace/src/ring.hpp": "", "companions/trace/src/file.hpp": ""},
        {WORD: '#include "nopal/profile/hook.hpp"\n', "companions/profile/include/nopal/profile/hook.hpp": ""},
        {"include/nopal/nopal.hpp": '#include "nopal/span.hpp"\n', "companions/trace/include/nopal/span.hpp": ""},
    ],
    "words": [
        {WORD: "// A long line says\n// The same as the next.\n"},
        {WORD: 'int a = 1\'000; char const* b = "turns";  // turns\n'},
        {WORD: 'auto a = R"(")"; char c = \'"\';  // turns, whose quotes have ended\n'},
        {WORD: "// silent, guesses, an unexpected arrival\n"},
    ],
    "orders": [
        {WORD: "x.load(std::memory_order_seq_cst);  \n// memory_order_relaxed\n"},
        {WORD: "// why\ntemplate <class T>\nvoid f() {\n  {\n" + "    g();\n" * 9 + "    x.load(std::memory_order_relaxed);"},
    ],
    "namespaces": [
        {WORD: '#include "nopal/core/compiler/abi.h"\nnamespace nopal::inline NOPAL_ABI::core {\n}\n', **ABI},
        {"src/pool.cpp": "// namespace nopal {\nusing namespace nopal;\nnamespace nopal_other {\n}\n"},
    ],
}


class FindsWhatItLooksFor(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = Path(folder.name)
        self._trees = 0

    def write(self, other: Files) -> Path:
        """A new tree: CLEAN with other files."""
        self._trees += 1
        root = self._folder / str(self._trees)
        for path, text in (CLEAN | other).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return root

    def check(self, rule: str, other: Files) -> list[Problem]:
        return RULES[rule](Tree(self.write(other)))

    def run_program(self, root: Path, *args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", str(HERE / "structure.py"), "--root", str(root), *args]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_clean_tree_keeps_all_rules(self) -> None:
        for rule in RULES:
            with self.subTest(rule):
                self.assertEqual([], [str(problem) for problem in self.check(rule, {})])

    def test_each_rule_finds_what_breaks_it_and_where(self) -> None:
        self.assertEqual(RULES.keys(), BREAKING.keys())
        for rule, cases in BREAKING.items():
            for files, place in cases:
                with self.subTest(rule, files=files):
                    self.assertEqual([place], [f"{problem.file}:{problem.line}" for problem in self.check(rule, files)])

    def test_no_rule_finds_what_only_looks_like_it(self) -> None:
        self.assertEqual(RULES.keys(), HARMLESS.keys())
        for rule, cases in HARMLESS.items():
            for files in cases:
                with self.subTest(rule, files=files):
                    self.assertEqual([], [str(problem) for problem in self.check(rule, files)])

    def test_a_cycle_is_a_shortest_one_with_each_of_its_includes(self) -> None:
        self.assertIn("2 long", self.check("cycles", {WORD: '#include "nopal/core/scheduler/worker.hpp"\n'})[0].what)
        [problem] = self.check("cycles", {"src/wait/list.cpp": '#include "nopal/pool.hpp"\n'})
        self.assertIn("src/pool.cpp:2: includes wait/list.hpp (and implements include/nopal/pool.hpp)", problem.what)
        self.assertIn("src/wait/list.cpp:1: includes nopal/pool.hpp (and implements src/wait/list.hpp)", problem.what)

    def test_a_mutex_that_is_not_there_is_a_problem(self) -> None:
        root = self.write({})
        (root / "include/nopal/mutex.hpp").unlink()
        self.assertEqual(1, len(RULES["mutex"](Tree(root))))

    def test_each_retired_word_is_found_in_code(self) -> None:
        words = "gone on with, guest, thunk, depot, loose_continuation, must_look, turns, departure, arrival, words_of, "
        words += "where_handled, last_words, chair, seat, lent, borrow, put aside, cold_path, asker"
        self.assertEqual(len(RETIRED), len(words.split(",")))
        for word in words.split(", "):
            with self.subTest(word):
                [problem] = self.check("words", {"src/pool.cpp": f"\nauto x = {word};\n"})
                self.assertEqual(("src/pool.cpp", 2), (problem.file, problem.line))

    def test_what_git_does_not_track_and_ignores_is_left_out(self) -> None:
        root = self.write({".gitignore": "/src/made/\n", "src/made/a.cpp": "", "src/new.cpp": ""})
        try:
            subprocess.run(["git", "-C", str(root), "init", "-q"], check=True)
        except FileNotFoundError:
            self.skipTest("there is no git")
        self.assertEqual(["src/new.cpp"], [problem.file for problem in RULES["named"](Tree(root))])

    def test_the_program_fails_and_says_where_and_what_to_do(self) -> None:
        root = self.write({"src/new.cpp": "", WORD: "x.load(std::memory_order_relaxed);\n"})
        self.assertEqual(0, self.run_program(root, "cycles", "rooms").returncode)
        result = self.run_program(root)
        self.assertEqual(WRONG, result.returncode)
        self.assertRegex(result.stdout, r"src/new\.cpp:1: implements no header.*\n    name it after the header")
        self.assertIn("cycles: 0 found", result.stdout)

    def test_the_program_refuses_a_wrong_root_and_a_wrong_rule(self) -> None:
        self.assertEqual(UNUSABLE, self.run_program(self._folder / "nowhere").returncode)
        self.assertEqual(UNUSABLE, self.run_program(self.write({}), "cycle").returncode)

    def test_each_rule_is_a_ctest(self) -> None:
        registered = (HERE / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn(f"IN ITEMS {' '.join(RULES)})", registered)


if __name__ == "__main__":
    unittest.main()
