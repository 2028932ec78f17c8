"""The example module under CPython: python -B -m unittest discover -s integrations/python/tests, in an environment where it is installed."""

import array
import os
import random
import subprocess
import sys
import threading
import unittest

import nopal_example


def numbers(n, seed=1):
    source = random.Random(seed)
    return array.array("d", (source.random() for _ in range(n)))


class Loops(unittest.TestCase):
    def test_sorts(self):
        for n in (0, 1, 1000, 300000):
            a = numbers(n)
            expected = sorted(a)
            nopal_example.sort(a)
            self.assertEqual(list(a), expected)

    def test_sums(self):
        self.assertEqual(nopal_example.sum(array.array("d", range(100000))), 100000 * 99999 / 2)

    def test_refuses_what_is_no_array_of_doubles(self):
        for wrong in ([1.0, 2.0], array.array("f", [1.0]), "text"):
            self.assertRaises(TypeError, nopal_example.sum, wrong)

    def test_threads_of_python_loop_at_once(self):
        expected = [nopal_example.sum(numbers(50000, k)) for k in range(6)]
        found = [None] * 6

        def work(k):
            found[k] = nopal_example.sum(numbers(50000, k))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, expected)


class Callbacks(unittest.TestCase):
    def test_calls_python(self):
        self.assertEqual(nopal_example.map(lambda i: i * i, 1000), [i * i for i in range(1000)])

    def test_python_that_is_called_loops_again(self):
        """Each body holds Python's lock around calls that fork: they must come back on the thread that has taken it."""

        def f(i):
            me = threading.get_ident()
            a = numbers(20000, i)
            expected = sorted(a)
            nopal_example.sort(a)
            inner = nopal_example.map(lambda k: k + i, 20)
            return (threading.get_ident() == me, list(a) == expected, sum(inner))

        self.assertEqual(nopal_example.map(f, 40), [(True, True, 190 + 20 * i) for i in range(40)])

    def test_exceptions_arrive(self):
        def f(i):
            if i >= 10:
                raise KeyError(i)
            return i

        with self.assertRaises(KeyError) as raised:
            nopal_example.map(f, 100)
        self.assertEqual(raised.exception.args, (10,))

    def test_python_goes_on_meanwhile(self):
        """One iteration waits for a thread of Python's, which runs only if the loop does not hold the lock."""
        begun, answered = threading.Event(), threading.Event()

        def other():
            begun.wait()
            answered.set()

        t = threading.Thread(target=other)
        t.start()

        def f(i):
            begun.set()
            return answered.wait(60)

        self.assertEqual(nopal_example.map(f, 4), [True] * 4)
        t.join()


class Processes(unittest.TestCase):
    def test_workers_are_as_many_as_the_environment_says(self):
        for n in ("1", "3"):
            out = subprocess.run([sys.executable, "-B", "-c", "import nopal_example; print(nopal_example.workers())"],
                                 env={**os.environ, "NOPAL_WORKERS": n}, capture_output=True, text=True, check=True, timeout=500)
            self.assertEqual(out.stdout.strip(), n)

    def test_python_ends_while_the_pool_is_there(self):
        code = "import nopal_example; assert nopal_example.map(lambda i: i, 100) == list(range(100))"
        subprocess.run([sys.executable, "-B", "-c", code], check=True, timeout=500)

    def test_shutdown_ends_the_threads_and_a_later_call_starts_them_again(self):
        self.assertTrue(nopal_example.shutdown(60))
        self.assertEqual(nopal_example.map(lambda i: i, 10), list(range(10)))


if __name__ == "__main__":
    unittest.main()
