"""Fails where clang-format would change a file: `./nopal format` does what it asks for.

usage: format.py --clang-format PROGRAM --root FOLDER
"""

import argparse
import pathlib
import subprocess
import sys

FOLDERS = ["include", "src", "companions", "tests", "bench", "examples", "integrations", "packaging", "docs", "tools"]
ENDINGS = {".hpp", ".cpp", ".h", ".c"}


def sources(root: pathlib.Path) -> list[str]:
    found = [p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in ENDINGS and p.is_file()]
    return sorted(str(p.relative_to(root)) for p in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang-format", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    files = sources(arguments.root)
    if not files:
        print(f"no sources in {arguments.root}", file=sys.stderr)
        return 1
    done = subprocess.run([arguments.clang_format, "--dry-run", "--Werror", *files], cwd=arguments.root, capture_output=True, text=True)
    if done.returncode == 0:
        return 0
    print(done.stderr, end="")
    print("not formatted: ./nopal format does it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
