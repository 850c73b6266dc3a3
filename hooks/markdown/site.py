"""Parse a note into headings, links, fences and raw HTML, each with its line and column.

The reading is that of the site's renderer (`hooks.blocks` for what stands where,
`hooks.site_inline` for what stands in it); a differential test compares it with Python-Markdown
itself. GitHub's view is read by `hooks.markdown.github`.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

from hooks.markdown import entities, github, github_inline
from hooks.markdown import html_tags as tags
from hooks.markdown.reader import attribute_lists, containers, fences, inline, raw_html
from hooks.markdown.reader.blocks import Blocks
from hooks.markdown.reader.lines import MARK_CLOSE, MARK_OPEN, Line, raw_column, split
from hooks.markdown.reader.nodes import HEADINGS, Node, Run, runs
from hooks.markdown.slugs import Slugger
from hooks.markdown.source import (
    Anchor,
    Comment,
    Fence,
    Heading,
    HtmlTag,
    Link,
    LinkKind,
    Raw,
    Source,
)  # fmt: skip
from hooks.markdown.text import normal_label

_MARK = re.compile(rf"{MARK_OPEN}[^{MARK_CLOSE}]*{MARK_CLOSE}")
_HAS_MARKUP = re.compile(r"[\\`*_\[\]<>&~!$^{+]")
_MARKS = ("!!!", "???", "===")
_LAST_OF_NOTE = "last of note"
"""The paragraph to which a footnote's way back is added: no attribute list ends it."""
_TITLE = re.compile(r"""\btitle=(?P<quote>["'])(?P<title>.*?)(?P=quote)""")
_KEPT_RAW = ("<pre", "<script", "<style", "<textarea", "<!--")


@dataclass(slots=True)
class _Builder:
    raw_lines: list[str]
    labels: frozenset[str]
    """Labels of link definitions, normalised."""
    footnotes: frozenset[str]
    """Names of the footnotes that are defined."""
    fences: list[Fence | None]
    """What the marks of fences stand for."""
    links: list[Link] = field(default_factory=list)
    tags: list[HtmlTag] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    marks: list[Link] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    raw: list[Raw] = field(default_factory=list)
    headings: list[tuple[int, str, str, Line]] = field(default_factory=list)
    """Level, text with markup, explicit id, place."""

    def place(self, line: Line, offset: int = 0) -> tuple[int, int]:
        """Return 1-based line and column in the file of an offset in a line."""
        column = raw_column(self.raw_lines[line[1]], line[2] + offset)
        return line[1] + 1, column + 1

    def run(self, run: Run) -> None:
        """Read a run of inline Markdown."""
        lines = run.lines
        while run.tag and len(lines) > 1 and not lines[0][0].strip():
            lines = lines[1:]
        content = lines[0][0] if len(lines) == 1 else "\n".join(line[0] for line in lines)
        for line in lines:
            if line[0].startswith(_MARKS) and containers.is_unknown(line[0]):
                self.raw.append(Raw("container", line[0].strip(), *self.place(line)))
        found = inline.scan(
            content,
            math=True,
            plain_math=False,
            labels=self.labels,
            footnotes=self.footnotes,
        )
        if found is inline.NOTHING and "{" not in content and run.tag not in HEADINGS:
            return
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line[0]) + 1)

        def place(offset: int) -> tuple[int, int]:
            index = bisect.bisect_right(starts, offset) - 1
            return self.place(lines[index], offset - starts[index])

        has_lists = "{" in content
        is_heading = run.tag in HEADINGS
        identifier = ""
        if has_lists and run.may_end_block and run.tag != _LAST_OF_NOTE:
            alone = not is_heading and run.tag not in ("th", "td", "dt")
            words = attribute_lists.of_block(content, found.head, found.tail, alone=alone)
            if words is not None:
                identifier = words.id
                content = content[: words.start] + content[words.end :]
                if is_heading:
                    content = content.rstrip("#").rstrip()
                if identifier:
                    self.anchors.append(_site_anchor(identifier, place(words.id_offset)))
        if has_lists:
            for one, offset in found.ids:
                self.anchors.append(_site_anchor(one, place(offset)))
        if is_heading:
            self.headings.append((int(run.tag[1]), content, identifier, lines[0]))
        for link in found.links:
            target = (
                link.target if link.kind is LinkKind.REFERENCE else entities.decoded(link.target)
            )
            self.links.append(
                Link(
                    link.kind,
                    target,
                    *place(link.offset),
                    link.text,
                    link.is_image,
                    link.has_spaces,
                    link.is_unread,
                )
            )
        for offset, text in found.comments:
            self.comments.append(Comment(text.strip(), *place(offset)))
        for offset, text, repair in found.raw:
            self.raw.append(Raw("link", text, *place(offset), repair))
        for mark in found.footnotes:
            self.marks.append(Link(mark.kind, mark.target, *place(mark.offset), mark.text))
        for tag in found.tags:
            self.tag(tag.name, tag.text, place(tag.offset), tag.is_empty)

    def tag(self, name: str, text: str, place: tuple[int, int], is_empty: bool) -> None:
        """Note a start tag and the ids it gives."""
        tag = HtmlTag(name, tags.attributes(text), *place, text, is_empty)
        self.tags.append(tag)
        self.anchors.extend(github.anchors_of(tag))

    def plain(self, content: str) -> str:
        """Return a heading's text as the site's renderer makes its id from."""
        fence = fences.MARK.match(content)
        if fence is not None:
            # A line of dashes right below a fence makes a heading of the whole program.
            one = self.fences[int(fence["number"])]
            if one is None:
                return ""
            title = _TITLE.search(one.info)
            return f"{title['title'] if title else ''}{one.text}"
        if MARK_OPEN in content:
            content = _MARK.sub("", content)
        if _HAS_MARKUP.search(content) is None:
            return content
        return inline.visible(content, math=True, labels=self.labels, footnotes=self.footnotes)

    def finished_headings(self) -> list[Heading]:
        """Give headings their ids: explicit ones first, as the site does."""
        slugger = Slugger()
        for _, _, identifier, _ in self.headings:
            if identifier:
                slugger.reserve(identifier)
        result = []
        for level, content, identifier, line in self.headings:
            text = self.plain(content).strip()
            if not identifier:
                slug = slugger(text)
            result.append(Heading(level, text, identifier or slug, line[1] + 1, bool(identifier)))
        return result


def parse(body: str) -> Source:
    """Return the structure of a Markdown text without front matter.

    Lines and columns are 1-based and those of the text given.
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    lines = split(text)
    taken = fences.take(lines, strict_quotes=True, relaxed=False)
    found = raw_html.take(taken.lines, markdown_inside=True, blank_ends=False)
    blocks = Blocks(found, taken)
    root = Node("root")
    blocks.read(root, found.lines)
    found_runs = runs(root)
    # Footnotes may hold footnotes: the list grows while it is read.
    notes = []
    for label, _, content in blocks.footnotes:
        note = Node("footnote")
        blocks.read(note, content)
        if note.last is not None and note.last.tag == "p":
            note.last.tag = _LAST_OF_NOTE
        notes.append((label, note))
    last = {label: number for number, (label, _) in enumerate(notes)}
    for number, (label, note) in enumerate(notes):
        if last[label] == number:  # of two with one label the site shows the last
            found_runs += runs(note)
    builder = _Builder(
        text.split("\n"),
        frozenset(normal_label(one.label) for one in blocks.definitions),
        frozenset(last),
        taken.fences,
    )
    for run in found_runs:
        builder.run(run)
    for name, tag, line, is_empty in found.tags:
        builder.tag(name, tag, builder.place(line), is_empty)
    for tag, line in found.unread_tags:
        builder.raw.append(Raw("tag", tag, *builder.place(line)))
    for identifier, number, column in taken.anchors.values():
        place = builder.place(("", number, column))
        builder.anchors.append(_site_anchor(identifier, place))
    definitions = [
        Link(
            LinkKind.DEFINITION,
            entities.decoded(one.target),
            *builder.place(one.target_line),
            normal_label(one.label),
        )
        for one in blocks.definitions
    ]
    footnote_definitions = []
    for label, line, _ in blocks.footnotes:
        number, column = builder.place(line)
        footnote_definitions.append(Link(LinkKind.DEFINITION, label, number, column - 2, label))
    return Source(
        headings=tuple(builder.finished_headings()),
        links=tuple(_in_order(builder.links)),
        definitions=tuple(definitions),
        tags=tuple(sorted(builder.tags, key=lambda tag: (tag.line, tag.column))),
        fences=tuple(fence for fence in taken.fences if fence is not None),
        comments=tuple(sorted(builder.comments, key=lambda one: (one.line, one.column))),
        footnote_uses=tuple(_in_order(builder.marks)),
        footnote_definitions=tuple(footnote_definitions),
        anchors=tuple(sorted(builder.anchors, key=lambda one: (one.line, one.column))),
        unread_links=tuple(_unread(found, builder)),
        broken_fences=tuple((line + 1, reason) for line, reason in taken.broken),
        shown_raw=tuple(sorted(builder.raw, key=lambda one: (one.line, one.column))),
    )


def _site_anchor(identifier: str, place: tuple[int, int]) -> Anchor:
    return Anchor(identifier, *place, False)


def _in_order(links: list[Link]) -> list[Link]:
    return sorted(links, key=lambda link: (link.line, link.column))


def _unread(found: raw_html.Found, builder: _Builder) -> list[Link]:
    """Return the Markdown links that a blank line inside raw HTML makes links on GitHub only."""
    unread = []
    for block in found.raw:
        if block and block[0][0].lstrip().lower().startswith(_KEPT_RAW):
            continue
        after_blank = False
        for line in block:
            after_blank = after_blank or not line[0]
            if after_blank and "](" in line[0] and not line[0].startswith("    "):
                for link in github_inline.scan(line[0]).links:
                    if link.kind in (LinkKind.INLINE, LinkKind.IMAGE):
                        place = builder.place(line, link.offset)
                        unread.append(Link(link.kind, link.target, *place, link.text))
    return unread
