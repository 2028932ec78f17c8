"""The pages of the reference: one for each public header, of what Doxygen has read in it."""

import re
from pathlib import Path, PurePosixPath

# The order in which a reader would meet them.
GROUPS = {
    "Front ends": ["task", "native", "scope", "pipeline", "fiber", "fiber_local", "pool", "future", "shared_future", "promise", "graph", "priority", "place", "cpu_limit", "execution", "pstl", "options", "eventually", "event_source", "alpi", "shutdown_result", "scratch"],
    "Waiting": ["counter", "mutex", "condition_variable", "semaphore", "channel", "select", "when_all", "when_any", "after", "mpi", "latch", "barrier", "shared_mutex",
                "timed_mutex", "call_once", "block_on"],
    "Stopping and staying": ["stop", "stay", "affinity", "floating_point"],
    "Looking into it": ["stats", "prometheus", "fiber_name", "trace_span", "profile", "profile_report", "simulation", "simulation_report", "version",
                        "named", "span"],
}


def _opening(header: Path) -> str:
    """The first comment of a header: what it is for."""
    text = re.sub(r"^#pragma once\s*", "", header.read_text(encoding="utf-8"))
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    said = " ".join(lines).split(" Next: ")[0]
    return said[:1].upper() + said[1:] if not said.startswith(header.stem) else said


def _page(title: str, opening: str, include: str, file: str) -> str:
    sections = "briefdescription detaileddescription innerclass innernamespace enum define typedef func var user-defined public-type public-func " \
               "public-attrib public-static-func public-static-attrib friend"
    return f"""# {title}

`#include <{include}>`

{opening}

```{{eval-rst}}
.. doxygenfile:: {file}
   :project: nopal
   :sections: {sections}
```
"""


REPOSITORY = Path(__file__).resolve().parents[2]
DOXYFILE = "docs/site/Doxyfile"


def _check_that_doxygen_reads(folders: list[str]) -> None:
    words = (REPOSITORY / DOXYFILE).read_text(encoding="utf-8").split()
    for folder in folders:
        if folder not in words or f"{folder}/nopal" not in words:
            raise SystemExit(f"{DOXYFILE}: does not read {folder}; write it into STRIP_FROM_PATH, and {folder}/nopal into INPUT")


def reference() -> dict[PurePosixPath, str]:
    """Where on the site each page is, and what it says."""
    includes = [REPOSITORY / "include", *sorted(REPOSITORY.glob("companions/*/include"))]
    _check_that_doxygen_reads([include.relative_to(REPOSITORY).as_posix() for include in includes])
    nopal = includes[0] / "nopal"
    headers = {h.stem: h for include in includes for h in (include / "nopal").glob("*.hpp")}
    pages, toc = {}, []
    known = {name for names in GROUPS.values() for name in names} | {"nopal", "algorithm"}
    if left := sorted(headers.keys() - known):
        raise SystemExit(f"tools/docs/reference.py: no group has {', '.join(left)}; write each into one of GROUPS")
    groups = {**GROUPS, "Loops and algorithms": [f"algorithm/{h.stem}" for h in sorted((nopal / "algorithm").glob("*.hpp"))]}
    for group, names in groups.items():
        entries = []
        for name in names:
            header = headers.get(name, nopal / f"{name}.hpp")
            pages[PurePosixPath(f"reference/{name}.md")] = _page(name.rsplit("/", 1)[-1], _opening(header), f"nopal/{name}.hpp", header.name)
            entries.append(name)
        toc.append(f"```{{toctree}}\n:caption: {group}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```\n")
    pages[PurePosixPath("reference/c.md")] = _page("C", "Pools, fork and join in ordinary functions, loops and fibers, for C11. No C++ exception crosses these functions: what went wrong is the "
                                                   "status, and `nopal_last_error()` says it in words.", "nopal/nopal.h", "nopal.h")
    toc.append("```{toctree}\n:caption: In C\n:maxdepth: 1\n\nc\n```\n")
    pages[PurePosixPath("reference/index.md")] = (
        "# Reference\n\nEach public header, from its own words. `<nopal/nopal.hpp>` includes them all.\n\n"
        + "\n".join(toc))
    return pages


if __name__ == "__main__":  # fails where a header has no place in it, or Doxygen does not read its folder
    print(f"{len(reference())} pages")
