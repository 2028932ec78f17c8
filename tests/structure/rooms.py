"""Rules on the core's folders: each is a room with a README that names what is in it, and none knows of the front ends."""

import re
from pathlib import PurePosixPath

from tree import CORE, Problem, Tree

# Public headers that are plain data or an interface, which the core may include.
PLAIN_DATA = {f"include/nopal/{name}.hpp" for name in ("options", "stats", "eventually", "event_source", "priority", "place", "cpu_limit")}
FRONT_END = re.compile(r"include/nopal/[^/]+\.(hpp|h)")


def rooms(tree: Tree) -> list[Problem]:
    """Headers of the core lie in rooms, each with a README that names them, and include no front end's header."""
    return [*_outside_rooms(tree), *_without_readme(tree), *_not_in_readme(tree), *_on_front_ends(tree)]


def _outside_rooms(tree: Tree) -> list[Problem]:
    return [
        Problem(header, 1, "lies in no room of the core", f"move it to a folder of {CORE}, and its source to that of src")
        for header in tree.headers(CORE)
        if _room(header) == CORE
    ]


def _without_readme(tree: Tree) -> list[Problem]:
    folders = {f"{parent}/" for path in tree.under(CORE, "") for parent in PurePosixPath(path).parents}
    return [
        Problem(f"{folder}README.md", 1, "does not exist", "write it: what the room is for, and what each of its files is")
        for folder in sorted(folders)
        if folder.startswith(CORE) and folder != CORE and f"{folder}README.md" not in tree
    ]


def _not_in_readme(tree: Tree) -> list[Problem]:
    problems = []
    for header in tree.headers(CORE):
        readme = f"{_room(header)}README.md"
        if _room(header) != CORE and readme in tree and not _names(tree.source(readme).text, header):
            problems.append(Problem(readme, 1, f"does not name {header}", "say in a line what that file is for"))
    return problems


def _on_front_ends(tree: Tree) -> list[Problem]:
    return [
        Problem(
            include.file,
            include.line,
            f"the core includes a front end, {include.name}",
            "move what is needed of it into a room of the core, and let the front end include that",
        )
        for file in tree.headers(CORE) + sorted(PLAIN_DATA)
        if file in tree
        for include in tree.includes(file)
        if include.target is not None and FRONT_END.fullmatch(include.target) and include.target not in PLAIN_DATA
    ]


def _room(header: str) -> str:
    return header.rsplit("/", 1)[0] + "/"


def _names(text: str, header: str) -> bool:
    """Does the text have the header's name, alone or after its room's? Another room may have a file of that name."""
    path = PurePosixPath(header)
    return re.search(rf"(?<![\w./-])([\w./-]*{re.escape(path.parent.name)}/)?{re.escape(path.name)}(?!\w)", text) is not None
