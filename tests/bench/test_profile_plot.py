"""The plot of a profile: its bounds, what it draws, and what it refuses."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SCRIPT = REPOSITORY / "bench" / "profile_plot.py"
sys.path.insert(0, str(SCRIPT.parent))
import profile_plot

PROFILE = {"unit": "calls", "work": 1000.0, "span": 100.0, "burdened_span": 200.0, "sites": []}


def run(*args: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", str(SCRIPT), *args], capture_output=True, text=True, check=False)


class ProfilePlot(unittest.TestCase):
    def test_its_bounds_are_those_of_the_report(self) -> None:
        expected, greatest = profile_plot.bounds(PROFILE, 4)
        self.assertEqual(4, greatest)
        self.assertAlmostEqual(1000 / (1000 / 4 + 1.7 * 200), expected)
        self.assertEqual(10, profile_plot.bounds(PROFILE, 40)[1])

    def test_it_draws_bounds_and_points(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            profile, picture = Path(folder, "fib.json"), Path(folder, "fib.svg")
            profile.write_text(json.dumps(PROFILE))
            result = run(str(profile), "--measured", "1:2.0,2:1.1", "--out", str(picture))
            if result.returncode == profile_plot.UNUSABLE and "matplotlib" in result.stderr:
                self.skipTest("there is no matplotlib")
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertIn("<svg", picture.read_text())

    def test_it_refuses_what_it_cannot_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder, "fib.json")
            profile.write_text("{}")
            self.assertEqual(profile_plot.UNUSABLE, run(str(profile)).returncode)
            self.assertEqual(profile_plot.UNUSABLE, run(str(profile) + "x").returncode)
            for points in ("2:1.0", "1:0", "1", "x:1", "1:nan"):
                self.assertIn("--measured", run(str(profile), "--measured", points).stderr)


if __name__ == "__main__":
    unittest.main()
