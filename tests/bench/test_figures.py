"""Fits, efficiencies, bounds and comparisons, of made data whose answers are known."""

import random
import unittest
from importlib.util import find_spec
from pathlib import Path

import fakes  # noqa: F401  the path of the runner
from runner import compare, fit, kernels, memory, simulation, space
from runner.measure import Cell

WORKERS = (1, 2, 4, 8, 16, 32)


def cell(impl: str, workers: int, *records: dict, status: str = "ok", table: str = "fib") -> Cell:
    return Cell(table, impl, workers, Path("none"), [], [{"size": "1", "peak_rss_kib": 100, **record} for record in records], status)


@unittest.skipIf(find_spec("scipy") is None, "scipy is not installed")
class Fits(unittest.TestCase):
    def test_find_what_the_points_were_made_from(self) -> None:
        for a, b, n in ((4000, 0.2, 0.43), (1000, 1.5, 1.0), (60_000, 0.05, 0.86), (0, 3.0, 1.3)):
            found = fit.fit([(p, a + b * 5000 * p**n) for p in WORKERS], 5000)
            assert isinstance(found, fit.Fit), found
            self.assertAlmostEqual(found.n, n, 2)
            self.assertAlmostEqual(found.b, b, delta=0.02 * b)
            self.assertAlmostEqual(found.a, a, delta=0.02 * 5000 * b + 1)

    def test_have_errors_that_cover_the_truth(self) -> None:
        draw = random.Random(1)
        inside = 0
        for _ in range(100):
            points = [(p, 4000 + 500 * p**0.7 + draw.gauss(0, 40)) for p in WORKERS for _ in range(5)]
            found = fit.fit(points, 1000)
            assert isinstance(found, fit.Fit), found
            self.assertLess(found.n_error, 0.2)
            inside += abs(found.n - 0.7) <= 2 * found.n_error
        self.assertGreaterEqual(inside, 85, "two standard errors cover 95 of 100")

    def test_b_is_by_m1(self) -> None:
        points = [(p, 100 + 50 * p**0.5) for p in WORKERS]
        one, ten = fit.fit(points, 1), fit.fit(points, 10)
        assert isinstance(one, fit.Fit) and isinstance(ten, fit.Fit)
        self.assertAlmostEqual(one.b, 10 * ten.b, 3)
        self.assertAlmostEqual(one.at(4), ten.at(4), 3)
        self.assertAlmostEqual(one.at(4), 200, 3)

    def test_say_why_there_is_none(self) -> None:
        self.assertEqual(fit.fit([(1, 5.0), (2, 6.0), (4, 8.0)], 1), "needs 4 numbers of workers")
        self.assertEqual(fit.fit([(p, 5.0) for p in WORKERS], 1), "no change with P")
        self.assertEqual(fit.fit([(p, 5.0 + p) for p in WORKERS], 0), "M₁ was not measured")

    def test_noise_without_growth_leaves_the_exponent_open(self) -> None:
        draw = random.Random(2)
        found = fit.fit([(p, 5000 + draw.gauss(0, 50)) for p in WORKERS for _ in range(3)], 1000)
        self.assertTrue(isinstance(found, str) or found.n_error > 0.3, found)

    def test_memory_rows_take_m1_from_the_serial_projection(self) -> None:
        table = [cell("serial", 1, {"rss_before_kib": 3000, "peak_rss_kib": 3400}, {"rss_before_kib": 3000, "peak_rss_kib": 3200})]
        table += [cell("task", p, {"peak_rss_kib": 3000 + 300 * 2 * p**0.5}) for p in (1, 2, 4, 8)]
        row = next(row for row in memory.rows(table) if row.impl == "task")
        self.assertEqual(row.m1, 300)
        self.assertAlmostEqual(row.n or 0, 0.5, 2)
        self.assertAlmostEqual(row.b or 0, 2, 1)

    def test_more_workers_are_asked_for_where_there_are_few_cpus(self) -> None:
        self.assertEqual(memory.workers([1]), [2, 4, 8])
        self.assertEqual(memory.workers([1, 2]), [4, 8])
        self.assertEqual(memory.workers([1, 2, 4, 8, 16]), [])


class Efficiencies(unittest.TestCase):
    def test_are_speed_up_by_workers(self) -> None:
        table = [
            cell("serial", 1, {"seconds": 8.0}),
            cell("task", 1, {"seconds": 10.0}),
            cell("task", 4, {"seconds": 2.5}, {"seconds": 3.5}, {"seconds": 2.0}),
        ]
        rows = {(row.impl, row.workers): row for row in kernels.rows(table)}
        self.assertAlmostEqual(rows["task", 4].speedup or 0, 3.2)
        self.assertAlmostEqual(rows["task", 4].efficiency or 0, 0.8)
        self.assertAlmostEqual(rows["task", 1].efficiency or 0, 0.8)
        self.assertAlmostEqual(rows["task", 1].overhead or 0, 1.25)
        self.assertIsNone(rows["serial", 1].efficiency)


class Bounds(unittest.TestCase):
    def cells(self, peaks: list[int]) -> space.Cells:
        record = {
            "seconds": 1.0,
            "rss_increase_kib": 1,
            "page_faults": 1,
            "steals": 4,
            "suspensions": 3,
            "unmaps": 2,
            "purges": 1,
            "stacks_peak": 5,
        }
        return space.Cells(
            "fib",
            "native",
            cell("native", 2, *({**record, "stack_pages_peak": peak} for peak in peaks)),
            cell("native, none", 2, record),
            None,
            cell("native, none, one worker", 1, {**record, "fork_depth": 10, "stack_pages": 4}),
        )

    def test_take_the_worst_of_the_runs(self) -> None:
        row = space.row(self.cells([20, 26, 22]))
        self.assertEqual(row.stack_pages_per_worker, 13)
        self.assertEqual(row.bound_of_paper, 14)
        self.assertFalse(row.exceeds_paper)
        self.assertEqual(space.too_much([row]), [])

    def test_fail_where_a_run_is_above_the_one_that_is_printed(self) -> None:
        row = space.row(self.cells([20, 20_000, 22]))
        self.assertTrue(row.exceeds_paper)
        self.assertEqual(len(space.too_much([row])), 1)
        self.assertIn("more than nopal's bound of", space.too_much([row])[0])


def results(**times: list[float]) -> dict[str, dict]:
    runs = [
        {
            "table": "fib",
            "impl": impl,
            "workers": 2,
            "status": "ok",
            "reason": "",
            "records": [{"seconds": one, "size": "1", "peak_rss_kib": 100} for one in some],
        }
        for impl, some in times.items()
    ]
    return {"kernels": {"machine": {"cpu": "x"}, "rows": [], "runs": runs}}


class Comparisons(unittest.TestCase):
    def test_say_what_changed_by_more_than_noise(self) -> None:
        old = results(task=[1.0, 1.1, 1.05, 1.02, 1.04], tbb=[2.0, 2.1, 2.2, 2.3, 2.4])
        new = results(task=[1.3, 1.32, 1.31, 1.5, 1.4], tbb=[2.05, 2.15, 2.25, 2.35, 2.45])
        found = compare.compare(old, new)
        self.assertEqual(
            [(change.where, change.what, change.is_worse) for change in found.changes], [("fib (1), task, 2 workers", "time", True)]
        )
        self.assertAlmostEqual(found.changes[0].ratio, 1.32 / 1.04)
        self.assertEqual(found.too_few, 0)

    def test_two_sets_of_one_thing_seldom_differ(self) -> None:
        draw = random.Random(3)
        changed = 0
        for _ in range(300):
            old, new = ([draw.lognormvariate(0, 0.1) for _ in range(5)] for _ in range(2))
            changed += len(compare.compare(results(task=old), results(task=new)).changes)
        self.assertLessEqual(changed, 12, "2 of 252 by chance")

    def test_a_change_too_small_to_matter_is_none(self) -> None:
        found = compare.compare(results(task=[1.0, 1.001, 1.002, 1.0]), results(task=[1.01, 1.011, 1.012, 1.01]))
        self.assertEqual(found.changes, [])

    def test_times_of_more_workers_than_cpus_are_not_compared(self) -> None:
        old, new = results(task=[1.0] * 5), results(task=[2.0] * 5)
        self.assertEqual(len(compare.compare(old, new).changes), 1)
        for one in (old, new):
            one["kernels"]["machine"]["usable_cpus"] = 1
        self.assertEqual(compare.compare(old, new).changes, [])

    def test_few_runs_tell_nothing(self) -> None:
        found = compare.compare(results(task=[1.0, 1.0, 1.0]), results(task=[2.0, 2.0, 2.0]))
        self.assertEqual(found.changes, [])
        self.assertGreaterEqual(found.too_few, 1)

    def test_what_is_in_one_only_or_fails_in_one_is_told(self) -> None:
        old, new = results(task=[1.0] * 5, tbb=[1.0] * 5), results(task=[1.0] * 5, openmp=[1.0] * 5)
        new["kernels"]["runs"][0].update(status="failed", short="crashed: SIGSEGV")
        found = compare.compare(old, new)
        self.assertEqual(found.only_old, ["fib (1), tbb, 2 workers"])
        self.assertEqual(found.only_new, ["fib (1), openmp, 2 workers"])
        self.assertEqual(found.statuses, ["fib (1), task, 2 workers: ok -> crashed: SIGSEGV"])



class Simulated(unittest.TestCase):
    def test_a_speed_up_that_cannot_be_is_a_complaint(self) -> None:
        def cell_of(workers: int, seconds: float) -> Cell:
            told = {"working": 1.0, "searching": 0.0, "asleep": 0.0, "steals": [1], "lost_turns": 0}
            return cell("fiber", workers, {"seconds": seconds, "simulated": told}, table="fibers fib")

        rows = simulation.rows([cell_of(1, 1.0), cell_of(4, 0.25), cell_of(8, 0.105), cell_of(128, 0.0001)])
        self.assertEqual([line.split(":")[0] for line in simulation.disturbed(rows)], ["fibers fib, fiber on 128"])


if __name__ == "__main__":
    unittest.main()
