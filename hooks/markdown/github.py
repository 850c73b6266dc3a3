"""Parse a Markdown text as GitHub and most generators do: CommonMark with tables and footnotes.

Blocks are found by markdown-it-py; `hooks.inline` reads what stands inside them and keeps columns.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from hooks.markdown import destinations, entities
from hooks.markdown import github_inline as inline
from hooks.markdown import html_tags as tags
from hooks.markdown.slugs import Slugger
from hooks.markdown.source import Anchor, Fence, Heading, HtmlTag, Link, LinkKind, Source
from hooks.markdown.text import normal_label, plain_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FOOTNOTE_DEFINITION = re.compile(r"^ {0,3}\[\^(?P<id>[^\]\s]{1,999})\]:", re.MULTILINE)
_DEFINITION = re.compile(
    r"\[(?P<label>(?:[^\[\]\\]|\\.){1,999})\]:[>\s]*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>\S+))",
    re.DOTALL,
)
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>.*)\Z")
# `## Title {#id}`: not CommonMark, but read so by Docusaurus, VuePress, Hugo and others.
_EXPLICIT_ID = re.compile(r"\s*\{:?[^{}]*?#(?P<id>[^\s{}]+)[^{}]*\}\s*\Z")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Inline content is read by hooks.inline, which keeps columns.
    parser.core.ruler.disable("inline")
    return parser


def anchors_of(tag: HtmlTag) -> Iterator[Anchor]:
    """Yield the ids that a tag gives; an equal `name` is no second one."""
    identifier = tag.get("id")
    if identifier:
        line, column = tags.place_of(tag, "id")
        yield Anchor(identifier, line, column, is_html=True)
    name = tag.get("name") if tag.name == "a" else None
    if name and name != identifier:
        line, column = tags.place_of(tag, "name")
        yield Anchor(name, line, column, is_html=True)


@dataclass(slots=True)
class _Builder:
    lines: list[str]
    explicit_ids: bool
    labels: frozenset[str]
    """Labels of link definitions, normalised."""
    headings: list[tuple[int, str, str, int]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[HtmlTag] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    footnotes: list[Link] = field(default_factory=list)
    _row: tuple[int, int] = (-1, 0)

    def inline(self, token: Token) -> None:
        """Scan an inline token and turn offsets into lines and columns of the file."""
        assert token.map is not None
        found = inline.scan(token.content, self.labels)
        places = self._places(token.content, token.map[0])
        for link in found.links:
            record = Link(
                link.kind,
                entities.decoded(link.target),
                *_locate(places, link.offset),
                link.text,
                link.is_image,
                link.has_spaces,
            )
            self.links.append(record)
        for mark in found.footnotes:
            line, column = _locate(places, mark.offset)
            self.footnotes.append(Link(mark.kind, mark.target, line, column, mark.text))
        for tag in found.tags:
            line, column = _locate(places, tag.offset)
            self.tags.append(
                HtmlTag(tag.name, tag.attributes, line, column, tag.text, tag.is_empty)
            )

    def _places(self, content: str, first: int) -> list[tuple[int, int, int]]:
        """Return (offset in content, line, column) for the start of each line of content."""
        places = []
        offset = 0
        for number, part in enumerate(content.split("\n"), start=first):
            raw = self.lines[number] if number < len(self.lines) else ""
            # Cells of one table row share its line: look behind the cell before.
            start = self._row[1] if self._row[0] == number else 0
            column = raw.find(part, start)
            if column < 0:
                column = max(raw.find(part), 0)
            self._row = (number, column + len(part))
            places.append((offset, number + 1, column + 1))
            offset += len(part) + 1
        return places

    def heading(self, level: int, content: str, line: int) -> None:
        """Note a heading; ids are given when all are known."""
        explicit = _EXPLICIT_ID.search(content) if self.explicit_ids else None
        if explicit:
            self.headings.append((level, content[: explicit.start()], explicit["id"], line))
        else:
            self.headings.append((level, content, "", line))

    def html_block(self, token: Token) -> None:
        """Note the tags of a raw HTML block."""
        assert token.map is not None
        first = token.map[0]
        parts = token.content.split("\n")
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + len(part) + 1)
        row = 0
        for tag in inline.html_tags(token.content):
            while starts[row + 1] <= tag.offset:
                row += 1
            number = min(first + row, len(self.lines) - 1)
            indent = max(self.lines[number].find(parts[row]), 0)
            column = tag.offset - starts[row] + indent + 1
            self.tags.append(
                HtmlTag(tag.name, tag.attributes, number + 1, column, tag.text, tag.is_empty)
            )


def _locate(places: Sequence[tuple[int, int, int]], offset: int) -> tuple[int, int]:
    index = max(bisect.bisect_right(places, (offset, 1 << 60, 0)) - 1, 0)
    start, line, first = places[index]
    return line, first + offset - start


def parse(body: str, *, explicit_ids: bool = True) -> Source:
    """Return the structure of a Markdown text without front matter, as GitHub reads it.

    Lines and columns are 1-based and those of the text given.

    Args:
        body: The text.
        explicit_ids: Read `## Title {#id}`, as many generators do and GitHub does not.
    """
    lines = body.split("\n")
    text = "\n".join(_without_formulas(lines))
    env: dict[str, Any] = {}
    tokens = _parser().parse(text, env)
    found = [*env.get("references", {}).values(), *env.get("duplicate_refs", [])]
    definitions = _definitions(text.split("\n"), found)
    labels = frozenset(link.text for link in definitions)
    builder = _Builder(lines, explicit_ids, labels)
    level = 0
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "inline" and token.map is not None:
            builder.inline(token)
            if level:
                builder.heading(level, token.content, token.map[0] + 1)
        elif token.type == "fence" and token.map is not None:
            builder.fences.append(Fence(token.info.strip(), token.content, token.map[0] + 2))
        elif token.type == "html_block":
            builder.html_block(token)
    inside = {
        number
        for fence in builder.fences
        for number in range(fence.line, fence.line + fence.text.count("\n"))
    }
    footnotes = _footnote_definitions(text, inside)
    starts = {(mark.line, mark.column) for mark in footnotes}
    links = builder.links
    return Source(
        headings=tuple(_with_ids(builder.headings, env.get("references", {}))),
        links=tuple(sorted(links, key=lambda link: (link.line, link.column))),
        definitions=tuple(definitions),
        tags=tuple(builder.tags),
        fences=tuple(builder.fences),
        footnote_uses=tuple(
            mark for mark in builder.footnotes if (mark.line, mark.column) not in starts
        ),
        footnote_definitions=tuple(footnotes),
        anchors=tuple(anchor for tag in builder.tags for anchor in anchors_of(tag)),
    )


def _with_ids(
    found: Sequence[tuple[int, str, str, int]], references: Mapping[str, Any]
) -> Iterator[Heading]:
    slugger = Slugger()
    for _, _, identifier, _ in found:
        if identifier:
            slugger.reserve(identifier)
    for level, content, identifier, line in found:
        text = plain_text(content, references).strip()
        slug = identifier or slugger(re.sub(r"\[\^[^\]\s]+\]", "", text))
        yield Heading(level, text, slug, line, bool(identifier))


def _without_formulas(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with those of `$$` blocks blank: `_` and `[` are data there."""
    closing = {number for number, line in enumerate(lines) if line.rstrip().endswith("$$")}
    last = max(closing, default=-1)
    fence = ""
    in_formula = False
    for number, line in enumerate(lines):
        if in_formula:
            in_formula = number not in closing
            yield ""
            continue
        match = _FENCE.match(line)
        if fence:
            if match and match["marks"].startswith(fence) and not match["info"].strip():
                fence = ""
        elif match:
            fence = match["marks"]
        elif line.lstrip().startswith("$$"):
            is_whole = number in closing and len(line.strip()) > 3
            if is_whole or number < last:
                in_formula = not is_whole
                yield ""
                continue
        yield line


def _definitions(lines: Sequence[str], references: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Return the definitions that the parser has found, with the places of their targets.

    Args:
        lines: The text.
        references: What the parser says of each; `map` has the lines.
    """
    links = []
    for first, last in sorted(one["map"] for one in references):
        text = "\n".join(lines[first:last])
        match = _DEFINITION.search(text)
        if match is None:
            continue
        group = "bare" if match["angled"] is None else "angled"
        start = match.start(group)
        line = first + 1 + text.count("\n", 0, start)
        column = start - text.rfind("\n", 0, start)
        target = entities.decoded(destinations.unescape(match[group]))
        label = normal_label(match["label"])
        links.append(Link(LinkKind.DEFINITION, target, line, column, label))
    return links


def _footnote_definitions(text: str, inside: set[int]) -> list[Link]:
    links = []
    line, position = 1, 0
    for match in _FOOTNOTE_DEFINITION.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if line not in inside:
            column = match.start("id") - 2 - text.rfind("\n", 0, match.start("id"))
            links.append(Link(LinkKind.DEFINITION, match["id"], line, column, match["id"]))
    return links
