"""Sections of pages read from the HTML that a build made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from hooks.markdown import finish
from hooks.notes import DEFAULT_LANGUAGE, Note
from hooks.search import sections as parts
from hooks.search.formulas import plain

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_SKIPPED: Final = frozenset({"script", "style", "template", "noscript", "button", "nav", "input"})
_BLOCKS: Final = frozenset(
    "p li tr dt dd figcaption caption summary blockquote div section table ul ol dl figure "
    "details aside article title desc pre svg thead tbody tfoot header footer hr "
    "center address form fieldset label".split()
)
_FORMULA: Final = "arithmatex"
_CELLS: Final = frozenset({"td", "th"})
_HIDDEN: Final = frozenset({"headerlink", "footnote-backref", "footnote-ref", "footnote-uses"})
"""Classes of what is no part of a heading's or a footnote's text."""


class _Reader:
    """Walks a page's HTML and collects its sections."""

    def __init__(self, page: parts.Page) -> None:
        self.sections = [parts.Section("", 1, page.title)]
        self.current: list[str] = []
        self.has_title = False
        self.notes: dict[str, int] = {}
        """Id of a footnote -> index of the section that first refers to it."""
        self.linked = 0
        """How many characters of the block being read lead elsewhere."""

    def flush(self, prefix: str = "", into: int = -1) -> None:
        """End the block being read."""
        raw, linked = "".join(self.current), self.linked
        self.current, self.linked = [], 0
        text = parts.clean(raw).strip("\t ")
        if not text.replace(parts.CODE_OPEN, "").replace(parts.CODE_CLOSE, "").strip():
            return
        # A block that is nothing but a link is an entry of a list of contents.
        if linked and linked >= len(raw.strip()):
            prefix = parts.NOTE
        section = self.sections[into]
        section.text += f"\n{prefix}{text}" if section.text else prefix + text

    def heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        title = parts.clean(_visible(node))
        anchor = node.attributes.get("id") or ""
        if level == 1 and not self.has_title and len(self.sections) == 1:
            self.has_title = True
            self.sections[0].title = title or self.sections[0].title
        else:
            self.sections.append(parts.Section(anchor, level, title))

    def footnote(self, node: LexborNode) -> None:
        self.flush()
        target = self.notes.get(node.attributes.get("id") or "", len(self.sections) - 1)
        self.current = [_visible(node)]
        self.flush(parts.NOTE, target)

    def formula(self, tex: str, *, is_block: bool) -> None:
        """Read a formula; one in lines of its own counts as code, with which no result begins."""
        if is_block:
            self.flush()
            self.current = [parts.CODE_OPEN, plain(tex), parts.CODE_CLOSE]
            self.flush()
        else:
            self.current.append(plain(tex))

    def walk(self, node: LexborNode, *, is_code: bool = False) -> None:
        for child in node.iter(include_text=True):
            self.read(child, is_code=is_code)

    def read(self, node: LexborNode, *, is_code: bool) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self.current.append(node.text_content or "")
            return
        said = (node.comment_content or "").strip() if tag == "-comment" else ""
        if said.startswith("asked:"):
            self.sections[-1].asked += map(parts.clean, said[6:].split("|"))
        if tag in _SKIPPED or tag[:1] in ("_", "-"):
            return
        attributes = node.attributes
        classes = attributes.get("class") or ""
        if "data-search-exclude" in attributes or "headerlink" in classes.split():
            return
        if _FORMULA in classes and _FORMULA in classes.split():
            self.formula(node.text(deep=True) or "", is_block=tag in _BLOCKS)
        elif tag in _HEADINGS and attributes.get("id"):
            self.heading(node, _HEADINGS[tag])
        elif tag == "sup" and (attributes.get("id") or "").startswith("fnref"):
            for link in node.css("a"):
                note = (link.attributes.get("href") or "").lstrip("#")
                self.notes.setdefault(note, len(self.sections) - 1)
        elif tag == "li" and (attributes.get("id") or "").startswith("fn:"):
            self.footnote(node)
        elif tag == "li" and _is_entry(node):
            self.flush()
            self.walk(node, is_code=is_code)
            self.flush(parts.NOTE)
        elif tag == "br":
            self.current.append(" ")
        elif tag == "img":
            self.current.append(attributes.get("alt") or "")
        elif tag == "text" or tag == "tspan":
            return  # labels of a figure, out of order; its title and description say it whole
        elif tag == "pre":
            self.flush()
            for line in (node.text(deep=True) or "").split("\n"):
                self.current = [parts.CODE_OPEN, line, parts.CODE_CLOSE]
                self.flush()
        elif tag == "code" and not is_code:
            self.current += [parts.CODE_OPEN, node.text(deep=True) or "", parts.CODE_CLOSE]
        elif tag in _CELLS:
            self.walk(node, is_code=is_code)
            self.current.append("\t")
        elif tag == "a":
            before = sum(map(len, self.current))
            self.walk(node, is_code=is_code)
            self.linked += max(0, sum(map(len, self.current)) - before)
        elif tag in _BLOCKS:
            self.flush()
            self.walk(node, is_code=is_code)
            self.flush()
        else:
            self.walk(node, is_code=is_code)


def _is_entry(node: LexborNode) -> bool:
    """Return whether a list item is an entry of a list of pages: it begins with a link to one."""
    first = node.child
    while first is not None and (
        first.tag in ("strong", "p", "b", "em")
        or (first.tag == "-text" and not (first.text_content or "").strip())
    ):
        first = first.next if first.tag == "-text" else first.child
    if first is None or first.tag != "a":
        return False
    target = first.attributes.get("href") or ""
    return "://" not in target and not target.startswith("#")


def _visible(node: LexborNode) -> str:
    """Return an element's text without heading links, footnote marks and ways back."""
    if node.tag == "-text":
        return node.text_content or ""
    classes = (node.attributes.get("class") or "").split()
    if _FORMULA in classes:
        return plain(node.text(deep=True) or "")
    if node.tag in _SKIPPED or not _HIDDEN.isdisjoint(classes):
        return ""
    return "".join(map(_visible, node.iter(include_text=True)))


def read_html(page: parts.Page, html: str) -> parts.Page:
    """Fill a page's sections from the HTML of its content; returns the page."""
    reader = _Reader(page)
    body = LexborHTMLParser(parts.without_signs(html)).body
    if body is not None:
        reader.walk(body)
    reader.flush()
    page.sections = reader.sections
    page.title = page.title or reader.sections[0].title
    return page


def read(html: str, note: Note, *, location: str, title: str, trail: Sequence[str]) -> parts.Page:
    """Return the rendered page of a note as search will find it.

    Args:
        html: The page's content.
        note: The note it was made from.
        location: Its address in the site.
        title: Its name in the navigation.
        trail: Names of the navigation's sections above it, outermost first.
    """
    page = parts.Page(
        location, note.id, note.language, parts.clean(title), trail=tuple(map(parts.clean, trail))
    )
    if note.meta is not None:
        page.description = parts.clean(parts.without_signs(note.meta.description))
        page.kind = note.meta.kind
        page.tags = tuple(parts.clean(parts.without_signs(tag)) for tag in note.meta.tags)
    return read_html(page, html)


def read_note(note: Note) -> parts.Page:
    """Return a note as search will find it, without what a build adds to its page."""
    address = f"{note.id}.html"
    return read(
        finish(note.rendered.html.html, note.rendered.marked, lambda target: target),
        note,
        location=address if note.language == DEFAULT_LANGUAGE else f"{note.language}/{address}",
        title=note.title,
        trail=note.topic.split("/"),
    )
