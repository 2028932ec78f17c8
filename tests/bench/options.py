"""What do the options of the benchmarks' programs change? By counts of options_probe.cpp, which is not timed, and by what it hands to the pool."""

import json
import os
import subprocess
import sys
import unittest

PROBE = ""
SEEDS = range(1, 13)
ENOUGH = 3


def probe(*arguments: str, schedule: str | None = None) -> dict[str, int | bool | None]:
    environment = {name: value for name, value in os.environ.items() if name != "NOPAL_SCHEDULE"}
    if schedule:
        environment["NOPAL_SCHEDULE"] = schedule
    done = subprocess.run([PROBE, *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def attempts(victims: str, seed: int) -> int | None:
    """What a seed comes to, which is the same each time; nothing where a busy machine has kept it from that."""
    found = probe("--workers", "5", "--victims", victims, schedule=f"random:{seed}")
    return found["attempts"] if found["lost_turns"] == 0 else None


class Options(unittest.TestCase):
    def test_victims_decide_whom_a_thief_tries(self) -> None:
        differ = same = 0
        for seed in SEEDS:
            one, other, again = attempts("scan", seed), attempts("uniform", seed), attempts("scan", seed)
            if one is None or other is None or one != again:
                continue  # some turn was lost
            same += one == other
            differ += one != other
            if differ == ENOUGH:
                return
        self.fail(f"of {len(SEEDS)} seeds {same} gave as many attempts to steal with a scan as with random victims, {differ} did not")

    def test_thieves_pause_unless_told_not_to(self) -> None:
        for _ in range(ENOUGH):
            self.assertGreater(probe("--workers", "2")["pauses"], 0)
            self.assertEqual(probe("--workers", "2", "--no-back-off")["pauses"], 0)

    def test_the_pool_decides_whether_to_pin_unless_told(self) -> None:
        for arguments, pin in (([], None), (["--pin"], True), (["--no-pin"], False)):
            self.assertIs(probe("--workers", "1", *arguments)["pin"], pin)


if __name__ == "__main__":
    PROBE = sys.argv.pop()
    unittest.main()
