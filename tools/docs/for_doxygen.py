#!/usr/bin/env python3
"""A header as Doxygen understands it: without the macros that only compilers need, and with the comments of the C header marked as its own."""

import re
import sys
from pathlib import Path

MACROS = r"\bNOPAL_(PROFILED|INLINE|COLD|ENDS_BEFORE_IT_GOES|API)\b ?"


def for_doxygen(name: str, text: str) -> str:
    text = text.replace("namespace nopal::inline NOPAL_ABI", "namespace nopal")
    text = re.sub(MACROS, "", text)
    text = re.sub(r'\[\[nodiscard(\("(?:[^"\\]|\\.)*"\))?\]\]\s*', "", text)
    text = re.sub(r"^ *friend (class|struct|core::)[^;{]*;\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^inline [^\n]* core::\w+<[^\n]*\}\n", "", text, flags=re.MULTILINE)  # a member of what is not read
    if name.endswith(".h"):
        text = re.sub(r"^(\s*)/\* (?!----)", r"\1/** ", text, flags=re.MULTILINE)
        text = re.sub(r"(\S[ \t]+)/\* ", r"\1/**< ", text)
    return text


if __name__ == "__main__":
    sys.stdout.write(for_doxygen(sys.argv[1], Path(sys.argv[1]).read_text(encoding="utf-8")))
