"""Rules on who includes whom: no cycles, every source has headers, a mutex needs no scheduler, and the core no companion."""

import re
from collections import deque
from pathlib import PurePosixPath

from tree import COMPANIONS, CORE, Include, Problem, Tree

# Sources whose header has another name.
HEADER_OF = {"src/c.cpp": "include/nopal/nopal.h"}

MUTEX = "include/nopal/mutex.hpp"
NOT_FOR_MUTEX = re.compile(r"include/nopal/core/(scheduler/|(.*/)?(worker|scheduler)\.hpp$)")
NOT_FOR_MUTEX_STANDARD = {"thread", "map", "set", "string", "vector", "iostream", "functional"}

# What the core may include of companions, each where a macro says that it is there: the hooks of what is compiled with NOPAL_PROFILE, and all in nopal.hpp.
HOOKS = "companions/profile/include/nopal/profile/"
UMBRELLA = "include/nopal/nopal.hpp"
# What the table of companions names, and nothing else: src/observe/companion.hpp.
IN_TABLE = re.compile(r"companions/\w+/src/companion\.cpp")

Graph = dict[str, dict[str, Include]]  # of each node, the nodes that it includes and the first line that does


def possible_headers(source: str) -> list[str]:
    """Where the header that a source implements may lie, by the source's name."""
    if source in HEADER_OF:
        return [HEADER_OF[source]]
    stem = source.removeprefix("src/").rsplit(".", 1)[0]
    if source.startswith(COMPANIONS):  # its header lies beside it, or is one for users
        folder, name = stem.split("/src/", 1)
        folders = [f"{folder}/src/", f"{folder}/include/nopal/", f"{folder}/include/nopal/{PurePosixPath(folder).name}/"]
        return [f"{place}{name}.hpp" for place in folders]
    folders = [CORE, "src/"] if "/" in stem else [CORE, "src/", "include/nopal/"]
    return [f"{folder}{stem}{ending}" for folder in folders for ending in (".hpp", ".h")]


def implemented(tree: Tree, source: str) -> list[str]:
    """The headers that a source implements, by its first lines: those of its room that it includes before the first blank line."""
    folders = {PurePosixPath(header).parent for header in possible_headers(source)}
    includes = tree.includes(source)
    first = [include for n, include in enumerate(includes) if include.line == includes[0].line + n]
    return [include.target for include in first if include.target is not None and PurePosixPath(include.target).parent in folders]


def header_of(tree: Tree, source: str) -> str | None:
    """The header that a source implements and is named after; none if it implements several."""
    if source not in HEADER_OF and len(implemented(tree, source)) > 1:
        return None
    return next((header for header in possible_headers(source) if header in tree), None)


def named(tree: Tree) -> list[Problem]:
    """Every source under src implements a header of its name or includes what it implements first, and Meson, which writes _ for /, can tell them apart."""
    sources = list(tree.implementations())
    unnamed = [
        _unnamed(source)
        for source in sources
        if header_of(tree, source) is None and not implemented(tree, source) and not IN_TABLE.fullmatch(source)
    ]
    of_name: dict[str, str] = {}
    return unnamed + [
        Problem(source, 1, f"is {first} to Meson, which writes _ for /", "rename one of them: a project of Meson's builds both into one object")
        for source in sources
        if (first := of_name.setdefault(source.replace("/", "_"), source)) != source
    ]


def _unnamed(source: str) -> Problem:
    places = ", ".join(possible_headers(source))
    remedy = "name it after the header that it implements, or include those of its room that it implements first; or make it a part of another source"
    if source.startswith(COMPANIONS):
        remedy += "; the file that attaches a companion is src/companion.cpp"
    return Problem(source, 1, f"implements no header of its name: no {places}", remedy)


def cycles(tree: Tree) -> list[Problem]:
    """Nothing includes itself by way of others, where a source and the one header that it implements are one."""
    cycle = shortest_cycle(_graph(tree))
    if not cycle:
        return []
    first = cycle[0]
    steps = "".join(f"\n        {_with_header(tree, include)}" for include in cycle)
    return [
        Problem(
            first.file,
            first.line,
            f"the shortest cycle of includes, {len(cycle)} long, begins here:{steps}",
            "take one of these lines away: move what both ends need to a header below both, or declare it instead",
        )
    ]


def _with_header(tree: Tree, include: Include) -> str:
    header = header_of(tree, include.file) if include.file.startswith(("src/", COMPANIONS)) else None
    return f"{include} (and implements {header})" if header not in (None, include.file) else str(include)


def _graph(tree: Tree) -> Graph:
    """Who includes whom, with each source merged into its header, if it has one."""
    sources = {source: header_of(tree, source) or source for source in tree.implementations()}
    graph: Graph = {}
    for file in [*tree.headers("include/nopal/"), *tree.headers("src/"), *tree.headers(COMPANIONS), *sources]:
        node = sources.get(file, file)
        includes = graph.setdefault(node, {})
        for include in tree.includes(file):
            target = include.target
            if target is not None and target != sources.get(file):
                includes.setdefault(sources.get(target, target), include)
    return graph


def shortest_cycle(graph: Graph) -> list[Include]:
    """Its includes, in order; empty if there is none."""
    cycles = [cycle for node in sorted(graph) if (cycle := _way_back(graph, node))]
    return min(cycles, key=len, default=[])


def _way_back(graph: Graph, start: str) -> list[Include]:
    """The shortest way from a node to itself."""
    ways: dict[str, list[Include]] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for target, include in graph.get(node, {}).items():
            way = [*ways.get(node, []), include]
            if target == start:
                return way
            if target not in ways:
                ways[target] = way
                queue.append(target)
    return []


def mutex(tree: Tree) -> list[Problem]:
    """nopal/mutex.hpp brings in no scheduler, and no large header of the standard library."""
    if MUTEX not in tree:
        return [Problem(MUTEX, 1, "does not exist", "this rule is about it: put it there, or tell the rule its new name")]
    problems = []
    ways: dict[str, list[Include]] = {MUTEX: []}
    queue = deque([MUTEX])
    while queue:
        file = queue.popleft()
        for include in tree.includes(file):
            way = [*ways[file], include]
            if NOT_FOR_MUTEX.match(include.target or "") or include.name in NOT_FOR_MUTEX_STANDARD:
                problems.append(_too_much_for_mutex(way))
            elif include.target is not None and include.target not in ways:
                ways[include.target] = way
                queue.append(include.target)
    return problems


def _too_much_for_mutex(way: list[Include]) -> Problem:
    last = way[-1]
    names = " > ".join(["nopal/mutex.hpp", *(include.name for include in way)])
    return Problem(
        last.file,
        last.line,
        f"who includes nopal/mutex.hpp gets {last.name}: {names}",
        "declare what is needed of it, and include it in the source file",
    )


def companions(tree: Tree) -> list[Problem]:
    """The core includes no companion, but for the hooks of a profile."""
    return [
        Problem(
            include.file,
            include.line,
            f"the core includes a companion, {include.name}",
            "let src/observe/tell.hpp tell it, or let it take part by src/observe/companion.hpp",
        )
        for file in [*tree.headers("include/nopal/"), *tree.headers("src/"), *tree.under("src/", (".cpp", ".c"))]
        if file != UMBRELLA
        for include in tree.includes(file)
        if include.target is not None and include.target.startswith(COMPANIONS) and not _is_hook(include)
    ]


def _is_hook(include: Include) -> bool:
    return include.target is not None and include.target.startswith(HOOKS) and include.file.startswith("include/")
