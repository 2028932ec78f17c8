"""Builds arguments.cpp with the library's sources, for the scripts beside this file."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def build(cxx, out, *flags):
    """Not for -march=native: valgrind does not know every instruction of every machine."""
    subprocess.run(
        [cxx, "-std=c++20", "-O3", "-DNDEBUG", "-gdwarf-4", "-march=x86-64-v3", *flags, f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}",
         str(HERE / "arguments.cpp"), *map(str, sorted((ROOT / "src").rglob("*.cpp"))), str(ROOT / "src/architecture/x86_64.S"),
         "-pthread", "-o", str(out)],
        check=True)
