"""`./nopal trace` on traces made up here, by Perfetto's field numbers."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools" / "trace.py"
BEGIN, END, INSTANT = 1, 2, 3
MS = 1_000_000


def varint(n: int) -> bytes:
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def number(field: int, n: int) -> bytes:
    return varint(field << 3) + varint(n)


def text(field: int, value) -> bytes:
    data = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def packet(content: bytes) -> bytes:
    return text(1, content + number(10, 7))


def lane(uuid: int, parent: int, name: str) -> bytes:
    return packet(text(60, number(1, uuid) + number(5, parent) + text(2, name)))


def event(time: int, kind: int, uuid: int, name: str = "", **notes: str) -> bytes:
    annotations = b"".join(text(4, text(10, k) + text(6, v)) for k, v in notes.items())
    return packet(number(8, time * MS) + text(11, annotations + number(9, kind) + number(11, uuid) + (text(23, name) if name else b"")))


WORKERS = (
    packet(text(60, number(1, 1) + text(3, number(1, 42) + text(6, "app"))))
    + lane(2, 1, "pool nopal")
    + lane(3, 2, "worker 0")
    + lane(4, 2, "worker 1")
    + event(100, BEGIN, 3, "job", function="mill()")
    + event(140, INSTANT, 3, "suspended", waits_for="a counter")
    + event(140, END, 3)
    + event(140, BEGIN, 3, "sleep")
    + event(190, END, 3)
    + event(120, INSTANT, 4, "steal")
    + event(120, BEGIN, 4, "stolen branch", function="saw()")
    + event(200, END, 4)
)
SPANS = lane(5, 1, "spans") + event(100, BEGIN, 5, "frame") + event(130, END, 5) + event(150, BEGIN, 5, "frame") + event(160, END, 5)


class Summary(unittest.TestCase):
    def run_on(self, content: bytes, *options: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "run.pftrace"
            trace.write_bytes(content)
            return subprocess.run([sys.executable, "-B", TOOL, trace, *options], capture_output=True, text=True, check=False)

    def row(self, output: str, begins: str) -> list[str]:
        return next(line.split() for line in output.splitlines() if line.strip().startswith(begins))

    def test_workers(self):
        out = self.run_on(WORKERS + SPANS).stdout
        self.assertIn("100.000 ms from the first event to the last", out)
        self.assertEqual(self.row(out, "app / pool nopal / worker 0")[7:], "40.0 % 50.0 % 10.0 % 1 0 1".split())
        self.assertEqual(self.row(out, "app / pool nopal / worker 1")[7:], "80.0 % 0.0 % 20.0 % 1 1 0".split())

    def test_a_pool_made_late(self):
        late = lane(6, 1, "pool late") + lane(7, 6, "worker 0") + event(300, BEGIN, 7, "job", function="late()") + event(340, END, 7)
        out = self.run_on(WORKERS + late + event(340, BEGIN, 7, "sleep") + event(400, END, 7)).stdout
        self.assertEqual(self.row(out, "app / pool nopal / worker 0")[7:], "40.0 % 50.0 % 10.0 % 1 0 1".split())
        self.assertEqual(self.row(out, "app / pool late / worker 0")[7:], "40.0 % 60.0 % 0.0 % 1 0 0".split())

    def test_events_that_were_dropped(self):
        dropped = lane(6, 2, "worker 2") + event(160, INSTANT, 6, "events dropped") + event(160, BEGIN, 6, "job", function="kept()")
        out = self.run_on(WORKERS + dropped + event(180, END, 6)).stdout
        self.assertEqual(self.row(out, "app / pool nopal / worker 2")[7:], "50.0 % 0.0 % 50.0 % 1 0 0".split())

    def test_spans_and_waits(self):
        out = self.run_on(WORKERS + SPANS).stdout
        self.assertEqual(self.row(out, "frame"), "frame 2 40.000 ms 30.000 ms".split())
        self.assertEqual(self.row(out, "a counter"), "a counter 1".split())

    def test_longest(self):
        out = self.run_on(WORKERS, "--longest", "1").stdout
        self.assertEqual(self.row(out, "stolen branch saw()"), "stolen branch saw() 80.000 ms 20.000 ms worker 1".split())
        self.assertNotIn("mill()", out)

    def test_a_slice_that_has_no_end(self):
        out = self.run_on(WORKERS + event(150, BEGIN, 4, "stolen task", function="inner()") + event(300, INSTANT, 4, "steal")).stdout
        self.assertEqual(self.row(out, "stolen task inner()"), "stolen task inner() 150.000 ms 50.000 ms worker 1".split())

    def test_what_is_no_trace(self):
        for content in (b"", b"\x00", b"x\n", WORKERS[:-5], lane(3, 0, "worker 0"), event(1, INSTANT, 9, "of no lane")):
            result = self.run_on(content)
            self.assertEqual(result.returncode, 1, content)
            self.assertIn("is no trace of nopal's, or was cut off", result.stderr)

    def test_what_cannot_be_read(self):
        result = subprocess.run([sys.executable, "-B", TOOL, "/nonexistent"], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (1, "nopal trace: /nonexistent: No such file or directory\n"))
        self.assertEqual(self.run_on(WORKERS, "--longest", "-1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
