"""Parse a note into headings, links, fences and raw HTML, each with its line and column.

The reading is that of the site's renderer (`hooks.blocks` for what stands where, `hooks.inline`
for what stands in it); a differential test compares it with Python-Markdown itself. Trees that
are rendered otherwise, and GitHub's view, are read by `hooks.commonmark`.
"""

from __future__ import annotations

import bisect
import html
import re
from dataclasses import dataclass, field

from hooks import commonmark, fences, inline, raw_html, tags
from hooks.blocks import Blocks
from hooks.dialects import SITE, Dialect
from hooks.lines import MARK_CLOSE, MARK_OPEN, Line, raw_column, split
from hooks.nodes import HEADINGS, Node, Run, runs
from hooks.plain import normal_label, plain_text
from hooks.records import Anchor, Comment, Heading, HtmlTag, Link, LinkKind, Source
from hooks.slugs import Slugger

_LIST_AT_END = re.compile(r"[ ]+\{:?[ ]*(?P<words>[^}\n ][^\n}]*)\}[ ]*\Z")
_LIST_ALONE = re.compile(r"[ ]*\{:?[ ]*(?P<words>[^}\n ][^\n}]*)\}[ ]*\Z")
_FOOTNOTE_MARK = re.compile(r"\[\^(?P<id>[^\]\s]+)\]")
_MARK = re.compile(rf"{MARK_OPEN}[^{MARK_CLOSE}]*{MARK_CLOSE}")
_KEPT_RAW = ("<pre", "<script", "<style", "<textarea", "<!--")

__all__ = ["normal_label", "parse", "plain_text"]


@dataclass(slots=True)
class _Builder:
    raw_lines: list[str]
    dialect: Dialect
    links: list[Link] = field(default_factory=list)
    bare_labels: list[Link] = field(default_factory=list)
    tags: list[HtmlTag] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    label_anchors: list[tuple[str, Anchor]] = field(default_factory=list)
    marks: list[Link] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    headings: list[tuple[int, str, str, Line]] = field(default_factory=list)
    """Level, text with markup, explicit id, place."""

    def place(self, line: Line, offset: int = 0) -> tuple[int, int]:
        """Return 1-based line and column in the file of an offset in a line."""
        column = raw_column(self.raw_lines[line[1]], line[2] + offset)
        return line[1] + 1, column + 1

    def run(self, run: Run) -> None:
        """Read a run of inline Markdown."""
        lines = run.lines
        if self.dialect.attribute_lists and "{" in lines[-1][0]:
            lines = self.attribute_list(run)
        elif run.tag in HEADINGS:
            self.headings.append((int(run.tag[1]), lines[0][0], "", lines[0]))
        if not lines:
            return
        content = lines[0][0] if len(lines) == 1 else "\n".join(line[0] for line in lines)
        found = inline.scan(content, math=self.dialect.math, plain_math=self.dialect.is_relaxed)
        if not (found.links or found.footnotes or found.tags or found.ids or found.comments):
            return
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line[0]) + 1)

        def place(offset: int) -> tuple[int, int]:
            index = bisect.bisect_right(starts, offset) - 1
            return self.place(lines[index], offset - starts[index])

        for link in found.links:
            record = Link(
                link.kind,
                html.unescape(link.target),
                *place(link.offset),
                link.text,
                link.is_image,
                link.has_spaces,
            )
            is_bare = link.kind is LinkKind.REFERENCE and not link.text
            (self.bare_labels if is_bare else self.links).append(record)
        for offset, text in found.comments:
            self.comments.append(Comment(text.strip(), *place(offset)))
        for mark in found.footnotes:
            self.marks.append(Link(mark.kind, mark.target, *place(mark.offset), mark.text))
        for identifier, offset, label in found.ids:
            anchor = _site_anchor(identifier, place(offset))
            if label:
                self.label_anchors.append((normal_label(label), anchor))
            else:
                self.anchors.append(anchor)
        for tag in found.tags:
            self.tag(tag.name, tag.text, place(tag.offset), tag.is_empty)

    def attribute_list(self, run: Run) -> list[Line]:
        """Take the attribute list off the end of a run; note the id it gives."""
        lines = run.lines
        text, number, column = lines[-1]
        is_heading = run.tag in HEADINGS
        at_end = is_heading or run.tag in ("th", "td", "dt")
        match = None
        if at_end or len(lines) > 1:
            match = _LIST_AT_END.search(text) if at_end else _LIST_ALONE.match(text)
        identifier = ""
        if match:
            found = inline.id_of_list(match["words"])
            if found:
                identifier = found[0]
                place = self.place(lines[-1], match.start("words") + found[1])
                self.anchors.append(_site_anchor(identifier, place))
            rest = [(text[: match.start()], number, column)] if at_end else []
            lines = [*lines[:-1], *rest]
        if is_heading:
            content = lines[0][0]
            if match:
                content = content.rstrip("#").rstrip()
            self.headings.append((int(run.tag[1]), content, identifier, lines[0]))
        return lines

    def tag(self, name: str, text: str, place: tuple[int, int], is_empty: bool) -> None:
        """Note a start tag and the ids it gives."""
        tag = HtmlTag(name, tags.attributes(text), *place, text, is_empty)
        self.tags.append(tag)
        self.anchors.extend(commonmark.anchors_of(tag))

    def plain(self, content: str) -> str:
        """Return a heading's text as the site's renderer makes its id from."""
        if MARK_OPEN in content:
            content = _MARK.sub("", content)
        if "{" in content or "](" in content:
            found = inline.scan(content, math=self.dialect.math)
            cuts = [(start, end, "") for start, end, label in found.lists if not label]
            cuts += [(one.start, one.end, one.text) for one in found.links if one.has_spaces]
            for start, end, text in sorted(cuts, reverse=True):
                content = content[:start] + text + content[end:]
        if "$" not in content or not self.dialect.math:
            return plain_text(content)
        parts, position = [], 0
        for formula in inline.formulas(content):
            parts += [plain_text(content[position : formula.start()]), formula.group(0)[1:-1]]
            position = formula.end()
        return "".join([*parts, plain_text(content[position:])])

    def finished_headings(self, footnotes: set[str]) -> list[Heading]:
        """Give headings their ids: explicit ones first, as the site does."""
        slugger = Slugger()
        for _, _, identifier, _ in self.headings:
            if identifier:
                slugger.reserve(identifier)
        result = []
        for level, content, identifier, line in self.headings:
            text = self.plain(content).strip()
            if not identifier:
                without_marks = _FOOTNOTE_MARK.sub(
                    lambda mark: "" if mark["id"] in footnotes else mark.group(0), text
                )
                slug = slugger(without_marks)
            result.append(
                Heading(level, text, identifier or slug, line[1] + 1, bool(identifier)),
            )
        return result


def parse(body: str, dialect: Dialect = SITE) -> Source:
    """Return the structure of a Markdown text without front matter.

    Lines and columns are 1-based and those of the text given.
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    if dialect.is_commonmark:
        return commonmark.parse(text)
    lines = split(text)
    relaxed = dialect.is_relaxed
    taken = fences.take(lines, strict_quotes=dialect.callouts and not relaxed, relaxed=relaxed)
    found = raw_html.take(taken.lines, markdown_inside=dialect.html_content, blank_ends=relaxed)
    blocks = Blocks(dialect, found, taken)
    root = Node("root")
    blocks.read(root, found.lines)
    builder = _Builder(text.split("\n"), dialect)
    for run in runs(root):
        builder.run(run)
    # Footnotes may hold footnotes: the list grows while it is read.
    for index, (label, _, content) in enumerate(blocks.footnotes):
        if any(later == label for later, _, _ in blocks.footnotes[index + 1 :]):
            continue  # of two with one label the site shows the last
        note = Node("footnote")
        blocks.read(note, content)
        for run in runs(note):
            builder.run(run)
    for name, tag, line, is_empty in found.tags:
        builder.tag(name, tag, builder.place(line), is_empty)
    for identifier, number, column in taken.anchors.values():
        place = builder.place(("", number, column))
        builder.anchors.append(_site_anchor(identifier, place))
    definitions = [
        Link(
            LinkKind.DEFINITION,
            html.unescape(one.target),
            *builder.place(one.target_line),
            normal_label(one.label),
        )
        for one in blocks.definitions
    ]
    known = {link.text for link in definitions}
    builder.anchors += [anchor for label, anchor in builder.label_anchors if label in known]
    labels = [link for link in builder.bare_labels if normal_label(link.target) in known]
    footnote_definitions = []
    for label, line, _ in blocks.footnotes:
        number, column = builder.place(line)
        footnote_definitions.append(Link(LinkKind.DEFINITION, label, number, column - 2, label))
    return Source(
        headings=tuple(builder.finished_headings({label for label, _, _ in blocks.footnotes})),
        links=tuple(_in_order([*builder.links, *labels])),
        definitions=tuple(definitions),
        tags=tuple(sorted(builder.tags, key=lambda tag: (tag.line, tag.column))),
        fences=tuple(fence for fence in taken.fences if fence is not None),
        comments=tuple(sorted(builder.comments, key=lambda one: (one.line, one.column))),
        footnote_uses=tuple(_in_order(builder.marks)),
        footnote_definitions=tuple(footnote_definitions),
        anchors=tuple(sorted(builder.anchors, key=lambda one: (one.line, one.column))),
        unread_links=tuple(_unread(found, builder)),
        broken_fences=tuple((line + 1, reason) for line, reason in taken.broken),
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
                for link in inline.scan(line[0], commonmark=True).links:
                    if link.kind in (LinkKind.INLINE, LinkKind.IMAGE):
                        place = builder.place(line, link.offset)
                        unread.append(Link(link.kind, link.target, *place, link.text))
    return unread
