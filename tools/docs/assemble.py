#!/usr/bin/env python3
"""Puts the sources of the site together: docs/site, the pages in Markdown that it reaches by links, wherever they lie in the repository, and the
sources that these name. A link that is right on the forge is right on the site: it is rewritten, and one that leads nowhere is an error.

    python3 tools/docs/assemble.py --out build/docs --outputs build/docs/outputs
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from pages import links
from posixpath import normpath, relpath
from reference import reference

REPOSITORY = Path(__file__).resolve().parents[2]
SITE = PurePosixPath("docs/site")
LEXERS = {".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".cmake": "cmake", ".sh": "sh", ".S": "gas", ".json": "json"}
PICTURES = (".svg", ".png", ".jpg")
MADE = {"reference/index"}  # pages that are in no repository
TOCTREE = re.compile(r"(?P<head>^```\{toctree\}\n)(?P<lines>.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"^([a-z]+:|#)")
ALWAYS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "bench/README.md"]


def site_of(path: PurePosixPath) -> PurePosixPath:
    """Where a page of the repository is on the site."""
    for folder in (SITE, PurePosixPath("docs")):
        if path.is_relative_to(folder):
            return path.relative_to(folder)
    if path.is_relative_to("include/nopal/core"):
        return PurePosixPath("core") / path.relative_to("include/nopal/core")
    return path


class Site:
    def __init__(self, out: Path, outputs: Path) -> None:
        self.source, self.files, self.outputs = out / "source", out / "files", outputs
        self.problems: list[str] = []
        self.done: set[PurePosixPath] = set()
        self.listed: set[PurePosixPath] = set()
        for folder in (self.source, self.files):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)

    def write(self, where: PurePosixPath, text: str) -> None:
        path = self.source / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def page(self, path: PurePosixPath) -> None:
        """Adds a page, and all that it leads to."""
        if path in self.done:
            return
        self.done.add(path)
        where, text = site_of(path), (REPOSITORY / path).read_text(encoding="utf-8")
        if path == PurePosixPath("examples/README.md"):
            text += self.examples()
        for link in reversed(links(text)):
            text = text[: link.start("target")] + self.target(path, where, link["target"], text, link.start()) + text[link.end("target") :]
        text = TOCTREE.sub(lambda tree: self.toctree(path, where, tree), text)
        # A file of HTML is opened, not downloaded as Sphinx would have it.
        text = re.sub(r"\[([^\]\n]*)\]\(([^()\s]+\.html)\)", r'<a href="\2">\1</a>', text)
        self.write(where, text)

    def toctree(self, path: PurePosixPath, where: PurePosixPath, tree: re.Match[str]) -> str:
        """A table of contents names pages as the repository has them; * stands for any name, in its order."""
        lines = []
        for line in tree["lines"].split("\n"):
            if not line or line.startswith(":"):
                lines.append(line)
                continue
            pattern = normpath(path.parent / f"{line}.md")
            found = sorted(p.relative_to(REPOSITORY).as_posix() for p in REPOSITORY.glob(pattern))
            for name in found:
                self.page(PurePosixPath(name))
                lines.append(relpath(site_of(PurePosixPath(name)).with_suffix(""), where.parent))
            if not found and line in MADE:
                lines.append(line)
            elif not found:
                self.problems.append(f"{path}: the table of contents has {line}, which is not there")
        return tree["head"] + "\n".join(lines) + "```"

    def target(self, path: PurePosixPath, where: PurePosixPath, target: str, text: str, at: int) -> str:
        if ELSEWHERE.match(target):
            return target
        name, _, anchor = target.partition("#")
        leads_to = PurePosixPath(normpath(path.parent / name))
        if leads_to.is_relative_to(SITE / "reference"):
            return target  # made by reference.py
        if not (REPOSITORY / leads_to).exists():
            self.problems.append(f"{path}:{text.count(chr(10), 0, at) + 1}: leads to {leads_to}, which is not there")
            return target
        to = self.reach(leads_to)
        return relpath(to, where.parent) + (f"#{anchor}" if anchor else "")

    def reach(self, path: PurePosixPath) -> PurePosixPath:
        """Adds what a link leads to, and says where on the site it is."""
        file = REPOSITORY / path
        if file.is_dir():
            if (file / "README.md").exists():
                return self.reach(path / "README.md")
            return self.listing(path)
        if path.suffix == ".md":
            self.page(path)
            return site_of(path)
        if path.suffix in PICTURES:
            where = site_of(path)
            (self.source / where).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.source / where)
            return where
        if path.suffix == ".html":
            where = site_of(path)
            (self.files / where).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.files / where)
            return where
        return self.listing(path)

    def listing(self, path: PurePosixPath) -> PurePosixPath:
        """A page that shows a source, or what is in a folder."""
        where = PurePosixPath("source") / f"{path}.md"
        if path not in self.listed:
            self.listed.add(path)
            file = REPOSITORY / path
            if file.is_dir():
                names = sorted(p.name for p in file.iterdir() if p.is_file() and not p.name.startswith("."))
                body = "\n".join(f"- [{n}]({relpath(self.reach(path / n), where.parent)})" for n in names)
            else:
                body = fenced(file.read_text(encoding="utf-8"), LEXERS.get(path.suffix, "text"))
            self.write(where, f"---\norphan: true\n---\n\n# {path}\n\n{body}\n")
        return where

    def examples(self) -> str:
        """Each example: its source, and what it has printed just now."""
        text = ""
        for source in sorted((REPOSITORY / "examples").glob("*.c*")):
            output = self.outputs / f"{source.stem}.txt"
            if not output.exists():
                self.problems.append(f"examples/{source.name}: there is no output of it in {self.outputs}; ./nopal docs makes it")
                continue
            said = output.read_text(encoding="utf-8", errors="replace").strip("\n")
            text += f"\n## {source.name}\n\n{fenced(source.read_text(encoding='utf-8'), LEXERS[source.suffix])}\n"
            text += f"\nWhat it prints:\n\n{fenced(said, 'text')}\n" if said else "\nIt prints nothing, and ends with status 0: its result was right.\n"
            picture = self.outputs / f"{source.stem}.png"
            if picture.exists():
                (self.source / "examples").mkdir(parents=True, exist_ok=True)
                shutil.copy(picture, self.source / "examples" / picture.name)
                text += f"\n![What {source.stem} has drawn](attachment:{source.stem}.png)\n"  # in no repository, so that its link is no link of the forge
        return text


def fenced(text: str, lexer: str) -> str:
    longest = max((len(ticks) for ticks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{lexer}\n{text.rstrip()}\n{fence}"


def tracked(folder: str) -> list[PurePosixPath]:
    said = subprocess.run(["git", "-C", REPOSITORY, "ls-files", "-co", "--exclude-standard", folder], capture_output=True, text=True, check=True)
    return [PurePosixPath(line) for line in said.stdout.split("\n") if line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder that gets source/ and files/")
    parser.add_argument("--outputs", type=Path, required=True, help="where NAME.txt has what each example printed")
    args = parser.parse_args()
    site = Site(args.out, args.outputs)
    for path in tracked(str(SITE)):
        if path.suffix == ".md":
            site.page(path)
        elif (REPOSITORY / path).exists():
            where = site.source / path.relative_to(SITE)
            where.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / path, where)
    for path in [*map(PurePosixPath, ALWAYS), *(p for p in tracked("docs") if p.suffix == ".md" and not p.is_relative_to(SITE))]:
        site.page(path)
    for path in tracked("include/nopal/core"):
        if path.name == "README.md":
            site.page(path)
    for where, text in reference().items():
        site.write(where, text)
    for page in site.source.rglob("*.md"):
        page.write_text(page.read_text(encoding="utf-8").replace("](attachment:", "]("), encoding="utf-8")
    print(*site.problems, sep="\n", file=sys.stderr)
    print(f"{len(site.done)} pages, {len(site.listed)} sources")
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())
