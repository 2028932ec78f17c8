"""What a page in Markdown consists of, as far as the site needs to know: blocks of code and links."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<label>[^`\n]*)\n(?P<text>.*?)^(?P=indent)(?P=fence)`*[ ]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--(?P<text>.*?)-->", re.DOTALL)
INLINE = re.compile(r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the comment that stands right before it; "" if none does."""

    label: str
    text: str
    comment: str
    line: int


def blocks(page: str) -> list[Block]:
    found = []
    for fence in FENCE.finditer(page):
        before = page[: fence.start()].rstrip()
        comment = ""
        if before.endswith("-->"):
            *_, last = COMMENT.finditer(before)
            comment = last["text"]
        found.append(Block(fence["label"].strip(), fence["text"], comment, page.count("\n", 0, fence.start()) + 1))
    return found


def code_spans(page: str) -> list[tuple[int, int]]:
    """Where the page is code, or a comment: there are no links in it."""
    fences = [fence.span() for fence in FENCE.finditer(page)]
    rest = page
    for begin, end in fences:
        rest = rest[:begin] + " " * (end - begin) + rest[end:]
    return [*fences, *(c.span() for c in COMMENT.finditer(rest)), *(i.span() for i in INLINE.finditer(rest))]


def links(page: str) -> list[re.Match[str]]:
    """The targets of a page's links, in order."""
    spans = code_spans(page)
    return [link for link in LINK.finditer(page) if not any(begin <= link.start("target") < end for begin, end in spans)]
