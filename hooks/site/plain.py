"""A page's Markdown for readers without the site: nothing in it needs a script or a renderer.

What the site generates stands in it as text and tables; comments that check numbers are gone, the
numbers stay. Addresses of the site's own files are kept from its root until it is known where the
Markdown will lie (`placed`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from hooks.links import page_address
from hooks.notes import language_of, note_id
from hooks.site.html_text import to_markdown

_FENCE = re.compile(r"(?P<space>[ \t>]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)\Z")
_COMMENT = re.compile(r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|<!--.*?-->", re.DOTALL)
_ADDRESS = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<open>\]\(|^\[[^\]^\n]+\]:[ \t]*)(?P<to>[^)\s]+)",
    re.MULTILINE | re.DOTALL,
)
_HTML = re.compile(
    r"<(?P<tag>details|div|table|section|figure|form|nav|dl|ul|ol|p|aside)\b(?P<rest>[^>]*)>"
)
_FRAME = re.compile(r"[ \t]*(?:<(?:details|div)\b[^>]*>|</(?:details|div)>)[ \t]*\Z")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>")
_ANCHOR = re.compile(
    r"<a id=\"[^\"]*\">\s*</a>|(?<=\S)[ \t]*\{:?[ \t]*#[\w-]+[^}\n]*\}[ \t]*$", re.M
)
_INLINE = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|[ ]?<br ?/?>"
    r"|</?(?:small|sup|sub|kbd|span|abbr)\b[^>\n]*>",
    re.DOTALL,
)
_TITLE = re.compile(r"""title=(["'])(?P<title>.*?)\1""")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|<")
_ROOT = "\ue000"
"""Stands before an address that begins at the site's root."""
_PLACED = re.compile(f"{_ROOT}([^)\\s#]*)")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page's Markdown needs of the site."""

    page: str
    """The page's own address from the site's root."""
    source: str
    """Path of its note below the docs folder."""
    language: str
    """The language whose pages show the note."""
    fences: Mapping[tuple[str, str], str]
    """The HTML of fences that are no code, by kind and text."""
    includes: Callable[[str], str | None]
    """The text that a line with an include puts in; None for other lines."""

    def rendered(self, address: str) -> str:
        """Return the address for an address in the page's HTML."""
        if not address or _SCHEME.match(address):
            return address
        path, mark, fragment = address.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.page), path))
        return f"{_ROOT}{markdown_of(path)}{mark}{fragment}"

    def written(self, address: str) -> str:
        """Return the address for an address in the Markdown."""
        if _SCHEME.match(address) or address.startswith(_ROOT):
            return address
        return _ROOT + site_address(address, self.source, self.language)


def markdown_of(page: str) -> str:
    """Return where the Markdown of a page lies, by the page's address."""
    return page.removesuffix(".html") + ".md" if page.endswith(".html") else page


def site_address(address: str, source: str, language: str) -> str:
    """Return the address from the site's root of what a note links to.

    Args:
        address: The address as the note has it.
        source: The note's path below the docs folder.
        language: The language whose pages show the note.
    """
    path, mark, fragment = address.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if path.endswith(".md"):
        own = language_of(path)
        shown = language if own == language_of(source) else own
        path = markdown_of(page_address(note_id(path, own), shown))
    return f"{path}{mark}{fragment}"


def placed(text: str, folder: str) -> str:
    """Return a text with its addresses as they are from a folder of the site."""
    return _PLACED.sub(lambda one: _relative(one[1] or ".", folder or "."), text)


_relative = lru_cache(maxsize=1 << 16)(posixpath.relpath)  # the same few, thousands of times


def plain(text: str, reading: Reading) -> str:
    """Return a page's Markdown, its markers filled, without what only the site understands."""
    parts: list[str] = []
    prose: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            included = reading.includes(lines[at]) if "8<" in lines[at] else None
            prose.append(lines[at] if included is None else included)
            at += 1
            continue
        end = _closing(lines, at, opening["mark"])
        parts += [_prose("\n".join(prose), reading), _fence(lines[at:end], opening, reading)]
        prose, at = [], end + 1
    parts.append(_prose("\n".join(prose), reading))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(part for part in parts if part)).strip() + "\n"


def _closing(lines: list[str], start: int, mark: str) -> int:
    close = re.compile(rf"[ \t>]*{mark[0]}{{{len(mark)},}}[ \t]*\Z")
    for number in range(start + 1, len(lines)):
        if close.match(lines[number]):
            return number
    return len(lines)


def _fence(lines: list[str], opening: re.Match[str], reading: Reading) -> str:
    space, mark = opening["space"], opening["mark"]
    kind, _, options = opening["info"].strip().partition(" ")
    inner = [line.removeprefix(space) for line in lines[1:]]
    shown = reading.fences.get((kind, "\n".join(inner)))
    if shown is not None:
        made = to_markdown(shown, reading.rendered).split("\n")
        return "\n".join(["", *((space + line).rstrip() for line in made), ""])
    code = [included for line in inner if (included := _included(line, reading)) is not None]
    title = _TITLE.search(options)
    head = [f"{space}`{title['title']}`:", space.rstrip()] if title else []
    body = "\n".join(code).split("\n")
    return "\n".join(
        [*head, f"{space}{mark}{kind}", *((space + line).rstrip() for line in body), space + mark]
    )


def _included(line: str, reading: Reading) -> str | None:
    included = reading.includes(line) if "8<" in line else None
    return line if included is None else included


def _prose(text: str, reading: Reading) -> str:
    text = _COMMENT.sub(lambda one: one["code"] or "", text)
    lines: list[str] = []
    at = 0
    rows = text.split("\n")
    while at < len(rows):
        block = _HTML.match(rows[at])
        if block is None or "markdown=" in block["rest"]:
            if not _FRAME.match(rows[at]):
                lines.append(_SUMMARY.sub(lambda one: f"**{one[1]}**", rows[at]).rstrip())
            at += 1
            continue
        end = _end_of(rows, at, block["tag"])
        html = "\n".join(rows[at:end])
        lines += ["", to_markdown(html, reading.rendered), ""]
        at = end
    text = _ANCHOR.sub("", "\n".join(lines))
    text = _INLINE.sub(lambda one: one["code"] or (" " if "br" in one[0][:5] else ""), text)
    return _ADDRESS.sub(lambda one: one["code"] or one["open"] + reading.written(one["to"]), text)


def _end_of(rows: list[str], start: int, tag: str) -> int:
    """Return the row after an element that begins in a row."""
    depth = 0
    for number in range(start, len(rows)):
        depth += len(re.findall(rf"<{tag}\b", rows[number]))
        depth -= rows[number].count(f"</{tag}>")
        if depth <= 0:
            return number + 1
    return len(rows)
