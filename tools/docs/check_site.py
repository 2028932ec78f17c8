#!/usr/bin/env python3
"""Follows every link of the site: files, and the places in them. Links to other sites are counted, and with --outside asked for.

    python3 tools/docs/check_site.py build/docs/html
"""

import argparse
import sys
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of a page, and where it leads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.places: set[str] = set()
        self.links: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src") or (tag == "form" and name == "action"):
                self.links.append((self.getpos()[0], value))
            elif name == "srcset":
                self.links += [(self.getpos()[0], part.split()[0]) for part in value.split(",")]


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problem_of(page: Path, link: str, pages: dict[Path, Page], site: Path) -> str | None:
    """What is wrong with a link within the site, if anything."""
    parts = urlsplit(link)
    if link.startswith("/"):
        return "is absolute: it leads elsewhere where the site is not at the root"
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        return "is a folder: without a server a browser lists it, or nothing"
    if not target.is_file():
        return f"leads to {target}, which is not there"
    if not target.is_relative_to(site):
        return f"leads to {target}, out of the site"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in pages[target].places:
        return f"leads to a place that {target.relative_to(site)} does not have"
    return None


def unreachable(url: str) -> str | None:
    request = urllib.request.Request(url, headers={"User-Agent": "nopal-docs"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return None if answer.status < 400 else str(answer.status)
    except OSError as e:
        return str(e)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--outside", action="store_true", help="ask other sites, too")
    args = parser.parse_args()
    site = args.site.resolve()
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        raise SystemExit(f"{args.site}: there are no pages; ./nopal docs makes them")
    problems, outside, count = [], set(), 0
    for path, page in pages.items():
        for line, link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") or link.startswith("//"):
                outside.add(link)
            elif parts.scheme not in ("data", "mailto", "javascript"):
                count += 1
                if said := problem_of(path, link, pages, site):
                    problems.append(f"{path.relative_to(site)}:{line}: {link}: {said}")
    if args.outside:
        problems += [f"{url}: {said}" for url in sorted(outside) if (said := unreachable(url))]
    print(*problems, sep="\n", file=sys.stderr)
    print(f"{len(pages)} pages, {count} links followed, {len(outside)} lead to other sites: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
