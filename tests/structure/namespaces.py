"""A rule on namespaces: all of nopal lies in the inline one that names its binary interface, docs/versions.md."""

import re

from tree import Problem, Tree

OPENS = re.compile(r"^[ \t]*namespace\s+nopal\s*(?P<rest>::(?!inline NOPAL_ABI\b)|\{|=)", re.MULTILINE)
REMEDY = "write namespace nopal::inline NOPAL_ABI {, or nopal::inline NOPAL_ABI::core {, and include nopal/core/compiler/abi.h"
ABI = "include/nopal/core/compiler/abi.h"


def namespaces(tree: Tree) -> list[Problem]:
    """Nothing is outside of the inline namespace that names the binary interface."""
    return [*_outside(tree), *_without_name(tree)]


def _outside(tree: Tree) -> list[Problem]:
    return [
        Problem(file, source.line_at(match.start()), "opens nopal without its inline namespace", REMEDY)
        for file in tree.library((".hpp", ".cpp"))
        for source in [tree.source(file)]
        for match in OPENS.finditer(source.code)
    ]


def _without_name(tree: Tree) -> list[Problem]:
    """Headers for which NOPAL_ABI would be a namespace of that name."""
    return [
        Problem(header, 1, "opens the inline namespace, and does not know its name", "include nopal/core/compiler/abi.h")
        for header in tree.library((".hpp",))
        if "inline NOPAL_ABI" in tree.source(header).code and not _reaches(tree, header, set())
    ]


def _reaches(tree: Tree, file: str, seen: set[str]) -> bool:
    if file == ABI:
        return True
    seen.add(file)
    return any(i.target is not None and i.target not in seen and _reaches(tree, i.target, seen) for i in tree.includes(file))
